/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws graphs in layers (Sugiyama, Tagawa, Toda 1981; Gansner et al. 1993 for
 * the weights), with edges from top to bottom:
 *
 *   1. edges that close a cycle of a depth-first walk are set aside
 *   2. a vertex lies below all its predecessors: longest paths
 *   3. an edge across layers becomes a chain of points, one in each; a set-aside
 *      edge becomes such a lane beside the vertices that it leads back over
 *   4. layers are ordered by barycenters, down and up; the order with the
 *      fewest crossings is kept
 *   5. x is moved toward the neighbours', layer by layer, in the least-squares
 *      sense under the order and the distances: isotonic regression.  Links of
 *      chains and of heavy edges pull more, so that these come out straight
 *
 * layoutGraph(nodes, edges, first): nodes are {w, h}, edges {s, t, weight}
 * (indices, 0..1); the walk begins at node `first`.  Sets x, y (centre, top) of nodes and d (an
 * SVG path), label {x, y} and back of edges; returns {w, h}.
 * Cost: O(rounds * chain points * log).
 */
function layoutGraph(nodes, edges, first) {
	const outs = nodes.map(() => []);
	edges.forEach((e) => outs[e.s].push(e));
	const walk = walkGraph(outs, first);
	const layer = findLayers(outs, walk.post);
	const {points, layers} = makePoints(nodes, edges, layer, walk.pre);
	orderLayers(layers, 14);
	placePoints(layers);
	return toCoordinates(nodes, edges, points, layers, layer);
}

/* Distances between vertices, layers, and the width of a point of a chain. */
const GAP_X = 26, GAP_Y = 46, LANE = 12;

/* 1: orders of a depth-first walk; edges to what is on its stack are back. */
function walkGraph(outs, first) {
	const seen = new Uint8Array(outs.length), post = [], pre = [];
	const enter = (v, stack) => {
		seen[v] = 1;
		pre.push(v);
		stack.push([v, 0]);
	};
	function from(root) {
		const stack = [];
		enter(root, stack);
		while (stack.length) {
			const top = stack[stack.length - 1];
			if (top[1] === outs[top[0]].length) {
				seen[top[0]] = 2;
				post.push(top[0]);
				stack.pop();
				continue;
			}
			const e = outs[top[0]][top[1]++];
			e.back = seen[e.t] === 1;
			if (!seen[e.t])
				enter(e.t, stack);
		}
	}
	if (outs.length)
		from(first);
	for (let v = 0; v < outs.length; v++)
		if (!seen[v])
			from(v);
	return {pre, post};
}

/* 2: longest paths; then what has less in than out moves down, which is
 * shorter. */
function findLayers(outs, post) {
	const layer = new Int32Array(outs.length);
	const nin = new Int32Array(outs.length);
	for (let i = post.length - 1; i >= 0; i--)
		for (const e of outs[post[i]])
			if (!e.back) {
				layer[e.t] = Math.max(layer[e.t],
					layer[e.s] + 1);
				nin[e.t]++;
			}
	for (const v of post) {
		const down = outs[v].filter((e) => !e.back);
		const low = Math.min(...down.map((e) => layer[e.t] - 1));
		if (down.length > nin[v] && low > layer[v])
			layer[v] = low;
	}
	return layer;
}

/* 3: vertices, and what stands for edges. */
function makePoints(nodes, edges, layer, pre) {
	const depth = layer.reduce((most, l) => Math.max(most, l + 1), 0);
	const layers = Array.from({length: depth}, () => []);
	const points = nodes.map((node, v) => newPoint(layer[v], node.w, v));
	for (const v of pre)
		layers[layer[v]].push(points[v]);
	const add = (at) => {
		const p = newPoint(at, LANE, -1);
		layers[at].push(p);
		points.push(p);
		return p;
	};
	for (const e of edges)
		e.chain = e.back ? addLane(e, points, layer, add) :
			addChain(e, points, layer, add);
	return {points, layers};
}

const newPoint = (layer, w, node) => ({layer, w, node, up: [], down: [],
	x: 0});

function linkPoints(a, b, weight) {
	a.down.push([b, weight]);
	b.up.push([a, weight]);
}

function addChain(e, points, layer, add) {
	const pull = 1 + 4 * (e.weight || 0), chain = [];
	let last = points[e.s];
	for (let l = layer[e.s] + 1; l < layer[e.t]; l++) {
		const p = add(l);
		linkPoints(last, p, pull * (last.node < 0 ? 6 : 2));
		chain.push(last = p);
	}
	linkPoints(last, points[e.t], pull * (last.node < 0 ? 2 : 1));
	return chain;
}

