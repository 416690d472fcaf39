/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_PREFER_H
#define CAIRN_GRAPH_PREFER_H

#include <stdbool.h>
#include <stdint.h>

struct cairn_err;
struct paths;

#define PREFER_NONE UINT64_MAX

enum prefer_method {
	/* figure 3.10: the intervals of a prefix do not overlap */
	PREFER_INTERVALS,
	/* only the numbers themselves must differ: holes get filled */
	PREFER_FIT,
	/* the best of both and of FIT with other orders of the edges, within a
	 * bound of work; only INTERVALS above PREFER_FIT_MAX paths */
	PREFER_BEST,
};

#define PREFER_FIT_MAX 4096

struct prefer_options {
	enum prefer_method method;
	uint64_t max_size; /* 0: 2^32 */
};

/*
 * A second numbering, in which the interesting paths have small numbers, their
 * slots: 0 <= slot < size, each its own.  Other paths may have any sum, also
 * one below 0 or that of an interesting path.
 */
struct prefer {
	int64_t *value;   /* per DAG edge: along a path they sum to its slot */
	uint32_t n;       /* interesting paths, each once */
	uint64_t *number; /* their numbers, ascending ... */
	uint64_t *slot;   /* ... and the slot of each */
	uint64_t size;    /* 1 + the highest slot; 0 if n is 0 */
};

/*
 * Finds the values for interesting paths, given by their numbers in p; numbers
 * may repeat.
 *
 * Ensures:  slots are distinct; if n > 0 one of them is 0, one size - 1;
 *           size <= p->n.
 * Fails:    CAIRN_E_MISMATCH for a number that is not below p->n, and
 *           CAIRN_E_LIMIT if size would be above max_size; f is released.
 * Memory:   until prefer_release.
 */
int prefer_init(struct prefer *f, const struct paths *p,
                const uint64_t *interesting, uint32_t n,
                const struct prefer_options *options, struct cairn_err *err);
void prefer_release(struct prefer *f);

/*
 * Fills owner[0 .. size - 1]: the number of the path whose slot it is, or
 * PREFER_NONE.  A path is interesting exactly if its sum s is below size
 * (unsigned) and owner[s] is its number: aliases have another number.
 */
void prefer_owners(const struct prefer *f, uint64_t *owner);

/* Compactness, delta of problem A: size / n, at least 1; 0 if n is 0. */
double prefer_delta(const struct prefer *f);

#endif /* CAIRN_GRAPH_PREFER_H */
