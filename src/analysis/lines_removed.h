/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_LINES_REMOVED_H
#define CAIRN_ANALYSIS_LINES_REMOVED_H

struct counts;
struct lines;

/*
 * Takes back that a line did not run where that is not known: an inlined copy
 * of its function ran, and the optimizer left nothing of the line there.
 *
 * Requires: items and copies of l are complete.
 */
void lines_removed(struct lines *l, const struct counts *c);

#endif /* CAIRN_ANALYSIS_LINES_REMOVED_H */
