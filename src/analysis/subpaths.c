/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hot subpaths, counted on the grammar.
 *
 * J. Larus, "Whole program paths", PLDI 1999: a subpath is hot if its
 * instructions times its frequency are a given part of all that was executed;
 * the minimal ones, which have no hot proper prefix, are of interest.  The
 * string is not expanded.  Every rule is made a tree of nodes with two parts
 * each (X^n by halves), so that an occurrence of two symbols or more is cut in
 * two by exactly one node: the lowest that holds it.  It is counted there, as
 * often as that node occurs in the string.  All that is looked at is the border
 * between the parts of a node, and as many symbols on either side as a subpath
 * may have.
 *
 * It goes by length.  A window is a node and how many symbols left of the
 * border it begins; it carries the number of the string that it holds so far.
 * Each round adds one symbol to all windows, sums the frequencies of equal
 * strings, and keeps those that are not hot and may still become it: with the
 * heaviest symbols behind them that are at least as frequent as needed. Windows
 * whose string is dropped are dropped, so that after a few rounds only those of
 * strings that are nearly hot remain.  A new window of each round begins so far
 * left that all of its string, but for the symbol that is added, is the end of
 * the left part: which string that is has been found in the round before.
 *
 * Invariant: before round n, end[v] is the number of the string of the last
 * n - 1 symbols of node v, if that was kept; windows are sorted by node.
 * Oracle: all substrings of expanded random strings, in test_subpaths.
 * Cost: O(nodes) per round, and O(1) per window that is alive, plus the depth
 * of the tree per node that has any.  Of strings that can still become hot
 * there are at most longest * (heaviest / average weight) / share.
 */
#include "analysis/subpaths.h"

#include "analysis/grammar.h"
#include "base/alloc.h"
#include "base/err.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* A node of the tree; parts are symbols, or BASE + node. */
struct node {
	uint32_t left, right;
	uint64_t length;
	uint64_t occurrences;
};

struct window {
	uint32_t node;
	uint32_t before; /* symbols left of the border */
	uint32_t string;
};

/* A string that windows hold; those of one length follow each other. */
struct string {
	uint32_t parent; /* all but its last symbol; NONE */
	uint32_t symbol;
	uint64_t frequency, weight;
};

/* A symbol that no other beats in both. */
struct frontier {
	uint64_t frequency, weight;
};

struct search {
	const struct grammar *g;
	const uint64_t *weight;
	uint32_t nsymbols;
	struct subpaths_options o;
	struct node *nodes; /* parts before what they are part of */
	uint32_t nnodes, nodes_cap;
	uint32_t *top; /* per rule: its node or only symbol */
	uint32_t *end; /* per symbol and node, see above */
	struct window *windows, *grown;
	size_t nwindows, windows_cap, ngrown, grown_cap;
	struct string *strings;
	uint32_t nstrings, strings_cap;
	uint32_t first;  /* string of this round */
	uint32_t *table; /* of this round's strings, by parent and symbol */
	size_t mask;
	struct frontier *frontier; /* less and less frequent */
	size_t nfrontier, frontier_cap;
	uint32_t *stack;
	size_t nstack, stack_cap;
	uint32_t *ahead; /* first symbols of a right part */
	size_t nahead;
};

/* --- the tree ---------------------------------------------------------- */

static bool is_node(const struct search *s, uint32_t part)
{
	return part >= s->nsymbols;
}

static struct node *node_of(const struct search *s, uint32_t part)
{
	return &s->nodes[part - s->nsymbols];
}

static uint64_t length_of(const struct search *s, uint32_t part)
{
	return is_node(s, part) ? node_of(s, part)->length : 1;
}

static uint32_t join(struct search *s, uint32_t left, uint32_t right)
{
	struct node n = {
	        .left = left,
	        .right = right,
	        .length = length_of(s, left) + length_of(s, right),
	};

	VEC_RESERVE(s->nodes, s->nnodes, s->nodes_cap);
	s->nodes[s->nnodes] = n;
	return s->nsymbols + s->nnodes++;
}

/* x, n times in a row; n >= 1.  By halves: O(log n) nodes. */
static uint32_t repeat(struct search *s, uint32_t x, uint64_t n)
{
	uint32_t all = NONE;

	for (;; n /= 2) {
		if (n % 2)
			all = all == NONE ? x : join(s, x, all);
		if (n <= 1)
			return all;
		x = join(s, x, x);
	}
}

/* The items from `from` up to `to`, which are not none, as a balanced tree. */
static uint32_t join_items(struct search *s, size_t from, size_t to)
{
	const struct grammar_item *item = &s->g->items[from];
	size_t middle = from + (to - from) / 2;
	uint32_t left;

	if (to - from == 1)
		return repeat(s,
		              grammar_is_rule(item->symbol)
		                      ? s->top[item->symbol - GRAMMAR_RULE]
		                      : item->symbol,
		              item->times);
	left = join_items(s, from, middle);
	return join(s, left, join_items(s, middle, to));
}

