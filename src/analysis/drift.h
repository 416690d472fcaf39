/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_DRIFT_H
#define CAIRN_ANALYSIS_DRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/catalog.h"

/* The part of all executions that hot paths make together. */
#define DRIFT_HOT 0.9

/* A path that ran on either side, of a function that both have. */
struct drift_path {
	uint32_t a, b; /* its function in either catalog */
	uint64_t number;
	uint64_t count_a, count_b;
	double share_a, share_b; /* of all executions of paths */
};

/* A function that ran on either side, and that both have. */
struct drift_function {
	uint32_t a, b;
	double share_a, share_b; /* of all executions of paths */
	double overlap;          /* of its own paths; see has_overlap */
	bool has_overlap;        /* it ran on both sides */
};

struct drift {
	const struct catalog *a, *b;
	struct catalog_match *of_a, *of_b; /* per function */
	struct drift_path *paths;          /* biggest movers first */
	size_t npaths, paths_cap;
	struct drift_function *functions; /* biggest movers first */
	size_t nfunctions, functions_cap;
	size_t nmatched;               /* functions that both have */
	double overlap;                /* of all */
	double compared_a, compared_b; /* shares of what could be compared */
	/* the fewest paths of a that make DRIFT_HOT of what could be compared,
	 * their share of that in b, and how many are among the fewest in b */
	size_t nhot_a, nhot_b, nstill;
	double hot_in_b;
};

/* Requires: both catalogs outlive the result. */
void drift_init(struct drift *d, const struct catalog *a,
                const struct catalog *b);
void drift_release(struct drift *d);

#endif /* CAIRN_ANALYSIS_DRIFT_H */
