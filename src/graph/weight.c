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
 *    more than that of the innermost; the edges that do not leave the loop
 *    around it as well divide what remains of a loop's N.  There is one, or the
 *    loop around it could not come back through it.
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
 * Cost: O(E log V) time, O(V+E) memory.
 */
#include "graph/weight.h"

#include <assert.h>
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
	/* exit edges in two kinds of lists, chained by next_*[] */
	edge_id *own, *next_own; /* by the outermost loop they leave */
	edge_id *far, *next_far; /* by the innermost, if that is another */
	/* promised to exit edges, by the place of their innermost loop: a
	 * binary indexed tree of sums */
	weight_wide *promised;
	uint64_t *weight;
};

static edge_id *weighing_lists(uint32_t n)
{
	edge_id *p = xcalloc((size_t)n + 1, sizeof(*p));

	for (uint32_t i = 0; i < n; i++)
		p[i] = CFG_NONE;
	return p;
}

static void weighing_list_exits(struct weighing *w)
{
	const struct loops *l = &w->loops;

	w->own = weighing_lists(l->n);
	w->far = weighing_lists(l->n);
	w->next_own = weighing_lists(w->g->nedges);
	w->next_far = weighing_lists(w->g->nedges);
	w->promised = xcalloc((size_t)l->n + 1, sizeof(*w->promised));
	for (edge_id e = w->g->nedges; e-- > 0;) {
		block_id src = w->g->edges[e].src;
		uint32_t left = loops_left(l, src, w->g->edges[e].dst);

		if (left == CFG_NONE)
			continue;
		w->next_own[e] = w->own[left];
		w->own[left] = e;
		if (left == l->of[src])
			continue;
		w->next_far[e] = w->far[l->of[src]];
		w->far[l->of[src]] = e;
	}
}

static void weighing_release(struct weighing *w)
{
	free(w->own);
	free(w->far);
	free(w->next_own);
	free(w->next_far);
	free(w->promised);
	loops_release(&w->loops);
	dfs_release(&w->dfs);
}

/* P. Fenwick, "A new data structure for cumulative frequency tables", 1994. */
static void weighing_promise(struct weighing *w, uint32_t place, uint64_t x)
{
	for (uint32_t i = place + 1; i <= w->loops.n; i += i & -i)
		w->promised[i] += x;
}

/* What was promised before loop i was entered to edges that leave it. */
static weight_wide weighing_promised(const struct weighing *w, uint32_t i)
{
	weight_wide sum = 0;

	for (uint32_t k = w->loops.loop[i].out + 1; k > 0; k -= k & -k)
		sum += w->promised[k];
	for (uint32_t k = w->loops.loop[i].in; k > 0; k -= k & -k)
		sum -= w->promised[k];
	return sum;
}

/* Part k < n of a whole, the parts as equal as integers can be. */
static uint64_t weight_part(uint64_t whole, uint64_t n, uint64_t k)
{
	assert(k < n);
	return whole / n + (k < whole % n);
}

/* Loop i is entered `entered` times: what its exit edges get. */
static void weighing_enter(struct weighing *w, uint32_t i, uint64_t entered)
{
	weight_wide promised = weighing_promised(w, i);
	uint64_t rest, n = 0, k = 0;
	edge_id e;

	for (e = w->far[i]; e != CFG_NONE; e = w->next_far[e]) {
		uint64_t share = entered / w->loops.loop[i].nexits;

		if (w->weight[e] <= share)
			continue;
		promised -= w->weight[e] - share;
		w->weight[e] = share;
	}
	rest = entered > promised ? entered - (uint64_t)promised : 0;
	for (e = w->own[i]; e != CFG_NONE; e = w->next_own[e])
		n++;
	for (e = w->own[i]; e != CFG_NONE; e = w->next_own[e]) {
		uint32_t inner = w->loops.of[w->g->edges[e].src];

		w->weight[e] = weight_part(rest, n, k++);
		weighing_promise(w, w->loops.loop[inner].in, w->weight[e]);
	}
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
	weighing_release(&w);
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
			weight[e] = weight_times(weight[e], 1 + WEIGHT_JUMP);
}
