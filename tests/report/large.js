// SPDX-License-Identifier: Apache-2.0
// Runs inside a page about a large program: is only what is in sight drawn?
"use strict";
const seen = {lines: slist.items.length,
	rows: document.querySelectorAll(".srow").length};
slist.el.scrollTop = slist.el.scrollHeight;
drawList(slist, false);
const numbers = [...document.querySelectorAll(".srow .no")].map((el) =>
	Number(el.textContent));
seen.last = numbers[numbers.length - 1];
seen.atEnd = numbers.length;
// the last function, by a click on a line of it
const f = functions.reduce((a, b) => b.line > a.line ? b : a);
selectFunction(f);
showLine({source: f.source, line: f.line});
seen.shown = [...document.querySelectorAll(".srow .no")].some((el) =>
	Number(el.textContent) === f.line);
seen.blocks = document.querySelectorAll(".blk").length;
byId("filter").value = "f77";
byId("filter").dispatchEvent(new Event("input"));
seen.found = flist.items.map((f) => f.name);
seen.elements = document.querySelectorAll("*").length -
	document.querySelectorAll("script").length;
document.body.replaceChildren(make("pre", {id: "seen"},
	JSON.stringify({seen, errors: window.pageErrors})));
