/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequitur: a grammar of a string, made while it is read.
 *
 * C. Nevill-Manning and I. Witten, "Identifying hierarchical structure in
 * sequences: a linear-time algorithm", JAIR 7, 1997; for whole program paths
 * J. Larus, "Whole program paths", PLDI 1999.  Two properties are kept while
 * symbols are appended to the first rule: no digram (pair of neighbours) occurs
 * twice, else both become a rule; and every rule is used twice, else it is
 * put back where it is used.
 *
 * What differs here: a node holds a symbol and how many times it stands there
 * in a row.  Equal neighbours are one node, so digrams never overlap, and a
 * loop of a million turns takes one node.  That needs exact counts of turns
 * before a digram is looked up.  So the last node of the first rule is held
 * open, outside of the rule, until something else follows it.  If it is a
 * symbol, it counts; if it is a rule, what comes is compared with what the rule
 * generates: as long as it agrees nothing else is done, and each whole
 * agreement is one more turn.  If it ceases to agree, the part that agreed is
 * appended, in pieces of the rule, as large as they are.
 *
 * Digrams are looked up at the end of the first rule only; all others that come
 * up are new.  Where a rule is made of a digram that was there before, they
 * contain the new rule.  Where a rule X is put back, in X y, the last of X and
 * y are neighbours again: X was made when the end of the string got to this
 * place, and has been nowhere else, and before that the two were neighbours
 * here and thus nowhere else; since then only X and y were appended.  It is
 * always the first of two that is put back: a second one that is used twice
 * only would have been made of what follows the first in both places, and the
 * first with the beginning of that would have been found before.  All this is
 * asserted.
 *
 * Invariant: all digrams of rules are in the table.  uses[] of a rule counts
 * what its nodes say, what is open, and pieces that are still to be appended.
 * Breaks when: a node is changed without taking its digrams out of the table.
 * Cost: linear, as in the paper, but for pieces: a symbol is compared before it
 * is appended, again for each loop around it that ends there.  16 bytes per
 * node, 16 to 32 per digram, 16 per rule.
 * Measured: docs/ARCHITECTURE.md, "Whole program paths".
 */
#include "analysis/sequitur.h"

#include "analysis/digrams.h"
#include "analysis/grammar.h"
#include "base/alloc.h"
#include "base/err.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING UINT32_MAX /* as a symbol */

/* Symbols wait, until their digrams have come from memory (measured: 1.1 to 1.3
 * times as fast). */
#define AHEAD 8

/* Times of a node: themselves, or BIG_TIMES + place in the list of big ones. */
#define BIG_TIMES 0x80000000u

/* A node of a rule, the guard at its two ends (times 0, its symbol is the
 * rule), or one that is free (times 0, symbol NOTHING). */
struct node {
	uint32_t symbol, times;
	uint32_t prev, next;
};

struct rule {
	uint64_t uses;
	uint32_t guard; /* 0: free, but for the first rule */
	uint32_t head;  /* the first symbol that it generates */
};

struct piece {
	uint32_t symbol;
	uint64_t times;
};

/* Where the comparison with the open rule is: in which node, on each level. */
struct level {
	uint32_t node;
	uint64_t done; /* times that are behind it */
};

struct sequitur {
	struct node *nodes; /* 0 is the guard of the first rule */
	struct rule *rules; /* 0 is the first */
	uint32_t nnodes, nodes_cap, free_node;
	uint32_t nrules, rules_cap, free_rule;
	struct digrams digrams;
	struct piece open; /* behind the first rule */
	struct level *levels;
	size_t nlevels, levels_cap; /* none: where the open rule begins */
	struct piece *pieces;
	size_t npieces, pieces_cap;
	uint64_t *big; /* numbers of times that are too big, each once */
	uint32_t nbig, big_cap;
	/* the last symbols pushed, still to be appended: the place of symbol i
	 * of the string is i % AHEAD */
	uint32_t ahead[AHEAD], newest;
	uint64_t length; /* symbols pushed */
	bool is_too_long, is_finished;
};

