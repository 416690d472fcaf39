// SPDX-License-Identifier: Apache-2.0
// Runs inside a page about lists, behind its own script: selects every row and
// writes down what there is to see.  lists.py knows what it should be.
"use strict";
function listState() {
	const ids = (selector) => [...document.querySelectorAll(
		"#canvas " + selector)]
		.map((el) => Number(/#(\d+)/.exec(el.textContent)[1]))
		.sort((a, b) => a - b);
	return {
		f: state.f && state.f.linkage,
		tab: state.tab,
		blocks: ids(".blk.on"),
		picked: ids(".blk.pick"),
		untested: ids(".blk.untested"),
		diamonds: ids(".blk").filter((id) => [...document
			.querySelectorAll("#canvas .id")].some((el) =>
			el.textContent === `\u25c6 #${id} `)),
		edges: view.edges.filter((e) => e.el.classList.contains("on"))
			.map((e) => e.edge.i).sort((a, b) => a - b),
		untestedEdges: view.edges.filter((e) => e.tag.textContent
			.startsWith("\u25c6")).map((e) => e.edge.i)
			.sort((a, b) => a - b),
		lines: [...document.querySelectorAll(".srow.on .no")]
			.map((el) => Number(el.textContent)),
		marks: Object.fromEntries([...document.querySelectorAll(
			".srow")].filter((el) => el.querySelector(".mark")
			.textContent).map((el) => [el.querySelector(".no")
			.textContent, el.querySelector(".mark").textContent])),
		selected: shownList() ? rowsOf(shownList()).map((row, i) =>
			row.matches(".sel[aria-selected=true]") ? i : -1)
			.filter((i) => i >= 0) : [],
		hash: location.hash,
	};
}

function press(key, on) {
	(on || document.body).dispatchEvent(new KeyboardEvent("keydown",
		{key, bubbles: true, cancelable: true}));
}

const click = (el) => el.dispatchEvent(new MouseEvent("click",
	{bubbles: true}));
const everything = () => {
	slist.range = [0, slist.items.length];
	drawList(slist, true);
};
const seen = {start: listState(), rows: {}, tabs: []};

for (const tab of [...byId("tabs").children]) {
	click(tab);
	seen.tabs.push({id: tab.dataset.tab, text: tab.textContent,
		shown: lists.filter((list) => list.checkVisibility())
			.map((list) => list.id),
		function: byId("ptable").checkVisibility()});
	const list = shownList();
	if (!list)
		continue;
	seen.rows[list.id] = rowsOf(list).map((row) => {
		press("Escape");
		click(row);
		everything();
		return listState();
	});
	// the keyboard goes the same way
	press("Escape");
	const steps = rowsOf(list).map(() => {
		press("ArrowDown", list);
		return listState().selected;
	});
	seen.rows[list.id].forEach((row, i) => row.step = steps[i]);
}
const tabs = [...byId("tabs").children];
click(tabs[0]);
press("ArrowRight", tabs[0]);
seen.right = state.tab === (tabs[1] || tabs[0]).dataset.tab;
click(tabs[0]);
press("ArrowLeft", tabs[0]);
seen.left = state.tab === tabs[tabs.length - 1].dataset.tab;
click(tabs[0]);
if (listed[0]) {
	click(listed[0]);
	const block = document.querySelector("#canvas .blk");
	click(block);
	seen.block = {tab: state.tab, chip: byId("chip").textContent,
		rows: document.querySelectorAll("#ptable tbody tr").length};
	press("Escape");
}
seen.legend = byId("legend").textContent;
seen.headline = byId("totals").textContent;
seen.functions = functions.length ? byId("source").checkVisibility() :
	!byId("source").checkVisibility();
seen.evil = document.querySelectorAll("evil, main img").length;
seen.requests = performance.getEntriesByType("resource").length;
document.body.replaceChildren(make("pre", {id: "seen"},
	JSON.stringify({seen, errors: window.pageErrors})));