static void add_occurrences(struct search *s, uint32_t part, uint64_t n)
{
	if (is_node(s, part))
		node_of(s, part)->occurrences += n;
	else
		s->strings[part].frequency += n;
}

/* Makes the tree; the first strings are the symbols. */
static void make_tree(struct search *s)
{
	const struct grammar *g = s->g;

	s->top = xcalloc(g->nrules, sizeof(*s->top));
	s->strings_cap = s->nstrings = s->nsymbols;
	s->strings = xcalloc(s->nsymbols, sizeof(*s->strings));
	for (uint32_t i = 0; i < s->nsymbols; i++)
		s->strings[i] = (struct string){
		        .parent = NONE, .symbol = i, .weight = s->weight[i]};
	for (uint32_t r = 0; r < g->nrules; r++)
		s->top[r] = join_items(s, g->first[r], g->first[r + 1]);
	add_occurrences(s, s->top[grammar_start(g)], 1);
	for (uint32_t i = s->nnodes; i-- > 0;) {
		const struct node *n = &s->nodes[i];

		add_occurrences(s, n->left, n->occurrences);
		add_occurrences(s, n->right, n->occurrences);
	}
}

/* --- what may become hot ----------------------------------------------- */

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static int by_frequency(const void *p, const void *q)
{
	const struct frontier *x = p, *y = q;

	if (x->frequency != y->frequency)
		return x->frequency > y->frequency ? -1 : 1;
	return x->weight > y->weight ? -1 : x->weight < y->weight;
}

static void make_frontier(struct search *s)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->nsymbols; i++) {
		if (!s->strings[i].frequency)
			continue;
		VEC_RESERVE(s->frontier, s->nfrontier, s->frontier_cap);
		s->frontier[s->nfrontier++] = (struct frontier){
		        s->strings[i].frequency, s->strings[i].weight};
	}
	if (!s->nfrontier)
		return;
	qsort(s->frontier, s->nfrontier, sizeof(*s->frontier), by_frequency);
	for (size_t i = 0; i < s->nfrontier; i++)
		if (!n || s->frontier[i].weight > s->frontier[n - 1].weight)
			s->frontier[n++] = s->frontier[i];
	s->nfrontier = n;
}

/*
 * May a string that begins with x, which has n symbols, be hot?  If it occurs f
 * times, all of its symbols do, f times or more: they weigh no more than the
 * heaviest one of these.
 */
static bool may_become_hot(const struct search *s, const struct string *x,
                           uint32_t n)
{
	uint64_t more = s->o.longest - n, heaviest = 0;

	for (size_t i = 0; i < s->nfrontier; i++) {
		const struct frontier *f = &s->frontier[i];
		uint64_t most = x->frequency;

		if (most < f->frequency) {
			/* it cannot occur more often than x does */
			heaviest = f->weight;
			continue;
		}
		if (times(most, plus(x->weight, times(more, heaviest))) >=
		    s->o.threshold)
			return true;
		if (times(f->frequency,
		          plus(x->weight, times(more, f->weight))) >=
		    s->o.threshold)
			return true;
	}
	return times(x->frequency, plus(x->weight, times(more, heaviest))) >=
	       s->o.threshold;
}

/* --- strings ----------------------------------------------------------- */

static void add_subpath(struct subpaths *out, const struct search *s,
                        uint32_t string, uint32_t n)
{
	const struct string *x = &s->strings[string];

	for (uint32_t i = 0; i < n; i++) {
		VEC_RESERVE(out->symbols, out->nsymbols, out->symbols_cap);
		out->symbols[out->nsymbols++] = 0;
	}
	for (uint32_t i = 1; i <= n; i++) {
		out->symbols[out->nsymbols - i] = s->strings[string].symbol;
		string = s->strings[string].parent;
	}
	VEC_RESERVE(out->items, out->n, out->cap);
	out->items[out->n++] = (struct subpath){
	        .n = n, .weight = x->weight, .frequency = x->frequency};
}

/*
 * Takes the hot strings of n symbols out, and drops those that cannot become
 * hot.  renamed[string - s->first] is what is left of a string, or NONE.
 */