/* --- nodes, rules ------------------------------------------------------ */

static bool is_rule(uint32_t symbol)
{
	return symbol >= GRAMMAR_RULE && symbol != NOTHING;
}

static struct rule *rule_of(struct sequitur *s, uint32_t symbol)
{
	return &s->rules[symbol - GRAMMAR_RULE];
}

static bool is_guard(const struct sequitur *s, uint32_t n)
{
	return !s->nodes[n].times;
}

static uint64_t times_of(const struct sequitur *s, uint32_t times)
{
	return times < BIG_TIMES ? times : s->big[times - BIG_TIMES];
}

static uint32_t make_times(struct sequitur *s, uint64_t times)
{
	uint32_t i;

	if (times < BIG_TIMES)
		return (uint32_t)times;
	for (i = 0; i < s->nbig && s->big[i] != times; i++)
		;
	if (i == s->nbig) {
		VEC_RESERVE(s->big, s->nbig, s->big_cap);
		s->big[s->nbig++] = times;
	}
	return BIG_TIMES + i;
}

static void grow_nodes(struct sequitur *s)
{
	uint32_t cap = s->nodes_cap ? 2 * s->nodes_cap : 1024;
	struct node *nodes;

	assert(cap > s->nodes_cap); /* 64 GB of them */
	nodes = digrams_alloc(cap * sizeof(*nodes));
	if (s->nnodes)
		memcpy(nodes, s->nodes, s->nnodes * sizeof(*nodes));
	free(s->nodes);
	s->nodes = nodes;
	s->nodes_cap = cap;
}

/* The free node that was freed last, or a new one. */
static uint32_t new_node(struct sequitur *s, uint32_t symbol, uint32_t times)
{
	uint32_t n = s->free_node;

	if (n) {
		s->free_node = s->nodes[n].next;
	} else {
		if (s->nnodes == s->nodes_cap)
			grow_nodes(s);
		n = s->nnodes++;
	}
	s->nodes[n].symbol = symbol;
	s->nodes[n].times = times;
	return n;
}

static void link_nodes(struct sequitur *s, uint32_t a, uint32_t b)
{
	s->nodes[a].next = b;
	s->nodes[b].prev = a;
}

/* Requires: its neighbours are linked without it. */
static void free_node(struct sequitur *s, uint32_t n)
{
	s->nodes[n] = (struct node){NOTHING, 0, 0, s->free_node};
	s->free_node = n;
}

static uint32_t new_rule(struct sequitur *s, uint32_t head)
{
	uint32_t r = s->free_rule, guard;

	if (r) {
		s->free_rule = s->rules[r].head;
	} else {
		VEC_RESERVE(s->rules, s->nrules, s->rules_cap);
		assert(s->nrules < NOTHING - GRAMMAR_RULE);
		r = s->nrules++;
	}
	guard = new_node(s, r, 0);
	link_nodes(s, guard, guard);
	s->rules[r] = (struct rule){.guard = guard, .head = head};
	return r;
}

static void free_rule(struct sequitur *s, uint32_t r)
{
	free_node(s, s->rules[r].guard);
	s->rules[r] = (struct rule){.head = s->free_rule};
	s->free_rule = r;
}

/* --- digrams ----------------------------------------------------------- */

static uint32_t hash_pair(uint32_t symbol, uint32_t times, uint32_t symbol2,
                          uint32_t times2)
{
	uint64_t x = (uint64_t)symbol << 32 | symbol2;
	uint64_t y = (uint64_t)times << 32 | times2;

	x *= 0x9e3779b97f4a7c15u;
	y *= 0xd6e8feb86659fd93u;
	x ^= x >> 29;
	x = (x + (y ^ y >> 31)) * 0xbf58476d1ce4e5b9u;
	return (uint32_t)(x >> 32);
}

static uint32_t hash_at(const struct sequitur *s, uint32_t n)
{
	const struct node *a = &s->nodes[n], *b = &s->nodes[a->next];

	return hash_pair(a->symbol, a->times, b->symbol, b->times);
}

