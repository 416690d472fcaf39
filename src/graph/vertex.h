/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_VERTEX_H
#define CAIRN_GRAPH_VERTEX_H

#include <stdbool.h>
#include <stdint.h>

struct cfg;

/*
 * Block weights from edge weights: what enters a block, and for the outside
 * what leaves it.  Saturates at WEIGHT_MAX (weight.h).
 *
 * Requires: cfg_link(g) done.
 */
void vertex_weights(const struct cfg *g, const uint64_t *edge_weight,
                    uint64_t *block_weight);

/*
 * Chooses the blocks to count so that the counts of all blocks follow, at the
 * least cost, with counters on blocks only.  For comparison with place_edges;
 * the outside takes part as a block: its count is the number of entries, and a
 * counter on it would be one at the entry.
 *
 * Requires: cfg_link(g) done; weight[] has one value per block.
 * Ensures:  counted[b] for every block.
 * Returns the number of blocks to count.
 */
uint32_t vertex_place(const struct cfg *g, const uint64_t *weight,
                      bool *counted);

#endif /* CAIRN_GRAPH_VERTEX_H */
