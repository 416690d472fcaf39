// SPDX-License-Identifier: Apache-2.0
// layout.js LAYOUT [COUNT]: draws random graphs with the layout of the page and
// checks what a drawing must have.  For node.
"use strict";
const fs = require("fs");
const vm = require("vm");

vm.runInThisContext(fs.readFileSync(process.argv[2], "utf8"));
const count = Number(process.argv[3] || 300);
let seed = 1;

function random(n) {
	seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
	return Math.floor(seed / 4294967296 * n);
}

// A graph like those of functions: mostly forward, some back, some twice.
function graph() {
	const n = 1 + random(40), nodes = [], edges = [];
	for (let i = 0; i < n; i++)
		nodes.push({w: 60 + random(200), h: 19 + random(50)});
	for (let i = 1; i < n; i++)
		if (random(12))
			edges.push({s: random(i), t: i, weight: random(100) / 99});
	for (let i = random(2 * n); i > 0; i--)
		edges.push({s: random(n), t: random(n), weight: 0});
	return {nodes, edges};
}

function faults({nodes, edges}, area) {
	const found = [];
	const box = (a) => [a.x - a.w / 2, a.y, a.x + a.w / 2, a.y + a.h];
	nodes.forEach((a, i) => {
		const [l, t, r, b] = box(a);
		if (!(l >= 0 && t >= 0 && r <= area.w && b <= area.h))
			found.push(`node ${i} outside`);
		nodes.slice(i + 1).forEach((other, k) => {
			const [l2, t2, r2, b2] = box(other);
			if (l < r2 && l2 < r && t < b2 && t2 < b)
				found.push(`nodes ${i}, ${i + 1 + k} overlap`);
		});
	});
	// what is not drawn backwards leads down, so it has no cycle
	edges.forEach((e, i) => {
		const s = nodes[e.s], t = nodes[e.t];
		if (!e.back && t.y < s.y + s.h)
			found.push(`edge ${i} leads up`);
		if (e.back && t.y > s.y + s.h)
			found.push(`edge ${i} is no way back`);
		if (!/^M[-\d.,MCL]+$/.test(e.d))
			found.push(`edge ${i}: path ${e.d}`);
		const ends = e.d.match(/-?[\d.]+/g).map(Number);
		const [x0, y0] = ends, [x1, y1] = ends.slice(-2);
		if (Math.abs(x0 - s.x) > s.w / 2 || Math.abs(y0 - s.y - s.h) > 1 ||
		    Math.abs(x1 - t.x) > t.w / 2 || Math.abs(y1 - t.y) > 1)
			found.push(`edge ${i} does not meet its nodes`);
	});
	return found;
}

let passed = 0, failed = 0;
for (let i = 0; i < count; i++) {
	const start = seed, g = graph();
	const found = faults(g, layoutGraph(g.nodes, g.edges,
		random(g.nodes.length)));
	if (found.length) {
		console.log(`FAIL graph of seed ${start}: ${found[0]}`);
		failed++;
	} else {
		passed++;
	}
}
// no node at all, and as many crossings as there are
const none = layoutGraph([], [], 0);
none.w === 0 && inversions([3, 1, 2, 0, 0], 4) === 8 ? passed++ :
	(failed++, console.log("FAIL small cases"));
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
