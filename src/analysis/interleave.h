/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_INTERLEAVE_H
#define CAIRN_ANALYSIS_INTERLEAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "walk/reader.h"

struct interleave_lane;
struct trace_index;
struct traced;

/* What is wanted of a trace, in ns since the process started. */
struct interleave_range {
	uint64_t from, to;
	bool has_from, has_to;
	bool by_time; /* there are no SYNC marks, or they are of no interest */
};

/* The events of all threads of a trace, in one order. */
struct interleave {
	struct traced *traced;
	const struct trace_index *index;
	struct interleave_range range;
	struct interleave_lane *lanes; /* as the threads of the streams */
	size_t nlanes;
	size_t *order; /* those that have events left, by SYNC numbers */
	size_t norder;
	size_t current;       /* whose turn it is, SIZE_MAX: nobody's */
	uint64_t done, all;   /* events */
	int status;           /* what a thread could not be read further for */
	struct cairn_err err; /* ... in a sentence */
};

/*
 * Threads that cannot be read to their end are there up to that place.
 *
 * Requires: t and index, which is of the same trace, outlive x.
 */
void interleave_init(struct interleave *x, struct traced *t,
                     const struct trace_index *index,
                     const struct interleave_range *range);
void interleave_release(struct interleave *x);

/* The frames of a thread before its first event, outermost first. */
const uint32_t *interleave_open(const struct interleave *x, size_t thread,
                                size_t *n);

/*
 * The next event, and which thread's it is.
 *
 * Returns 1, or 0 if there is none; fails then, behind all other events, if a
 *         thread could not be read to its end, as the walk.
 */
int interleave_next(struct interleave *x, size_t *thread,
                    struct reader_event *event, struct cairn_err *err);

#endif /* CAIRN_ANALYSIS_INTERLEAVE_H */
