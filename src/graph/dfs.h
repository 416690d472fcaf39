/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_DFS_H
#define CAIRN_GRAPH_DFS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/cfg.h"

/*
 * A depth-first walk from the outside.  Edges into the outside are ways out
 * and are not walked, so that leaving and being called again is no cycle.
 */
struct dfs {
	uint32_t nreached; /* blocks reached, the outside included */
	block_id *preorder, *postorder; /* nreached blocks each */
	/* per block; CFG_NONE if it is unreachable */
	uint32_t *pre, *post; /* position in preorder[], postorder[] */
	uint32_t *last;       /* highest pre[] in its subtree */
	edge_id *tree;        /* the edge it was reached by; outside: none */
};

enum dfs_kind {
	DFS_UNREACHED,  /* from an unreachable block */
	DFS_OUT,        /* into the outside */
	DFS_TREE,       /* the edge its target was reached by */
	DFS_FORWARD,    /* to a descendant */
	DFS_CROSS,      /* to a block finished before */
	DFS_RETREATING, /* to an ancestor or to itself */
};

/*
 * Walks g, out-edges in edge order.
 *
 * Requires: cfg_link(g) done.
 * Ensures:  an edge that is neither RETREATING nor OUT leads from a higher to
 *           a lower post[]: postorder backwards is a topological order of them.
 * Memory:   six words per block, until dfs_release.
 */
void dfs_init(struct dfs *d, const struct cfg *g);
void dfs_release(struct dfs *d);

bool dfs_is_reached(const struct dfs *d, block_id b);
/* Is a an ancestor of b in the depth-first tree, or b itself? */
bool dfs_is_ancestor(const struct dfs *d, block_id a, block_id b);
enum dfs_kind dfs_edge_kind(const struct dfs *d, const struct cfg *g,
                            edge_id e);
/* The block from which b was reached; CFG_NONE for outside or unreachable. */
block_id dfs_parent(const struct dfs *d, const struct cfg *g, block_id b);

#endif /* CAIRN_GRAPH_DFS_H */
