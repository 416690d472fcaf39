/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TRACE_HASH_H
#define CAIRN_ANALYSIS_TRACE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct cairn_err;
struct traced;

/* What a thread executed, as one number. */
struct trace_hash_thread {
	size_t stream; /* that has it */
	uint64_t tid;  /* kernel id; 0: its beginning is not there */
	uint64_t nblocks, hash;
};

/* Zero-initialise. */
struct trace_hash {
	struct trace_hash_thread *threads; /* stream by stream, in order */
	size_t n, cap;
};

/*
 * Appends the threads of a stream: every block, in order.
 *
 * Fails: as the walk does; what was before it is there.
 */
int trace_hash_add(struct trace_hash *h, struct traced *t, size_t stream,
                   struct cairn_err *err);
void trace_hash_release(struct trace_hash *h);

#endif /* CAIRN_ANALYSIS_TRACE_HASH_H */
