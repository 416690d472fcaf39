/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of cairn diff: files or functions on the left, the source of one file
 * with both counts on the right.
 */
const FATES = ["same", "changed", "new", "lost", "added", "removed",
	"unknown"];
const SIGNS = {changed: "*", new: "+", lost: "\u2212", added: ">",
	removed: "<", unknown: "?", same: ""};
const CONTEXT = 3;

const readTotal = (a) => ({ranA: size(a[0]), allA: size(a[1]),
	ranB: size(a[2]), allB: size(a[3]), addedRan: size(a[11]),
	...Object.fromEntries(FATES.map((fate, i) => [fate, size(a[4 + i])]))});

const files = index.files.map((a, i) => {
	const lines = readTotal(a[2]), ways = readTotal(a[3]);
	return {i, path: a[0], how: a[1], lines, ways, lower: a[0].toLowerCase(),
		name: a[0], fresh: lines.new + ways.new,
		gone: lines.lost + ways.lost, added: lines.added,
		change: points(lines)};
});
const functions = index.functions.map((a, i) => ({i, name: a[0],
	brief: shortName(a[0]), linkage: a[1] || a[0], file: a[2], line: a[3],
	a: a[4], b: a[5], entriesA: a[6], entriesB: a[7], fate: FATES[a[8]],
	doubtful: a[9], lower: a[0].toLowerCase(),
	change: Math.abs(size(a[5]) - size(a[4]))}));
const state = {file: null, f: null, near: true, list: "files", query: "",
	sort: "gone", at: null};

/* Points of percentage that B has more than A. */
function points(t) {
	return t.allA && t.allB ? 100 * t.ranB / t.allB - 100 * t.ranA / t.allA :
		0;
}

const signed = (v, digits) => (v > 0 ? "+" : v < 0 ? "\u2212" : "") +
	Math.abs(v).toFixed(digits);
const tone = (v) => v > 0 ? "num up" : v < 0 ? "num down" : "num dim";

/* --- the head ------------------------------------------------------------- */

function shareCell(ran, all) {
	return make("td", {class: "num"}, all ? `${digits(ran)} of ` +
		`${digits(all)} (${(100 * ran / all).toFixed(2)} %)` : "none");
}

function totalRow(name, t) {
	const change = points(t);
	return make("tr", {}, make("td", {}, name), shareCell(t.ranA, t.allA),
		shareCell(t.ranB, t.allB), make("td", {class: tone(change)},
			t.allA && t.allB ? signed(change, 2) : ""),
		make("td", {class: "num up"}, t.new ? digits(t.new) : ""),
		make("td", {class: "num down"}, t.lost ? digits(t.lost) : ""),
		make("td", {class: "num"}, t.added ? `${digits(t.added)} (` +
			`${digits(t.addedRan)} ran)` : ""),
		make("td", {class: "num"}, t.removed ? digits(t.removed) : ""));
}

function drawSummary() {
	const heads = ["", "A", "B", "points", "newly run", "no longer run",
		"only in B", "only in A"];
	const names = ["functions", "lines", "ways of branches"];
	byId("summary").replaceChildren(make("table", {}, make("tr", {},
		...heads.map((text) => make("th", {}, text))),
	...index.totals.map((a, i) => totalRow(names[i], readTotal(a)))),
	make("ul", {}, ...index.limits.map(([text, broken]) => make("li",
		{class: broken ? "broken" : "kept"}, text))));
	byId("notes").replaceChildren(...index.notes.map((text) =>
		make("div", {}, "note: " + text)));
	byId("program").textContent = `${baseName(index.a.file)} \u2192 ` +
		baseName(index.b.file);
	byId("totals").textContent = `A: ${several(index.a.runs, "run")}, ` +
		`${digits(index.a.executions)} executions \u00b7 B: ` +
		`${several(index.b.runs, "run")}, ` +
		`${digits(index.b.executions)} executions \u00b7 ` +
		(index.same ? "the same build" : "different builds");
	byId("legend2").replaceChildren(...[["new", "new"], ["lost", "lost"],
		["added", "only in B"], ["idle", "only in B, never ran"],
		["removed", "only in A"]]
		.map(([fate, text]) => make("b", {style: "background:var(--" +
			(fate === "idle" ? "lost" : fate) + "-bg)"}, text)));
}

