/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: four views of one selection.  All text is put on the screen as
 * text nodes.  A list that may be long draws only the rows that are in sight.
 */
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
	writeHash(parts);
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
	const get = readHash();
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
	drawHead(byId("fhead"), flist, COLUMNS, state, (key, name) => name,
		drawFunctions);
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
