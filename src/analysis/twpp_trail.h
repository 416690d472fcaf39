/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TWPP_TRAIL_H
#define CAIRN_ANALYSIS_TWPP_TRAIL_H

#include "analysis/twpp_file.h"
#include "analysis/twpp_series.h"

#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/* Reads the runs of one node. */
struct twpp_runs {
	struct twpp_reader reader;
	uint64_t end, n; /* the last timestamp so far, the highest possible */
};

/* Requires: the string and zip outlive r.  Memory: until twpp_runs_release. */
void twpp_runs_init(struct twpp_runs *r, const struct twpp_string *series,
                    uint64_t n, struct twpp_zip *zip);
void twpp_runs_release(struct twpp_runs *r);
/* 1, 0 at the end, or CAIRN_E_CORRUPT for what is no run within 1..n. */
int twpp_runs_next(struct twpp_runs *r, struct twpp_run *run);
/* All of them, into an empty vector: 0, or CAIRN_E_CORRUPT. */
int twpp_runs_all(const struct twpp_string *series, uint64_t n,
                  struct twpp_zip *zip, struct twpp_vector *out);

struct twpp_trail_node {
	struct twpp_runs runs;
	struct twpp_run run; /* l is its next timestamp */
};

/* The nodes of a trace in the order of their timestamps. */
struct twpp_trail {
	const struct twpp_function *f;
	uint64_t t, n; /* the last timestamp, all of them */
	struct twpp_trail_node *nodes;
	size_t nnodes;
	/* who comes at t + 1 .. t + nring: 1 + node, 0 nobody; by time modulo
	 * nring, a power of two */
	uint32_t *ring;
	size_t nring;
	uint32_t *heap; /* those that come later, the next one first */
	size_t nheap;
};

/*
 * Goes to the beginning of a trace.
 *
 * Memory: until twpp_trail_release, also if it fails; per node, a piece if its
 *         series is longer than that.
 * Fails:  CAIRN_E_CORRUPT.
 */
int twpp_trail_init(struct twpp_trail *w, const struct twpp_function *f,
                    const struct twpp_body *body, struct cairn_err *err);
void twpp_trail_release(struct twpp_trail *w);

/*
 * The next node, and how many times it comes in a row, from now on.
 *
 * Returns 1, or 0 behind the last one.
 * Fails:  CAIRN_E_CORRUPT if the timestamps are not 1..n, each once.
 */
int twpp_trail_next(struct twpp_trail *w, size_t *node, uint64_t *times,
                    struct cairn_err *err);

/*
 * The blocks of a trace, in order; none, and *blocks NULL, if there are more
 * than `most`.  The caller frees them.
 */
int twpp_trace_blocks(const struct twpp_function *f,
                      const struct twpp_trace *trace, size_t most,
                      uint32_t **blocks, size_t *n, struct cairn_err *err);
/* How many there are.  Fails: CAIRN_E_CORRUPT. */
int twpp_trace_length(const struct twpp_function *f,
                      const struct twpp_trace *trace, uint64_t *n,
                      struct cairn_err *err);

/* Reads every run of every trace of a function; stores how many there are. */
int twpp_function_scan(const struct twpp_function *f, uint64_t *nruns,
                       struct cairn_err *err);

#endif /* CAIRN_ANALYSIS_TWPP_TRAIL_H */