/* --- files and functions -------------------------------------------------- */

const FILE_COLUMNS = [["name", "file"], ["change", "lines"],
	["fresh", "new"], ["gone", "lost"], ["added", "only B"]];
const FUNCTION_COLUMNS = [["name", "function"], ["a", "A"], ["b", "B"],
	["growth", "change"], ["fate", ""]];
const flist = makeList(byId("flist"), 24, drawRow);
const showsFiles = () => state.list === "files";

function drawRow(row) {
	return showsFiles() ? drawFile(row) : drawFunction(row);
}

function drawFile(f) {
	const number = (n, cls) => make("span", {class: n ? cls : "num dim"},
		n ? digits(n) : "");
	return make("div", {class: "row frow" + (f === state.file ? " sel" : ""),
		role: "option", "aria-selected": f === state.file,
		title: `${f.path}\nlines matched: ${f.how}`,
		onclick: () => selectFile(f)},
	make("span", {class: "name"}, baseName(f.path)),
	make("span", {class: tone(f.change)}, f.change ? signed(f.change, 1) :
		""), number(f.fresh, "num up"), number(f.gone, "num down"),
	number(f.added, "num"));
}

function growth(f) {
	return size(f.a) && size(f.b) ? 100 * size(f.b) / size(f.a) - 100 : 0;
}

function drawFunction(f) {
	const only = f.fate === "added" || f.fate === "removed";
	const there = (n, absent) => absent ? "\u2013" : brief(n, f.doubtful);
	return make("div", {class: "row frow" + (f === state.f ? " sel" : ""),
		role: "option", "aria-selected": f === state.f,
		title: f.name + (f.file === null ? "" : "\n" +
			files[f.file].path + ":" + f.line) + "\nA: " +
			count(f.a) + ", B: " + count(f.b) + " executions of blocks",
		onclick: () => selectFunction(f)},
	make("span", {class: "name"}, f.brief),
	make("span", {class: "num"}, there(f.a, f.fate === "added")),
	make("span", {class: "num"}, there(f.b, f.fate === "removed")),
	make("span", {class: "num"}, only || !growth(f) ? "" :
		signed(growth(f), 1) + " %"),
	make("span", {class: f.fate === "lost" ? "num down" : f.fate === "new" ?
		"num up" : "num dim"}, f.fate === "changed" ? "" : f.fate));
}

function sorted() {
	const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
	const all = showsFiles() ? files : functions;
	const list = all.filter((row) => words.every((w) =>
		row.lower.includes(w)));
	const key = state.sort;
	const value = {growth: (f) => Math.abs(growth(f)),
		change: (row) => showsFiles() ? -row.change : row.change,
		a: (f) => size(f.a), b: (f) => size(f.b)}[key] ||
		((row) => row[key]);
	if (key === "name" || key === "fate")
		list.sort((x, y) => x[key] < y[key] ? -1 : x[key] > y[key] ||
			x.i - y.i);
	else
		list.sort((x, y) => value(y) - value(x) || x.i - y.i);
	return list;
}

function drawLists() {
	const columns = showsFiles() ? FILE_COLUMNS : FUNCTION_COLUMNS;
	drawHead(byId("fhead"), flist, columns, state, (key, name) => name ||
		"what became of it", drawLists);
	const list = sorted();
	setItems(flist, list);
	byId("shown").textContent = several(list.length, showsFiles() ? "file" :
		"function");
}

function showList(list) {
	state.list = list;
	state.sort = list === "files" ? "gone" : "change";
	byId("lfiles").setAttribute("aria-selected", list === "files");
	byId("lfunctions").setAttribute("aria-selected", list !== "files");
	drawLists();
	writeAddress();
}

/* --- source --------------------------------------------------------------- */

const slist = makeList(byId("slist"), 18, drawLine);
const cache = new Map();

/* Rows of a file: lines of B in order, lines of A alone where they were, ways of
 * branches below their lines. */