static bool is_digram(const struct sequitur *s, uint32_t n)
{
	return !is_guard(s, n) && !is_guard(s, s->nodes[n].next);
}

static bool is_same_digram(const struct sequitur *s, uint32_t m, uint32_t n)
{
	const struct node *a = &s->nodes[m], *b = &s->nodes[n];
	const struct node *c = &s->nodes[a->next], *d = &s->nodes[b->next];

	return a->symbol == b->symbol && a->times == b->times &&
	       c->symbol == d->symbol && c->times == d->times;
}

/* Takes the digram that begins in n out of the table; it is going to change. */
static void forget(struct sequitur *s, uint32_t n)
{
	if (is_digram(s, n))
		digrams_remove(&s->digrams, hash_at(s, n), n);
}

/* Where the search for the digram that begins in n ends: its slot, or an empty
 * one. */
static struct digrams_slot *find_slot(struct sequitur *s, uint32_t n,
                                      uint32_t hash)
{
	const struct digrams *d = &s->digrams;
	size_t k = digrams_home(d, hash);

	while (d->slots[k].node && (d->slots[k].hash != hash ||
	                            !is_same_digram(s, d->slots[k].node, n)))
		k = (k + 1) & d->mask;
	return &d->slots[k];
}

/* Puts the digram that begins in n, which is new, into the table. */
static void enter(struct sequitur *s, uint32_t n)
{
	uint32_t hash;
	struct digrams_slot *slot;

	if (!is_digram(s, n))
		return;
	hash = hash_at(s, n);
	slot = find_slot(s, n, hash);
	assert(!slot->node);
	digrams_put(&s->digrams, slot, hash, n);
}

/* What is open, behind the first rule. */
static void set_open(struct sequitur *s, uint32_t symbol, uint64_t times)
{
	const struct node *last = &s->nodes[s->nodes[0].prev];

	s->open = (struct piece){symbol, times};
	digrams_prefetch(&s->digrams, hash_pair(last->symbol, last->times,
	                                        symbol, (uint32_t)times));
}

/* --- rules ------------------------------------------------------------- */

static void add_uses(struct sequitur *s, uint32_t symbol, uint64_t times)
{
	if (is_rule(symbol))
		rule_of(s, symbol)->uses += times;
}

static void drop_uses(struct sequitur *s, uint32_t n)
{
	const struct node *node = &s->nodes[n];

	if (is_rule(node->symbol))
		rule_of(s, node->symbol)->uses -= times_of(s, node->times);
}

/* A new rule for the digram that begins in n; `slot` has that so far. */
static uint32_t make_rule(struct sequitur *s, uint32_t n,
                          struct digrams_slot *slot)
{
	const struct node a = s->nodes[n], b = s->nodes[a.next];
	uint32_t r = new_rule(s, is_rule(a.symbol) ? rule_of(s, a.symbol)->head
	                                           : a.symbol);
	uint32_t x = new_node(s, a.symbol, a.times);
	uint32_t y = new_node(s, b.symbol, b.times);

	link_nodes(s, s->rules[r].guard, x);
	link_nodes(s, x, y);
	link_nodes(s, y, s->rules[r].guard);
	add_uses(s, a.symbol, times_of(s, a.times));
	add_uses(s, b.symbol, times_of(s, b.times));
	slot->node = x;
	return r;
}

/* Puts a new rule where n and what follows it are. */
static void substitute(struct sequitur *s, uint32_t n, uint32_t r)
{
	uint32_t second = s->nodes[n].next;

	forget(s, s->nodes[n].prev);
	forget(s, second);
	drop_uses(s, n);
	drop_uses(s, second);
	link_nodes(s, n, s->nodes[second].next);
	free_node(s, second);
	s->nodes[n].symbol = GRAMMAR_RULE + r;
	s->nodes[n].times = 1;
	s->rules[r].uses++;
	enter(s, s->nodes[n].prev);
	enter(s, n);
}

