/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inclusive costs: strongly connected components of the call graph (R. Tarjan,
 * "Depth-first search and linear graph algorithms", SIAM J. Comput. 1(2), 1972)
 * come callees first, so that the total of a component is its own cost and the
 * parts of totals that are there already.
 *
 * The parent of a function is the one function that calls it, if counts prove
 * that there is no other: all its entries are calls by name from there.  Where
 * parents form no cycle, stacks follow from counts.
 *
 * Invariant: cycle[] of a callee is not greater than that of its caller.
 * Cost: O(functions + calls).
 */
#include "analysis/inclusive.h"

#include "analysis/counts.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdbool.h>
#include <stdlib.h>

uint32_t inclusive_number(const struct inclusive *x, struct call_end f)
{
	return f.module == CALLGRAPH_NONE ? CALLGRAPH_NONE
	                                  : x->first[f.module] + f.function;
}

uint64_t inclusive_call(const struct inclusive *x, const struct call *c)
{
	uint32_t to = inclusive_number(x, c->to);
	uint32_t from = inclusive_number(x, c->from);

	if (to == CALLGRAPH_NONE || !c->known || !x->entries[to] ||
	    x->cycle[to] == x->cycle[from])
		return 0;
	if (c->count >= x->entries[to])
		return x->total[to];
	return (uint64_t)((long double)x->total[to] * (long double)c->count /
	                  (long double)x->entries[to]);
}

/* --- components ------------------------------------------------------------
 */

struct search {
	struct inclusive *x;
	size_t *at;      /* per function: its first call in calls->items */
	uint32_t *order; /* when it was found, 0: not yet */
	uint32_t *low;   /* the earliest that is reached from it */
	uint32_t *stack; /* functions of components that are not complete */
	uint32_t *way;   /* functions from the root to here */
	size_t *next;    /* per function on the way: its next call */
	uint32_t nstack, nway, norder, ncycles;
};

static void enter(struct search *s, uint32_t f)
{
	s->order[f] = s->low[f] = ++s->norder;
	s->stack[s->nstack++] = f;
	s->way[s->nway++] = f;
	s->next[f] = s->at[f];
}

/* All of a component is there: callees have their totals. */
static void complete(struct search *s, uint32_t f)
{
	struct inclusive *x = s->x;
	uint64_t total = 0;
	uint32_t first = s->nstack;

	do
		x->cycle[s->stack[--first]] = s->ncycles;
	while (s->stack[first] != f);
	for (uint32_t i = first; i < s->nstack; i++) {
		uint32_t g = s->stack[i];

		x->total[g] = x->self[g];
		for (size_t k = s->at[g]; k < s->at[g + 1]; k++)
			x->total[g] += inclusive_call(x, &x->calls->items[k]);
		total += x->total[g];
	}
	/* whoever enters a cycle may go all around it */
	for (uint32_t i = first; i < s->nstack; i++)
		x->total[s->stack[i]] = total;
	s->nstack = first;
	s->ncycles++;
}

static void step(struct search *s)
{
	uint32_t f = s->way[s->nway - 1];

	while (s->next[f] < s->at[f + 1]) {
		const struct call *c = &s->x->calls->items[s->next[f]++];
		uint32_t to = inclusive_number(s->x, c->to);

		if (to == CALLGRAPH_NONE || !c->known || !c->count)
			continue;
		if (!s->order[to]) {
			enter(s, to);
			return;
		}
		if (s->x->cycle[to] == CALLGRAPH_NONE &&
		    s->order[to] < s->low[f])
			s->low[f] = s->order[to];
	}
	s->nway--;
	if (s->nway && s->low[f] < s->low[s->way[s->nway - 1]])
		s->low[s->way[s->nway - 1]] = s->low[f];
	if (s->low[f] == s->order[f])
		complete(s, f);
}

static void find_totals(struct inclusive *x)
{
	size_t n = (size_t)x->n + 1;
	struct search s = {.x = x};

	s.at = xcalloc(n, sizeof(*s.at));
	s.next = xcalloc(n, sizeof(*s.next));
	s.order = xcalloc(n, sizeof(*s.order));
	s.low = xcalloc(n, sizeof(*s.low));
	s.stack = xcalloc(n, sizeof(*s.stack));
	s.way = xcalloc(n, sizeof(*s.way));
	for (size_t i = 0; i < x->calls->n; i++)
		s.at[inclusive_number(x, x->calls->items[i].from) + 1]++;
	for (uint32_t i = 0; i < x->n; i++)
		s.at[i + 1] += s.at[i];
	for (uint32_t i = 0; i < x->n; i++) {
		if (s.order[i])
			continue;
		enter(&s, i);
		while (s.nway)
			step(&s);
	}
	free(s.at);
	free(s.next);
	free(s.order);
	free(s.low);
	free(s.stack);
	free(s.way);
}

/* --- parents ---------------------------------------------------------------
 */

static void find_parents(struct inclusive *x)
{
	uint64_t *called = xcalloc(x->n, sizeof(*called));
	bool *has_two = xcalloc(x->n, sizeof(*has_two));

	for (size_t i = 0; i < x->calls->n; i++) {
		const struct call *c = &x->calls->items[i];
		uint32_t to = inclusive_number(x, c->to);
		uint32_t from = inclusive_number(x, c->from);

		if (to == CALLGRAPH_NONE || !c->known || !c->count)
			continue;
		called[to] += c->count;
		has_two[to] |= x->parent[to] != CALLGRAPH_NONE &&
		               x->parent[to] != from;
		has_two[to] |= x->cycle[to] == x->cycle[from];
		x->parent[to] = from;
	}
	for (uint32_t i = 0; i < x->n; i++)
		if (has_two[i] || called[i] != x->entries[i])
			x->parent[i] = CALLGRAPH_NONE;
	free(called);
	free(has_two);
}

static void load(struct inclusive *x, const struct counts *c)
{
	const struct profile *p = c->profile;

	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;

		for (uint32_t f = 0; m && f < m->nfunctions; f++) {
			const struct counts_function *k =
			        &c->modules[i].functions[f];
			uint32_t at = x->first[i] + f;

			x->self[at] = k->instructions;
			x->entries[at] = k->entries;
			x->parent[at] = x->cycle[at] = CALLGRAPH_NONE;
		}
	}
}

struct inclusive *inclusive_new(const struct counts *c,
                                const struct callgraph *k)
{
	const struct profile *p = c->profile;
	struct inclusive *x = xcalloc(1, sizeof(*x));

	x->calls = k;
	x->first = xcalloc(p->nmodules + (size_t)1, sizeof(*x->first));
	for (uint32_t i = 0; i < p->nmodules; i++) {
		x->first[i] = x->n;
		x->n += p->modules[i].map ? p->modules[i].map->nfunctions : 0;
	}
	x->self = xcalloc(x->n, sizeof(*x->self));
	x->total = xcalloc(x->n, sizeof(*x->total));
	x->entries = xcalloc(x->n, sizeof(*x->entries));
	x->cycle = xcalloc(x->n, sizeof(*x->cycle));
	x->parent = xcalloc(x->n, sizeof(*x->parent));
	load(x, c);
	find_totals(x);
	find_parents(x);
	return x;
}

void inclusive_free(struct inclusive *x)
{
	if (!x)
		return;
	free(x->first);
	free(x->self);
	free(x->total);
	free(x->entries);
	free(x->cycle);
	free(x->parent);
	free(x);
}
