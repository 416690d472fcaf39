/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_OVERLAP_PLAIN_H
#define CAIRN_ANALYSIS_OVERLAP_PLAIN_H

struct counts;
struct overlap_counts;

/*
 * What follows for pairs from a profile of plain paths: sites, calls, what is
 * left out, and pairs to look at, with counts of 0.
 *
 * Requires: functions, graphs and paths of x are there; its profile is_plain.
 */
void overlap_plain_fill(struct overlap_counts *x, const struct counts *c);

#endif /* CAIRN_ANALYSIS_OVERLAP_PLAIN_H */
