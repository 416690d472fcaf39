/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a path expression to the automaton that runs beside a walk.
 *
 * V. Glushkov, "The abstract theory of automata", Russian Mathematical Surveys
 * 16(5), 1961: every place of a symbol in the expression is a position; what
 * may begin, what may follow a position and what may end are computed bottom
 * up.  A state of the nondeterministic automaton is the position that was read
 * last.  Counts are written out: a{2,4} is a a a? a?.
 *
 * It is made deterministic by sets of positions (M. Rabin and D. Scott, "Finite
 * automata and their decision problems", IBM Journal 3, 1959), when a walk gets
 * there: an expression may have 2^n sets and a run meets few of them.
 *
 * An event may stand for several symbols ("str*" and strlen), so letters are
 * sets of symbols; positions of any of them are taken.
 *
 * Invariant: each position is on a way from the beginning to an end (there is
 * no expression for the empty language), so a set of positions that is not
 * empty can be continued: the dead state is the empty set and no other.
 *
 * Cost: O(n^3 / 64) for n positions to build, then O(n^2 / 64) per new state,
 * and O(1) per event.
 */
#include "analysis/automaton.h"

#include "analysis/expression.h"
#include "base/alloc.h"
#include "base/err.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MAX_POSITIONS 2048
/* Of all states. */
#define MAX_BYTES (64u << 20)

static size_t words_of(size_t nbits)
{
	return (nbits + 63) / 64;
}

static bool has(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> i % 64 & 1;
}

static void put(uint64_t *set, uint32_t i)
{
	set[i / 64] |= (uint64_t)1 << i % 64;
}

static void unite(uint64_t *set, const uint64_t *more, size_t width)
{
	for (size_t i = 0; i < width; i++)
		set[i] |= more[i];
}

/* --- positions ---------------------------------------------------------- */

/* A part of the expression: where it may begin and end. */
struct part {
	uint64_t *first, *last;
	bool is_nullable; /* it may be nothing */
};

static struct part new_part(const struct automaton *a)
{
	return (struct part){.first = xcalloc(a->width, sizeof(uint64_t)),
	                     .last = xcalloc(a->width, sizeof(uint64_t)),
	                     .is_nullable = true};
}

static void free_part(struct part *p)
{
	free(p->first);
	free(p->last);
}

/* What begins `second` may follow what ends `first`. */
static void link_parts(struct automaton *a, const struct part *first,
                       const struct part *second)
{
	for (uint32_t i = 0; i < a->npositions; i++)
		if (has(first->last, i))
			unite(&a->follow[i * a->width], second->first,
			      a->width);
}

/* p becomes p q; q is used up. */
static void append(struct automaton *a, struct part *p, struct part *q)
{
	link_parts(a, p, q);
	if (p->is_nullable)
		unite(p->first, q->first, a->width);
	if (!q->is_nullable)
		memset(p->last, 0, a->width * sizeof(uint64_t));
	unite(p->last, q->last, a->width);
	p->is_nullable &= q->is_nullable;
	free_part(q);
}

static void build(struct automaton *a, uint32_t node, struct part *p);

static void build_symbol(struct automaton *a, uint32_t symbol, struct part *p)
{
	uint32_t i = a->npositions++;

	a->symbols[i] = symbol;
	put(p->first, i);
	put(p->last, i);
	p->is_nullable = false;
}

static void build_sequence(struct automaton *a, uint32_t node, struct part *p)
{
	const struct expression_node *nodes = a->e->nodes;

	for (uint32_t c = nodes[node].child; c != EXPRESSION_NONE;
	     c = nodes[c].next) {
		struct part q;

		build(a, c, &q);
		append(a, p, &q);
	}
}

static void build_choice(struct automaton *a, uint32_t node, struct part *p)
{
	const struct expression_node *nodes = a->e->nodes;

	p->is_nullable = false;
	for (uint32_t c = nodes[node].child; c != EXPRESSION_NONE;
	     c = nodes[c].next) {
		struct part q;

		build(a, c, &q);
		unite(p->first, q.first, a->width);
		unite(p->last, q.last, a->width);
		p->is_nullable |= q.is_nullable;
		free_part(&q);
	}
}

/* How often what is repeated is written out; the last one goes round if there
 * is no end. */
static uint32_t count_copies(const struct expression_node *n)
{
	if (n->max != EXPRESSION_FOREVER)
		return n->max;
	return n->min ? n->min : 1;
}

static void build_repeat(struct automaton *a, uint32_t node, struct part *p)
{
	const struct expression_node *n = &a->e->nodes[node];
	uint32_t copies = count_copies(n);

	for (uint32_t i = 0; i < copies; i++) {
		uint32_t before = a->npositions;
		struct part q;

		build(a, n->child, &q);
		if (n->max == EXPRESSION_FOREVER && i + 1 == copies)
			link_parts(a, &q, &q);
		q.is_nullable |= i >= n->min;
		append(a, p, &q);
		if (a->npositions == before)
			break; /* copies of nothing */
	}
}

static void build(struct automaton *a, uint32_t node, struct part *p)
{
	const struct expression_node *n = &a->e->nodes[node];

	*p = new_part(a);
	switch (n->kind) {
	case EXPRESSION_SYMBOL:
		build_symbol(a, n->symbol, p);
		break;
	case EXPRESSION_SEQUENCE:
		build_sequence(a, node, p);
		break;
	case EXPRESSION_CHOICE:
		build_choice(a, node, p);
		break;
	case EXPRESSION_REPEAT:
		build_repeat(a, node, p);
		break;
	}
}

static void build_positions(struct automaton *a)
{
	struct part whole, start = new_part(a);

	a->npositions = 1;
	put(start.last, 0);
	build(a, a->e->root, &whole);
	if (a->is_repeated) {
		link_parts(a, &whole, &whole);
		whole.is_nullable = true;
	}
	append(a, &start, &whole);
	memcpy(a->final, start.last, a->width * sizeof(uint64_t));
	free_part(&start);
}

/* Positions of a part, or any number above MAX_POSITIONS. */
static uint64_t count_positions(const struct expression *e, uint32_t node)
{
	const struct expression_node *n = &e->nodes[node];
	uint64_t sum = n->kind == EXPRESSION_SYMBOL;

	for (uint32_t c = n->child; c != EXPRESSION_NONE; c = e->nodes[c].next)
		sum += count_positions(e, c);
	if (sum > MAX_POSITIONS + 1)
		sum = MAX_POSITIONS + 1;
	return n->kind == EXPRESSION_REPEAT ? sum * count_copies(n) : sum;
}

/* --- states ------------------------------------------------------------- */

static uint32_t hash_set(const uint64_t *set, size_t width)
{
	uint64_t h = 0;

	for (size_t i = 0; i < width; i++)
		h = (h ^ set[i]) * 0x9e3779b97f4a7c15, h ^= h >> 29;
	return (uint32_t)h;
}

/* The slot of a set: its own, or the free one where it belongs. */
static uint32_t find_slot(const struct automaton *a, const uint64_t *set)
{
	uint32_t i = hash_set(set, a->width) & (a->nslots - 1);

	while (a->slots[i] && memcmp(a->states[a->slots[i] - 1].set, set,
	                             a->width * sizeof(*set)))
		i = (i + 1) & (a->nslots - 1);
	return i;
}

static void grow_slots(struct automaton *a)
{
	free(a->slots);
	a->nslots = a->nslots ? 2 * a->nslots : 64;
	a->slots = xcalloc(a->nslots, sizeof(*a->slots));
	for (uint32_t s = 0; s < a->nstates; s++)
		a->slots[find_slot(a, a->states[s].set)] = s + 1;
}

static size_t state_size(const struct automaton *a)
{
	return sizeof(struct automaton_state) +
	       2 * a->width * sizeof(uint64_t) + a->nletters * sizeof(uint32_t);
}

static struct automaton_state new_state(const struct automaton *a,
                                        const uint64_t *set)
{
	size_t bytes = a->width * sizeof(*set);
	struct automaton_state s = {
	        .next = xcalloc(a->nletters + 1, sizeof(*s.next)),
	        .set = xmalloc(bytes),
	        .out = xcalloc(a->width, sizeof(*set)),
	};

	memcpy(s.set, set, bytes);
	for (uint32_t l = 0; l < a->nletters; l++)
		s.next[l] = AUTOMATON_OTHER;
	for (uint32_t i = 0; i < a->npositions; i++)
		if (has(set, i)) {
			unite(s.out, &a->follow[i * a->width], a->width);
			s.is_final |= has(a->final, i);
		}
	return s;
}

/* The state of a set, made if it is new. */
static uint32_t state_of(struct automaton *a, const uint64_t *set)
{
	uint32_t slot;

	if (2 * (a->nstates + 1) > a->nslots)
		grow_slots(a);
	slot = find_slot(a, set);
	if (a->slots[slot])
		return a->slots[slot] - 1;
	VEC_RESERVE(a->states, a->nstates, a->states_cap);
	a->states[a->nstates++] = new_state(a, set);
	a->slots[slot] = a->nstates;
	a->size += state_size(a);
	return a->nstates - 1;
}

static uint32_t make_state(struct automaton *a, bool is_anywhere)
{
	if (!a->nstates) {
		memset(a->scratch, 0, a->width * sizeof(uint64_t));
		state_of(a, a->scratch); /* AUTOMATON_DEAD */
	}
	memset(a->scratch, 0, a->width * sizeof(uint64_t));
	for (uint32_t i = 0; i < (is_anywhere ? a->npositions : 1); i++)
		put(a->scratch, i);
	return state_of(a, a->scratch);
}

/* --- the interface ------------------------------------------------------ */

int automaton_init(struct automaton *a, const struct expression *e,
                   bool is_repeated, struct cairn_err *err)
{
	uint64_t n = count_positions(e, e->root) + 1;

	*a = (struct automaton){.e = e, .is_repeated = is_repeated};
	if (n > MAX_POSITIONS)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "the path expression has more than %d "
		                  "symbols, counts written out; use smaller "
		                  "counts",
		                  MAX_POSITIONS - 1);
	a->width = words_of(n);
	a->symbol_width = words_of(e->nsymbols);
	a->symbols = xcalloc(n, sizeof(*a->symbols));
	a->follow = xcalloc(n * a->width, sizeof(*a->follow));
	a->final = xcalloc(a->width, sizeof(*a->final));
	a->scratch = xcalloc(a->width, sizeof(*a->scratch));
	build_positions(a);
	assert(a->npositions == n);
	return 0;
}

