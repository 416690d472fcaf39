/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands below source and graph: paths, calls, lists, and in words what is
 * selected.
 */
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
const ENDS = {return: "return", tail: "tail call", noreturn: "no return",
	resume: "resume", back: "back edge", call: "before call", goto: "goto", cut: "cut",
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

/* --- calls ---------------------------------------------------------------- */

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
	if (!data.callers) {
		byId("calls").replaceChildren(make("div", {class: "dim"},
			"no calls are known"));
		return;
	}
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

/* --- what is selected ----------------------------------------------------- */

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