/* From the target's layer to the source's, beside both. */
function addLane(e, points, layer, add) {
	const chain = [];
	for (let l = layer[e.t]; l <= layer[e.s]; l++) {
		chain.push(add(l));
		if (chain.length > 1)
			linkPoints(chain[chain.length - 2],
				chain[chain.length - 1], 6);
	}
	chain[0].above = points[e.t];
	chain[chain.length - 1].below = points[e.s];
	return chain;
}

function distance(a, b) {
	const lanes = (a.node < 0) + (b.node < 0);
	return (a.w + b.w) / 2 + (lanes === 2 ? 4 : lanes ? 12 : GAP_X);
}

/* 5: down and up, first looking one way, then both. */
function placePoints(layers) {
	for (const row of layers)
		row.forEach((p, i) => {
			p.x = i ? row[i - 1].x + distance(row[i - 1], p) : 0;
		});
	for (let round = 0; round < 12; round++) {
		const both = round >= 4;
		for (let l = 0; l < layers.length; l++)
			placeRow(layers[l], true, both);
		for (let l = layers.length - 1; l >= 0; l--)
			placeRow(layers[l], both, true);
	}
}

function placeRow(row, up, down) {
	const want = [], pull = [];
	for (const p of row) {
		let sum = 0, weight = 0;
		const toward = (x, w) => {
			sum += x * w;
			weight += w;
		};
		for (const [q, w] of up ? p.up : [])
			toward(q.x, w);
		for (const [q, w] of down ? p.down : [])
			toward(q.x, w);
		for (const q of [up && p.above, down && p.below])
			if (q)
				toward(q.x + q.w / 2 + 14, 2);
		want.push(weight ? sum / weight : p.x);
		pull.push(weight || 0.1);
	}
	settle(row, want, pull);
}

function toCoordinates(nodes, edges, points, layers, layer) {
	let left = Infinity, right = -Infinity, y = 20;
	const top = [], bottom = [];
	for (const row of layers) {
		let high = 0;
		for (const p of row) {
			left = Math.min(left, p.x - p.w / 2);
			right = Math.max(right, p.x + p.w / 2);
			if (p.node >= 0)
				high = Math.max(high, nodes[p.node].h);
		}
		top.push(y);
		bottom.push(y + high);
		y += high + GAP_Y;
	}
	for (const p of points)
		p.x += 20 - left;
	nodes.forEach((node, v) => {
		node.x = points[v].x;
		node.y = (top[layer[v]] + bottom[layer[v]] - node.h) / 2;
	});
	spreadPorts(nodes, edges, points);
	for (const e of edges)
		routeEdge(e, nodes, layer, top, bottom);
	return {w: nodes.length ? right - left + 40 : 0, h: y - GAP_Y + 20};
}

/* Barycenters, down and up; keeps the order with the fewest crossings. */
function orderLayers(layers, rounds) {
	function number(row) {
		row.forEach((p, i) => { p.at = i; });
	}
	function sweep(row, side, anchor) {
		for (const p of row) {
			let sum = 0, weight = 0;
			for (const [q] of p[side]) {
				sum += q.at;
				weight++;
			}
			p.key = weight ? sum / weight : p.at;
		}
		for (const p of row)
			if (p[anchor] && !p[side].length)
				p.key = p[anchor].key + 0.3;
		row.sort((a, b) => a.key - b.key || a.at - b.at);
		number(row);
	}
	function crossings() {
		let n = 0;
		for (let l = 0; l + 1 < layers.length; l++) {
			const ends = [];
			for (const p of layers[l])
				ends.push(...p.down.map(([q]) => q.at)
					.sort((a, b) => a - b));
			n += inversions(ends, layers[l + 1].length);
		}
		return n;
	}
	layers.forEach(number);
	let best = crossings(), kept = layers.map((row) => row.slice());
	for (let round = 0; round < rounds && best > 0; round++) {
		if (round % 2 === 0)
			for (let l = 1; l < layers.length; l++)
				sweep(layers[l], "up", "above");
		else
			for (let l = layers.length - 1; l-- > 0;)
				sweep(layers[l], "down", "below");
		const now = crossings();
		if (now < best) {
			best = now;
			kept = layers.map((row) => row.slice());
		}
	}
	kept.forEach((row, l) => {
		layers[l] = row;
		number(row);
	});
}

