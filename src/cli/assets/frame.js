/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of the page: title, keys, printing; starts everything.
 */
/* --- the frame ------------------------------------------------------------ */

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
	startTheme();
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
