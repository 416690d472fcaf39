/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TWPP_REPLAY_H
#define CAIRN_ANALYSIS_TWPP_REPLAY_H

#include "analysis/twpp.h"

#include <stddef.h>
#include <stdint.h>

struct cairn_err;
struct twpp_graph;

/*
 * Who gets the sequence back.  A function that does not return 0 ends the
 * replay, which returns the same.
 */
struct twpp_sink {
	void *arg;
	int (*enter)(void *arg, uint32_t function);
	/* n > 0; a list between two other events may come in several */
	int (*blocks)(void *arg, const uint32_t *blocks, size_t n);
	int (*leave)(void *arg, enum twpp_end end);
};

/*
 * What a thread did, in order: the very sequence that the builder was fed with.
 * Frames that were open at the end are left last, as TWPP_OPEN.
 *
 * Requires: thread < g->nthreads.
 * Fails:    CAIRN_E_CORRUPT.
 * Memory:   the open frames, and the functions that were walked through.
 */
int twpp_replay(struct twpp_graph *g, size_t thread,
                const struct twpp_sink *sink, struct cairn_err *err);

#endif /* CAIRN_ANALYSIS_TWPP_REPLAY_H */
