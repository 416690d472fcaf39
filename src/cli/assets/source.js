/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories and files with what ran of each, and the source of one of them:
 * counts, branches, what is selected.
 */
/* --- directories and files ------------------------------------------------ */

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
	drawHead(byId("dhead"), dlist, DCOLUMNS, dstate, (key, name) =>
		key === "name" ? name : key === "instructions" ?
			"executed instructions" : name + ", the least executed first",
	drawFileList);
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
