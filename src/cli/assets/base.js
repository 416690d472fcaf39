/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all pages share: elements, numbers, and lists that may be long.  All
 * text is put on the screen as text nodes.
 */
const byId = (id) => document.getElementById(id);
const read = (id) => JSON.parse(byId(id).textContent);
const index = read("i0");

/* --- elements and numbers ------------------------------------------------- */

function make(tag, props, ...children) {
	const svg = /^(svg|g|path|rect|text|title|tspan)$/.test(tag);
	const el = svg ? document.createElementNS("http://www.w3.org/2000/svg",
		tag) : document.createElement(tag);
	for (const [key, value] of Object.entries(props || {})) {
		if (value === null || value === undefined || value === false)
			continue;
		if (key.startsWith("on"))
			el.addEventListener(key.slice(2), value);
		else if (key === "h")
			el.style.setProperty("--h", value);
		else
			el.setAttribute(key, value);
	}
	el.append(...children.filter((c) => c !== null));
	return el;
}

/* Counts above 2^53 come as strings: exact to look at, near enough to sort. */
const size = (n) => n === null ? 0 : Number(n);

function digits(n) {
	return n === null ? "?" :
		String(n).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/* As the text report has it: ? is not known, ~ is in doubt. */
const count = (n, doubtful) => (doubtful && n !== null ? "~" : "") + digits(n);

function brief(n, doubtful) {
	const v = size(n);
	if (n === null || v < 100000)
		return count(n, doubtful);
	const power = Math.min(6, Math.floor(Math.log10(v) / 3));
	const scaled = v / 1000 ** power;
	return (doubtful ? "~" : "") + scaled.toFixed(scaled < 10 ? 2 :
		scaled < 100 ? 1 : 0) + " kMGTPE"[power];
}

const several = (n, what) => digits(n) + " " + what +
	(Number(n) === 1 ? "" : "s");

function share(part, whole) {
	return whole ? (100 * part / whole).toFixed(2) + " %" : "";
}

/* 0..1, by orders of magnitude. */
function heat(n, max) {
	const v = size(n);
	return v && max ? (Math.log1p(v) / Math.log1p(max)) ** 1.6 : 0;
}

/* What is between < and its >, at i, if it is short; spaces become no-break
 * spaces, so that they end no word.  "": it is long. */
function shortArguments(name, i) {
	let depth = 0, end = i;
	do
		depth += "<(".includes(name[end]) - ">)".includes(name[end]);
	while (depth && ++end < name.length && end - i < 18);
	return depth ? "" : name.slice(i, end + 1).replace(/ /g, "\u00a0");
}

/* A C++ name without what makes it long: arguments of templates, but for short
 * ones, which tell instances apart; parameters; the type that it returns. */
function shortName(name) {
	let out = "", depth = 0;
	if (!/[<(]/.test(name))
		return name;
	for (let i = 0; i < name.length; i++) {
		const operator = /operator([<>=!+\-*/%&|^~,]+|\(\)|\[\]|->)/y;
		operator.lastIndex = i;
		const found = depth ? null : operator.exec(name);
		if (found) {
			out += found[0];
			i += found[0].length - 1;
			continue;
		}
		if (name.startsWith("(anonymous namespace)", i) && !depth) {
			out += "{anonymous}";
			i += 20;
			continue;
		}
		const kept = !depth && name[i] === "<" ?
			shortArguments(name, i) : "";
		if (kept) {
			out += kept;
			i += kept.length - 1;
			continue;
		}
		if ("<(".includes(name[i]) && depth++ === 0)
			out += name[i] === "<" ? "<>" : "()";
		else if (">)".includes(name[i]) && depth)
			depth--;
		else if (!depth)
			out += name[i];
	}
	const [, plain, clone] = /^(.*?)(?:\(\))?(?: const)?( \[.*\])?$/s
		.exec(out);
	return plain.slice(plain.lastIndexOf(" ",
		plain.search(/operator|$/)) + 1) + (clone || "");
}

const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);

/* --- lists that draw what is in sight ------------------------------------- */

function makeList(el, height, draw) {
	const inner = make("div", {class: "inner"});
	const list = {el, inner, height, draw, items: [], from: -1, until: -1,
		range: null};
	el.append(inner);
	el.addEventListener("scroll", () => drawList(list, false));
	new ResizeObserver(() => drawList(list, false)).observe(el);
	return list;
}

function setItems(list, items) {
	list.items = items;
	list.inner.style.height = items.length * list.height + "px";
	drawList(list, true);
}

function drawList(list, all) {
	const top = list.el.scrollTop, n = list.items.length;
	let from = Math.max(0, Math.floor(top / list.height) - 20);
	let until = Math.min(n, Math.ceil((top + list.el.clientHeight) /
		list.height) + 20);
	if (list.range) {            /* for the printer */
		[from, until] = list.range;
		until = Math.min(n, until);
	}
	if (!all && from === list.from && until === list.until)
		return;
	list.from = from;
	list.until = until;
	const rows = [];
	for (let i = from; i < until; i++) {
		const row = list.draw(list.items[i], i);
		row.style.top = i * list.height + "px";
		rows.push(row);
	}
	list.inner.replaceChildren(...rows);
}

function scrollList(list, i) {
	const top = i * list.height, el = list.el;
	if (i < 0)
		return;
	if (top < el.scrollTop + list.height ||
	    top > el.scrollTop + el.clientHeight - 2 * list.height)
		el.scrollTop = Math.max(0, top - el.clientHeight / 3);
	drawList(list, false);
}

/* The heads of its columns, [key, name] each: buttons that sort by s.sort. */
function drawHead(head, list, columns, s, title, redraw) {
	head.replaceChildren(...columns.map(([key, name]) =>
		make("button", {class: s.sort === key ? "sorted" : null,
			title: "sort by " + title(key, name), onclick: () => {
				s.sort = key;
				redraw();
				list.el.scrollTop = 0;
			}}, name + (s.sort === key ? " \u25be" : ""))));
}

/* --- addresses: #KEY=VALUE&KEY=VALUE -------------------------------------- */

function writeHash(parts) {
	try {
		history.replaceState(null, "", "#" + parts.join("&"));
	} catch (e) {
		/* a viewer that forbids it */
	}
}

/* A Map; theme=dark is done here. */
function readHash() {
	const get = new Map(location.hash.slice(1).split("&").map((part) => {
		const at = part.indexOf("=");
		let value = part.slice(at + 1);
		try {
			value = decodeURIComponent(value);
		} catch (e) {
			/* as it is */
		}
		return [part.slice(0, at), value];
	}));
	if (get.has("theme"))
		setTheme(get.get("theme"));
	return get;
}

/* --- the theme ------------------------------------------------------------ */

function setTheme(name) {
	document.documentElement.dataset.theme = name === "dark" ? "dark" :
		"light";
}

function startTheme() {
	setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" :
		"light");
	byId("theme").onclick = () => setTheme(document.documentElement.dataset
		.theme === "dark" ? "light" : "dark");
}