/* Puts a rule where n and what follows it are, at the end: it is open. */
static void substitute_last(struct sequitur *s, uint32_t n, uint32_t r)
{
	uint32_t second = s->nodes[n].next, prev = s->nodes[n].prev;

	forget(s, prev);
	drop_uses(s, n);
	drop_uses(s, second);
	link_nodes(s, prev, 0);
	free_node(s, second);
	free_node(s, n);
	s->rules[r].uses++;
	set_open(s, GRAMMAR_RULE + r, 1);
}

/* Puts what a rule generates back at n, its only use, which is first in its
 * rule. */
static void put_back(struct sequitur *s, uint32_t n)
{
	uint32_t r = s->nodes[n].symbol - GRAMMAR_RULE;
	uint32_t guard = s->rules[r].guard, last = s->nodes[guard].prev;
	uint32_t prev = s->nodes[n].prev, next = s->nodes[n].next;

	assert(is_guard(s, prev));
	assert(s->nodes[last].symbol != s->nodes[next].symbol);
	forget(s, n);
	link_nodes(s, prev, s->nodes[guard].next);
	link_nodes(s, last, next);
	free_node(s, n);
	free_rule(s, r);
	enter(s, last);
}

static bool is_lone(struct sequitur *s, uint32_t n)
{
	uint32_t symbol = s->nodes[n].symbol;

	return is_rule(symbol) && rule_of(s, symbol)->uses == 1;
}

/* The rule that is nothing but the digram that begins in n; 0 if none is. */
static uint32_t whole_rule(const struct sequitur *s, uint32_t n)
{
	uint32_t prev = s->nodes[n].prev;

	if (is_guard(s, prev) && is_guard(s, s->nodes[s->nodes[n].next].next))
		return s->nodes[prev].symbol;
	return 0;
}

/* The last digram, which begins in n, is that of `slot`, too. */
static void match(struct sequitur *s, uint32_t n, struct digrams_slot *slot)
{
	uint32_t m = slot->node, r = whole_rule(s, m), x;

	if (!r) {
		r = make_rule(s, m, slot);
		substitute(s, m, r);
	}
	substitute_last(s, n, r);
	x = s->nodes[s->rules[r].guard].next;
	assert(!is_lone(s, s->nodes[x].next));
	if (is_lone(s, x))
		put_back(s, x);
}

/* --- the end of the first rule ----------------------------------------- */

/* Takes the last node out, if it is of the open symbol: both are one. */
static void merge_last(struct sequitur *s)
{
	uint32_t last = s->nodes[0].prev, prev = s->nodes[last].prev;

	if (!last || s->nodes[last].symbol != s->open.symbol)
		return;
	s->open.times += times_of(s, s->nodes[last].times);
	forget(s, prev);
	link_nodes(s, prev, 0);
	free_node(s, last);
}

/* Appends what is open.  If that makes a rule at the end, the rule is open. */
static void close_open(struct sequitur *s)
{
	uint32_t last, n, hash;
	struct digrams_slot *slot;

	merge_last(s);
	last = s->nodes[0].prev;
	n = new_node(s, s->open.symbol, make_times(s, s->open.times));
	link_nodes(s, last, n);
	link_nodes(s, n, 0);
	s->open.symbol = NOTHING;
	if (!last)
		return;
	hash = hash_at(s, last);
	slot = find_slot(s, last, hash);
	if (slot->node)
		match(s, last, slot);
	else
		digrams_put(&s->digrams, slot, hash, last);
}

static void append(struct sequitur *s, uint32_t symbol, uint64_t times)
{
	while (s->open.symbol != NOTHING && s->open.symbol != symbol)
		close_open(s);
	if (s->open.symbol == symbol)
		s->open.times += times;
	else
		set_open(s, symbol, times);
}

