/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_CUTS_H
#define CAIRN_GRAPH_CUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/cfg.h"

struct dag;

/*
 * Chooses edges to cut when a function has `limit` paths or more: the cheapest
 * by weight for the number of paths that they divide.  One call is one round:
 * cut them, number again, and call again if there are still too many.
 *
 * weight[] is per CFG edge, or NULL: all alike.  Edges of keep[], which may be
 * NULL, are never chosen.
 *
 * Requires: limit >= 2; weights below 2^63 - 1 (see WEIGHT_MAX).
 * Ensures: the edges are THROUGH and between blocks; cut[] depends on nothing
 *          but the arguments.
 * Memory:  cut[] has room for all CFG edges.
 * Returns the number of edges; 0 means that none is left whose cut would help.
 */
uint32_t cuts_choose(const struct dag *d, const uint64_t *weight,
                     const bool *keep, uint64_t limit, edge_id *cut);

#endif /* CAIRN_GRAPH_CUTS_H */
