/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control-flow graph of the selected function, drawn by layout.js.  Of a
 * large one what is around the selection is drawn.
 */
/* --- the graph ------------------------------------------------------------ */

const GRAPH_LIMIT = 400, TEXT_LIMIT = 160, SHOWN_LIMIT = 600,
	NEIGHBOURS = 4;
const view = {k: 1, x: 0, y: 0, g: null, w: 0, h: 0, nodes: [], edges: []};

/* Blocks of a large function that are drawn: the path, or what is selected,
 * or the hottest block; and what is around. */
function chooseBlocks(d) {
	const all = d.blocks.slice(1).map((b) => b.id);
	if (all.length <= GRAPH_LIMIT)
		return {ids: all, note: ""};
	const path = state.path || (state.block || state.line ? null :
		d.paths[0]);
	let seeds = path ? path.blocks : state.block ? [state.block] :
		state.line ? [...d.byLine.get(state.line) || []] : [];
	if (!seeds.length)
		seeds = [all.reduce((a, b) => size(d.blocks[b].count) >
			size(d.blocks[a].count) ? b : a)];
	const limit = path ? SHOWN_LIMIT : TEXT_LIMIT;
	const ids = new Set(seeds.slice(0, limit));
	let ring = [...ids];
	for (let far = 0; ring.length && far < (path ? 1 : 12); far++) {
		const next = [];
		for (const b of ring)
			for (const other of nearest(d, b))
				if (!ids.has(other) && ids.size < limit) {
					ids.add(other);
					next.push(other);
				}
		ring = next;
	}
	const what = path ? (state.path ? "the selected path" :
		"the hottest path") : state.block || state.line ?
		"what is selected" : "the hottest block";
	/* the seeds come first: the layout keeps their order */
	return {ids: [...ids], note:
		`${digits(all.length)} blocks: shown are ${ids.size}, ` +
		`${what} and its nearest neighbours`};
}

/* Where most of what comes to a block comes from, and goes to. */
function nearest(d, b) {
	const most = (list) => list.slice().sort((x, y) =>
		size(y.count) - size(x.count)).slice(0, NEIGHBOURS);
	return [...most(d.blocks[b].outs).map((e) => e.t),
		...most(d.blocks[b].ins).map((e) => e.s)].filter(Boolean);
}

function blockLabel(d, b) {
	const lines = b.segments.flat();
	if (!lines.length)
		return "no line";
	const own = lines.filter((at) => at.inlined === null);
	const list = own.length ? own : lines;
	const source = list[0].source;
	const numbers = list.filter((at) => at.source === source)
		.map((at) => at.line);
	const low = Math.min(...numbers), high = Math.max(...numbers);
	return (source === d.f.source ? "" :
		baseName(index.sources[source]) + ":") +
		(low === high ? low : high - low < 500 ?
			low + "\u2013" + high : numbers[0] + "\u2026");
}

/* The first lines of a block, as the programmer wrote them. */
function blockText(d, b) {
	const texts = [], seen = new Set();
	for (const at of b.segments.flat()) {
		const s = sourceOf(at.source), key = at.source + ":" + at.line;
		if (!s.lines || seen.has(key) || texts.length === 3)
			continue;
		seen.add(key);
		const text = (s.lines[at.line - 1] || "").trim()
			.replace(/\s+/g, " ");
		if (/\w/.test(text))
			texts.push(text.length > 38 ? text.slice(0, 37) +
				"\u2026" : text);
	}
	return texts;
}

function graphNodes(d, ids) {
	const nodes = [], at = new Map(), full = ids.length <= TEXT_LIMIT;
	const doubtful = d.f.state === DOUBTFUL;
	const term = (label) => ({w: label.length * 6.7 + 18, h: 19, label,
		block: null});
	const entry = d.edges.find((e) => !e.s);
	if (entry && ids.includes(entry.t))
		nodes.push(term("entry"));
	for (const id of ids) {
		const b = d.blocks[id];
		const node = {block: b, label: blockLabel(d, b), sign:
			(b.untested ? UNTESTED + " " : "") + "#" + id + " ",
			cnt: brief(b.count, doubtful),
			text: full ? blockText(d, b) : []};
		const chars = Math.max(node.label.length + node.cnt.length +
			node.sign.length + 2, ...node.text.map((t) =>
			t.length));
		node.w = Math.max(64, chars * 6.7 + 14);
		node.h = 22 + node.text.length * 14 + (node.text.length ? 3 : 0);
		at.set(id, nodes.length);
		nodes.push(node);
	}
	const edges = [];
	for (const e of d.edges) {
		const link = {edge: e, s: e.s ? at.get(e.s) :
			at.has(e.t) ? 0 : undefined, t: e.t ? at.get(e.t) : -1,
			weight: heat(e.count, d.max)};
		if (link.s === undefined || link.t === undefined)
			continue;
		if (link.t < 0) {
			link.t = nodes.length;
			nodes.push(term(e.kind));
		}
		edges.push(link);
	}
	/* of a part, begin where the path does */
	return {nodes, edges, first: ids.length < d.blocks.length - 1 ?
		at.get(ids[0]) : 0};
}

