// SPDX-License-Identifier: Apache-2.0
// Runs inside a page of the report, behind its own script: files, branches,
// calls, lines and blocks.  page.py knows what there should be to see.
"use strict";
const seen = {};
const click = (el) => el.dispatchEvent(new MouseEvent("click",
	{bubbles: true}));
const press = (key, on) => (on || document.body).dispatchEvent(
	new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const texts = (selector) => [...document.querySelectorAll(selector)]
	.map((el) => el.textContent);
const plain = (text) => text.replace(/\u202f/g, "");
const rowOf = (line) => [...document.querySelectorAll(".srow")].find((row) =>
	row.querySelector(".no").textContent === String(line));

// files
press("f");
seen.tree = [...document.querySelectorAll(".drow")].map((row) => ({
	name: row.querySelector(".name").textContent,
	lines: (row.querySelector(".cover") || {title: ""}).title
		.replace(/\u202f/g, "")}));
seen.filesHash = location.hash;
const dir = document.querySelector(".drow.dir");
const rows = document.querySelectorAll(".drow").length;
if (dir) {
	click(dir);
	seen.closed = document.querySelectorAll(".drow").length < rows;
	click(document.querySelector(".drow.dir"));
	seen.opened = document.querySelectorAll(".drow").length === rows;
}
byId("filter").value = "work";
byId("filter").dispatchEvent(new Event("input"));
seen.found = texts(".drow .name");
byId("filter").value = "";
byId("filter").dispatchEvent(new Event("input"));
for (const button of [...document.querySelectorAll("#dhead button")]) {
	click(document.querySelectorAll("#dhead button")[[...button.parentNode ?
		button.parentNode.children : []].indexOf(button)] || button);
}
seen.sortedBy = dstate.sort;
const file = [...document.querySelectorAll(".drow:not(.dir)")].find((row) =>
	row.querySelector(".name").textContent.endsWith("work.c"));
if (file) {
	click(file);
	seen.fileFunction = state.f.linkage;
	seen.fileShown = baseName(index.sources[shownSource.i]);
}
press("f");
seen.backToFunctions = !byId("flist").hidden && byId("dlist").hidden;

// a function: its branches, calls, blocks
const main = functions.find((f) => f.linkage === "main");
selectFunction(main);
slist.range = [0, slist.items.length];
drawList(slist, true);
seen.bars = Object.fromEntries([...document.querySelectorAll(".srow")]
	.filter((row) => row.querySelector(".br i")).map((row) => [
		row.querySelector(".no").textContent,
		{title: row.querySelector(".br").title,
			never: row.querySelectorAll(".br i.never").length}]));
seen.calls = [...document.querySelectorAll(".calls")].map((table) => ({
	title: table.querySelector("h3").textContent,
	rows: [...table.querySelectorAll("tbody tr")].map((row) =>
		[...row.children].map((el) => plain(el.textContent)))}));
seen.back = document.querySelectorAll(".edge.back").length;
seen.edges = document.querySelectorAll(".edge").length;
// from a line to its blocks, and from a block to its lines
const line = Number(Object.keys(seen.bars)[0]);
click(rowOf(line));
seen.line = {line, picked: texts(".blk.pick .id").map((t) =>
	Number(t.replace(/\D/g, ""))), detail: plain(byId("detail").textContent),
hash: location.hash};
const link = [...document.querySelectorAll("#detail .go")].find((el) =>
	el.textContent.startsWith("#"));
click(link);
slist.range = [0, slist.items.length];
drawList(slist, true);
seen.block = {block: state.block, detail: plain(byId("detail").textContent),
	lines: texts(".srow.pick .no").map(Number)};
press("Escape");
// inlined code
const inlined = [...document.querySelectorAll(".calls")].find((table) =>
	table.querySelector("h3").textContent.startsWith("inlined"));
const button = inlined && inlined.querySelector(".go");
if (button) {
	click(button);
	seen.inlinedSource = baseName(index.sources[shownSource.i]);
}
// what never ran
selectFunction(main);
slist.range = null;
press("u");
seen.never = state.never && state.never.line;
press("?");
seen.help = byId("keys").open;
byId("keys").close();
dispatchEvent(new Event("beforeprint"));
seen.printed = document.querySelectorAll(".srow").length;
dispatchEvent(new Event("afterprint"));
seen.requests = performance.getEntriesByType("resource").length;
document.body.replaceChildren(make("pre", {id: "seen"},
	JSON.stringify({seen, errors: window.pageErrors})));
