/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_DOMINATORS_H
#define CAIRN_GRAPH_DOMINATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/cfg.h"

struct dfs;

/* The dominator tree of a graph, rooted at the outside. */
struct dominators {
	uint32_t nblocks;
	block_id *idom; /* CFG_NONE for the outside and unreachable blocks */
	uint32_t *in, *out; /* subtree intervals, for dominators_dominates */
};

/*
 * Requires: cfg_link(g) done, d of the same graph.
 * Memory:   three words per block, until dominators_release.
 */
void dominators_init(struct dominators *dom, const struct cfg *g,
                     const struct dfs *d);
void dominators_release(struct dominators *dom);

/*
 * Does every way from the outside to b lead through a (or is a = b)?  False if
 * one of them is unreachable.
 */
bool dominators_dominates(const struct dominators *dom, block_id a, block_id b);

#endif /* CAIRN_GRAPH_DOMINATORS_H */
