/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finished grammar: one string, as rules that hold each repeated part once.
 *
 * C. Nevill-Manning and I. Witten, "Identifying hierarchical structure in
 * sequences: a linear-time algorithm", JAIR 7, 1997; J. Larus, "Whole program
 * paths", PLDI 1999.  sequitur.c makes it.  What one asks of the string is
 * answered rule by rule: a rule's length and weight follow from those of the
 * rules it uses, from the lowest up; how often it occurs in the string from
 * those that use it, from the start down.
 *
 * Bytes: the number of rules; per rule the number of its items; per item
 * 4 * value + 2 * (it is a rule) + (it is repeated), and if it is repeated the
 * number of times less 2.  The value is a symbol, or for a rule how far it is
 * below the one just before this one.  All numbers are LEB128.
 *
 * Invariant: rules use lower ones only, so that there is no cycle whatever a
 * file says, and one pass over items in order has seen all that a rule uses.
 * Cost: linear in items; a place in the string is found in as many steps as
 * there are items on the rules that lead to it.
 */
#include "analysis/grammar.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void grammar_release(struct grammar *g)
{
	free(g->items);
	free(g->first);
	free(g->length);
	free(g->weight);
	free(g->occurrences);
	*g = (struct grammar){0};
}

/* The sum of value(symbol) * times over the items of a rule; false if it does
 * not fit. */
static bool sum_rule(const struct grammar *g, uint32_t r, const uint64_t *rules,
                     const uint64_t *symbols, uint64_t *sum)
{
	*sum = 0;
	for (size_t i = g->first[r]; i < g->first[r + 1]; i++) {
		uint32_t symbol = g->items[i].symbol;
		uint64_t v = grammar_is_rule(symbol)
		                     ? rules[symbol - GRAMMAR_RULE]
		             : symbols ? symbols[symbol]
		                       : 1;

		if (__builtin_mul_overflow(v, g->items[i].times, &v) ||
		    __builtin_add_overflow(*sum, v, sum))
			return false;
	}
	return true;
}

static int init_rule(struct grammar *g, uint32_t r, struct cairn_err *err)
{
	if (g->nrules > 1 && g->first[r] == g->first[r + 1])
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "rule %" PRIu32 " of the grammar is empty; "
		                  "write it again",
		                  r);
	for (size_t i = g->first[r]; i < g->first[r + 1]; i++) {
		uint32_t symbol = g->items[i].symbol;

		if (!g->items[i].times)
			return cairn_fail(err, CAIRN_E_CORRUPT,
			                  "rule %" PRIu32
			                  " of the grammar has an item of 0 "
			                  "times; write it again",
			                  r);
		if (grammar_is_rule(symbol) && symbol - GRAMMAR_RULE >= r)
			return cairn_fail(err, CAIRN_E_CORRUPT,
			                  "rule %" PRIu32
			                  " of the grammar uses rule %" PRIu32
			                  ", which is not below it; write it "
			                  "again",
			                  r, symbol - GRAMMAR_RULE);
	}
	if (!sum_rule(g, r, g->length, NULL, &g->length[r]))
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "rule %" PRIu32 " of the grammar generates "
		                  "2^64 symbols or more; select a part of the "
		                  "trace",
		                  r);
	return 0;
}

int grammar_init(struct grammar *g, struct grammar_item *items, size_t *first,
                 uint32_t nrules, struct cairn_err *err)
{
	assert(nrules);
	*g = (struct grammar){.nrules = nrules};
	g->items = items;
	g->first = first;
	g->length = xcalloc(nrules, sizeof(*g->length));
	for (uint32_t r = 0; r < nrules; r++) {
		int status = init_rule(g, r, err);

		if (status < 0) {
			grammar_release(g);
			return status;
		}
	}
	return 0;
}