function rowsOf(f) {
	if (cache.has(f.i))
		return cache.get(f.i);
	const data = read("s" + f.i), rows = [], old = new Map(data.removed);
	const text = data.text === null ? null :
		data.text.replace(/\n$/, "").split("\n");
	const ways = new Map();
	for (const [at, ...way] of data.ways)
		ways.set(at, (ways.get(at) || []).concat([way]));
	let next = 1;
	const plain = (until) => {
		for (; text && next < until && next <= text.length; next++)
			rows.push({line: next, text: text[next - 1], fate: ""});
	};
	data.lines.forEach(([lineA, a, lineB, b, fate, doubtful, place], i) => {
		plain(lineB || place);
		rows.push({lineA, a, lineB, b, fate: FATES[fate], doubtful,
			line: lineB || lineA, text: lineB ? text ?
				text[lineB - 1] || "" : "" : old.get(lineA) || "",
			mixed: ways.has(i)});
		for (const way of ways.get(i) || [])
			rows.push({way, fate: FATES[way[4]], line: 0});
		if (lineB)
			next = lineB + 1;
	});
	plain(Infinity);
	cache.set(f.i, {rows, note: data.note});
	return cache.get(f.i);
}

const isDifference = (row) => row.way || row.mixed || ["new", "lost", "added",
	"removed"].includes(row.fate);

/* Rows near differences, with a mark where others are left out. */
function nearRows(rows) {
	const keep = new Set();
	rows.forEach((row, i) => {
		if (isDifference(row))
			for (let k = i - CONTEXT; k <= i + CONTEXT; k++)
				keep.add(k);
	});
	const out = [];
	let left = 0;
	const gap = () => {
		if (left)
			out.push({gap: left, fate: ""});
		left = 0;
	};
	rows.forEach((row, i) => {
		if (keep.has(i)) {
			gap();
			out.push(row);
		} else {
			left++;
		}
	});
	gap();
	return out;
}

function drawWay(row) {
	const [branch, way, a, b, , to] = row.way;
	return make("div", {class: "row srow wayrow " + row.fate},
		make("span", {class: "count"}, count(a)),
		make("span", {class: "count"}, count(b)),
		make("span", {class: "sign"}, SIGNS[row.fate]),
		make("span", {class: "no"}, ""),
		make("span", {class: "text"}, `    way ${way + 1}` + (branch ?
			` of branch ${branch + 1}` : "") + (to ? `, to line ${to}` :
			"")));
}

function drawLine(row) {
	if (row.way)
		return drawWay(row);
	if (row.gap)
		return make("div", {class: "row srow gap"}, make("span", {}),
			make("span", {}), make("span", {}), make("span", {}),
			make("span", {class: "text"}, "\u22ef " +
				several(row.gap, "line")));
	const idle = row.fate === "added" && !size(row.b) ? " idle" : "";
	return make("div", {class: "row srow " + row.fate + idle +
		(row === state.at ? " seek" : ""), title: row.fate || null},
	make("span", {class: "count"}, row.lineA ? count(row.a, row.doubtful) :
		""),
	make("span", {class: "count"}, row.lineB ? count(row.b, row.doubtful) :
		""),
	make("span", {class: "sign"}, SIGNS[row.fate] || ""),
	make("span", {class: "no"}, row.fate === "removed" ? "(" + row.line +
		")" : String(row.line)),
	make("span", {class: "text"}, row.text.replace(/\r$/, "")));
}

function drawSource() {
	const f = state.file;
	if (!f)
		return;
	const {rows, note} = rowsOf(f);
	const shown = state.near ? nearRows(rows) : rows;
	byId("title").textContent = baseName(f.path);
	byId("title").title = f.path;
	byId("snote").textContent = note || (state.near &&
		!rows.some(isDifference) ? "no line of this file ran in one " +
		"profile only; d shows all of it" : "");
	byId("near").setAttribute("aria-pressed", state.near);
	byId("near").textContent = state.near ? "differences only" :
		"whole file";
	slist.inner.style.minWidth = 260 + 7.4 * Math.min(600, rows.reduce(
		(m, row) => Math.max(m, (row.text || "").length), 0)) + "px";
	setItems(slist, shown);
}

