// SPDX-License-Identifier: Apache-2.0
// Runs inside a page of cairn diff, behind its own script.  run.py knows what
// there should be to see.
"use strict";
const seen = {};
const click = (el) => el.dispatchEvent(new MouseEvent("click",
	{bubbles: true}));
const press = (key, on) => (on || document.body).dispatchEvent(
	new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const plain = (text) => text.replace(/\u202f/g, "");
const FATE = /\b(same|changed|new|lost|added|removed|unknown)\b/;
// all rows, whether they are in sight or not
const all = () => {
	slist.range = [0, slist.items.length];
	drawList(slist, true);
	const rows = [...document.querySelectorAll("#slist .srow")];
	const out = rows.filter((row) => FATE.test(row.className) &&
		!row.classList.contains("wayrow")).map((row) => {
		const [a, b] = row.querySelectorAll(".count");
		return [plain(a.textContent), plain(b.textContent),
			row.querySelector(".no").textContent,
			FATE.exec(row.className)[1]];
	});
	slist.range = null;
	return [out, rows.length];
};
[seen.near, seen.nearRows] = all();
press("d");
[seen.whole, seen.wholeRows] = all();
const ground = (el) => el && getComputedStyle(el).backgroundColor;
const legendOf = (text) => ground([...document.querySelectorAll("#legend2 b")]
	.find((el) => el.textContent === text));
seen.colours = [["added", "only in B"], ["removed", "only in A"]].map(
	([fate, text]) => [ground(document.querySelector(
		`.srow.${fate}:not(.idle) .text`)), legendOf(text)]);
press("n");
seen.seek = !!document.querySelector(".srow.seek");
press("f");
seen.functions = [...document.querySelectorAll(".frow .name")]
	.map((el) => el.textContent);
byId("filter").value = "rare";
byId("filter").dispatchEvent(new Event("input"));
seen.found = [...document.querySelectorAll(".frow .name")]
	.map((el) => el.textContent);
byId("filter").value = "";
byId("filter").dispatchEvent(new Event("input"));
click([...document.querySelectorAll(".frow")].find((row) =>
	row.querySelector(".name").textContent === "other"));
seen.ofFunction = byId("title").textContent;
seen.hash = location.hash;
seen.limits = [...document.querySelectorAll("#summary li")]
	.map((el) => el.textContent);
const theme = () => document.documentElement.dataset.theme;
setTheme("light");
seen.light = theme() === "light";
press("t");
seen.dark = theme() === "dark";
document.body.replaceChildren(make("pre", {id: "seen"},
	JSON.stringify({seen, errors: window.pageErrors})));
