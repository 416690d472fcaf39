/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights: how often each edge is expected to run.
 *
 * T. Ball and J. Larus, "Optimally profiling and tracing programs", TOPLAS
 * 16(4), 1994, section 5.1: (1) a loop runs ten times, (2) a loop that is
 * entered N times and has E exit edges gives each N/E, (3) a predicate takes
 * its other edges equally often.  Blocks are taken in a topological order of
 * the edges that do not retreat, so that what comes into a block is known
 * before what leaves it; a head has 11 times what comes in.
 *
 * Where the rules contradict each other, this is how they are read:
 *  - An edge that leaves several loops gets the share of the outermost, but no
 *    more than that of any other it leaves; the edges that leave just one loop
 *    divide what remains of its N.  There is one, or the loop around it could
 *    not come back through it.
 *  - Exits of a block that runs less often than they ask for share what it has.
 *  - A loop without exit runs ten times as well.
 *  - In an irreducible loop N is what comes in at the head; what comes in
 *    elsewhere is added where it does.
 * Flow is conserved, to the last unit, at every block that is no head and does
 * not saturate, and at a head whose loop has one entry block, has exits, and
 * whose exits all get what rule (2) promises.
 *
 * Invariant: when a block is taken, the weights of its edges that leave its
 * innermost loop are what rule (2) asks for.
 * Cost: O(E) and the sum over all edges of the number of loops left.
 */
#include "graph/weight.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/cfg.h"
#include "graph/dfs.h"
#include "graph/loops.h"

#define WEIGHT_TRIPS 10

__extension__ typedef unsigned __int128 weight_wide;

static uint64_t weight_add(uint64_t a, uint64_t b)
{
	return b >= WEIGHT_MAX - a ? WEIGHT_MAX : a + b;
}

static uint64_t weight_times(uint64_t a, uint64_t factor)
{
	return a > WEIGHT_MAX / factor ? WEIGHT_MAX : a * factor;
}

struct weighing {
	const struct cfg *g;
	struct dfs dfs;
	struct loops loops;
	/* the exit edges of loop i: exits[exits_at[i]] .. exits_at[i + 1] */
	size_t *exits_at;
	edge_id *exits;
	uint64_t *weight;
};

static void weighing_list_exits(struct weighing *w)
{
	const struct loops *l = &w->loops;
	size_t *next = xcalloc((size_t)l->n + 1, sizeof(*next));

	w->exits_at = xcalloc((size_t)l->n + 1, sizeof(*w->exits_at));
	for (uint32_t i = 0; i < l->n; i++)
		w->exits_at[i + 1] = w->exits_at[i] + l->loop[i].nexits;
	w->exits = xcalloc(w->exits_at[l->n] + 1, sizeof(*w->exits));
	for (edge_id e = 0; e < w->g->nedges; e++) {
		const struct cfg_edge *edge = &w->g->edges[e];
		uint32_t i = l->of[edge->src];

		for (; i != CFG_NONE; i = l->loop[i].parent) {
			if (loops_contains(l, i, edge->dst))
				break;
			w->exits[w->exits_at[i] + next[i]++] = e;
		}
	}
	free(next);
}

/* Does e, which leaves loop i, stay inside the loop around it? */
static bool weighing_leaves_only(const struct weighing *w, uint32_t i,
                                 edge_id e)
{
	uint32_t around = w->loops.loop[i].parent;

	return around == CFG_NONE ||
	       loops_contains(&w->loops, around, w->g->edges[e].dst);
}

/* Part k of n of a whole, the parts as equal as integers can be. */
static uint64_t weight_part(uint64_t whole, uint64_t n, uint64_t k)
{
	return whole / n + (k < whole % n);
}

/* Loop i is entered `entered` times: what its exit edges get. */
static void weighing_enter(struct weighing *w, uint32_t i, uint64_t entered)
{
	uint64_t nexits = w->loops.loop[i].nexits;
	uint64_t share = nexits > 0 ? entered / nexits : 0;
	uint64_t nown = 0, k = 0;

	for (size_t x = w->exits_at[i]; x < w->exits_at[i + 1]; x++)
		nown += weighing_leaves_only(w, i, w->exits[x]);
	for (size_t x = w->exits_at[i]; x < w->exits_at[i + 1]; x++) {
		edge_id e = w->exits[x];

		if (weighing_leaves_only(w, i, e))
			continue;
		if (w->weight[e] > share)
			w->weight[e] = share;
		entered -= w->weight[e];
	}
	for (size_t x = w->exits_at[i]; x < w->exits_at[i + 1]; x++)
		if (weighing_leaves_only(w, i, w->exits[x]))
			w->weight[w->exits[x]] =
			        weight_part(entered, nown, k++);
}