/* Pairs in the wrong order, by a Fenwick tree. */
function inversions(items, size) {
	const tree = new Int32Array(size + 1);
	let n = 0;
	for (let i = items.length - 1; i >= 0; i--) {
		for (let k = items[i]; k > 0; k -= k & -k)
			n += tree[k];
		for (let k = items[i] + 1; k <= size; k += k & -k)
			tree[k]++;
	}
	return n;
}

/* Moves a row to where it wants to be, in the least-squares sense, keeping its
 * order and distances: pools neighbours that would collide. */
function settle(row, want, pull) {
	const pools = [];
	let offset = 0;
	row.forEach((p, i) => {
		if (i)
			offset += distance(row[i - 1], p);
		p.offset = offset;
		let pool = {sum: (want[i] - offset) * pull[i], weight: pull[i],
			first: i};
		while (pools.length) {
			const last = pools[pools.length - 1];
			if (last.sum / last.weight <= pool.sum / pool.weight)
				break;
			pool = {sum: last.sum + pool.sum, first: last.first,
				weight: last.weight + pool.weight};
			pools.pop();
		}
		pools.push(pool);
	});
	pools.forEach((pool, i) => {
		const end = i + 1 < pools.length ? pools[i + 1].first :
			row.length;
		for (let k = pool.first; k < end; k++)
			row[k].x = pool.sum / pool.weight + row[k].offset;
	});
}

/* Edges leave at the bottom and arrive at the top, side by side in the order
 * of where they come from and lead to, so that they cross no more than their
 * chains do. */
function spreadPorts(nodes, edges, points) {
	const leave = nodes.map(() => []), arrive = nodes.map(() => []);
	for (const e of edges) {
		const chain = e.chain, last = chain.length - 1;
		e.toward = last < 0 ? points[e.t].x : chain[e.back ? last : 0].x;
		e.from = last < 0 ? points[e.s].x : chain[e.back ? 0 : last].x;
		leave[e.s].push(e);
		arrive[e.t].push(e);
	}
	function spread(list, node, key, port) {
		const step = Math.min(18, (node.w - 12) / (list.length || 1));
		list.sort((a, b) => a[key] - b[key]);
		list.forEach((e, i) => {
			e[port] = node.x + (i - (list.length - 1) / 2) * step;
		});
	}
	nodes.forEach((node, v) => {
		spread(leave[v], node, "toward", "x0");
		spread(arrive[v], node, "from", "x1");
	});
}

/* Curves between layers, straight lines across them. */
class Pen {
	constructor(x, y) {
		this.x = x;
		this.y = y;
		this.d = `M${round(x)},${round(y)}`;
	}

	line(y) {
		this.y = y;
		this.d += `L${round(this.x)},${round(y)}`;
	}

	/* Upright at both ends; `by` is the height of the handles. */
	curve(x, y, by) {
		const middle = by === undefined ? (this.y + y) / 2 : y + by;
		this.d += "C" + [this.x, middle, x, middle, x, y].map(round)
			.join(",");
		this.x = x;
		this.y = y;
	}
}

function routeEdge(e, nodes, layer, top, bottom) {
	const s = nodes[e.s], t = nodes[e.t], from = layer[e.s];
	const pen = new Pen(e.x0, s.y + s.h), DIP = 20;
	pen.line(bottom[from]);
	if (e.back) {
		const last = e.chain.length - 1;
		pen.curve(e.chain[last].x, bottom[from], DIP);
		e.label = {x: pen.x + 5, y: bottom[from] - 6, side: 1};
		for (let i = last; i >= 0; i--) {
			if (i < last)
				pen.curve(e.chain[i].x, bottom[layer[e.t] + i]);
			pen.line(top[layer[e.t] + i]);
		}
		pen.curve(e.x1, top[layer[e.t]], -DIP);
	} else {
		const next = e.chain.length ? e.chain[0].x : e.x1;
		e.label = {x: (e.x0 + next) / 2, side: 0,
			y: (bottom[from] + top[from + 1]) / 2};
		for (const p of e.chain) {
			pen.curve(p.x, top[p.layer]);
			pen.line(bottom[p.layer]);
		}
		pen.curve(e.x1, top[layer[e.t]]);
	}
	pen.line(t.y);
	e.d = pen.d;
}

function round(v) {
	return Math.round(v * 10) / 10;
}
