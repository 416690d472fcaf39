/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_CFG_H
#define CAIRN_GRAPH_CFG_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A control-flow graph.  Block 0 is the outside: every entry comes from it,
 * every way out leads to it.  Edges are directed, may be parallel and may be
 * self loops, and are named by their index.  Blocks may be unreachable, and
 * may reach no way out (an infinite loop).
 */
typedef uint32_t block_id;
typedef uint32_t edge_id;

#define CFG_OUTSIDE ((block_id)0)
#define CFG_NONE UINT32_MAX

struct cfg_edge {
	block_id src, dst;
};

struct cfg {
	uint32_t nblocks; /* the outside included */
	uint32_t nedges;
	struct cfg_edge *edges;
	/* adjacency, filled by cfg_link: the edges out of b are
	 * out[out_at[b]] .. out[out_at[b + 1] - 1], in edge order */
	uint32_t *out_at, *in_at; /* nblocks + 1 each */
	edge_id *out, *in;        /* nedges each */
};

/* Requires: 0 < nblocks < CFG_NONE / 2. */
void cfg_init(struct cfg *g, uint32_t nblocks);
void cfg_release(struct cfg *g);
/* Adds an edge and returns its name.  Requires: src, dst < nblocks. */
edge_id cfg_add_edge(struct cfg *g, block_id src, block_id dst);
/* Builds the adjacency lists.  Call it once, after the last edge. */
void cfg_link(struct cfg *g);

#endif /* CAIRN_GRAPH_CFG_H */