static uint64_t weighing_flow_in(const struct weighing *w, block_id b)
{
	uint64_t sum = 0;

	for (uint32_t k = w->g->in_at[b]; k < w->g->in_at[b + 1]; k++) {
		edge_id e = w->g->in[k];

		if (dfs_edge_kind(&w->dfs, w->g, e) != DFS_RETREATING)
			sum = weight_add(sum, w->weight[e]);
	}
	return sum;
}

static bool weighing_is_exit(const struct weighing *w, edge_id e)
{
	uint32_t i = w->loops.of[w->g->edges[e].src];

	return i != CFG_NONE &&
	       !loops_contains(&w->loops, i, w->g->edges[e].dst);
}

/*
 * Makes the exit edges of b fit into its flow, if need be each in proportion.
 * Returns what is left over for the other edges.
 */
static uint64_t weighing_fit_exits(struct weighing *w, block_id b,
                                   uint64_t flow)
{
	const struct cfg *g = w->g;
	weight_wide asked = 0;
	uint64_t given = 0;

	for (uint32_t k = g->out_at[b]; k < g->out_at[b + 1]; k++)
		if (weighing_is_exit(w, g->out[k]))
			asked += w->weight[g->out[k]];
	if (asked <= flow)
		return flow - (uint64_t)asked;
	for (uint32_t k = g->out_at[b]; k < g->out_at[b + 1]; k++) {
		uint64_t *x = &w->weight[g->out[k]];

		if (!weighing_is_exit(w, g->out[k]))
			continue;
		*x = (uint64_t)((weight_wide)*x * flow / asked);
		given += *x;
	}
	return flow - given;
}

static void weighing_leave(struct weighing *w, block_id b, uint64_t flow)
{
	const struct cfg *g = w->g;
	uint64_t rest = weighing_fit_exits(w, b, flow), n = 0, i = 0;

	for (uint32_t k = g->out_at[b]; k < g->out_at[b + 1]; k++)
		n += !weighing_is_exit(w, g->out[k]);
	for (uint32_t k = g->out_at[b]; k < g->out_at[b + 1]; k++)
		if (!weighing_is_exit(w, g->out[k]))
			w->weight[g->out[k]] = weight_part(rest, n, i++);
}

static void weighing_block(struct weighing *w, block_id b)
{
	uint64_t flow = WEIGHT_ONE;
	uint32_t i = w->loops.of[b];

	if (b != CFG_OUTSIDE)
		flow = weighing_flow_in(w, b);
	if (i != CFG_NONE && w->loops.loop[i].head == b) {
		weighing_enter(w, i, flow);
		flow = weight_times(flow, WEIGHT_TRIPS + 1);
	}
	weighing_leave(w, b, flow);
}

void weight_heuristic(const struct cfg *g, uint64_t *weight)
{
	struct weighing w = {.g = g, .weight = weight};

	dfs_init(&w.dfs, g);
	loops_init(&w.loops, g, &w.dfs);
	weighing_list_exits(&w);
	for (edge_id e = 0; e < g->nedges; e++)
		weight[e] = 0;
	for (uint32_t i = w.dfs.nreached; i-- > 0;)
		weighing_block(&w, w.dfs.postorder[i]);
	free(w.exits);
	free(w.exits_at);
	loops_release(&w.loops);
	dfs_release(&w.dfs);
}

void weight_from_frequencies(const struct cfg *g, const uint64_t *frequency,
                             uint64_t *weight)
{
	uint64_t entry = g->nedges && frequency[0] ? frequency[0] : 1;

	for (edge_id e = 0; e < g->nedges; e++) {
		weight_wide w = (weight_wide)frequency[e] * WEIGHT_ONE / entry;

		weight[e] = w < WEIGHT_MAX ? (uint64_t)w : WEIGHT_MAX;
	}
}

void weight_from_counts(const struct cfg *g, const uint64_t *count,
                        uint64_t *weight)
{
	for (edge_id e = 0; e < g->nedges; e++)
		weight[e] = weight_times(count[e], WEIGHT_ONE);
}

void weight_add_jumps(const struct cfg *g, const bool *needs_block,
                      uint64_t *weight)
{
	for (edge_id e = 0; e < g->nedges; e++)
		if (needs_block[e])
			weight[e] = weight_add(weight[e], weight[e]);
}
