/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A biconnected graph that shrinks by series and parallel reductions.
 *
 * R. Duffin, "Topology of series-parallel networks", J. Math. Anal. Appl. 10,
 * 1965, is the pattern: two links between the same nodes become one, and so do
 * the two links of a node that has no others.  Here a link carries the turns of
 * the paths it stands for (turns.h).  Parallel links are checked against each
 * other when they meet: these are the cycles that disappear.  Links in series
 * are joined; if that gives a path with three turns the graph has a bad cycle,
 * since in a biconnected graph the path is part of some cycle.
 *
 * Invariant: as long as bad is not set, the graph that was put in has a bad
 * cycle exactly when some choice of one path per link makes a cycle of links
 * bad.  The graph of the links stays biconnected.
 * Cost: O(1) per reduction and the smaller of two degrees to look for a
 * parallel link, so O(E sqrt(E)) at worst for a sparse graph.
 */
#include "graph/gcore.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"

void gcore_init(struct gcore *c, uint32_t nnodes, uint32_t nlinks,
                uint64_t budget)
{
	/* every replacement removes a node, so it needs a link of its own */
	size_t cap = (size_t)nlinks + nnodes + 1;

	assert(cap < GCORE_NONE / 2);
	*c = (struct gcore){
	        .nnodes = nnodes,
	        .nalive = nnodes,
	        .links = xcalloc(cap, sizeof(*c->links)),
	        .next = xcalloc(2 * cap, sizeof(*c->next)),
	        .prev = xcalloc(2 * cap, sizeof(*c->prev)),
	        .first = xcalloc((size_t)nnodes + 1, sizeof(*c->first)),
	        .degree = xcalloc((size_t)nnodes + 1, sizeof(*c->degree)),
	        .budget = budget,
	};
	for (uint32_t x = 0; x < nnodes; x++)
		c->first[x] = GCORE_NONE;
}

void gcore_release(struct gcore *c)
{
	free(c->links);
	free(c->next);
	free(c->prev);
	free(c->first);
	free(c->degree);
	free(c->work);
	*c = (struct gcore){0};
}

bool gcore_spend(struct gcore *c, uint64_t nsteps)
{
	if (nsteps > c->budget) {
		c->budget = 0;
		return false;
	}
	c->budget -= nsteps;
	return true;
}

uint32_t gcore_to(const struct gcore *c, uint32_t half)
{
	const struct gcore_link *link = &c->links[half >> 1];

	return half & 1 ? link->a : link->b;
}

turns_set gcore_turns(const struct gcore *c, uint32_t half)
{
	turns_set turns = c->links[half >> 1].turns;

	return half & 1 ? turns_reverse(turns) : turns;
}

static uint32_t gcore_find_half(const struct gcore *c, uint32_t from,
                                uint32_t to)
{
	uint32_t half = c->first[from];

	while (half != GCORE_NONE && gcore_to(c, half) != to)
		half = c->next[half];
	return half;
}

uint32_t gcore_find(const struct gcore *c, uint32_t a, uint32_t b)
{
	bool from_a = c->degree[a] <= c->degree[b];
	uint32_t half =
	        from_a ? gcore_find_half(c, a, b) : gcore_find_half(c, b, a);

	return half == GCORE_NONE ? GCORE_NONE : half >> 1;
}

/* Nodes are queued whenever they come to have two links. */
static void gcore_queue(struct gcore *c, uint32_t node)
{
	VEC_RESERVE(c->work, c->nwork, c->work_cap);
	c->work[c->nwork++] = node;
}

static void gcore_hang(struct gcore *c, uint32_t node, uint32_t half)
{
	c->prev[half] = GCORE_NONE;
	c->next[half] = c->first[node];
	if (c->first[node] != GCORE_NONE)
		c->prev[c->first[node]] = half;
	c->first[node] = half;
	if (++c->degree[node] == 2)
		gcore_queue(c, node);
}

static void gcore_unhang(struct gcore *c, uint32_t node, uint32_t half)
{
	if (c->prev[half] != GCORE_NONE)
		c->next[c->prev[half]] = c->next[half];
	else
		c->first[node] = c->next[half];
	if (c->next[half] != GCORE_NONE)
		c->prev[c->next[half]] = c->prev[half];
	if (--c->degree[node] == 2)
		gcore_queue(c, node);
}

void gcore_add(struct gcore *c, uint32_t a, uint32_t b, turns_set turns)
{
	uint32_t l = gcore_find(c, a, b);

	if (l == GCORE_NONE) {
		l = c->nlinks++;
		c->links[l] = (struct gcore_link){a, b, turns};
		gcore_hang(c, a, 2 * l);
		gcore_hang(c, b, 2 * l + 1);
		return;
	}
	if (c->links[l].a != a)
		turns = turns_reverse(turns);
	if (!turns_agree(c->links[l].turns, turns))
		c->bad = true;
	c->links[l].turns |= turns;
}

void gcore_remove(struct gcore *c, uint32_t link)
{
	gcore_unhang(c, c->links[link].a, 2 * link);
	gcore_unhang(c, c->links[link].b, 2 * link + 1);
}

/* Node w has two links: one takes their place. */
static void gcore_bypass(struct gcore *c, uint32_t w)
{
	uint32_t left = c->first[w], right = c->next[left];
	uint32_t a = gcore_to(c, left), b = gcore_to(c, right);
	turns_set there = turns_reverse(gcore_turns(c, left));
	turns_set joined = turns_join(there, gcore_turns(c, right), &c->bad);

	gcore_remove(c, left >> 1);
	gcore_remove(c, right >> 1);
	c->nalive--;
	gcore_add(c, a, b, joined);
}

void gcore_reduce(struct gcore *c)
{
	while (c->nwork > 0 && !c->bad) {
		uint32_t w = c->work[--c->nwork];

		if (c->degree[w] == 2)
			gcore_bypass(c, w);
	}
}
