/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks as edges: placement that may also count in blocks.
 *
 * Ball and Larus (section 3.2) show that a counter on a block is never better
 * than counters on its edges, if a counter costs the weight of the place it
 * stands in.  On real code it does not: a counter on a critical edge needs a
 * block of its own and a jump (Samples 1991).  The commonest case is a loop of
 * one block, whose back edge is a chord whatever the weights: two instructions
 * per iteration on the edge, one in the block.
 *
 * So every block b is split into a top and a bottom, with an edge between them
 * that stands for the block: its weight is the block's frequency, its counter
 * needs no jump.  Then the same maximum spanning tree finds the best mixture,
 * and the same leaf elimination recovers all counts.  An edge of the original
 * leads from a bottom to a top; the outside stays one vertex.
 *
 * Invariant: chords of a spanning tree of the split graph determine all edges
 * and all blocks, by the flow equations of tops and bottoms.
 * Cost: that of place.c and recover.c on V + E edges.
 */
#include "graph/blocks.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static block_id bottom(const struct cfg *g, block_id b)
{
	return b == CFG_OUTSIDE ? b : g->nblocks - 1 + b;
}

void blocks_split(const struct cfg *g, struct cfg *split)
{
	cfg_init(split, 2 * g->nblocks - 1);
	for (edge_id e = 0; e < g->nedges; e++)
		cfg_add_edge(split, bottom(g, g->edges[e].src),
		             g->edges[e].dst);
	for (block_id b = 1; b < g->nblocks; b++)
		cfg_add_edge(split, b, bottom(g, b));
	cfg_link(split);
}

void blocks_weigh(const struct cfg *g, const uint64_t *weight,
                  uint64_t *split_weight)
{
	memcpy(split_weight, weight, g->nedges * sizeof(*weight));
	memset(split_weight + g->nedges, 0, (g->nblocks - 1) * sizeof(*weight));
	for (edge_id e = 0; e < g->nedges; e++) {
		block_id b = g->edges[e].dst;
		uint64_t *w = &split_weight[blocks_edge(g, b)];

		if (b != CFG_OUTSIDE &&
		    __builtin_add_overflow(*w, weight[e], w))
			*w = UINT64_MAX;
	}
}

/* Extras happen in the middle: at the bottom, behind the counter. */
static uint64_t *to_bottoms(const struct cfg *g, const uint64_t *extra)
{
	uint64_t *out = xcalloc(2 * (size_t)g->nblocks, sizeof(*out));

	for (block_id b = 1; extra && b < g->nblocks; b++)
		out[bottom(g, b)] = extra[b];
	return out;
}

struct split_counts {
	struct cfg g;
	bool *known;
	uint64_t *edge, *block, *in, *out;
};

static void load(struct split_counts *s, const struct cfg *g,
                 const bool *edge_known, const bool *block_known,
                 const uint64_t *edge, const uint64_t *block)
{
	blocks_split(g, &s->g);
	s->known = xcalloc(s->g.nedges, sizeof(*s->known));
	s->edge = xcalloc(s->g.nedges, sizeof(*s->edge));
	s->block = xcalloc(s->g.nblocks, sizeof(*s->block));
	for (edge_id e = 0; e < g->nedges; e++) {
		s->known[e] = edge_known[e];
		s->edge[e] = edge[e];
	}
	for (block_id b = 1; b < g->nblocks; b++) {
		s->known[blocks_edge(g, b)] = block_known[b];
		s->edge[blocks_edge(g, b)] = block[b];
	}
}

static void release(struct split_counts *s)
{
	cfg_release(&s->g);
	free(s->known);
	free(s->edge);
	free(s->block);
	free(s->in);
	free(s->out);
}

/* What was found bad in the split graph, in terms of the original. */
static enum recover_result translate(const struct cfg *g,
                                     enum recover_result result, uint32_t *bad)
{
	if (result == RECOVER_UNBALANCED && *bad >= g->nblocks)
		*bad -= g->nblocks - 1;
	if (result == RECOVER_NEGATIVE && *bad >= g->nedges) {
		*bad -= g->nedges - 1;
		return RECOVER_UNBALANCED;
	}
	return result;
}

enum recover_result blocks_recover(const struct cfg *g, const bool *edge_known,
                                   const bool *block_known,
                                   const uint64_t *extra_in,
                                   const uint64_t *extra_out, uint64_t *edge,
                                   uint64_t *block, uint32_t *bad)
{
	struct split_counts s;
	enum recover_result result;

	load(&s, g, edge_known, block_known, edge, block);
	s.in = to_bottoms(g, extra_in);
	s.out = to_bottoms(g, extra_out);
	result = recover_counts(&s.g, s.known, s.in, s.out, s.edge, s.block,
	                        bad);
	if (result != RECOVER_UNSOLVABLE) {
		memcpy(edge, s.edge, g->nedges * sizeof(*edge));
		block[CFG_OUTSIDE] = s.block[CFG_OUTSIDE];
		for (block_id b = 1; b < g->nblocks; b++)
			block[b] = s.edge[blocks_edge(g, b)] +
			           (extra_in ? extra_in[b] : 0);
	}
	release(&s);
	return translate(g, result, bad);
}