function selectFile(f) {
	state.file = f;
	state.f = null;
	state.at = null;
	slist.el.scrollTop = 0;
	drawSource();
	drawList(flist, true);
	writeAddress();
}

function selectFunction(f) {
	if (f.file !== null) {
		state.near = false;
		selectFile(files[f.file]);
		showRow(slist.items.findIndex((row) => row.line >= f.line));
	}
	state.f = f;
	drawList(flist, true);
	writeAddress();
}

function showRow(i) {
	if (i < 0)
		return;
	state.at = slist.items[i];
	slist.el.scrollTop = Math.max(0, (i - 4) * slist.height);
	drawList(slist, true);
}

/* The first row of the next group of differences. */
function stepDifference(by) {
	const rows = slist.items, at = rows.indexOf(state.at);
	for (let i = at < 0 && by < 0 ? rows.length - 1 : at + by; rows[i];
		i += by)
		if (isDifference(rows[i]) && !(rows[i - 1] &&
		    isDifference(rows[i - 1])) && !rows[i].way) {
			showRow(i);
			return;
		}
}

/* --- addresses: #file=PATH or #f=NAME, &near=0, &theme=dark ---------------- */

function writeAddress() {
	const parts = state.f ? ["f=" + encodeURIComponent(state.f.linkage)] :
		state.file ? ["file=" + encodeURIComponent(state.file.path)] :
		[];
	if (!state.near)
		parts.push("near=0");
	if (!showsFiles())
		parts.push("list=functions");
	writeHash(parts);
}

function readAddress() {
	const get = readHash();
	state.near = get.get("near") !== "0";
	showList(get.get("list") === "functions" || !files.length ?
		"functions" : "files");
	const f = functions.find((g) => g.linkage === get.get("f"));
	if (f)
		selectFunction(f);
	else
		selectFile(files.find((g) => g.path === get.get("file")) ||
			sorted().find((row) => showsFiles() && row) || files[0] ||
			null);
}

/* --- the frame ------------------------------------------------------------ */

function stepRow(by) {
	const at = flist.items.indexOf(showsFiles() ? state.file : state.f) + by;
	if (!flist.items[at])
		return;
	if (showsFiles())
		selectFile(flist.items[at]);
	else
		selectFunction(flist.items[at]);
	scrollList(flist, at);
}

function toggleNear() {
	state.near = !state.near;
	state.at = null;
	drawSource();
	writeAddress();
}

const KEYS = {
	n: () => stepDifference(1), p: () => stepDifference(-1),
	d: toggleNear, t: () => byId("theme").click(),
	f: () => showList(showsFiles() ? "functions" : "files"),
	"/": () => byId("filter").select(),
	"?": () => byId("keys").showModal(),
};

function onKey(e) {
	if (e.ctrlKey || e.metaKey || e.altKey || byId("keys").open)
		return;
	if (e.target.matches("input")) {
		if (e.key === "Escape" || e.key === "Enter") {
			e.target.blur();
			flist.el.focus();
		}
		return;
	}
	const arrow = {ArrowDown: 1, ArrowUp: -1}[e.key];
	if (arrow && e.target !== slist.el)
		stepRow(arrow);
	else if (!arrow && KEYS[e.key])
		KEYS[e.key]();
	else
		return;
	e.preventDefault();
}

/* On paper: all rows that are shown. */
function listenToPrinter() {
	addEventListener("beforeprint", () => {
		slist.range = [0, slist.items.length];
		drawList(slist, true);
	});
	addEventListener("afterprint", () => {
		slist.range = null;
		drawList(slist, true);
	});
}

function start() {
	startTheme();
	byId("help").onclick = () => byId("keys").showModal();
	byId("near").onclick = toggleNear;
	byId("lfiles").onclick = () => showList("files");
	byId("lfunctions").onclick = () => showList("functions");
	byId("filter").oninput = (e) => {
		state.query = e.target.value;
		drawLists();
		flist.el.scrollTop = 0;
	};
	flist.el.addEventListener("click", () => flist.el.focus());
	addEventListener("keydown", onKey);
	addEventListener("hashchange", readAddress);
	listenToPrinter();
	drawSummary();
	readAddress();
}

start();
