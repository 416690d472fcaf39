// SPDX-License-Identifier: Apache-2.0
// Work for a JavaScript interpreter (ES5): objects, arrays, strings, regular
// expressions, closures, recursion and exceptions.
// usage: work.js ROUNDS SEED
var rounds = Number(scriptArgs[0]), seed = Number(scriptArgs[1]);

function random(n) {
	seed = (seed * 16807) % 2147483647;
	return seed % n;
}

// Conway's game of life on a torus.
function life(size, steps) {
	var cells = [], next, i, s, x, y, dx, dy, n, alive = 0;
	for (i = 0; i < size * size; i++)
		cells[i] = random(3) === 0 ? 1 : 0;
	for (s = 0; s < steps; s++) {
		next = [];
		for (y = 0; y < size; y++) {
			for (x = 0; x < size; x++) {
				n = 0;
				for (dy = size - 1; dy <= size + 1; dy++)
					for (dx = size - 1; dx <= size + 1; dx++)
						n += cells[(y + dy) % size * size + (x + dx) % size];
				n -= cells[y * size + x];
				next.push(n === 3 || n === 2 && cells[y * size + x] ? 1 : 0);
			}
		}
		cells = next;
	}
	for (i = 0; i < cells.length; i++)
		alive += cells[i];
	return alive;
}

// A binary search tree with prototypes.
function Node(key) {
	this.key = key;
	this.left = this.right = null;
	this.count = 1;
}
Node.prototype.insert = function (key) {
	if (key === this.key) {
		this.count++;
		return;
	}
	var side = key < this.key ? "left" : "right";
	if (this[side])
		this[side].insert(key);
	else
		this[side] = new Node(key);
};
Node.prototype.walk = function (visit) {
	if (this.left)
		this.left.walk(visit);
	visit(this);
	if (this.right)
		this.right.walk(visit);
};

function tree(n) {
	var root = new Node(500), sum = 0, rank = 0, i;
	for (i = 0; i < n; i++)
		root.insert(random(1000));
	root.walk(function (node) {
		sum += ++rank * node.key * node.count;
	});
	return sum;
}

function strings(n) {
	var lines = [], i;
	for (i = 0; i < n; i++)
		lines.push("user" + random(40) + "@host" + random(9) + ".org;" + i);
	return lines.join("\n").replace(/(\w+)@(\w+)\.org/g, function (all, a, b) {
		return b.toUpperCase() + ":" + a;
	}).split(/[;:\n]/).filter(function (word) {
		return word.length > 5;
	}).sort().slice(0, 3).join("+");
}

// Exceptions thrown at some depth and caught, rethrown or finished with.
function Odd(depth) {
	this.depth = depth;
}
function dive(depth, limit) {
	try {
		if (depth === limit)
			throw new Odd(depth);
		return dive(depth + 1, limit) + 1;
	} catch (e) {
		if (e.depth % 4 !== depth % 4)
			throw e;
		return e.depth;
	} finally {
		finals++;
	}
}
var finals = 0;

function exceptions(n) {
	var sum = 0, i;
	for (i = 0; i < n; i++) {
		try {
			sum += dive(0, i % 11);
			if (i % 5 === 0)
				null.missing();
		} catch (e) {
			sum += 1;
		}
	}
	return sum + finals;
}

function text(n) {
	var value = { list: [], name: "caf\u00e9", deep: { yes: true } }, i;
	for (i = 0; i < n; i++)
		value.list.push({ id: i, half: i / 2 });
	return JSON.stringify(JSON.parse(JSON.stringify(value))).length;
}

for (var round = 0; round < rounds; round++)
	print([round, life(24, 4), tree(2500), strings(600), exceptions(1500),
	       text(300)].join(" "));
