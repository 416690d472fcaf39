/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control-flow graph that all of graph/ works on.
 *
 * Edges live in one array and are named by their position in it; cfg_link
 * sorts their names by source and by target (counting sort), which keeps the
 * edges of a block in edge order.  Every algorithm that walks adjacency lists
 * is therefore deterministic, whatever order the blocks were made in.
 *
 * Invariant: after cfg_link, out_at[] and in_at[] are non-decreasing and end
 * with nedges; every edge stands once in out[] and once in in[].
 * Breaks when: an edge is added after cfg_link (asserted).
 * Cost: O(V+E) time and memory.
 */
#include "graph/cfg.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"

void cfg_init(struct cfg *g, uint32_t nblocks)
{
	assert(nblocks > 0 && nblocks < CFG_NONE / 2);
	*g = (struct cfg){.nblocks = nblocks};
}

void cfg_release(struct cfg *g)
{
	free(g->edges);
	free(g->out_at);
	free(g->in_at);
	free(g->out);
	free(g->in);
	*g = (struct cfg){0};
}

/* True when the vector is full: its capacity is 16 and doubles from there. */
static bool cfg_edges_full(uint32_t nedges)
{
	if (nedges == 0)
		return true;
	return nedges >= 16 && (nedges & (nedges - 1)) == 0;
}

edge_id cfg_add_edge(struct cfg *g, block_id src, block_id dst)
{
	assert(!g->out_at && src < g->nblocks && dst < g->nblocks);
	assert(g->nedges < CFG_NONE - 1);
	if (cfg_edges_full(g->nedges)) {
		size_t cap = g->nedges ? 2 * (size_t)g->nedges : 16;

		g->edges = xrealloc(g->edges, cap, sizeof(*g->edges));
	}
	g->edges[g->nedges] = (struct cfg_edge){src, dst};
	return g->nedges++;
}

/* Turns counts, shifted by one, into starts: at[b] = where b's edges begin. */
static void cfg_prefix_sums(uint32_t *at, uint32_t nblocks)
{
	for (uint32_t b = 0; b < nblocks; b++)
		at[b + 1] += at[b];
}

void cfg_link(struct cfg *g)
{
	size_t n = (size_t)g->nblocks + 1;
	uint32_t *out_next = xcalloc(n, sizeof(*out_next));
	uint32_t *in_next = xcalloc(n, sizeof(*in_next));

	assert(!g->out_at);
	g->out_at = xcalloc(n, sizeof(*g->out_at));
	g->in_at = xcalloc(n, sizeof(*g->in_at));
	g->out = xcalloc((size_t)g->nedges + 1, sizeof(*g->out));
	g->in = xcalloc((size_t)g->nedges + 1, sizeof(*g->in));
	for (edge_id e = 0; e < g->nedges; e++) {
		g->out_at[g->edges[e].src + 1]++;
		g->in_at[g->edges[e].dst + 1]++;
	}
	cfg_prefix_sums(g->out_at, g->nblocks);
	cfg_prefix_sums(g->in_at, g->nblocks);
	for (edge_id e = 0; e < g->nedges; e++) {
		block_id src = g->edges[e].src, dst = g->edges[e].dst;

		g->out[g->out_at[src] + out_next[src]++] = e;
		g->in[g->in_at[dst] + in_next[dst]++] = e;
	}
	free(out_next);
	free(in_next);
}
