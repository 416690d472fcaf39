/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_OVERLAP_UNFINISHED_H
#define CAIRN_ANALYSIS_OVERLAP_UNFINISHED_H

#include <stdint.h>

struct counts;
struct overlap_counts;

/* What the counts of blocks say about calls. */
struct overlap_made {
	uint64_t nmade;    /* calls of what may have marks */
	uint64_t nleft;    /* the same, where marks were left out (prefer=) */
	uint64_t nentries; /* functions that were entered and whose first path
	                      was not completed, by no call of nmade */
};

/*
 * Calls whose callee has not completed its first path: notes them as unfinished
 * in x->profile, and returns what else was found on the way.
 *
 * Requires: x has all pairs that were counted.
 */
struct overlap_made overlap_unfinished_calls(struct overlap_counts *x,
                                             const struct counts *c);

#endif /* CAIRN_ANALYSIS_OVERLAP_UNFINISHED_H */