static void sift(struct search *s, struct subpaths *out, uint32_t n,
                 uint32_t *renamed)
{
	uint32_t kept = s->first;

	for (uint32_t i = s->first; i < s->nstrings; i++) {
		const struct string *x = &s->strings[i];
		bool is_hot = n >= s->o.shortest &&
		              times(x->weight, x->frequency) >= s->o.threshold;

		renamed[i - s->first] = NONE;
		if (is_hot)
			add_subpath(out, s, i, n);
		else if (n < s->o.longest && may_become_hot(s, x, n)) {
			renamed[i - s->first] = kept;
			s->strings[kept++] = *x;
		}
	}
	s->nstrings = kept;
}

static size_t slot_of(const struct search *s, uint32_t parent, uint32_t symbol)
{
	uint64_t x = ((uint64_t)parent << 32 | symbol) * 0x9e3779b97f4a7c15u;
	size_t k = (size_t)(x >> 20) & s->mask;

	while (s->table[k] != NONE &&
	       (s->strings[s->table[k]].parent != parent ||
	        s->strings[s->table[k]].symbol != symbol))
		k = (k + 1) & s->mask;
	return k;
}

static void set_table(struct search *s, size_t size)
{
	free(s->table);
	s->mask = size - 1;
	s->table = xmalloc(size * sizeof(*s->table));
	memset(s->table, 0xff, size * sizeof(*s->table));
	for (uint32_t i = s->first; i < s->nstrings; i++)
		s->table[slot_of(s, s->strings[i].parent,
		                 s->strings[i].symbol)] = i;
}

/* The string of this round that is one of the last round and a symbol. */
static uint32_t extend(struct search *s, uint32_t parent, uint32_t symbol)
{
	size_t k = slot_of(s, parent, symbol);

	if (s->table[k] != NONE)
		return s->table[k];
	VEC_RESERVE(s->strings, s->nstrings, s->strings_cap);
	s->strings[s->nstrings] = (struct string){
	        .parent = parent,
	        .symbol = symbol,
	        .weight = plus(s->strings[parent].weight, s->weight[symbol]),
	};
	s->table[k] = s->nstrings++;
	if (2 * (size_t)(s->nstrings - s->first) > s->mask)
		set_table(s, 2 * (s->mask + 1));
	return s->nstrings - 1;
}

/* --- windows ----------------------------------------------------------- */

static void push(struct search *s, uint32_t part)
{
	VEC_RESERVE(s->stack, s->nstack, s->stack_cap);
	s->stack[s->nstack++] = part;
}

/* Writes the first n symbols of a part, or all, to `ahead`. */
static void read_ahead(struct search *s, uint32_t part, size_t n)
{
	s->nahead = 0;
	s->nstack = 0;
	push(s, part);
	while (s->nstack && s->nahead < n) {
		part = s->stack[--s->nstack];
		while (is_node(s, part)) {
			push(s, node_of(s, part)->right);
			part = node_of(s, part)->left;
		}
		s->ahead[s->nahead++] = part;
	}
}

/* Adds a symbol to a window that has n - 1, if there is one. */
static void grow_window(struct search *s, struct window w, uint32_t n)
{
	size_t next = n - 1 - w.before;

	if (next >= s->nahead)
		return;
	w.string = extend(s, w.string, s->ahead[next]);
	s->strings[w.string].frequency += s->nodes[w.node].occurrences;
	VEC_RESERVE(s->grown, s->ngrown, s->grown_cap);
	s->grown[s->ngrown++] = w;
}

/* All windows of n symbols, from those of n - 1. */
static void grow_windows(struct search *s, uint32_t n)
{
	size_t at = 0;

	s->ngrown = 0;
	for (uint32_t v = 0; v < s->nnodes; v++) {
		size_t first = at;
		uint32_t whole = s->end[s->nodes[v].left];

		while (at < s->nwindows && s->windows[at].node == v)
			at++;
		if ((first == at && whole == NONE) || !s->nodes[v].occurrences)
			continue;
		/* the window that is furthest right comes first */
		read_ahead(s, s->nodes[v].right,
		           first < at ? n - s->windows[first].before : 1);
		for (size_t i = first; i < at; i++)
			grow_window(s, s->windows[i], n);
		if (whole != NONE)
			grow_window(s, (struct window){v, n - 1, whole}, n);
	}
}

/* Drops the windows of dropped strings. */
static void keep_windows(struct search *s, const uint32_t *renamed)
{
	struct window *windows = s->windows;
	size_t cap = s->windows_cap;

	s->nwindows = 0;
	for (size_t i = 0; i < s->ngrown; i++) {
		struct window w = s->grown[i];

		w.string = renamed[w.string - s->first];
		if (w.string != NONE)
			s->grown[s->nwindows++] = w;
	}
	s->windows = s->grown;
	s->windows_cap = s->grown_cap;
	s->grown = windows;
	s->grown_cap = cap;
}

