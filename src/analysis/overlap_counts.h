/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_OVERLAP_COUNTS_H
#define CAIRN_ANALYSIS_OVERLAP_COUNTS_H

#include "analysis/callgraph.h"
#include "analysis/overlap.h"
#include "analysis/path_counts.h"

struct cairn_err;
struct counts;

/* A function that counts pairs. */
struct overlap_counted {
	uint32_t module, index; /* of the profile, of the map */
	struct path_counts pc;
	uint32_t first_site; /* of the profile, by number of the cell */
};

/* The pairs of paths of a profile (--cairn=paths,overlap), or what its paths
 * alone say about them: profile.is_plain. */
struct overlap_counts {
	uint32_t n, cap;
	struct overlap_counted *functions; /* by module and index */
	struct overlap_graph *graphs;      /* parallel */
	struct overlap_profile profile;
	uint64_t npaths; /* that were completed */
	uint32_t nleft;  /* is_plain: functions whose counts are in doubt */
};

/*
 * Requires: c outlives x.
 * Fails:    CAIRN_E_ABSENT if no function counts pairs, CAIRN_E_CORRUPT if
 *           what is counted cannot be.
 * Memory:   until overlap_counts_release.
 */
int overlap_counts_init(struct overlap_counts *x, const struct counts *c,
                        struct cairn_err *err);
void overlap_counts_release(struct overlap_counts *x);

/* The number of a function; x->n: it is none of them. */
uint32_t overlap_counts_find(const struct overlap_counts *x, struct call_end f);

#endif /* CAIRN_ANALYSIS_OVERLAP_COUNTS_H */