void automaton_release(struct automaton *a)
{
	for (uint32_t i = 0; i < a->nstates; i++) {
		free(a->states[i].next);
		free(a->states[i].set);
		free(a->states[i].out);
	}
	free(a->states);
	free(a->slots);
	free(a->symbols);
	free(a->follow);
	free(a->final);
	free(a->scratch);
	free(a->letters);
	free(a->masks);
	*a = (struct automaton){0};
}

/* Which positions does an event that stands for these symbols reach? */
static void fill_mask(const struct automaton *a, const uint64_t *symbols,
                      uint64_t *mask)
{
	memset(mask, 0, a->width * sizeof(*mask));
	for (uint32_t i = 1; i < a->npositions; i++)
		if (has(symbols, a->symbols[i]))
			put(mask, i);
}

uint32_t automaton_letter(struct automaton *a, const uint64_t *symbols)
{
	size_t bytes = a->symbol_width * sizeof(*symbols);
	uint32_t l = 0;

	assert(!a->nstates);
	while (l < a->symbol_width && !symbols[l])
		l++;
	if (l == a->symbol_width)
		return AUTOMATON_OTHER;
	for (l = 0; l < a->nletters; l++)
		if (!memcmp(&a->letters[l * a->symbol_width], symbols, bytes))
			return l;
	if (l == a->letters_cap) {
		a->letters_cap = l ? 2 * l : 16;
		a->letters = xrealloc(a->letters, a->letters_cap, bytes);
		a->masks = xrealloc(a->masks, a->letters_cap,
		                    a->width * sizeof(*a->masks));
	}
	memcpy(&a->letters[l * a->symbol_width], symbols, bytes);
	fill_mask(a, symbols, &a->masks[l * a->width]);
	a->nletters++;
	return l;
}

uint32_t automaton_start(struct automaton *a)
{
	return make_state(a, false);
}

uint32_t automaton_anywhere(struct automaton *a)
{
	return make_state(a, true);
}

int automaton_next(struct automaton *a, uint32_t state, uint32_t letter,
                   uint32_t *next, struct cairn_err *err)
{
	const struct automaton_state *s = &a->states[state];

	*next = s->next[letter];
	if (*next != AUTOMATON_OTHER)
		return 0;
	if (a->size > MAX_BYTES)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "the path expression needs more than %u "
		                  "states; repeat choices less often",
		                  a->nstates);
	for (size_t i = 0; i < a->width; i++)
		a->scratch[i] = s->out[i] & a->masks[letter * a->width + i];
	*next = state_of(a, a->scratch);
	a->states[state].next[letter] = *next;
	return 0;
}

bool automaton_is_final(const struct automaton *a, uint32_t state)
{
	return a->states[state].is_final;
}

void automaton_expected(const struct automaton *a, uint32_t state,
                        uint64_t *symbols)
{
	memset(symbols, 0, a->symbol_width * sizeof(*symbols));
	for (uint32_t i = 1; i < a->npositions; i++)
		if (has(a->states[state].out, i))
			put(symbols, a->symbols[i]);
}