static void add_piece(struct sequitur *s, uint32_t symbol, uint64_t times)
{
	VEC_RESERVE(s->pieces, s->npieces, s->pieces_cap);
	s->pieces[s->npieces++] = (struct piece){symbol, times};
	add_uses(s, symbol, times);
}

/* The open rule goes no further: appends it and what agreed with it. */
static void break_off(struct sequitur *s)
{
	s->npieces = 0;
	for (size_t i = 0; i < s->nlevels; i++) {
		const struct level *l = &s->levels[i];
		uint32_t n = l->node;

		while (!is_guard(s, s->nodes[n].prev))
			n = s->nodes[n].prev;
		for (; n != l->node; n = s->nodes[n].next)
			add_piece(s, s->nodes[n].symbol,
			          times_of(s, s->nodes[n].times));
		if (l->done)
			add_piece(s, s->nodes[n].symbol, l->done);
	}
	s->nlevels = 0;
	for (size_t i = 0; i < s->npieces; i++)
		append(s, s->pieces[i].symbol, s->pieces[i].times);
}

static void push_level(struct sequitur *s, uint32_t rule)
{
	uint32_t guard = rule_of(s, rule)->guard;

	VEC_RESERVE(s->levels, s->nlevels, s->levels_cap);
	s->levels[s->nlevels++] = (struct level){s->nodes[guard].next, 0};
}

/* The node of the innermost level is done once more: goes to what is next. */
static void step(struct sequitur *s)
{
	while (s->nlevels) {
		struct level *l = &s->levels[s->nlevels - 1];

		if (++l->done < times_of(s, s->nodes[l->node].times))
			return;
		l->node = s->nodes[l->node].next;
		l->done = 0;
		if (!is_guard(s, l->node))
			return;
		s->nlevels--;
	}
	s->open.times++;
	add_uses(s, s->open.symbol, 1);
}

/* How many of n equal symbols does the open rule go on with?  At most as many
 * as one node has of them.  Goes past them. */
static uint64_t agree(struct sequitur *s, uint32_t symbol, uint64_t n)
{
	struct level *l;
	uint64_t left;
	uint32_t next =
	        s->nlevels ? s->nodes[s->levels[s->nlevels - 1].node].symbol
	                   : s->open.symbol;

	if (is_rule(next) ? rule_of(s, next)->head != symbol : next != symbol)
		return 0;
	while (is_rule(next)) {
		push_level(s, next);
		next = s->nodes[s->levels[s->nlevels - 1].node].symbol;
	}
	l = &s->levels[s->nlevels - 1];
	left = times_of(s, s->nodes[l->node].times) - l->done;
	if (n > left)
		n = left;
	l->done += n - 1;
	step(s);
	return n;
}

static void push(struct sequitur *s, uint32_t symbol, uint64_t n)
{
	while (n && s->open.symbol != NOTHING && s->open.symbol != symbol) {
		uint64_t agreed =
		        is_rule(s->open.symbol) ? agree(s, symbol, n) : 0;

		n -= agreed;
		if (!agreed && s->nlevels)
			break_off(s);
		else if (!agreed)
			close_open(s);
	}
	if (n)
		append(s, symbol, n);
}

static void push_one(struct sequitur *s, uint32_t symbol)
{
	if (s->open.symbol == symbol)
		s->open.times++;
	else
		push(s, symbol, 1);
}

static void count_length(struct sequitur *s, uint64_t n)
{
	assert(!s->is_finished);
	s->is_too_long |= __builtin_add_overflow(s->length, n, &s->length);
}

void sequitur_push(struct sequitur *s, uint32_t symbol)
{
	size_t i = s->length % AHEAD;

	assert(symbol < GRAMMAR_RULE);
	count_length(s, 1);
	digrams_prefetch(&s->digrams, hash_pair(s->newest, 1, symbol, 1));
	if (s->ahead[i] != NOTHING)
		push_one(s, s->ahead[i]);
	s->ahead[i] = s->newest = symbol;
}

