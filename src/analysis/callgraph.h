/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_CALLGRAPH_H
#define CAIRN_ANALYSIS_CALLGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counts;

#define CALLGRAPH_NONE UINT32_MAX

/* A function of a map. */
struct call_end {
	uint32_t module, function; /* CALLGRAPH_NONE: it has no map */
};

/* A call in the code, and how often it was made. */
struct call {
	struct call_end from, to;
	const char *name; /* linkage name of the callee; NULL: a pointer */
	uint32_t outcall; /* in the map of the caller */
	uint64_t count;
	bool known;
};

struct callgraph {
	struct call *items; /* by caller, in the order of its code */
	size_t n;
	size_t *by_callee; /* numbers of those that have `to`, by that */
	size_t nby_callee;
};

/*
 * Calls from one function to another, by name: of calls through pointers only
 * how many there were is known.  Two functions of one name and place (a static
 * function of a header) count as one: the first.
 */
struct callgraph *callgraph_new(const struct counts *c);
void callgraph_free(struct callgraph *c);

/* Calls that a function makes, and calls of it (in by_callee): the first and
 * how many. */
size_t callgraph_from(const struct callgraph *c, struct call_end f, size_t *n);
size_t callgraph_to(const struct callgraph *c, struct call_end f, size_t *n);

#endif /* CAIRN_ANALYSIS_CALLGRAPH_H */
