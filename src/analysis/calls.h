/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_CALLS_H
#define CAIRN_ANALYSIS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counts;

#define CALLS_NONE UINT32_MAX

/* A function of a map. */
struct call_end {
	uint32_t module, function; /* CALLS_NONE: it has no map */
};

/* A call in the code, and how often it was made. */
struct call {
	struct call_end from, to;
	const char *name; /* linkage name of the callee; NULL: a pointer */
	uint32_t outcall; /* in the map of the caller */
	uint64_t count;
	bool known;
};

struct calls {
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
struct calls *calls_new(const struct counts *c);
void calls_free(struct calls *c);

/* Calls that a function makes, and calls of it (in by_callee): the first and
 * how many. */
size_t calls_from(const struct calls *c, struct call_end f, size_t *n);
size_t calls_to(const struct calls *c, struct call_end f, size_t *n);

#endif /* CAIRN_ANALYSIS_CALLS_H */
