/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_BLOCKS_H
#define CAIRN_GRAPH_BLOCKS_H

#include "graph/cfg.h"
#include "graph/recover.h"

/*
 * The graph in which blocks are edges, too: block b becomes an edge from its
 * top to its bottom, so that a counter can stand in a block as well as on an
 * edge, and placement chooses between them.  blocks.c says why.
 *
 * Edge e keeps its name; block b > 0 is edge blocks_edge(g, b).
 */
void blocks_split(const struct cfg *g, struct cfg *split);

static inline edge_id blocks_edge(const struct cfg *g, block_id b)
{
	return g->nedges + b - 1;
}

/* Weights of the split graph from those of the edges: those of the edges, then
 * those of the blocks.  split_weight[] has nedges + nblocks - 1 values. */
void blocks_weigh(const struct cfg *g, const uint64_t *weight,
                  uint64_t *split_weight);

/*
 * recover_counts for counters on edges and blocks.  A block's counter stands
 * at its top: frames that die in the block have passed it, frames that begin
 * in its middle have not.
 *
 * Requires: edge[e] holds the count of every e with edge_known[e], block[b]
 *           the counter of every b with block_known[b].
 * Ensures:  as recover_counts.
 */
enum recover_result blocks_recover(const struct cfg *g, const bool *edge_known,
                                   const bool *block_known,
                                   const uint64_t *extra_in,
                                   const uint64_t *extra_out, uint64_t *edge,
                                   uint64_t *block, uint32_t *bad);

#endif /* CAIRN_GRAPH_BLOCKS_H */