uint32_t grammar_nsymbols(const struct grammar *g)
{
	uint32_t n = 0;

	for (size_t i = 0; i < grammar_nitems(g); i++)
		if (!grammar_is_rule(g->items[i].symbol) &&
		    g->items[i].symbol >= n)
			n = g->items[i].symbol + 1;
	return n;
}

/* Passes what the rules' own numbers are on to the rules that they use. */
static void pass_down(const struct grammar *g, uint64_t *of_rules,
                      uint64_t *of_symbols)
{
	for (uint32_t r = g->nrules; r-- > 0;) {
		if (!of_rules[r])
			continue;
		for (size_t i = g->first[r]; i < g->first[r + 1]; i++) {
			uint32_t symbol = g->items[i].symbol;
			uint64_t n = of_rules[r] * g->items[i].times;

			if (grammar_is_rule(symbol))
				of_rules[symbol - GRAMMAR_RULE] += n;
			else if (of_symbols)
				of_symbols[symbol] += n;
		}
	}
}

int grammar_measure(struct grammar *g, const uint64_t *weight,
                    uint32_t nsymbols, struct cairn_err *err)
{
	uint32_t wanted = grammar_nsymbols(g);

	if (wanted > nsymbols)
		return cairn_fail(err, CAIRN_E_MISMATCH,
		                  "the grammar has symbol %" PRIu32
		                  ", but only %" PRIu32 " are described; take "
		                  "the files of one run",
		                  wanted - 1, nsymbols);
	free(g->weight);
	free(g->occurrences);
	g->weight = xcalloc(g->nrules, sizeof(*g->weight));
	g->occurrences = xcalloc(g->nrules, sizeof(*g->occurrences));
	for (uint32_t r = 0; r < g->nrules; r++)
		if (!sum_rule(g, r, g->weight, weight, &g->weight[r]))
			return cairn_fail(err, CAIRN_E_LIMIT,
			                  "rule %" PRIu32 " of the grammar "
			                  "executes 2^64 instructions or more; "
			                  "select a part of the trace",
			                  r);
	g->occurrences[grammar_start(g)] = 1;
	pass_down(g, g->occurrences, NULL);
	return 0;
}

/* --- counting a part --------------------------------------------------- */

/*
 * Ends of ranges fall into the last rule, which is the longest: a binary search
 * finds the item, and what is before it is noted there, for all ranges, and
 * counted once.
 */
struct part {
	const struct grammar *g;
	uint64_t *rules, *symbols; /* how often each is whole within it */
	/* of the items of the last rule: symbols before each one, and in how
	 * many ranges all that are before it are whole */
	uint64_t *starts, *before;
	size_t nitems;
};

static uint64_t length_of(const struct grammar *g, uint32_t symbol)
{
	return grammar_is_rule(symbol) ? g->length[symbol - GRAMMAR_RULE] : 1;
}

static void count_whole(struct part *p, uint32_t symbol, uint64_t times)
{
	if (grammar_is_rule(symbol))
		p->rules[symbol - GRAMMAR_RULE] += times;
	else
		p->symbols[symbol] += times;
}

/* Counts the part of an item that the next *n symbols have, and takes them
 * away; what then is left of *n begins the item once more. */
static void count_some(struct part *p, const struct grammar_item *item,
                       uint64_t *n, uint64_t sign)
{
	uint64_t length = length_of(p->g, item->symbol);
	uint64_t times = *n / length;

	count_whole(p, item->symbol, sign * times);
	*n -= times * length;
}

/* Counts the first n symbols of a rule, fewer than it has. */
static void count_first(struct part *p, uint32_t symbol, uint64_t n,
                        uint64_t sign)
{
	while (n) {
		const struct grammar_item *item =
		        &p->g->items[p->g->first[symbol - GRAMMAR_RULE]];
		uint64_t all;

		for (;; item++, n -= all) {
			all = length_of(p->g, item->symbol) * item->times;
			if (all > n)
				break;
			count_whole(p, item->symbol, sign * item->times);
		}
		count_some(p, item, &n, sign);
		symbol = item->symbol;
	}
}

