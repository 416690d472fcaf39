/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TWPP_BUILDER_H
#define CAIRN_ANALYSIS_TWPP_BUILDER_H

/* Inside of the builder: twpp.c collects, twpp_write.c writes. */

#include "analysis/twpp.h"
#include "analysis/twpp_pack.h"

/* The file begins with this. */
#define TWPP_MAGIC "\x89TWPP\r\n\x1a"
#define TWPP_VERSION 1
/* Magic, version, sums of index and graph (u32), their sizes (u64). */
#define TWPP_HEAD 36

/* Bits of the second number of an activation; the trace is above them. */
enum { TWPP_END_MASK = 3, TWPP_HAS_ODD = 4, TWPP_HAS_CALLS = 8 };
#define TWPP_TRACE_SHIFT 4

#define TWPP_NOT_KNOWN UINT64_MAX

struct twpp_frame {
	uint32_t function;
	bool is_kept;
	uint32_t block;  /* the last one; 0 before the first */
	uint64_t ncalls; /* made since */
	uint64_t nblocks;
	struct twpp_pack blocks;
	uint64_t nodd, odd_at;
	struct twpp_pack odd; /* pairs: blocks since the last one, calls */
	uint64_t nchildren;
	struct twpp_pack children; /* activations that it called */
};

struct twpp_thread {
	struct twpp_builder *builder;
	uint64_t id;
	struct twpp_frame *frames; /* innermost last */
	size_t nframes, frames_cap, frames_ready;
	uint64_t nroots;
	struct twpp_pack roots; /* activations that nobody called */
};

struct twpp_build_function {
	struct twpp_store traces; /* serial forms of strings of blocks */
	uint64_t *trace_calls;    /* per trace */
	size_t trace_calls_cap;
	uint64_t ncalls;
	uint64_t *expected; /* per block: calls, or TWPP_NOT_KNOWN */
	size_t nexpected;
};

struct twpp_builder {
	struct twpp_build_function *functions;
	size_t nfunctions;
	struct twpp_thread **threads;
	size_t nthreads, threads_cap;
	struct twpp_store nodes; /* activations */
	bool is_partial;         /* only some functions are kept: */
	bool *is_wanted;         /* per function below nwanted */
	size_t nwanted;
	struct twpp_zip zip;
	struct bytes scratch;
	struct twpp_sizes sizes;
};

/* Ends the innermost frame. */
void twpp_end_frame(struct twpp_thread *t, enum twpp_end end);

#endif /* CAIRN_ANALYSIS_TWPP_BUILDER_H */
