/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_INCLUSIVE_H
#define CAIRN_ANALYSIS_INCLUSIVE_H

#include "analysis/callgraph.h"

#include <stdint.h>

struct counts;

/* What functions executed with all that they called. */
struct inclusive {
	const struct callgraph *calls;
	uint32_t *first;   /* per module: the number of its first function */
	uint32_t n;        /* functions of all modules */
	uint64_t *self;    /* instructions of the IR, by number */
	uint64_t *total;   /* ... with callees */
	uint64_t *entries; /* by number; 0 if not known */
	uint32_t *cycle;   /* functions that call each other have the same */
	uint32_t *
	        parent; /* the only function that calls it, or CALLGRAPH_NONE */
};

/*
 * A call has the part of its callee's total that it has of its calls, which is
 * exact where all calls cost the same or there is one caller, and a guess
 * otherwise (as in S. Graham, P. Kessler, M. McKusick, "gprof: a call graph
 * execution profiler", SIGPLAN 1982).  Calls within a cycle have none.
 */
struct inclusive *inclusive_new(const struct counts *c,
                                const struct callgraph *k);
void inclusive_free(struct inclusive *x);

uint32_t inclusive_number(const struct inclusive *x, struct call_end f);
/* What a call cost, callees included. */
uint64_t inclusive_call(const struct inclusive *x, const struct call *c);

#endif /* CAIRN_ANALYSIS_INCLUSIVE_H */
