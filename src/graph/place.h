/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_PLACE_H
#define CAIRN_GRAPH_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct cfg;

/*
 * Chooses the edges to count so that all others follow: the chords of a
 * maximum-weight spanning tree (a forest, if the graph falls apart) that
 * contains every edge of must[] as far as they form no cycle, then edge 0
 * (outside -> entry) if the graph has it.  `must` may be NULL; it marks edges
 * that cannot carry a counter.
 *
 * Requires: cfg_link(g) done; weight[] has one value per edge.
 * Ensures:  chord[e] for every edge; the edges with chord[e] false form no
 *           undirected cycle, and among all such sets their weight is greatest.
 * Returns the number of chords c that are in must[]: 0 means the placement can
 * be realised.
 */
uint32_t place_edges(const struct cfg *g, const uint64_t *weight,
                     const bool *must, bool *chord);

#endif /* CAIRN_GRAPH_PLACE_H */
