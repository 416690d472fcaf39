/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_WEIGHT_H
#define CAIRN_GRAPH_WEIGHT_H

#include <stdbool.h>
#include <stdint.h>

struct cfg;

/* Weights are fixed point: this many units are one execution. */
#define WEIGHT_ONE ((uint64_t)1 << 16)
#define WEIGHT_MAX ((uint64_t)1 << 60)

/*
 * The heuristic of Ball and Larus 1994, section 5.1: a loop entered N times
 * has back edges of weight 10 N in all, its E exit edges get N/E each, a
 * predicate splits the rest evenly over its other edges; flow is conserved.
 * Fills weight[] with one value per edge; what leaves the outside is
 * WEIGHT_ONE in all, edges of unreachable blocks are 0.  Saturates at
 * WEIGHT_MAX.  weight.c says how the rules are read where they collide.
 *
 * Requires: cfg_link(g) done.
 */
void weight_heuristic(const struct cfg *g, uint64_t *weight);

/*
 * Weights from a compiler's estimate: frequencies in units of its own, scaled
 * so that edge 0, the entry, has WEIGHT_ONE.  Saturates at WEIGHT_MAX.
 */
void weight_from_frequencies(const struct cfg *g, const uint64_t *frequency,
                             uint64_t *weight);

/*
 * Weights from measured counts: one per edge, WEIGHT_ONE per execution,
 * saturated at WEIGHT_MAX.
 */
void weight_from_counts(const struct cfg *g, const uint64_t *count,
                        uint64_t *weight);

/*
 * Adds to each weight what its mark would cost beyond the increment: an edge
 * marked in needs_block[] is critical, so a counter on it needs a new block
 * and a jump, which costs WEIGHT_JUMP times the increment.  The result is the
 * cost to minimise; it is no flow any more.
 *
 * Measured on Lua 5.4 (callgrind, instructions against the plain build): jumps
 * at 1 increment 1.206, at 2 1.180, at 4 1.180, at 8 1.192.
 */
#define WEIGHT_JUMP 2
void weight_add_jumps(const struct cfg *g, const bool *needs_block,
                      uint64_t *weight);

#endif /* CAIRN_GRAPH_WEIGHT_H */
