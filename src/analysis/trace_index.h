/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TRACE_INDEX_H
#define CAIRN_ANALYSIS_TRACE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "walk/checkpoints.h"

struct bytes;
struct traced;

/* When the stream said what time it is. */
struct trace_index_time {
	uint64_t block; /* blocks that were executed by then */
	uint64_t ns;    /* since the process started */
};

struct trace_index_thread {
	struct checkpoints points;
	struct trace_index_time *times; /* ascending, both */
	size_t ntimes, times_cap;
	uint64_t step; /* blocks from one of them to the next, at least */
	uint64_t nblocks, nevents;
	uint64_t npaths, ncalls, nbranches;
	uint64_t nbytes; /* of the stream */
	/* items of the stream, but for those that tell time, order and the
	 * beginning of threads, which are nnotes (not kept) */
	uint64_t nrecords, nnotes;
	bool is_broken; /* it cannot be read to its end: */
	struct cairn_err err;
};

/* How to get to any moment of a trace, and what there is in all. */
struct trace_index {
	struct trace_index_thread *threads; /* as those of the streams */
	size_t nthreads;
};

/* Told how much is done, of how much: in bytes of the file. */
struct trace_index_progress {
	void *context;
	void (*tell)(void *context, uint64_t done, uint64_t all);
};

/*
 * Walks over all of it, once.  A thread that cannot be read to its end has an
 * index up to there.
 *
 * Memory: at most 64 MiB for all checkpoints, but for deep stacks.
 */
void trace_index_build(struct trace_index *x, struct traced *t,
                       const struct trace_index_progress *progress);
void trace_index_release(struct trace_index *x);

/* Tells traces apart: another program or another run, or if it is read while
 * it runs, more of it. */
uint64_t trace_index_identity(const struct traced *t);

/* The index as bytes of a file, of which the last 8 are a hash of those before,
 * and back. */
uint64_t trace_index_hash(const unsigned char *data, size_t size);
void trace_index_encode(const struct trace_index *x, uint64_t identity,
                        struct bytes *out);
/* False if these bytes are no index of this trace.  x is then empty. */
bool trace_index_decode(struct trace_index *x, const struct traced *t,
                        uint64_t identity, const unsigned char *data,
                        size_t size);

/* When a block was executed, and which one is executed then: from one known
 * time to the next each takes the same. */
uint64_t trace_index_time(const struct trace_index_thread *t, uint64_t block);
uint64_t trace_index_block(const struct trace_index_thread *t, uint64_t ns);

#endif /* CAIRN_ANALYSIS_TRACE_INDEX_H */
