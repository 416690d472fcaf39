/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: four views of one selection.  All text is put on the screen as
 * text nodes.  A list that may be long draws only the rows that are in sight.
 */
const byId = (id) => document.getElementById(id);
const read = (id) => JSON.parse(byId(id).textContent);
const index = read("i0");

/* --- elements and numbers ------------------------------------------------- */

function make(tag, props, ...children) {
	const svg = /^(svg|g|path|rect|text|title|tspan)$/.test(tag);
	const el = svg ? document.createElementNS("http://www.w3.org/2000/svg",
		tag) : document.createElement(tag);
	for (const [key, value] of Object.entries(props || {})) {
		if (value === null || value === undefined || value === false)
			continue;
		if (key.startsWith("on"))
			el.addEventListener(key.slice(2), value);
		else if (key === "h")
			el.style.setProperty("--h", value);
		else
			el.setAttribute(key, value);
	}
	el.append(...children.filter((c) => c !== null));
	return el;
}

/* Counts above 2^53 come as strings: exact to look at, near enough to sort. */
const size = (n) => n === null ? 0 : Number(n);

function digits(n) {
	return n === null ? "?" :
		String(n).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/* As the text report has it: ? is not known, ~ is in doubt. */
const count = (n, doubtful) => (doubtful && n !== null ? "~" : "") + digits(n);

function brief(n, doubtful) {
	const v = size(n);
	if (n === null || v < 100000)
		return count(n, doubtful);
	const power = Math.min(6, Math.floor(Math.log10(v) / 3));
	const scaled = v / 1000 ** power;
	return (doubtful ? "~" : "") + scaled.toFixed(scaled < 10 ? 2 :
		scaled < 100 ? 1 : 0) + " kMGTPE"[power];
}

const several = (n, what) => digits(n) + " " + what +
	(Number(n) === 1 ? "" : "s");

function share(part, whole) {
	return whole ? (100 * part / whole).toFixed(2) + " %" : "";
}

/* 0..1, by orders of magnitude. */
function heat(n, max) {
	const v = size(n);
	return v && max ? (Math.log1p(v) / Math.log1p(max)) ** 1.6 : 0;
}

/* A C++ name without what makes it long: arguments of templates, parameters,
 * the type that it returns. */
function shortName(name) {
	let out = "", depth = 0;
	if (!/[<(]/.test(name))
		return name;
	for (let i = 0; i < name.length; i++) {
		const operator = /operator([<>=!+\-*/%&|^~,]+|\(\)|\[\]|->)/y;
		operator.lastIndex = i;
		const found = depth ? null : operator.exec(name);
		if (found) {
			out += found[0];
			i += found[0].length - 1;
			continue;
		}
		if (name.startsWith("(anonymous namespace)", i) && !depth) {
			out += "{anonymous}";
			i += 20;
			continue;
		}
		if ("<(".includes(name[i]) && depth++ === 0)
			out += name[i] === "<" ? "<>" : "()";
		else if (">)".includes(name[i]) && depth)
			depth--;
		else if (!depth)
			out += name[i];
	}
	const [, plain, clone] = /^(.*?)(?:\(\))?(?: const)?( \[.*\])?$/s
		.exec(out);
	return plain.slice(plain.lastIndexOf(" ",
		plain.search(/operator|$/)) + 1) + (clone || "");
}

const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);

/* --- the data ------------------------------------------------------------- */

const DOUBTFUL = 1, UNCOVERED = 2; /* and 0: fine */
const functions = index.functions.map((a, i) => ({
	i, name: a[0], linkage: a[1] || a[0], source: a[2], line: a[3],
	entries: a[4], executions: a[5], nblocks: a[6], npaths: a[7],
	state: a[8], module: a[9], lower: a[0].toLowerCase(),
	brief: shortName(a[0]),
}));
const hasPaths = functions.some((f) => f.npaths !== null);
/* What the page lists: "residual", "tests", or null if it is a report. */
const kind = index.kind;
const UNTESTED = "\u25c6";

/* Names in addresses: the linkage name, and ~N for the N-th of a name. */
const byName = new Map();
for (const f of functions) {
	const nth = (byName.get(f.linkage) || []);
	nth.push(f);
	byName.set(f.linkage, nth);
	f.key = f.linkage + (nth.length > 1 ? "~" + nth.length : "");
}

const sourceCache = new Map(), detailCache = new Map();

function sourceOf(i) {
	if (!sourceCache.has(i)) {
		const data = read("s" + i);
		const counts = new Map(), doubtful = new Set(data.doubtful);
		let max = 0;
		for (let k = 0; k < data.counts.length; k += 2) {
			counts.set(data.counts[k], data.counts[k + 1]);
			max = Math.max(max, size(data.counts[k + 1]));
		}
		const lines = data.text === null ? null :
			data.text.replace(/\n$/, "").split("\n");
		/* without the text: the lines that have code */
		const numbers = lines ? lines.map((_, k) => k + 1) :
			[...counts.keys()];
		let widest = 0;
		if (lines)
			for (const line of lines)
				widest = Math.max(widest, line.length);
		const branches = new Map(), copies = new Map();
		for (const [line, total, ...ways] of data.branches || []) {
			if (!branches.has(line))
				branches.set(line, []);
			branches.get(line).push(readBranch(total, ways));
		}
		for (const [line, n, ...spots] of data.copies || [])
			copies.set(line, readCopies(n, spots));
		const scores = new Map(), pairs = data.scores || [];
		for (let k = 0; k < pairs.length; k += 2)
			scores.set(pairs[k], pairs[k + 1]);
		sourceCache.set(i, {i, counts, doubtful, max, lines, numbers,
			widest, scores, branches, copies, note: data.note});
	}
	return sourceCache.get(i);
}

/* src/cli/html_source.c writes both. */
function readBranch(total, flat) {
	const ways = [];
	for (let k = 0; k < flat.length; k += 2)
		ways.push({taken: flat[k], to: flat[k + 1]});
	return {total, ways};
}

function readCopies(n, flat) {
	const spots = [];
	for (let k = 0; k < flat.length; k += 5)
		spots.push({f: flat[k], caller: flat[k + 1],
			line: flat[k + 2], times: flat[k + 3],
			count: flat[k + 4]});
	return {n, spots};
}

function detailOf(f) {
	if (!detailCache.has(f.i))
		detailCache.set(f.i, readDetail(f));
	return detailCache.get(f.i);
}

function readDetail(f) {
	const data = read("f" + f.i);
	const d = {f, reason: data.reason, places: data.places, data,
		blocks: [null], edges: [], paths: [], byLine: new Map(),
		max: 0, extent: [Infinity, 0]};
	data.blocks.forEach((b, i) => {
		const block = {id: i + 1, count: b[0], size: b[1], pad: b[2],
			segments: b.slice(3).map((s) => flatten(d, s)),
			outs: [], ins: []};
		d.blocks.push(block);
		d.max = Math.max(d.max, size(block.count));
		for (const at of block.segments.flat())
			noteLine(d, f, block.id, at);
	});
	d.edges = data.edges.map((e, i) => ({i, s: e[0], t: e[1],
		kind: index.kinds[e[2]], count: e[3], ends: !!e[4]}));
	/* src/cli/html_residual.c: what no test ran */
	for (const b of data.untested_blocks || [])
		d.blocks[b].untested = true;
	for (const e of data.untested_edges || [])
		d.edges[e].untested = true;
	for (const e of d.edges) {
		if (e.s)
			d.blocks[e.s].outs.push(e);
		if (e.t)
			d.blocks[e.t].ins.push(e);
	}
	for (const p of data.paths || [])
		d.paths.push(readPath(d, p, d.paths.length + 1));
	for (const p of data.unfinished || [])
		d.paths.push(readPath(d, p, 0));
	return d;
}

function flatten(d, segment) {
	return segment.flatMap(([place, ...lines]) => lines.map((line) => (
		{source: d.places[place][0], line,
			inlined: d.places[place][1]})));
}

function noteLine(d, f, block, at) {
	const key = at.source + ":" + at.line;
	if (!d.byLine.has(key))
		d.byLine.set(key, new Set());
	d.byLine.get(key).add(block);
	if (at.inlined === null && at.source === f.source) {
		d.extent[0] = Math.min(d.extent[0], at.line);
		d.extent[1] = Math.max(d.extent[1], at.line);
	}
}

/* src/cli/html_paths.c writes them. */
function readPath(d, a, rank) {
	const [number, n, begin, end, to, first, from, until, edges, last] = a;
	const p = {number, count: n, begin, end, to, edges, rank,
		unfinished: number === null, blocks: [], lines: []};
	for (let i = from; i < until; i++)
		p.blocks.push(i ? d.edges[edges[i - 1]].t : first);
	p.first = first || p.blocks[0] || 0;
	p.blockSet = new Set(p.blocks);
	p.edgeSet = new Set(edges);
	p.blocks.forEach((b, i) => {
		let segments = d.blocks[b].segments;
		if (p.unfinished && i + 1 === p.blocks.length)
			segments = segments.slice(0, last + 1);
		p.lines.push(...segments.flat());
	});
	p.lineSet = new Set(p.lines.map((at) => at.source + ":" + at.line));
	return p;
}

/* Branches of a path: blocks that could have gone on elsewhere. */
function branchesOf(d, p) {
	return p.edges.map((i) => d.edges[i]).filter((e) => e.s &&
		d.blocks[e.s].outs.length > 1 && e.kind !== "fall");
}

/* The line that says where a choice goes, as cairn paths has it (hot_way_line in
 * src/cli/hot.c); undefined: only the block does. */
function wayLine(d, e) {
	const to = firstLine(d, e.t), from = lastLine(d, e.s);
	const same = (a, b) => a && b && a.source === b.source &&
		a.line === b.line;
	return to && !same(to, from) && !d.blocks[e.s].outs.some((o) =>
		o.t !== e.t && same(firstLine(d, o.t), to)) ? to : undefined;
}

/* True and false are those of the compiler, not always of the source. */
const wayWord = (e) => e.kind === "true" || e.kind === "false" ? "" : e.kind;

/* Where a choice goes, in two parts: words, and a place of the source or null. */
function wayOf(d, e) {
	const word = wayWord(e), at = wayLine(d, e);
	if (!e.t || e.kind === "returned")
		return [word, null];
	return [(word ? word + " to " : "to ") + (at ? "" : "block " + e.t),
		at || null];
}

const firstLine = (d, b) => b ? d.blocks[b].segments.flat()[0] : undefined;
const lastLine = (d, b) => b ? d.blocks[b].segments.flat().pop() : undefined;

/* --- the selection -------------------------------------------------------- */

const state = {f: null, d: null, source: null, path: null, block: 0,
	line: null, sort: kind ? "rank" : "executions", query: "", tab: ""};

/* Paths that the table shows. */
function shownPaths() {
	return state.d.paths.filter((p) =>
		(!state.block || p.blockSet.has(state.block)) &&
		(!state.line || p.lineSet.has(state.line)));
}

function selectFunction(f) {
	state.f = f;
	state.d = detailOf(f);
	state.path = null;
	state.block = 0;
	state.line = null;
	state.source = f.source;
	if (state.source === null && state.d.places.length)
		state.source = state.d.places[0][0];
	drawFunctions();
	drawSource(true);
	drawGraph();
	drawPaths();
	writeAddress();
}

function selectPath(p, keepView) {
	const d = state.d;
	const redraw = d.blocks.length - 1 > GRAPH_LIMIT;
	state.path = p;
	if (p && !p.lines.some((at) => at.source === state.source) &&
	    p.lines.length)
		state.source = p.lines[0].source;
	drawSource(false);
	if (p && !keepView)
		showLine(p.lines.find((at) => at.source === state.source));
	if (redraw)
		drawGraph();
	else
		markGraph(p && !keepView);
	drawPaths();
	writeAddress();
}

function selectBlock(b) {
	state.block = state.block === b ? 0 : b;
	state.line = null;
	dropPath();
	const at = state.block ? firstLine(state.d, b) : undefined;
	if (at)
		state.source = at.source;
	if (state.block)
		showTab("function");
	drawSource(false);
	showLine(at);
	markGraph(false);
	drawPaths();
	writeAddress();
}

function selectLine(source, line) {
	const key = source + ":" + line;
	state.line = state.line === key ? null : key;
	state.block = 0;
	if (state.line)
		showTab("function");
	dropPath();
	drawSource(false);
	if (state.d.blocks.length - 1 > GRAPH_LIMIT && state.line)
		drawGraph();
	else
		markGraph(!!state.line);
	drawPaths();
	writeAddress();
}

/* A path that is not in the table any more is not selected. */
function dropPath() {
	if (state.path && !shownPaths().includes(state.path))
		state.path = null;
}

function clearSelection() {
	state.never = null;
	state.block = 0;
	state.line = null;
	selectPath(null);
}

/* --- addresses: #f=NAME&path=NUMBER&block=B&line=L&tab=ID&theme=dark ------ */

function writeAddress() {
	if (!state.f)
		return;
	const parts = ["f=" + encodeURIComponent(state.f.key)];
	if (state.path && !state.path.unfinished)
		parts.push("path=" + state.path.number);
	if (state.block)
		parts.push("block=" + state.block);
	if (state.line) {
		const [source, line] = state.line.split(":").map(Number);
		parts.push("line=" + encodeURIComponent(
			index.sources[source]) + ":" + line);
	}
	if (kind || hasPaths && state.tab === "calls")
		parts.push("tab=" + state.tab);
	if (showsFiles())
		parts.push("list=files");
	try {
		history.replaceState(null, "", "#" + parts.join("&"));
	} catch (e) {
		/* a viewer that forbids it */
	}
}

function findFunction(name) {
	const split = /^(.*)~(\d+)$/.exec(name);
	const nth = split ? Number(split[2]) : 1;
	const list = byName.get(split ? split[1] : name);
	return list && list[nth - 1] ||
		functions.find((f) => f.name === name);
}

/* path=N is the number of a path, top=N its rank. */
function readAddress() {
	const get = new Map(location.hash.slice(1).split("&").map((part) => {
		const at = part.indexOf("=");
		let value = part.slice(at + 1);
		try {
			value = decodeURIComponent(value);
		} catch (e) {
			/* as it is */
		}
		return [part.slice(0, at), value];
	}));
	if (get.has("theme"))
		setTheme(get.get("theme"));
	const first = rowsOf(lists[0])[0];
	if (!get.has("f") && first) {
		showTab(get.get("tab"));
		selectRow(first);
		return;
	}
	const f = get.has("f") && findFunction(get.get("f")) ||
		sorted()[0] || null;
	if (!f)
		return;
	selectFunction(f);
	scrollList(flist, flist.items.indexOf(f));
	if (get.has("block") && state.d.blocks[get.get("block")])
		selectBlock(Number(get.get("block")));
	const line = /^(.*):(\d+)$/.exec(get.get("line") || "");
	if (line && index.sources.includes(line[1])) {
		state.source = index.sources.indexOf(line[1]);
		selectLine(state.source, Number(line[2]));
		showLine({source: state.source, line: Number(line[2])});
	}
	const path = state.d.paths.find((p) => !p.unfinished &&
		(String(p.number) === get.get("path") ||
		String(p.rank) === get.get("top")));
	if (path)
		selectPath(path);
	showTab(get.get("tab"));
	if (get.has("tab"))
		showPane(get.get("tab"));
	if (!kind && get.get("list") === "files")
		showLeft(true);
}

/* --- lists that draw what is in sight ------------------------------------- */

function makeList(el, height, draw) {
	const inner = make("div", {class: "inner"});
	const list = {el, inner, height, draw, items: [], from: -1, until: -1,
		range: null};
	el.append(inner);
	el.addEventListener("scroll", () => drawList(list, false));
	new ResizeObserver(() => drawList(list, false)).observe(el);
	return list;
}

function setItems(list, items) {
	list.items = items;
	list.inner.style.height = items.length * list.height + "px";
	drawList(list, true);
}

function drawList(list, all) {
	const top = list.el.scrollTop, n = list.items.length;
	let from = Math.max(0, Math.floor(top / list.height) - 20);
	let until = Math.min(n, Math.ceil((top + list.el.clientHeight) /
		list.height) + 20);
	if (list.range) {            /* for the printer */
		[from, until] = list.range;
		until = Math.min(n, until);
	}
	if (!all && from === list.from && until === list.until)
		return;
	list.from = from;
	list.until = until;
	const rows = [];
	for (let i = from; i < until; i++) {
		const row = list.draw(list.items[i], i);
		row.style.top = i * list.height + "px";
		rows.push(row);
	}
	list.inner.replaceChildren(...rows);
}

function scrollList(list, i) {
	const top = i * list.height, el = list.el;
	if (i < 0)
		return;
	if (top < el.scrollTop + list.height ||
	    top > el.scrollTop + el.clientHeight - 2 * list.height)
		el.scrollTop = Math.max(0, top - el.clientHeight / 3);
	drawList(list, false);
}

/* --- functions ------------------------------------------------------------ */

const COLUMNS = [["name", "function"], ["executions", "executions"],
	["entries", "entries"]].concat(hasPaths ? [["npaths", "paths"]] : []);
const hottest = functions.reduce((m, f) => Math.max(m, size(f.executions)), 0);
const flist = makeList(byId("flist"), 24, drawFunction);

function drawFunction(f) {
	const doubtful = f.state === DOUBTFUL;
	const place = f.source === null ? "" : "\n" + index.sources[f.source] +
		":" + f.line;
	const module = index.modules.length > 1 ? "\n" +
		index.modules[f.module] : "";
	const row = make("div", {class: "row frow" +
		(f === state.f ? " sel" : "") +
		(size(f.executions) ? "" : " never"), role: "option",
	"aria-selected": f === state.f, title: f.name + place + module,
	onclick: () => selectFunction(f)},
	make("span", {class: "name"}, f.brief),
	make("span", {class: "num"}, f.state === UNCOVERED ? "not covered" :
		make("span", {class: "warm", h: heat(f.executions, hottest)},
			brief(f.executions, doubtful))),
	make("span", {class: "num"}, f.state === UNCOVERED ? "" :
		brief(f.entries, doubtful)));
	if (hasPaths)
		row.append(make("span", {class: "num"}, f.npaths === null ? "" :
			digits(f.npaths)));
	return row;
}

function sorted() {
	const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
	const list = functions.filter((f) => words.every((w) =>
		f.lower.includes(w) || f.source !== null &&
		index.sources[f.source].toLowerCase().includes(w)));
	if (state.sort === "rank")
		return list;
	if (state.sort === "name")
		list.sort((a, b) => a.name < b.name ? -1 : a.name > b.name);
	else
		list.sort((a, b) => size(b[state.sort]) - size(a[state.sort]) ||
			a.i - b.i);
	return list;
}

function drawFunctions() {
	byId("fhead").replaceChildren(...COLUMNS.map(([key, name]) =>
		make("button", {class: state.sort === key ? "sorted" : null,
			title: "sort by " + name, onclick: () => {
				state.sort = key;
				drawFunctions();
				flist.el.scrollTop = 0;
			}}, name + (state.sort === key ? " \u25be" : ""))));
	const list = sorted();
	setItems(flist, list);
	if (!showsFiles())
		byId("shown").textContent = list.length === functions.length ?
			digits(list.length) : list.length + " of " +
			functions.length;
}

function stepFunction(by) {
	const at = flist.items.indexOf(state.f) + by;
	if (at < 0 || at >= flist.items.length)
		return;
	selectFunction(flist.items[at]);
	scrollList(flist, at);
}

/* --- directories and files ------------------------------------------------- */

const DCOLUMNS = [["name", "directory, file"], ["lines", "lines"],
	["branches", "branches"], ["instructions", "executed"]];
const dstate = {sort: "name", closed: new Set()};
const showsFiles = () => byId("lfiles").getAttribute("aria-selected") === "true";
const TOTALS = ["lines", "linesRun", "branches", "branchesRun", "functions",
	"functionsRun", "instructions"];

/* A tree of directories, in which one that has nothing but another one is part
 * of its name.  System headers are left out if there are others. */
function makeTree() {
	const files = (index.files || []).map((a, i) => ({source: i,
		path: index.sources[i], system: !!a[7], nodes: null,
		...Object.fromEntries(TOTALS.map((key, k) => [key, size(a[k])]))
	})).filter((file) => file.lines);
	const own = files.filter((file) => !file.system);
	const root = {name: "", path: "", nodes: new Map()};
	for (const file of own.length ? own : files) {
		const parts = file.path.split("/");
		file.name = parts.pop();
		let at = root;
		for (const part of parts) {
			if (!at.nodes.has(part + "/"))
				at.nodes.set(part + "/", {name: part + "/", path:
					at.path + part + "/", nodes: new Map()});
			at = at.nodes.get(part + "/");
		}
		at.nodes.set(file.name, file);
	}
	return sumTree(root);
}

function sumTree(dir) {
	for (const key of TOTALS)
		dir[key] = 0;
	dir.nodes = [...dir.nodes.values()].map((node) => node.nodes ?
		sumTree(node) : node);
	for (const node of dir.nodes)
		for (const key of TOTALS)
			dir[key] += node[key];
	if (dir.nodes.length === 1 && dir.nodes[0].nodes) {
		const only = dir.nodes[0];
		return {...only, name: dir.name + only.name};
	}
	return dir;
}

const tree = makeTree();
const dlist = makeList(byId("dlist"), 24, drawFile);

/* Rows in sight: of open directories, or all that the filter finds. */
function treeRows() {
	const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
	const rows = [], key = dstate.sort;
	const share = (node) => node[key] ? node[key + "Run"] / node[key] : 2;
	const order = {name: (a, b) => !b.nodes - !a.nodes ||
		(a.name < b.name ? -1 : a.name > b.name),
	instructions: (a, b) => b.instructions - a.instructions}[key] ||
		((a, b) => share(a) - share(b) || b[key] - a[key]);
	const add = (node, depth) => {
		if (!words.length || !node.nodes && words.every((w) =>
			node.path.toLowerCase().includes(w)))
			rows.push({node, depth: words.length ? 0 : depth});
		if (node.nodes && (words.length ||
			!dstate.closed.has(node.path)))
			for (const inner of node.nodes.slice().sort(order))
				add(inner, depth + 1);
	};
	for (const node of tree.name || !tree.nodes.length ? [tree] :
		tree.nodes.slice().sort(order))
		add(node, 0);
	return rows;
}

/* A share as a bar and a number; nothing if there is nothing to share. */
function coverage(part, whole) {
	if (!whole)
		return make("span", {class: "num dim"}, "");
	const p = 100 * part / whole;
	return make("span", {class: "cover", title: `${digits(part)} of ` +
		digits(whole)}, make("span", {class: "meter"}, make("span",
		{style: `width:${round(p)}%`})), make("span", {class: "num"},
	part < whole && p >= 99.5 ? ">99" : p.toFixed(0)));
}

function drawFile({node, depth}) {
	const isDir = !!node.nodes, closed = dstate.closed.has(node.path);
	return make("div", {class: "row drow" + (isDir ? " dir" : "") +
		(!isDir && node.source === state.source ? " sel" : "") +
		(node.linesRun ? "" : " never"), role: "treeitem",
	title: (isDir ? node.path : node.path + "\n" +
		several(node.functions, "function")),
	onclick: () => isDir ? toggleDirectory(node) : selectFile(node.source)},
	make("span", {class: "name", style:
		`padding-left:${depth * 12}px`}, isDir ? closed ? "\u25b8 " :
		"\u25be " : "", node.name || "."),
	coverage(node.linesRun, node.lines),
	coverage(node.branchesRun, node.branches),
	make("span", {class: "num"}, make("span", {class: "warm",
		h: heat(node.instructions, tree.instructions)},
	brief(node.instructions))));
}

function toggleDirectory(node) {
	if (!dstate.closed.delete(node.path))
		dstate.closed.add(node.path);
	drawFileList();
}

function drawFileList() {
	byId("dhead").replaceChildren(...DCOLUMNS.map(([key, name]) =>
		make("button", {class: dstate.sort === key ? "sorted" : null,
			title: "sort by " + (key === "name" ? name :
				key === "instructions" ? "executed instructions" :
				name + ", the least executed first"),
			onclick: () => {
				dstate.sort = key;
				drawFileList();
				dlist.el.scrollTop = 0;
			}}, name + (dstate.sort === key ? " \u25be" : ""))));
	const rows = treeRows();
	setItems(dlist, rows);
	if (showsFiles())
		byId("shown").textContent = several(rows.filter((row) =>
			!row.node.nodes).length, "file");
}

/* A file is shown with its hottest function, if it has one. */
function selectFile(source) {
	let best = null;
	for (const f of functions)
		if (f.source === source && (!best ||
		    size(f.executions) > size(best.executions)))
			best = f;
	if (best && best !== state.f)
		selectFunction(best);
	state.source = source;
	drawSource(false);
	slist.el.scrollTop = 0;
	drawFileList();
}

function stepFile(by) {
	const at = dlist.items.findIndex(({node}) => !node.nodes &&
		node.source === state.source);
	for (let i = at + by; dlist.items[i]; i += by)
		if (!dlist.items[i].node.nodes) {
			selectFile(dlist.items[i].node.source);
			scrollList(dlist, i);
			return;
		}
}

function showLeft(files) {
	byId("lfiles").setAttribute("aria-selected", files);
	byId("lfunctions").setAttribute("aria-selected", !files);
	for (const id of ["fhead", "flist"])
		byId(id).hidden = files;
	for (const id of ["dhead", "dlist"])
		byId(id).hidden = !files;
	drawFunctions();
	drawFileList();
	writeAddress();
}

function startFiles() {
	byId("ltabs").hidden = !!kind || !tree.nodes.length;
	byId("lfiles").onclick = () => showLeft(true);
	byId("lfunctions").onclick = () => showLeft(false);
	dlist.el.addEventListener("click", () => dlist.el.focus());
	drawFileList();
}

/* --- source --------------------------------------------------------------- */

const slist = makeList(byId("slist"), 18, drawLine);
let shownSource = null;

function drawLine(line) {
	const s = shownSource, key = s.i + ":" + line, d = state.d;
	const has = s.counts.has(line), n = has ? s.counts.get(line) : 0;
	const zero = has && n !== null && !size(n) && !s.doubtful.has(line);
	const own = s.i === state.f.source && line >= state.f.line &&
		line <= Math.max(d.extent[1], state.f.line);
	return make("div", {class: "row srow" + (has ? zero ? " zero" :
		" ran" : "") + (own || d.byLine.has(key) ? "" : " out") +
		(state.path && state.path.lineSet.has(key) ? " on" : "") +
		(state.never && state.never.source === s.i &&
		state.never.line === line ? " seek" : "") +
		(state.line === key || state.block &&
		(d.byLine.get(key) || new Set()).has(state.block) ?
			" pick" : ""),
	title: has && size(n) >= 1e12 ? count(n, false) : null,
	onclick: () => clickLine(key, line)},
	make("span", {class: "count", h: heat(n, s.max)}, has ? size(n) < 1e12 ?
		count(n, s.doubtful.has(line)) :
		brief(n, s.doubtful.has(line)) : ""),
	kind ? lineMark(s, d, line) : branchBars(s.branches.get(line)),
	make("span", {class: "no"}, String(line)),
	make("span", {class: "text"}, s.lines ?
		s.lines[line - 1].replace(/\r$/, "") : ""));
}

/* A share that is not rounded to all or nothing. */
function percent(part, whole) {
	const p = 100 * size(part) / size(whole);
	if (!size(part))
		return "never";
	return size(part) < size(whole) && p >= 99.95 ? ">99.9 %" :
		p < 0.05 ? "<0.1 %" : p.toFixed(1) + " %";
}

const isReached = (b) => b.total !== null && size(b.total) > 0;

/* Where a way of a branch leads, if lines tell the ways apart. */
function wayText(b, i) {
	const to = b.ways[i].to;
	return to && b.ways.every((w, k) => k === i || w.to && w.to !== to) ?
		"to " + to : "way " + (i + 1);
}

/* The branches of a line, a bar each: its ways side by side, as wide as they
 * were taken; red if one never was. */
function branchBars(branches) {
	const shown = (branches || []).filter(isReached);
	if (!shown.length)
		return make("span", {class: "br"});
	const title = shown.map((b) => b.ways.map((w, i) => `${percent(w.taken,
		b.total)} ${wayText(b, i)}`).join(", ")).join("\n");
	const bar = (b) => {
		const stops = [];
		let at = 0;
		b.ways.forEach((w, i) => {
			const next = at + 100 * size(w.taken) / size(b.total);
			stops.push(`var(--way${i % 4}) ${round(at)}% ` +
				`${round(next)}%`);
			at = next;
		});
		return make("i", {class: b.ways.some((w) => !size(w.taken)) ?
			"never" : null, style: "background:linear-gradient(90deg," +
			stops.join(",") + ")"});
	};
	return make("span", {class: "br", title}, ...shown.slice(0, 4)
		.map(bar));
}

/* Beside a line: that no test ran it, or how much it goes with failure. */
function lineMark(s, d, line) {
	if (kind === "tests") {
		const score = s.scores.get(line);
		return make("span", {class: "mark", h: (score || 0) ** 2,
			title: score === undefined ? null : "score " +
				score.toFixed(4)},
		score === undefined ? "" : score.toFixed(3));
	}
	const blocks = [...d.byLine.get(s.i + ":" + line) || []];
	const untested = blocks.length &&
		blocks.every((b) => d.blocks[b].untested);
	return make("span", {class: "mark", title: untested ?
		"no test ran this line in this function" : null},
	untested ? UNTESTED : "");
}

/* A line of another function selects that function. */
function clickLine(key, line) {
	if (getSelection().toString())
		return;
	if (!state.d.byLine.has(key)) {
		const there = functionAt(shownSource.i, line);
		if (!there || there === state.f)
			return;
		selectFunction(there);
		scrollList(flist, flist.items.indexOf(there));
	}
	if (state.d.byLine.has(key))
		selectLine(shownSource.i, line);
}

/* The last function that begins before the line, the hottest of equals. */
function functionAt(source, line) {
	let best = null;
	for (const f of functions)
		if (f.source === source && f.line && f.line <= line &&
		    f.state !== UNCOVERED && (!best || f.line > best.line ||
		    f.line === best.line &&
		    size(f.executions) > size(best.executions)))
			best = f;
	return best;
}

function drawSource(jump) {
	const f = state.f, s = state.source === null ? null :
		sourceOf(state.source);
	byId("title").textContent = f.brief;
	byId("title").title = f.name + (f.linkage === f.name ? "" :
		"\n" + f.linkage);
	drawFiles();
	const notes = [];
	if (state.d.reason)
		notes.push((f.state === UNCOVERED ? "not covered: " :
			"counts of this function: ") + state.d.reason);
	if (s && s.note)
		notes.push(baseName(index.sources[s.i]) + ": " + s.note);
	if (!s)
		notes.push("no source lines are known; build with -g");
	byId("snote").textContent = notes.join("; ");
	if (s !== shownSource) {
		shownSource = s;
		slist.inner.style.minWidth = s ? 160 +
			Math.min(s.widest, 600) * 7.4 + "px" : "0";
		jump = true;
	}
	setItems(slist, s ? s.numbers : []);
	if (jump && s)
		showLine({source: f.source, line: f.line}, true);
	if (showsFiles())
		drawList(dlist, true);
}

/* The next line of the file that has code and never ran. */
function stepNever() {
	const s = shownSource;
	if (!s)
		return;
	const top = Math.floor(slist.el.scrollTop / slist.height +
		slist.el.clientHeight / slist.height / 3) + 1;
	const from = state.never && state.never.source === s.i ?
		state.never.line : s.numbers[Math.min(top,
			s.numbers.length - 1)] - 1;
	const lines = [...s.counts].filter(([line, n]) => n !== null &&
		!size(n) && !s.doubtful.has(line)).map(([line]) => line);
	/* of neighbours the first */
	const first = lines.filter((line, i) => !i || lines[i - 1] < line - 1);
	const next = first.find((line) => line > from) || first[0];
	if (next === undefined)
		return;
	state.never = {source: s.i, line: next};
	showLine(state.never);
	drawList(slist, true);
}

function drawFiles() {
	const on = new Map();
	for (const at of state.path ? state.path.lines : [])
		on.set(at.source, (on.get(at.source) || new Set())
			.add(at.line));
	const files = new Set(state.d.places.map((p) => p[0]));
	if (state.f.source !== null)
		files.add(state.f.source);
	const select = byId("file");
	select.hidden = !files.size;
	select.replaceChildren(...[...files].map((i) => make("option",
		{value: i, selected: i === state.source ? "" : null},
		baseName(index.sources[i]) + (on.has(i) ?
			" (" + on.get(i).size + " on the path)" : ""))));
	select.title = state.source === null ? "" :
		index.sources[state.source];
}

function showLine(at, top) {
	const s = shownSource;
	if (!at || !s || at.source !== s.i)
		return;
	let i = s.lines ? at.line - 1 : s.numbers.indexOf(at.line);
	if (i < 0)
		i = s.numbers.findIndex((line) => line >= at.line);
	if (top && i >= 0) {
		slist.el.scrollTop = Math.max(0, (i - 3) * slist.height);
		drawList(slist, false);
	} else {
		scrollList(slist, i);
	}
}

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

/* --- paths ---------------------------------------------------------------- */

function placeText(d, at) {
	if (!at)
		return "?";
	return (at.source === d.f.source ? "" :
		baseName(index.sources[at.source]) + ":") + at.line;
}

const goTo = (d, at) => make("button", {class: "go", onclick: () => {
	if (!at)
		return;
	state.source = at.source;
	drawSource(false);
	showLine(at);
}}, placeText(d, at));

/* Lines in the order of execution, made ranges, as cairn paths has them. */
function lineRanges(d, p) {
	const ranges = [];
	for (const at of p.lines) {
		const last = ranges[ranges.length - 1];
		if (last && last.source === at.source &&
		    at.line >= last.first && at.line <= last.last + 1)
			last.last = Math.max(last.last, at.line);
		else
			ranges.push({source: at.source, first: at.line,
				last: at.line});
	}
	return ranges;
}

function rangeText(d, ranges) {
	let source = d.f.source;
	return ranges.map((r) => {
		const name = r.source === source ? "" :
			baseName(index.sources[r.source]) + ":";
		source = r.source;
		return name + r.first + (r.last > r.first ? "\u2013" + r.last :
			"");
	}).join(" ");
}

const BEGINS = {entry: "entry", loop: "loop head", call: "after call",
	goto: "goto target", cut: "after cut"};
const ENDS = {return: "return", noreturn: "no return", resume: "resume",
	back: "back edge", call: "before call", goto: "goto", cut: "cut",
	unfinished: "unfinished"};

function beginText(d, p) {
	return BEGINS[p.begin] + (p.begin === "entry" ? "" : " " +
		placeText(d, firstLine(d, p.first)));
}

function endText(d, p) {
	const to = p.to ? firstLine(d, p.to) : undefined;
	return ENDS[p.end] + (to && p.end !== "unfinished" ? " " +
		placeText(d, to) : "");
}

function pathRow(d, p, total, doubtful) {
	const part = total ? size(p.count) / total : 0;
	return make("tr", {class: p === state.path ? "sel" : null,
		role: "option", "aria-selected": p === state.path,
		onclick: () => selectPath(p === state.path ? null : p)},
	make("td", {class: "num dim"}, p.unfinished ? "\u2020" :
		String(p.rank)),
	make("td", {class: "num"}, count(p.count, doubtful)),
	make("td", {class: "share"}, p.unfinished ? make("span", {class: "dim"},
		"frames") : make("span", {class: "bargraph", style:
		`width:${round(40 * part)}px`}), p.unfinished ? null :
		share(size(p.count), total)),
	make("td", {class: "num"}, String(p.blocks.length)),
	make("td", {}, beginText(d, p)), make("td", {}, endText(d, p)),
	make("td", {class: "lines"}, rangeText(d, lineRanges(d, p))),
	make("td", {class: "num dim"}, p.unfinished ? "" : digits(p.number)));
}

function pathNote(d) {
	const data = d.data, notes = [];
	const listed = data.paths.length;
	if (kind)
		notes.push(`${digits(d.paths.length)} of them are listed`);
	else if (listed < data.selected)
		notes.push(`the ${listed} hottest of ${digits(data.selected)}` +
			" executed paths are on this page");
	if (!kind && data.selected < data.executed)
		notes.push("only paths through " + index.line);
	if (data.unfinished.length < data.nunfinished)
		notes.push(`${data.unfinished.length} of ` +
			`${digits(data.nunfinished)} unfinished paths`);
	if (data.other !== undefined)
		notes.push(digits(data.other) + " of these executions are of " +
			"paths that are not preferred" + (size(data.other) ?
			" (" + share(size(data.other), size(data.total)) + ")" :
			"") + "; " + several(data.preferred, "preferred path") +
			" in " + several(data.counters, "counter") +
			(data.preferred ? ", delta " + (data.counters /
			data.preferred).toFixed(2) : ""));
	if (data.residual)
		notes.push("only paths that no test took are counted");
	if (size(data.lost))
		notes.push(digits(data.lost) + " executions of paths that " +
			"nobody can name");
	if (size(data.unknown))
		notes.push(digits(data.unknown) + " frames on unknown paths");
	if (data.cuts)
		notes.push(several(data.cuts, "cut edge"));
	return notes.join("; ");
}

function drawChip() {
	let text = "";
	if (state.block)
		text = (hasPaths ? "through block " : "block ") + state.block;
	if (state.line) {
		const [source, line] = state.line.split(":");
		text = (hasPaths ? "through " : "") + baseName(index.sources[source]) + ":" +
			line;
	}
	byId("chip").replaceChildren(...(text ? [text, make("button",
		{title: "all paths (Esc)", onclick: clearSelection},
		"\u00d7")] : []));
}

function drawPaths() {
	const d = state.d, data = d.data, table = byId("ptable");
	const counted = data.paths !== undefined;
	byId("ptitle").textContent = counted ?
		`${digits(data.executed)} of ${several(data.possible, "path")}` +
		` executed, ${several(data.total, "time")}` : hasPaths ? "" :
		`${several(d.f.entries, "call")} of ${d.f.brief}`;
	byId("pnote").textContent = byId("pnote").title = counted ?
		pathNote(d) : hasPaths ? "" :
		"edges are counted, not paths: build with --cairn=paths";
	drawChip();
	drawDetail();
	drawCalls();
	markRows();
	if (!counted || !d.paths.length) {
		table.replaceChildren(make("div", {class: "empty"}, counted ?
			"no path of this function was executed" :
			d.f.state === UNCOVERED ? "this function is not covered" :
			"this function counts edges, not paths"));
		return;
	}
	/* of what tested paths did nobody knows */
	const total = data.residual ? 0 : size(data.total);
	const doubtful = d.f.state === DOUBTFUL;
	const rows = shownPaths();
	const heads = [["#", "num"], ["count", "num"], ["share", ""],
		["blocks", "num"], ["begin", ""], ["end", ""], ["lines", ""],
		["number", "num"]];
	const top = table.scrollTop;
	table.replaceChildren(make("table", {}, make("thead", {}, make("tr", {},
		...heads.map(([text, cls]) => make("th", {class: cls}, text)))),
	make("tbody", {}, ...rows.map((p) => pathRow(d, p, total, doubtful)))));
	if (!rows.length)
		table.append(make("div", {class: "empty"},
			"none of the listed paths goes there"));
	table.scrollTop = top;
	const sel = table.querySelector("tr.sel");
	if (sel)
		sel.scrollIntoView({block: "nearest"});
}

/* --- calls ------------------------------------------------------------------ */

/* The function that a number or a name of the data stands for. */
function functionLink(which) {
	if (typeof which !== "number")
		return make("span", {class: "dim"}, which === null ?
			"through pointers" : shortName(which));
	const f = functions[which];
	return make("button", {class: "go", title: f.name, onclick: () => {
		selectFunction(f);
		scrollList(flist, flist.items.indexOf(f));
	}}, f.brief);
}

function callTable(title, heads, rows, empty) {
	return make("div", {class: "calls"}, make("h3", {}, title), rows.length ?
		make("table", {}, make("thead", {}, make("tr", {},
			...heads.map((text, i) => make("th", {class: i ?
				"num" : ""}, text)))),
		make("tbody", {}, ...rows)) :
		make("div", {class: "dim"}, empty));
}

const cell = (...what) => make("td", {class: "num"}, ...what);
const times = (n, what) => make("td", {class: "num dim", title: what + " " +
	"\u00d7 " + n}, n > 1 ? "\u00d7" + digits(n) : "");
const SHOWN_CALLS = 100;

/* Calls that no function of the program made by name. */
function otherCalls(d) {
	const known = d.data.callers.reduce((sum, c) => sum + size(c[1]), 0);
	return d.f.entries === null ? 0 : size(d.f.entries) - known;
}

function callerRows(d) {
	const whole = size(d.f.entries);
	const rows = d.data.callers.slice(0, SHOWN_CALLS).map(([which, n]) =>
		make("tr", {}, make("td", {}, functionLink(which)),
			cell(brief(n)), cell(whole ? percent(n, whole) : "")));
	const others = otherCalls(d);
	if (others > 0)
		rows.push(make("tr", {}, make("td", {class: "dim"},
			"through pointers, or from outside"),
		cell(brief(others)), cell(percent(others, whole))));
	return rows;
}

function calleeRows(d) {
	return d.data.callees.slice(0, SHOWN_CALLS).map(([which, n, places,
		line]) => make("tr", {}, make("td", {}, functionLink(which)),
		cell(brief(n)), times(places, "place"),
		cell(line && d.f.source !== null ? goTo(d,
			{source: d.f.source, line}) : "")));
}

function inlinedRows(d) {
	const whole = size(d.data.instructions);
	return d.data.inlined.slice(0, SHOWN_CALLS).map(([name, source, line, n,
		cost]) => make("tr", {}, make("td", {}, source === null ?
		shortName(name) : make("button", {class: "go", title: name,
			onclick: () => {
				state.source = source;
				drawSource(false);
				showLine({source, line}, true);
			}}, shortName(name))), times(n, "copy"),
	cell(whole ? percent(cost, whole) : "")));
}

function drawCalls() {
	const d = state.d, data = d.data;
	if (!data.callers)
		return;
	byId("calls").replaceChildren(
		callTable("called by", ["function", "calls", "share"],
			callerRows(d), "nobody"),
		callTable("calls", ["function", "calls", "", "line"],
			calleeRows(d), "nothing"),
		callTable("inlined here", ["function", "", "of its instructions"],
			inlinedRows(d), "nothing"));
}

/* Reports have two things below: paths, if they are counted, and calls. */
function showPane(id) {
	if (kind)
		return;
	state.tab = id === "paths" && hasPaths ? "paths" : "calls";
	const calls = state.tab === "calls";
	byId("ptable").hidden = calls;
	byId("calls").hidden = !calls;
	for (const tab of byId("tabs").children) {
		const on = tab.dataset.tab === state.tab;
		tab.setAttribute("aria-selected", on);
		tab.tabIndex = on ? 0 : -1;
	}
	writeAddress();
}

function startPanes() {
	if (kind)
		return;
	if (hasPaths)
		for (const id of ["paths", "calls"])
			byId("tabs").append(make("button", {role: "tab",
				"data-tab": id, onclick: () => showPane(id)}, id));
	byId("tabs").hidden = !hasPaths;
	showPane("paths");
}

/* --- what is selected ------------------------------------------------------- */

function branchItems(b) {
	return b.ways.map((w, i) => make("div", {class: "wayline"},
		make("span", {class: "meter"}, make("span", {style:
			`width:${round(100 * size(w.taken) / size(b.total))}%;` +
			`background:var(--way${i % 4})`})),
		make("span", {class: size(w.taken) ? "" : "neverword"},
			percent(w.taken, b.total)), " ", wayText(b, i), " ",
		make("span", {class: "dim"}, brief(w.taken))));
}

function copyItems(c) {
	return c.spots.map((spot) => make("div", {}, make("span", {class:
		"copycount"}, brief(spot.count)), spot.line ? " inlined into " :
		" in ", functionLink(spot.f), spot.caller ? " by " +
		shortName(spot.caller) : "", spot.line ? ", line " + spot.line :
		"", spot.times > 1 ? `, ${spot.times} times` : ""))
		.concat(c.n > c.spots.length ? [make("div", {class: "dim"},
			`${c.n - c.spots.length} more`)] : []);
}

function lineDetail(d, item) {
	const [source, line] = state.line.split(":").map(Number);
	const s = sourceOf(source), copies = s.copies.get(line);
	const branches = (s.branches.get(line) || []).filter(isReached);
	const blocks = [...d.byLine.get(state.line) || []];
	return [...item("line", baseName(index.sources[source]) + ":" + line),
		...item("count", s.counts.has(line) ? count(s.counts.get(line),
			s.doubtful.has(line)) : "no code"),
		...item("blocks", ...blocks.slice(0, 40).flatMap((b) =>
			[blockLink(b), " "])),
		...branches.flatMap((b, i) => item(i ? "" : "branches",
			...branchItems(b))),
		...(copies ? item("copies", ...copyItems(copies)) : [])];
}

const blockLink = (b) => b ? make("button", {class: "go", onclick: () =>
	selectBlock(b)}, "#" + b) : "outside";

function edgeItems(d, edges, end) {
	const block = d.blocks[state.block];
	return edges.map((e) => make("div", {}, make("span", {class: "copycount"},
		brief(e.count)), " ", end === "t" ? "to " : "from ",
	blockLink(e[end]), " ", make("span", {class: "dim"}, e.kind), " ",
	edges.length > 1 && size(block.count) ? percent(e.count, block.count) :
		""));
}

function blockDetail(d, item) {
	const b = d.blocks[state.block];
	const lines = [...new Map(b.segments.flat().map((at) =>
		[at.source + ":" + at.line, at])).values()];
	return [...item("block", `#${b.id}: `, several(b.size, "instruction")),
		...item("count", count(b.count, d.f.state === DOUBTFUL)),
		...item("lines", ...lines.slice(0, 40).flatMap((at) =>
			[goTo(d, at), " "])),
		...item("from", ...edgeItems(d, b.ins, "s")),
		...item("to", ...edgeItems(d, b.outs, "t"))];
}

function drawSelection() {
	const d = state.d, detail = byId("detail");
	const item = (name, ...what) => [make("dt", {}, name),
		make("dd", {}, ...what)];
	const items = state.line ? lineDetail(d, item) : state.block ?
		blockDetail(d, item) : [];
	detail.replaceChildren(items.length ? make("dl", {}, ...items) :
		make("div", {class: "dim"}, d.paths.length ?
			"Select a path to see it in the source and on the graph." :
			"Select a line or a block to see where it comes from " +
			"and where it goes."));
}

function drawDetail() {
	const d = state.d, p = state.path, detail = byId("detail");
	if (!p) {
		drawSelection();
		return;
	}
	const branches = branchesOf(d, p);
	const list = [];
	branches.forEach((e, i) => {
		if (i)
			list.push(", ");
		const [words, at] = wayOf(d, e);
		list.push(goTo(d, lastLine(d, e.s)), " ",
			make("span", {class: "way"}, words),
			at ? goTo(d, at) : "");
	});
	const last = p.to ? firstLine(d, p.to) :
		lastLine(d, p.blocks[p.blocks.length - 1]);
	const item = (name, ...what) => [make("dt", {}, name),
		make("dd", {}, ...what)];
	detail.replaceChildren(make("dl", {},
		...item("path", p.unfinished ? "unfinished" :
			digits(p.number) + " of " + digits(d.data.possible)),
		...item("begins", BEGINS[p.begin] + " ",
			goTo(d, firstLine(d, p.first))),
		...item("branches", ...(list.length ? list : ["none"])),
		...item("ends", ENDS[p.end] + " ", goTo(d, last)),
		...item("blocks", p.blocks.join(" ")),
		...item("lines", rangeText(d, lineRanges(d, p)) || "none known")
	));
}

function stepPath(by) {
	const rows = shownPaths(), at = rows.indexOf(state.path);
	const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by;
	if (rows[next])
		selectPath(rows[next]);
}

/* --- lists ---------------------------------------------------------------- */

/* The tables of the page (src/cli/html_table.c) become tabs beside the paths of
 * the function.  A row that names a path selects it. */
const lists = [...document.querySelectorAll("#tables > section")];
const rowsOf = (list) => list ? [...list.querySelectorAll("tr[data-f]")] : [];
const listed = lists.flatMap(rowsOf);

function rowTarget(row) {
	const {f, p, s, l} = row.dataset;
	return {f: functions[f], path: detailOf(functions[f]).paths[p],
		line: l === undefined ? null : s + ":" + l};
}

function selectRow(row) {
	const {f, path, line} = rowTarget(row);
	if (f !== state.f) {
		selectFunction(f);
		scrollList(flist, flist.items.indexOf(f));
	}
	state.block = 0;
	state.line = line;
	if (line)
		state.source = Number(row.dataset.s);
	selectPath(path);
	if (line)
		showLine({source: state.source, line: Number(row.dataset.l)});
	row.scrollIntoView({block: "nearest"});
}

function isSelected(row) {
	if (functions[row.dataset.f] !== state.f || !state.path)
		return false;
	const {path, line} = rowTarget(row);
	return path === state.path && (line === null || line === state.line);
}

function markRows() {
	for (const row of listed) {
		const on = isSelected(row);
		row.classList.toggle("sel", on);
		row.setAttribute("aria-selected", on);
	}
}

/* The list that is shown; undefined: the paths of the function. */
const shownList = () => lists.find((list) => list.id === state.tab);

function showTab(id) {
	const shown = lists.find((list) => list.id === id);
	if (!kind || id !== "function" && !shown)
		return;
	state.tab = id;
	for (const list of lists)
		list.hidden = list !== shown;
	byId("ptable").hidden = byId("pbar").hidden = !!shown;
	const whole = !!shown && !rowsOf(shown).length;
	byId("pbody").classList.toggle("whole", whole);
	byId("detail").hidden = whole;
	for (const tab of byId("tabs").children) {
		const on = tab.dataset.tab === id;
		tab.setAttribute("aria-selected", on);
		tab.tabIndex = on ? 0 : -1;
	}
	writeAddress();
}

function stepTab(by) {
	const tabs = [...byId("tabs").children];
	const at = tabs.findIndex((tab) => tab.dataset.tab === state.tab) + by;
	const next = tabs[(at + tabs.length) % tabs.length];
	showTab(next.dataset.tab);
	next.focus();
}

/* A row of the list that is shown, else a path of the function. */
function stepShown(by) {
	const list = shownList(), rows = rowsOf(list);
	if (!list) {
		stepPath(by);
		return;
	}
	const at = rows.findIndex(isSelected);
	const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by;
	if (rows[next])
		selectRow(rows[next]);
}

function drawLegend() {
	const sample = (cls, ...what) => make("svg", {width: 24, height: 12,
		class: "sample", "aria-hidden": "true"},
	make("g", {class: cls}, ...what));
	const block = (cls) => sample("blk " + cls, make("rect", {x: 1.5,
		y: 1.5, width: 21, height: 9, rx: 2}));
	const edge = (cls) => sample("edge " + cls, make("path", {class: "wire",
		d: "M0,6L24,6", "stroke-width": 2}));
	const item = (...what) => make("span", {}, ...what);
	const items = [item(edge("on"), "selected path"),
		item(edge("ends"), "a path ends, the next begins")];
	if (kind === "residual")
		items.unshift(item(block("untested"), edge("untested"),
			make("b", {}, UNTESTED), " no test ran it: block, " +
			"edge, line"));
	else
		items.unshift(item(make("b", {}, "0.123"), " beside a line: " +
			"how much it goes with failure, at most 1"));
	items.push(item(block("zero"), kind === "residual" ?
		"not executed in the field" : "not executed"));
	byId("legend").replaceChildren(...items);
	byId("legend").hidden = false;
}

function startLists() {
	if (!kind)
		return;
	document.body.classList.add("lists", kind);
	if (!functions.length)
		document.body.classList.add("nofunctions");
	const tab = (id, text) => byId("tabs").append(make("button", {role:
		"tab", "data-tab": id, "aria-controls": id === "function" ?
		"ptable" : id, onclick: () => showTab(id)}, text));
	for (const list of lists) {
		const n = rowsOf(list).length;
		list.setAttribute("role", "tabpanel");
		list.tabIndex = 0;
		tab(list.id, list.querySelector("h2").textContent +
			(n ? ` (${digits(n)})` : ""));
		byId("pbody").insertBefore(list, byId("detail"));
	}
	byId("tables").remove();
	if (functions.length)
		tab("function", "paths of this function");
	for (const row of listed)
		row.addEventListener("click", () => isSelected(row) ?
			clearSelection() : selectRow(row));
	byId("tabs").hidden = false;
	drawLegend();
	showTab(lists[0].id);
}

/* --- the frame ------------------------------------------------------------ */

function setTheme(name) {
	document.documentElement.dataset.theme = name === "dark" ? "dark" :
		"light";
}

function drawTop() {
	const t = index.totals;
	byId("program").textContent = index.program ? baseName(index.program) :
		"";
	byId("program").title = index.command || index.program || "";
	const of = (a, b, what) => `${digits(a)} of ${digits(b)} ${what}` +
		(size(b) ? ` (${(100 * size(a) / size(b)).toFixed(1)} %)` : "");
	byId("totals").textContent = index.headline || [
		several(index.runs, "run"),
		of(t.functions_executed, t.functions, "functions"),
		of(t.blocks_executed, t.blocks, "blocks"),
		of(t.lines_executed, t.lines, "lines executed"),
		of(t.branches_taken, t.branches, "ways of branches taken"),
	].concat(t.path_executions === undefined ? [] :
		["paths taken: " + brief(t.path_executions)]).join(" \u00b7 ");
	byId("totals").title = byId("totals").textContent;
	const notes = [];
	if (index.note)
		notes.push("note: " + index.note);
	if (size(t.inconsistent))
		notes.push("functions whose flow does not add up: " +
			digits(t.inconsistent) +
			"; their counts are marked ~, cairn check says why");
	if (size(t.other_executions))
		notes.push("executions of paths that are not preferred: " +
			digits(t.other_executions) + " of " +
			digits(t.path_executions));
	for (const key of ["function", "file", "line"])
		if (index[key])
			notes.push(`only --${key} ${index[key]}`);
	byId("notes").replaceChildren(...notes.map((text) =>
		make("div", {}, text)));
	if (!hasPaths && !kind)
		document.body.classList.add("nopaths");
	document.body.classList.toggle("plain", !kind);
}

function listenToSplits() {
	for (const el of document.querySelectorAll(".split"))
		el.addEventListener("pointerdown", (e) => {
			const key = el.dataset.size;
			const box = byId("main").getBoundingClientRect();
			const move = (m) => {
				const px = key === "--left" ?
					m.clientX - box.left : key === "--right" ?
					box.right - m.clientX :
					box.bottom - m.clientY;
				document.documentElement.style.setProperty(key,
					Math.max(90, px) + "px");
			};
			const up = () => {
				removeEventListener("pointermove", move);
				removeEventListener("pointerup", up);
			};
			e.preventDefault();
			addEventListener("pointermove", move);
			addEventListener("pointerup", up);
		});
}

const KEYS = {
	j: () => stepShown(1), k: () => stepShown(-1),
	n: () => stepFunction(1), p: () => stepFunction(-1),
	"+": () => zoomGraph(1.3), "=": () => zoomGraph(1.3),
	"-": () => zoomGraph(1 / 1.3), 0: () => fitGraph(0),
	t: () => byId("theme").click(), "?": () => byId("keys").showModal(),
	"/": () => byId("filter").select(),
	f: () => kind || showLeft(!showsFiles()), u: stepNever,
	c: () => showPane(state.tab === "calls" ? "paths" : "calls"),
	Escape: clearSelection,
};

function onKey(e) {
	if (e.ctrlKey || e.metaKey || e.altKey || byId("keys").open)
		return;
	if (e.target.matches("input, select")) {
		if (e.key === "Escape" || e.key === "Enter") {
			if (e.key === "Enter" && showsFiles())
				stepFile(1);
			else if (e.key === "Enter" && flist.items[0])
				selectFunction(flist.items[0]);
			e.target.blur();
			(showsFiles() ? dlist : flist).el.focus();
		}
		return;
	}
	const arrow = {ArrowDown: 1, ArrowUp: -1}[e.key];
	const side = {ArrowRight: 1, ArrowLeft: -1}[e.key];
	if (side && kind && e.target.matches("[role=tab]"))
		stepTab(side);
	else if (arrow && e.target === flist.el)
		stepFunction(arrow);
	else if (arrow && e.target === dlist.el)
		stepFile(arrow);
	else if (arrow && e.target !== slist.el)
		stepShown(arrow);
	else if (!arrow && KEYS[e.key] && state.f)
		KEYS[e.key]();
	else
		return;
	e.preventDefault();
}

/* On paper: the lines of the function, all of its graph, all of its paths. */
function listenToPrinter() {
	let kept = null;
	addEventListener("beforeprint", () => {
		const s = shownSource, f = state.f;
		if (!f)
			return;
		const last = Math.max(state.d.extent[1], f.line);
		const at = (line) => s.lines ? line - 1 :
			s.numbers.filter((l) => l < line).length;
		if (s && s.i === f.source && f.line)
			slist.range = [at(f.line), at(last + 1)];
		drawList(slist, true);
		kept = {k: view.k, x: view.x, y: view.y};
		const svg = byId("canvas").querySelector("svg");
		if (svg) {
			svg.setAttribute("viewBox", `0 0 ${view.w} ${view.h}`);
			view.g.removeAttribute("transform");
		}
	});
	addEventListener("afterprint", () => {
		const svg = byId("canvas").querySelector("svg");
		slist.range = null;
		drawList(slist, true);
		if (svg && kept) {
			svg.removeAttribute("viewBox");
			Object.assign(view, kept);
			moveGraph();
		}
	});
}

function start() {
	setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" :
		"light");
	byId("theme").onclick = () => setTheme(document.documentElement.dataset
		.theme === "dark" ? "light" : "dark");
	byId("help").onclick = () => byId("keys").showModal();
	byId("filter").oninput = (e) => {
		state.query = e.target.value;
		drawFunctions();
		drawFileList();
		flist.el.scrollTop = dlist.el.scrollTop = 0;
	};
	byId("file").onchange = (e) => {
		state.source = Number(e.target.value);
		drawSource(false);
	};
	byId("ptable").addEventListener("click", () => byId("ptable").focus());
	byId("flist").addEventListener("click", () => byId("flist").focus());
	addEventListener("keydown", onKey);
	addEventListener("hashchange", readAddress);
	listenToGraph();
	listenToSplits();
	listenToPrinter();
	drawTop();
	drawFunctions();
	startLists();
	startPanes();
	startFiles();
	if (functions.length)
		readAddress();
	else
		byId("snote").textContent = "no functions";
}

start();
