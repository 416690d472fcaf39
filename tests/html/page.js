// SPDX-License-Identifier: Apache-2.0
// Runs inside a page of the report, behind its own script: does what a user
// does and writes down what there is to see.  run.py knows what it should be.
"use strict";
// What the details say of each branch of the selected path.
function branchTexts() {
	const name = [...document.querySelectorAll("#detail dt")].find((el) =>
		el.textContent === "branches");
	const text = name ? name.nextSibling.textContent : "none";
	return text === "none" ? [] : text.split(", ");
}

function pageState() {
	const numbers = (selector, pattern) => [...document.querySelectorAll(
		selector)].map((el) => Number(pattern.exec(el.textContent)[1]));
	return {
		f: state.f && state.f.linkage,
		title: byId("title").textContent,
		rows: document.querySelectorAll("#ptable tbody tr").length,
		selected: document.querySelectorAll("#ptable tr.sel").length,
		counts: [...document.querySelectorAll("#ptable tbody tr")]
			.map((row) => row.children[1].textContent
				.replace(/\u202f/g, "")),
		shares: [...document.querySelectorAll("#ptable tbody tr")]
			.map((row) => row.children[2].textContent),
		told: branchTexts(),
		labels: [...document.querySelectorAll(".tag, .edge title")]
			.map((el) => el.textContent),
		blocks: numbers(".blk.on", /#(\d+)/).sort((a, b) => a - b),
		drawn: document.querySelectorAll(".blk").length,
		edges: document.querySelectorAll(".edge.on").length,
		picked: numbers(".blk.pick", /#(\d+)/).sort((a, b) => a - b),
		lines: [...document.querySelectorAll(".srow.on .no")]
			.map((el) => Number(el.textContent)),
		note: byId("snote").textContent,
		graphNote: byId("gnote").textContent,
		pathNote: byId("pnote").textContent,
		chip: byId("chip").textContent,
		hash: location.hash,
		marks: [...document.querySelectorAll(".frow .num")]
			.map((el) => el.textContent),
		notes: byId("notes").textContent,
	};
}

function press(key, on) {
	(on || document.body).dispatchEvent(new KeyboardEvent("keydown",
		{key, bubbles: true, cancelable: true}));
}

// Every path of every function, as the page understands it.
const allPaths = () => Object.fromEntries(functions.map((f) => [f.linkage,
	detailOf(f).paths.map((p) => ({blocks: p.blocks,
		lines: lineRanges(detailOf(f), p).map((r) => ({
			file: index.sources[r.source], first: r.first,
			last: r.last})),
		branches: branchesOf(detailOf(f), p).map((e) => [e.s, e.kind,
			e.t]),
		ways: branchesOf(detailOf(f), p).map((e) => {
			const [words, at] = wayOf(detailOf(f), e);
			return words + (at ? placeText(detailOf(f), at) : "");
		})}))]));

const click = (el) => el.dispatchEvent(new MouseEvent("click",
	{bubbles: true}));
const seen = {start: pageState()};
// all lines of the file, so that those on a path can be counted
const everything = () => {
	slist.range = [0, slist.items.length];
	drawList(slist, true);
};

seen.paths = allPaths();
everything();
seen.address = pageState();
press("Escape");
seen.escaped = pageState();
press("j");
everything();
seen.first = pageState();
press("ArrowDown", byId("ptable"));
everything();
seen.second = pageState();
press("Escape");
const block = document.querySelectorAll(".blk")[2];
if (block) {
	click(block);
	seen.block = pageState();
	seen.block.id = state.block;
	press("Escape");
}
everything();
const ran = document.querySelector(".srow.ran:not(.out)");
if (ran) {
	const line = Number(ran.querySelector(".no").textContent);
	click(ran);
	seen.line = pageState();
	seen.line.line = line;
	press("Escape");
}
const before = view.k;
click(byId("zin"));
byId("canvas").dispatchEvent(new WheelEvent("wheel", {deltaY: -100,
	clientX: 900, clientY: 300, cancelable: true}));
seen.zoomed = view.k > before * 1.3;
const theme = document.documentElement.dataset.theme;
press("t");
seen.themed = document.documentElement.dataset.theme !== theme;
byId("filter").value = "no such function";
byId("filter").dispatchEvent(new Event("input"));
seen.filtered = document.querySelectorAll(".frow").length;
byId("filter").value = "";
byId("filter").dispatchEvent(new Event("input"));
seen.names = [...document.querySelectorAll(".frow")].length;
click(document.querySelector("#fhead button"));
const names = flist.items.map((f) => f.name);
seen.sorted = names.every((name, i) => !i || names[i - 1] <= name);
selectFunction(flist.items[0]);
press("n");
seen.stepped = state.f === flist.items[1];
press("p");
seen.stepped &&= state.f === flist.items[0];
// every function, with each of its first paths
let drawn = 0;
for (const f of functions) {
	selectFunction(f);
	for (const p of state.d.paths.slice(0, 3))
		selectPath(p);
	drawn++;
}
seen.drawn = drawn === functions.length;
dispatchEvent(new Event("beforeprint"));
seen.printed = document.querySelectorAll(".srow").length;
dispatchEvent(new Event("afterprint"));
seen.evil = document.querySelectorAll("evil, main img").length;
seen.requests = performance.getEntriesByType("resource").length;
document.body.replaceChildren(make("pre", {id: "seen"},
	JSON.stringify({seen, errors: window.pageErrors})));
