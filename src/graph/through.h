/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_THROUGH_H
#define CAIRN_GRAPH_THROUGH_H

#include <stdbool.h>
#include <stdint.h>

struct dag;
struct paths;

/*
 * How many paths run through at least one of the blocks for which block[] is
 * true.  Numbers that no path has (paths.h) are left out.  *length becomes the
 * sum of their lengths, in edges of the DAG, modulo 2^64; it may be NULL.
 *
 * Requires: block[] has an entry per block; that of the outside is not looked
 *           at.
 */
uint64_t through_count(const struct paths *p, const bool *block,
                       uint64_t *length);

/*
 * Their numbers, ascending, for number[] with room for through_count of them.
 */
void through_list(const struct paths *p, const bool *block, uint64_t *number);

/*
 * Which CFG edges lie on such a path: edge[] has an entry per edge and becomes
 * true for those that paths run through, to be kept when others are cut.
 */
void through_edges(const struct dag *d, const bool *block, bool *edge);

#endif /* CAIRN_GRAPH_THROUGH_H */