/* The same of the whole string. */
static void count_string(struct part *p, uint64_t n, uint64_t sign)
{
	const struct grammar *g = p->g;
	const struct grammar_item *items =
	        &g->items[g->first[grammar_start(g)]];
	size_t low = 0, high = p->nitems + 1;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (p->starts[middle] <= n)
			low = middle;
		else
			high = middle;
	}
	p->before[low] += sign;
	n -= p->starts[low];
	if (!n)
		return;
	count_some(p, &items[low], &n, sign);
	if (n)
		count_first(p, items[low].symbol, n, sign);
}

static void part_init(struct part *p)
{
	const struct grammar *g = p->g;
	size_t first = g->first[grammar_start(g)];

	p->nitems = g->first[g->nrules] - first;
	p->rules = xcalloc(g->nrules, sizeof(*p->rules));
	p->starts = xcalloc(p->nitems + 1, sizeof(*p->starts));
	p->before = xcalloc(p->nitems + 1, sizeof(*p->before));
	for (size_t i = 0; i < p->nitems; i++) {
		const struct grammar_item *item = &g->items[first + i];

		p->starts[i + 1] =
		        p->starts[i] + length_of(g, item->symbol) * item->times;
	}
}

void grammar_count(const struct grammar *g, const struct grammar_range *ranges,
                   size_t n, uint64_t *counts)
{
	struct part p = {.g = g, .symbols = counts};
	const struct grammar_item *items =
	        &g->items[g->first[grammar_start(g)]];
	uint64_t times = 0;

	part_init(&p);
	/* modulo 2^64: what is before `from` is in both, and cancels */
	for (size_t i = 0; i < n; i++) {
		assert(ranges[i].from <= ranges[i].to);
		assert(ranges[i].to <= grammar_length(g));
		count_string(&p, ranges[i].to, 1);
		count_string(&p, ranges[i].from, (uint64_t)-1);
	}
	for (size_t i = p.nitems; i-- > 0;) {
		times += p.before[i + 1];
		count_whole(&p, items[i].symbol, times * items[i].times);
	}
	pass_down(g, p.rules, counts);
	free(p.rules);
	free(p.starts);
	free(p.before);
}

/* --- check ------------------------------------------------------------- */

struct pair {
	struct grammar_item a, b;
	size_t at;
};

static int by_item(const struct grammar_item *x, const struct grammar_item *y)
{
	if (x->symbol != y->symbol)
		return x->symbol < y->symbol ? -1 : 1;
	return x->times < y->times ? -1 : x->times > y->times;
}

static int by_pair(const void *p, const void *q)
{
	const struct pair *x = p, *y = q;
	int order = by_item(&x->a, &y->a);

	return order ? order : by_item(&x->b, &y->b);
}