function drawNode(node) {
	const x = round(node.x - node.w / 2), y = round(node.y);
	const g = make("g", {class: node.block ? "blk" : "term",
		transform: `translate(${x},${y})`},
	make("rect", {width: round(node.w), height: node.h, rx: 4}));
	node.el = g;
	if (!node.block) {
		g.append(make("text", {x: round(node.w / 2), y: 13},
			node.label));
		return g;
	}
	const b = node.block;
	g.style.setProperty("--h", heat(b.count, state.d.max));
	if (b.count !== null && !size(b.count))
		g.classList.add("zero");
	if (b.untested)
		g.classList.add("untested");
	const inlined = [...new Set(b.segments.flat().map((at) => at.inlined)
		.filter((name) => name !== null))];
	g.append(make("title", {}, `block ${b.id}: ` +
		count(b.count, state.f.state === DOUBTFUL) +
		` executions, ${b.size} instructions` +
		(b.pad ? ", landing pad" : "") +
		(b.untested ? "; no test ran it" : "") +
		(inlined.length ? "\ninlined: " + inlined.join(", ") : "")),
	make("text", {x: 7, y: 15}, make("tspan", {class: "id"}, node.sign),
		node.label),
	make("text", {class: "cnt", x: round(node.w - 7), y: 15,
		"text-anchor": "end"}, node.cnt));
	node.text.forEach((line, i) => g.append(make("text", {class: "src",
		x: 7, y: 31 + i * 14}, line)));
	g.addEventListener("click", () => {
		if (!view.moved)
			selectBlock(b.id);
	});
	return g;
}

/* Where an edge goes is to be seen. */
const WAY = {default: "default ", unwind: "unwind ", abnormal: "abnormal ",
	goto: "goto "};

function drawEdge(link, nodes) {
	const e = link.edge, w = 1 + 2.2 * link.weight;
	const tip = nodes[link.t].y, x = round(link.x1);
	const zero = e.count !== null && !size(e.count);
	const choice = e.s && state.d.blocks[e.s].outs.length > 1;
	const label = (e.untested ? UNTESTED + " " : "") +
		(choice ? WAY[e.kind] || "" : "") +
		brief(e.count, state.f.state === DOUBTFUL);
	const whole = e.s ? state.d.blocks[e.s].count : null;
	link.el = make("g", {class: "edge" + (zero ? " zero" : "") +
		(link.back ? " back" : "") +
		(e.ends ? " ends" : "") + (e.untested ? " untested" : "")},
	make("title", {}, `${e.s || "outside"} \u2192 ${e.t || "outside"}, ` +
		(wayWord(e) || "branch") + ": " +
		count(e.count, state.f.state === DOUBTFUL) +
		(choice && size(whole) && e.count !== null ?
			", " + percent(e.count, whole) : "") +
		(link.back ? "; back to a loop's head" : "") +
		(e.ends ? "; paths end here" : "") +
		(e.untested ? "; no test took it" : "")),
	make("path", {class: "wire", d: link.d, "stroke-width": round(w)}),
	make("path", {class: "tip", d: `M${x},${round(tip)}l-${3 + w / 2},` +
		`-7h${6 + w}z`}));
	/* on a ground of its own, above all wires */
	const wide = label.length * 6.05 + 4;
	const left = link.label.x - (link.label.side ? 0 : wide / 2);
	link.tag = make("g", {class: "tag" + (e.untested ? " untested" : "")},
		make("rect", {x: round(left),
		y: round(link.label.y - 6), width: round(wide), height: 12}),
	make("text", {x: round(left + 2), y: round(link.label.y + 4)}, label));
	return link.el;
}

function drawGraph() {
	const d = state.d, chosen = chooseBlocks(d);
	const canvas = byId("canvas");
	byId("gtitle").textContent = d.blocks.length > 1 ?
		several(d.blocks.length - 1, "block") + ", " +
		several(d.edges.length, "edge") : "";
	byId("gnote").textContent = chosen.note;
	if (d.blocks.length < 2) {
		canvas.replaceChildren(make("div", {class: "empty"},
			"no control-flow graph"));
		view.g = null;
		return;
	}
	const {nodes, edges, first} = graphNodes(d, chosen.ids);
	const area = layoutGraph(nodes, edges, first);
	const wires = make("g", {}, ...edges.map((e) => drawEdge(e, nodes)));
	const tags = make("g", {}, ...edges.map((e) => e.tag));
	view.g = make("g", {}, wires, tags,
		make("g", {}, ...nodes.map(drawNode)));
	Object.assign(view, {w: area.w, h: area.h, nodes, edges, wires, tags});
	canvas.replaceChildren(make("svg", {role: "img", "aria-label":
		"control-flow graph of " + d.f.name}, view.g));
	markGraph(false);
	fitGraph(0.8);
	if (chosen.note)
		showMarked();
}