/* The strings of the last n symbols of each part. */
static void find_ends(struct search *s, uint32_t n)
{
	size_t at = 0;

	for (uint32_t i = 0; i < s->nsymbols; i++)
		s->end[i] = NONE;
	for (uint32_t v = 0; v < s->nnodes; v++) {
		uint64_t right = length_of(s, s->nodes[v].right);

		if (right >= n)
			s->end[s->nsymbols + v] = s->end[s->nodes[v].right];
		else
			s->end[s->nsymbols + v] = NONE;
		for (; at < s->nwindows && s->windows[at].node == v; at++)
			if (s->windows[at].before + right == n)
				s->end[s->nsymbols + v] = s->windows[at].string;
	}
}

static void search_symbols(struct search *s, struct subpaths *out)
{
	uint32_t *renamed = xcalloc(s->nsymbols, sizeof(*renamed));

	s->first = 0;
	sift(s, out, 1, renamed);
	for (uint32_t i = 0; i < s->nsymbols; i++)
		s->end[i] = renamed[i];
	for (uint32_t v = 0; v < s->nnodes; v++)
		s->end[s->nsymbols + v] = s->end[s->nodes[v].right];
	free(renamed);
}

/* Finds hot strings of n symbols, and what is left for longer ones. */
static void search_length(struct search *s, struct subpaths *out, uint32_t n)
{
	uint32_t *renamed;

	s->first = s->nstrings;
	set_table(s, 1024);
	grow_windows(s, n);
	renamed = xcalloc(s->nstrings - s->first, sizeof(*renamed));
	sift(s, out, n, renamed);
	keep_windows(s, renamed);
	find_ends(s, n);
	free(renamed);
}

static void search_all(struct search *s, struct subpaths *out)
{
	make_tree(s);
	make_frontier(s);
	s->end = xcalloc((size_t)s->nsymbols + s->nnodes, sizeof(*s->end));
	s->ahead = xcalloc(s->o.longest, sizeof(*s->ahead));
	search_symbols(s, out);
	for (uint32_t n = 2; n <= s->o.longest && s->nstrings > s->first; n++)
		search_length(s, out, n);
	free(s->nodes);
	free(s->top);
	free(s->end);
	free(s->windows);
	free(s->grown);
	free(s->strings);
	free(s->table);
	free(s->frontier);
	free(s->stack);
	free(s->ahead);
}

/* Does the tree have fewer parts than there are numbers for them? */
static bool is_small(const struct grammar *g, uint32_t nsymbols)
{
	uint64_t n = nsymbols;

	for (size_t i = 0; i < grammar_nitems(g); i++)
		n += 128 - 2 * (unsigned)__builtin_clzll(g->items[i].times);
	return n < NONE;
}

/* --- the list ---------------------------------------------------------- */

uint64_t subpath_cost(const struct subpath *p)
{
	return times(p->weight, p->frequency);
}

uint64_t subpaths_threshold(uint64_t whole, uint32_t millionths)
{
	uint64_t share = whole / 1000000 * millionths;
	uint64_t rest = whole % 1000000 * millionths;

	share += (rest + 999999) / 1000000;
	return share ? share : 1;
}

static int by_cost(const void *p, const void *q)
{
	const struct subpath *x = p, *y = q;
	uint64_t a = subpath_cost(x), b = subpath_cost(y);

	if (a != b)
		return a > b ? -1 : 1;
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->symbols[i] != y->symbols[i])
			return x->symbols[i] < y->symbols[i] ? -1 : 1;
	return 0;
}

int subpaths_init(struct subpaths *s, const struct grammar *g,
                  const uint64_t *weight, uint32_t nsymbols,
                  const struct subpaths_options *o, struct cairn_err *err)
{
	struct search search = {
	        .g = g, .weight = weight, .nsymbols = nsymbols, .o = *o};
	size_t at = 0;

	*s = (struct subpaths){0};
	if (!o->shortest || o->shortest > o->longest ||
	    o->longest > SUBPATHS_LONGEST)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "hot subpaths have from 1 to %d symbols, not "
		                  "%" PRIu32 " to %" PRIu32,
		                  SUBPATHS_LONGEST, o->shortest, o->longest);
	assert(o->threshold && nsymbols >= grammar_nsymbols(g));
	if (!grammar_length(g))
		return 0;
	if (!is_small(g, nsymbols))
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "the grammar has more than 2^31 items; "
		                  "select a part of the trace");
	search_all(&search, s);
	for (size_t i = 0; i < s->n; i++) {
		s->items[i].symbols = s->symbols + at;
		at += s->items[i].n;
	}
	if (s->n)
		qsort(s->items, s->n, sizeof(*s->items), by_cost);
	return 0;
}

void subpaths_release(struct subpaths *s)
{
	free(s->items);
	free(s->symbols);
	*s = (struct subpaths){0};
}
