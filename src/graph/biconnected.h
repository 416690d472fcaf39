/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_BICONNECTED_H
#define CAIRN_GRAPH_BICONNECTED_H

#include <stdint.h>

#include "graph/cfg.h"

/*
 * The biconnected components of the part of a graph that can be reached,
 * directions ignored: every simple cycle lies in one of them.  Self loops and
 * edges of unreachable blocks are in none.
 */
struct biconnected {
	uint32_t n;
	uint32_t *at;   /* component i: edges[at[i]] .. edges[at[i + 1] - 1] */
	edge_id *edges; /* sorted by component */
};

/*
 * Requires: cfg_link(g) done.
 * Memory:   O(E), until biconnected_release.
 */
void biconnected_init(struct biconnected *c, const struct cfg *g);
void biconnected_release(struct biconnected *c);

#endif /* CAIRN_GRAPH_BICONNECTED_H */
