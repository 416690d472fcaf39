/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TWPP_SERIES_H
#define CAIRN_ANALYSIS_TWPP_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A series of timestamps: l, l + s, ... h.  A single one has h = l, s = 1. */
struct twpp_run {
	uint64_t l, h, s;
};

static inline uint64_t twpp_run_count(const struct twpp_run *r)
{
	return (r->h - r->l) / r->s + 1;
}

/* Numbers that the paper writes for it: l, or l h, or l h s. */
static inline unsigned twpp_run_words(const struct twpp_run *r)
{
	return r->l == r->h ? 1 : r->s == 1 ? 2 : 3;
}

/*
 * Timestamps, one by one, made into runs.  {0} is the beginning.
 *
 * Ensures: runs have the step 1 and two elements or more, another step and
 *          three or more, or are single; from left to right each is as long as
 *          it can be.
 */
struct twpp_maker {
	uint64_t l, h, s, count; /* of the run that may still grow */
};

/* Requires: t is above all before.  Returns the number of runs, 0 or 1, that
 * are now complete. */
unsigned twpp_maker_add(struct twpp_maker *m, uint64_t t, struct twpp_run *out);
/* The rest: at most 2 runs.  The maker is then at its beginning. */
unsigned twpp_maker_end(struct twpp_maker *m, struct twpp_run out[2]);

/*
 * A vector of timestamps, in order.  {0} is empty.
 *
 * Invariant: the runs are those of a maker, so that equal sets of timestamps
 *            have equal runs; runs[i].h < runs[i + 1].l.
 */
struct twpp_vector {
	struct twpp_run *runs;
	size_t n, cap;
	uint64_t count; /* timestamps */
};

void twpp_vector_release(struct twpp_vector *v);
/* Empty again; keeps its memory. */
void twpp_vector_clear(struct twpp_vector *v);

/* Appends runs to a vector, which is whole after twpp_writer_end. */
struct twpp_writer {
	struct twpp_vector *v;
	struct twpp_maker maker;
};

/* Requires: v is empty. */
void twpp_writer_begin(struct twpp_writer *w, struct twpp_vector *v);
/* Requires: r->l is above all before.  The result is that of its elements. */
void twpp_writer_add(struct twpp_writer *w, const struct twpp_run *r);
void twpp_writer_end(struct twpp_writer *w);

bool twpp_vector_has(const struct twpp_vector *v, uint64_t t);
bool twpp_vector_equal(const struct twpp_vector *a,
                       const struct twpp_vector *b);

/*
 * All of these replace *out, which is none of the operands.
 *
 * step: every timestamp + by; those outside 1..n are dropped: before the
 *       first and behind the last there is nothing.
 * and, or, less: those in both, in either, in a and not in b.
 *
 * Cost: linear in the runs, but `or` and `less` in the timestamps of runs that
 *       overlap; an `and` of two runs is one Euclidean algorithm.
 */
void twpp_vector_step(const struct twpp_vector *v, int64_t by, uint64_t n,
                      struct twpp_vector *out);
void twpp_vector_and(const struct twpp_vector *a, const struct twpp_vector *b,
                     struct twpp_vector *out);
void twpp_vector_or(const struct twpp_vector *a, const struct twpp_vector *b,
                    struct twpp_vector *out);
void twpp_vector_less(const struct twpp_vector *a, const struct twpp_vector *b,
                      struct twpp_vector *out);

#endif /* CAIRN_ANALYSIS_TWPP_SERIES_H */
