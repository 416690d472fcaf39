/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_SLOW_H
#define CAIRN_ANALYSIS_SLOW_H

#include <stdbool.h>
#include <stdint.h>

struct cfg;

/*
 * Derives edge counts from block counts, as far as they determine them.
 *
 * entered[b] is how often block b was entered by an edge; extra_in and
 * extra_out as in graph/recover.h.  On entry known flags say which of
 * entered[] (entered_known) and edge[] (edge_known) hold counts; on return
 * those that follow from them are filled in as well.
 *
 * Requires: cfg_link(g) done.
 * Returns the first block whose flow does not add up, 0 if there is none.
 */
uint32_t slow_derive(const struct cfg *g, const uint64_t *extra_in,
                     const uint64_t *extra_out, uint64_t *entered,
                     bool *entered_known, uint64_t *edge, bool *edge_known);

#endif /* CAIRN_ANALYSIS_SLOW_H */
