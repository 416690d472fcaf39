/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TWPP_H
#define CAIRN_ANALYSIS_TWPP_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_err;

/* Function numbers are below this. */
#define TWPP_FUNCTIONS ((uint32_t)1 << 28)

/* How an activation ended. */
enum twpp_end {
	TWPP_LEFT, /* it returned */
	TWPP_DIED, /* a throw, a jump or the end of the program left it */
	TWPP_OPEN, /* the trace ends before it does */
	TWPP_NENDS
};

/* What is known of a function beside its traces. */
struct twpp_source {
	const char *name;         /* NULL: none */
	uint32_t nblocks, nedges; /* of its CFG; 0: not known */
};

/*
 * Sizes, as the tables of the 2001 paper have them.  `words` are numbers of 4
 * bytes: that is the paper's form, without the packing of ours.
 */
struct twpp_sizes {
	uint64_t ncalls;       /* activations */
	uint64_t nblocks;      /* executed blocks */
	uint64_t ntraces;      /* unique path traces */
	uint64_t unique_words; /* table 2: their blocks */
	uint64_t dbb_words;    /* table 2: their dynamic basic blocks, with
	                        * traces that became equal counted once */
	uint64_t stamp_words;  /* table 2: numbers of their series, with the
	                        * first block of each */
	uint64_t dict_words;   /* table 3: dictionaries, equal ones once */
	uint64_t dcg_words;    /* table 3: dynamic call graph */
	uint64_t dcg_nodes; /* activations that differ in what they did, or in
	                     * what was done in their calls */
	uint64_t nodes, edges; /* table 6: of all dynamic CFGs */
	uint64_t stamps, runs; /* table 6: in their vectors, as they are and as
	                        * series */
};

/* 4 bytes per executed block, per call and per return. */
static inline uint64_t twpp_raw(const struct twpp_sizes *s)
{
	return 4 * s->nblocks + 8 * s->ncalls;
}

/* The whole in the paper's form, without its header. */
static inline uint64_t twpp_plain(const struct twpp_sizes *s)
{
	return 4 * (s->dcg_words + s->stamp_words + s->dict_words);
}

/*
 * Builds a timestamped whole program path from what threads do, in the order
 * each of them does it.  Threads may be fed in turns; what they did at the same
 * time is not kept.
 */
struct twpp_builder;
struct twpp_thread;

struct twpp_builder *twpp_new(void);
void twpp_free(struct twpp_builder *b);

/*
 * Keeps the path traces of these functions alone: the file then has no call
 * graph, and nothing of other functions but that they are there.
 *
 * Requires: nothing was fed yet.
 */
void twpp_only(struct twpp_builder *b, const uint32_t *functions, size_t n);

/* The thread of this id; the builder owns it. */
struct twpp_thread *twpp_thread(struct twpp_builder *b, uint64_t id);

/*
 * A function is entered, from the innermost frame; it executes blocks, in one
 * list or in several; it returns, or dies.
 *
 * Fails: CAIRN_E_LIMIT for numbers that are no functions or blocks, and
 *        CAIRN_E_MISMATCH for blocks or an end outside of any frame.
 * Memory: what the open frames and all different traces take, packed.
 */
int twpp_enter(struct twpp_thread *t, uint32_t function, struct cairn_err *err);
int twpp_blocks(struct twpp_thread *t, const uint32_t *blocks, size_t n,
                struct cairn_err *err);
int twpp_leave(struct twpp_thread *t, bool died, struct cairn_err *err);

/*
 * Ends all frames as open ones and appends the file to out.  sources[] is of
 * the functions 0 .. nsources - 1 and may be NULL.  The builder is then good
 * for twpp_free alone.
 *
 * Ensures: the bytes depend on what was fed alone.
 * Fails:   CAIRN_E_SYSTEM if zstd has no memory.
 */
int twpp_finish(struct twpp_builder *b, const struct twpp_source *sources,
                uint32_t nsources, struct bytes *out, struct cairn_err *err);

#endif /* CAIRN_ANALYSIS_TWPP_H */