function markGraph(show) {
	const p = state.path;
	if (!view.g)
		return;
	view.g.classList.toggle("chosen", !!p);
	const lineBlocks = state.line && state.d.byLine.get(state.line) ||
		new Set();
	const ends = new Set();
	for (const link of view.edges) {
		const on = !!p && p.edgeSet.has(link.edge.i);
		link.el.classList.toggle("on", on);
		link.tag.classList.toggle("on", on);
		if (on) {
			view.wires.append(link.el);
			view.tags.append(link.tag);
			ends.add(link.s).add(link.t);
		}
	}
	view.nodes.forEach((node, i) => {
		const b = node.block;
		node.el.classList.toggle("on", b ? !!p && p.blockSet.has(b.id) :
			ends.has(i));
		node.el.classList.toggle("pick", !!b && (b.id === state.block ||
			lineBlocks.has(b.id)));
	});
	if (show)
		showMarked();
}

/* Moves what is marked into sight, and zooms out for it if need be. */
function showMarked() {
	const marked = view.nodes.filter((node) =>
		node.el.matches(".on, .pick"));
	if (!marked.length)
		return;
	const box = {x: Infinity, y: Infinity, r: -Infinity, b: -Infinity};
	for (const node of marked) {
		box.x = Math.min(box.x, node.x - node.w / 2);
		box.y = Math.min(box.y, node.y);
		box.r = Math.max(box.r, node.x + node.w / 2);
		box.b = Math.max(box.b, node.y + node.h);
	}
	const [w, h] = canvasSize();
	const at = (x, y) => [x * view.k + view.x, y * view.k + view.y];
	const [x0, y0] = at(box.x, box.y), [x1, y1] = at(box.r, box.b);
	if (x0 >= 0 && y0 >= 0 && x1 <= w && y1 <= h)
		return;
	const k = Math.min(1.2, (w - 40) / (box.r - box.x),
		(h - 40) / (box.b - box.y));
	view.k = Math.max(k, 0.7);
	view.x = w / 2 - (box.x + box.r) / 2 * view.k;
	view.y = h / 2 - (box.y + box.b) / 2 * view.k;
	if (k < 0.7) {               /* too large: the line, or its begin */
		const first = state.line && marked.find((node) =>
			node.el.matches(".pick")) ||
			marked.find((node) => node.block && state.path &&
			node.block.id === state.path.first) || marked[0];
		view.x = w / 2 - first.x * view.k;
		view.y = 50 - first.y * view.k;
	}
	moveGraph();
}

const canvasSize = () => [byId("canvas").clientWidth,
	byId("canvas").clientHeight];

function moveGraph() {
	if (view.g)
		view.g.setAttribute("transform", `translate(${round(view.x)},` +
			`${round(view.y)}) scale(${view.k.toFixed(4)})`);
}

/* All of it, or its top if that would be too small to read. */
function fitGraph(least) {
	const [w, h] = canvasSize();
	const k = Math.min(1.1, w / view.w, h / view.h);
	view.k = Math.max(k, least);
	view.x = (w - view.w * view.k) / 2;
	view.y = k < least ? 0 : (h - view.h * view.k) / 2;
	if (k < least && view.w * view.k > w && view.nodes.length > 1)
		view.x = w / 2 - view.nodes[0].x * view.k;
	moveGraph();
}

function zoomGraph(by, x, y) {
	const k = Math.min(4, Math.max(0.03, view.k * by));
	const [w, h] = canvasSize();
	x = x === undefined ? w / 2 : x;
	y = y === undefined ? h / 2 : y;
	view.x = x - (x - view.x) * k / view.k;
	view.y = y - (y - view.y) * k / view.k;
	view.k = k;
	moveGraph();
}

function listenToGraph() {
	const canvas = byId("canvas");
	let from = null;
	canvas.addEventListener("wheel", (e) => {
		const box = canvas.getBoundingClientRect();
		e.preventDefault();
		zoomGraph(Math.exp(-e.deltaY * (e.deltaMode ? 0.04 : 0.0016)),
			e.clientX - box.left, e.clientY - box.top);
	}, {passive: false});
	canvas.addEventListener("pointerdown", (e) => {
		from = [e.clientX - view.x, e.clientY - view.y, e.clientX,
			e.clientY];
		view.moved = false;
	});
	addEventListener("pointermove", (e) => {
		if (!from)
			return;
		if (Math.hypot(e.clientX - from[2], e.clientY - from[3]) > 4)
			view.moved = true;
		if (!view.moved)
			return;
		canvas.classList.add("drag");
		view.x = e.clientX - from[0];
		view.y = e.clientY - from[1];
		moveGraph();
	});
	addEventListener("pointerup", () => {
		from = null;
		canvas.classList.remove("drag");
	});
	byId("zin").onclick = () => zoomGraph(1.3);
	byId("zout").onclick = () => zoomGraph(1 / 1.3);
	byId("zfit").onclick = () => fitGraph(0);
}