static uint32_t rule_at(const struct grammar *g, size_t item)
{
	uint32_t low = 0, high = g->nrules;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (g->first[middle] <= item)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int check_pairs(const struct grammar *g, struct cairn_err *err)
{
	struct pair *pairs = xcalloc(grammar_nitems(g) + 1, sizeof(*pairs));
	size_t n = 0;
	int status = 0;

	for (uint32_t r = 0; r < g->nrules; r++)
		for (size_t i = g->first[r]; i + 1 < g->first[r + 1]; i++)
			pairs[n++] =
			        (struct pair){g->items[i], g->items[i + 1], i};
	qsort(pairs, n, sizeof(*pairs), by_pair);
	for (size_t i = 0; i < n && !status; i++) {
		if (pairs[i].a.symbol == pairs[i].b.symbol)
			status = cairn_fail(err, CAIRN_E_CORRUPT,
			                    "neighbours in rule %" PRIu32
			                    " of the grammar are of one symbol",
			                    rule_at(g, pairs[i].at));
		else if (i && !by_pair(&pairs[i - 1], &pairs[i]))
			status = cairn_fail(err, CAIRN_E_CORRUPT,
			                    "rules %" PRIu32 " and %" PRIu32
			                    " of the grammar have the same "
			                    "digram",
			                    rule_at(g, pairs[i - 1].at),
			                    rule_at(g, pairs[i].at));
	}
	free(pairs);
	return status;
}

static int check_uses(const struct grammar *g, struct cairn_err *err)
{
	uint64_t *uses = xcalloc(g->nrules, sizeof(*uses));
	int status = 0;

	for (size_t i = 0; i < grammar_nitems(g); i++)
		if (grammar_is_rule(g->items[i].symbol))
			uses[g->items[i].symbol - GRAMMAR_RULE] +=
			        g->items[i].times;
	for (uint32_t r = 0; r < grammar_start(g) && !status; r++) {
		if (uses[r] < 2)
			status = cairn_fail(err, CAIRN_E_CORRUPT,
			                    "rule %" PRIu32 " of the grammar "
			                    "is not used twice",
			                    r);
		else if (g->first[r + 1] - g->first[r] < 2)
			status = cairn_fail(err, CAIRN_E_CORRUPT,
			                    "rule %" PRIu32 " of the grammar "
			                    "has fewer than two items",
			                    r);
	}
	free(uses);
	return status;
}

int grammar_check(const struct grammar *g, struct cairn_err *err)
{
	CAIRN_TRY(check_pairs(g, err));
	return check_uses(g, err);
}

/* --- the string -------------------------------------------------------- */

static void push_place(struct grammar_walk *w, uint32_t r)
{
	VEC_RESERVE(w->places, w->n, w->cap);
	w->places[w->n++] = (struct grammar_place){.item = w->g->first[r],
	                                           .end = w->g->first[r + 1]};
}

/* Goes to the item of a rule that has a position, less what is before it. */
static void find_item(const struct grammar *g, struct grammar_place *p,
                      uint64_t *position)
{
	for (; p->item < p->end; p->item++) {
		const struct grammar_item *item = &g->items[p->item];
		uint64_t length = length_of(g, item->symbol);

		if (*position < length * item->times) {
			p->done = *position / length;
			*position %= length;
			return;
		}
		*position -= length * item->times;
	}
}

void grammar_seek(struct grammar_walk *w, const struct grammar *g,
                  uint64_t position)
{
	uint32_t symbol = GRAMMAR_RULE + grammar_start(g);

	assert(position <= grammar_length(g));
	w->g = g;
	w->n = 0;
	while (grammar_is_rule(symbol)) {
		struct grammar_place *p;

		push_place(w, symbol - GRAMMAR_RULE);
		p = &w->places[w->n - 1];
		find_item(g, p, &position);
		if (p->item == p->end)
			return; /* the end of the string */
		symbol = g->items[p->item].symbol;
	}
}

uint64_t grammar_next(struct grammar_walk *w, uint32_t *symbol)
{
	while (w->n) {
		struct grammar_place *p = &w->places[w->n - 1];
		const struct grammar_item *item;
		uint64_t left;

		if (p->item == p->end) {
			w->n--;
			if (w->n)
				w->places[w->n - 1].done++;
			continue;
		}
		item = &w->g->items[p->item];
		left = item->times - p->done;
		if (left && grammar_is_rule(item->symbol)) {
			push_place(w, item->symbol - GRAMMAR_RULE);
			continue;
		}
		p->item++;
		p->done = 0;
		*symbol = item->symbol;
		if (left)
			return left;
	}
	return 0;
}

void grammar_walk_release(struct grammar_walk *w)
{
	free(w->places);
	*w = (struct grammar_walk){0};
}

/* --- bytes ------------------------------------------------------------- */

static void write_item(struct bytes *out, const struct grammar_item *item,
                       uint32_t r)
{
	bool is_rule = grammar_is_rule(item->symbol);
	uint64_t value =
	        is_rule ? r - 1 - (item->symbol - GRAMMAR_RULE) : item->symbol;

	bytes_put_uv(out,
	             value << 2 | (uint64_t)is_rule << 1 | (item->times > 1));
	if (item->times > 1)
		bytes_put_uv(out, item->times - 2);
}

void grammar_write(const struct grammar *g, struct bytes *out)
{
	bytes_put_uv(out, g->nrules);
	for (uint32_t r = 0; r < g->nrules; r++) {
		bytes_put_uv(out, g->first[r + 1] - g->first[r]);
		for (size_t i = g->first[r]; i < g->first[r + 1]; i++)
			write_item(out, &g->items[i], r);
	}
}

/* False if no item of rule r is written so. */
static bool read_item(struct cursor *c, uint32_t r, struct grammar_item *item)
{
	uint64_t code = cursor_uv(c), value = code >> 2;
	uint64_t more = code & 1 ? cursor_uv(c) : 0;

	if (c->bad || value >= (code & 2 ? r : GRAMMAR_RULE) ||
	    more > UINT64_MAX - 2)
		return false;
	item->symbol = code & 2 ? GRAMMAR_RULE + r - 1 - (uint32_t)value
	                        : (uint32_t)value;
	item->times = code & 1 ? more + 2 : 1;
	return true;
}

struct reading {
	struct cursor c;
	const unsigned char *data;
	const char *file;
	struct grammar_item *items;
	size_t nitems, items_cap;
};

static int read_rule(struct reading *in, uint32_t r, struct cairn_err *err)
{
	uint64_t n = cursor_uv(&in->c);

	if (in->c.bad || n > (size_t)(in->c.end - in->c.p))
		return cairn_corrupt(err, in->file,
		                     (uint64_t)(in->c.p - in->data),
		                     "rule %" PRIu32 " of the grammar is "
		                     "longer than what is left",
		                     r);
	for (uint64_t i = 0; i < n; i++) {
		VEC_RESERVE(in->items, in->nitems, in->items_cap);
		if (!read_item(&in->c, r, &in->items[in->nitems++]))
			return cairn_corrupt(err, in->file,
			                     (uint64_t)(in->c.p - in->data),
			                     "rule %" PRIu32 " of the grammar "
			                     "has no such item",
			                     r);
	}
	return 0;
}

static int read_rules(struct reading *in, struct grammar *g,
                      struct cairn_err *err)
{
	uint64_t nrules = cursor_uv(&in->c);
	size_t *first;
	int status = 0;

	if (in->c.bad || !nrules || nrules > (size_t)(in->c.end - in->c.p) ||
	    nrules > UINT32_MAX - GRAMMAR_RULE)
		return cairn_corrupt(err, in->file, 0,
		                     "no grammar has %" PRIu64 " rules in "
		                     "what is left",
		                     nrules);
	first = xcalloc(nrules + 1, sizeof(*first));
	for (uint32_t r = 0; r < nrules && !status; r++) {
		status = read_rule(in, r, err);
		first[r + 1] = in->nitems;
	}
	if (!status && in->c.p != in->c.end)
		status = cairn_corrupt(err, in->file,
		                       (uint64_t)(in->c.p - in->data),
		                       "there is more behind the grammar");
	if (status < 0) {
		free(first);
		return status;
	}
	status = grammar_init(g, in->items, first, (uint32_t)nrules, err);
	in->items = NULL;
	return status;
}

int grammar_read(struct grammar *g, const void *data, size_t n,
                 const char *file, struct cairn_err *err)
{
	struct reading in = {
	        .c = {data, (const unsigned char *)data + n, false},
	        .data = data,
	        .file = file,
	};
	int status = read_rules(&in, g, err);

	free(in.items);
	return status;
}
