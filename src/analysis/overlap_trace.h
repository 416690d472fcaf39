/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_OVERLAP_TRACE_H
#define CAIRN_ANALYSIS_OVERLAP_TRACE_H

#include "analysis/overlap.h"
#include "analysis/whole.h"

struct cairn_err;
struct traced;

/* The pairs of paths of a trace, all of them, and what they are made of. */
struct overlap_trace {
	uint32_t n;
	struct whole *wholes;         /* per function of the trace ... */
	struct overlap_graph *graphs; /* ... its paths, with its loops */
	struct overlap_profile profile;
	uint64_t npaths; /* that were completed */
};

/*
 * Walks over all threads of a trace.  Sites of the profile are first the calls
 * that the map of the trace has, in the order of functions and calls, then
 * blocks that tail calls left from, which nothing returns to.
 *
 * Requires: t outlives x.
 * Fails:    as whole_init and walk_next.
 * Memory:   until overlap_trace_release.
 */
int overlap_trace_init(struct overlap_trace *x, struct traced *t,
                       struct cairn_err *err);
void overlap_trace_release(struct overlap_trace *x);

#endif /* CAIRN_ANALYSIS_OVERLAP_TRACE_H */