/* Pushes what is held ahead, oldest first. */
static void catch_up(struct sequitur *s)
{
	for (size_t k = 0; k < AHEAD; k++) {
		size_t i = (s->length + k) % AHEAD;

		if (s->ahead[i] != NOTHING)
			push_one(s, s->ahead[i]);
		s->ahead[i] = NOTHING;
	}
}

void sequitur_push_run(struct sequitur *s, uint32_t symbol, uint64_t n)
{
	assert(symbol < GRAMMAR_RULE);
	catch_up(s);
	count_length(s, n);
	if (!s->is_too_long)
		push(s, symbol, n);
}

struct sequitur *sequitur_new(void)
{
	struct sequitur *s = xcalloc(1, sizeof(*s));

	s->open.symbol = NOTHING;
	memset(s->ahead, 0xff, sizeof(s->ahead));
	digrams_init(&s->digrams);
	new_rule(s, NOTHING);
	return s;
}

void sequitur_free(struct sequitur *s)
{
	if (!s)
		return;
	digrams_release(&s->digrams);
	free(s->nodes);
	free(s->rules);
	free(s->levels);
	free(s->pieces);
	free(s->big);
	free(s);
}

/* --- the finished grammar ---------------------------------------------- */

static void finish(struct sequitur *s)
{
	catch_up(s);
	if (s->nlevels)
		break_off(s);
	while (s->open.symbol != NOTHING)
		close_open(s);
	s->is_finished = true;
}

/* What is needed to number rules, used ones first. */
struct order {
	uint32_t *number; /* per rule; NOTHING: not yet */
	size_t *first;    /* per number */
	uint32_t *stack;  /* nodes, where the search is in each rule */
	size_t n, cap;    /* of the stack */
	struct grammar_item *items;
	size_t nitems, items_cap;
	uint32_t nrules;
};

static void emit_rule(const struct sequitur *s, struct order *o, uint32_t guard)
{
	o->number[s->nodes[guard].symbol] = o->nrules;
	o->first[o->nrules++] = o->nitems;
	for (uint32_t n = s->nodes[guard].next; n != guard;
	     n = s->nodes[n].next) {
		const struct node *node = &s->nodes[n];
		uint32_t symbol = node->symbol;

		if (is_rule(symbol))
			symbol =
			        GRAMMAR_RULE + o->number[symbol - GRAMMAR_RULE];
		VEC_RESERVE(o->items, o->nitems, o->items_cap);
		o->items[o->nitems++] =
		        (struct grammar_item){symbol, times_of(s, node->times)};
	}
}

/* Depth first: a rule is emitted when all that it uses are. */
static void emit_all(struct sequitur *s, struct order *o)
{
	VEC_RESERVE(o->stack, o->n, o->cap);
	o->stack[o->n++] = s->nodes[0].next;
	while (o->n) {
		const struct node *node = &s->nodes[o->stack[o->n - 1]];
		uint32_t symbol = node->symbol;

		if (!node->times) {
			emit_rule(s, o, o->stack[--o->n]);
			continue;
		}
		o->stack[o->n - 1] = node->next;
		if (!is_rule(symbol) ||
		    o->number[symbol - GRAMMAR_RULE] != NOTHING)
			continue;
		VEC_RESERVE(o->stack, o->n, o->cap);
		o->stack[o->n++] = s->nodes[rule_of(s, symbol)->guard].next;
	}
	o->first[o->nrules] = o->nitems;
}

int sequitur_finish(struct sequitur *s, struct grammar *g,
                    struct cairn_err *err)
{
	struct order o = {0};

	if (s->is_too_long)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "the string has 2^64 symbols or more; "
		                  "select a part of the trace");
	assert(!s->is_finished);
	finish(s);
	o.number = xmalloc(s->nrules * sizeof(*o.number));
	memset(o.number, 0xff, s->nrules * sizeof(*o.number));
	o.first = xcalloc((size_t)s->nrules + 1, sizeof(*o.first));
	emit_all(s, &o);
	free(o.number);
	free(o.stack);
	return grammar_init(g, o.items, o.first, o.nrules, err);
}
