/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_RESIDUAL_H
#define CAIRN_ANALYSIS_RESIDUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/catalog.h"

/* When a run first took a path. */
struct residual_first {
	uint32_t file;   /* in the order of residual_add_file */
	uint64_t number; /* among the untested paths of this file, from 1 */
};

/* A path that the field took and no test did. */
struct residual_path {
	uint32_t function; /* in the catalog of the field */
	bool is_prefix;    /* a frame died on it: `prefix` says where */
	uint64_t number;   /* of a finished path */
	struct path_prefix prefix;
	uint64_t count;  /* executions, or frames that died */
	uint32_t nusers; /* files that have it */
	/* what is new about it: edges that no test took, and pairs of choices
	 * that no tested path makes one right after the other */
	uint32_t nedges, npairs;
	uint64_t nblocks;
	struct residual_first *first; /* of files that know it, in order */
	uint32_t nfirst, first_cap;
};

/* A function of the field. */
struct residual_function {
	struct catalog_match match; /* with those of the tests */
	uint64_t npaths;            /* finished ones that are untested */
	uint64_t nhidden;           /* of these, without an untested edge */
	uint32_t nedges; /* untested ones that finished or died paths took */
};

/* One row of table 3.3: paths of functions that could be compared. */
struct residual_row {
	uint64_t npaths, nuntested; /* different ones that ran */
	uint64_t executions, untested_executions;
	uint64_t ndied; /* untested unfinished ones */
	/* the field did not count what was tested: npaths and executions are
	 * not known */
	bool is_partial;
	/* of a file of one run of a residual build: how many of its untested
	 * paths have a place in the order, and records that had no room */
	bool has_order;
	uint64_t nordered, nleft_out;
};

/* The columns of table 3.1. */
struct residual_totals {
	struct residual_row all;
	uint64_t nfunctions;      /* with untested paths */
	uint64_t nedges;          /* untested ones */
	uint64_t nedge_functions; /* with untested edges */
	uint64_t nquiet;          /* untested paths in the other ones */
	uint64_t nhidden;         /* untested paths without untested edge */
	uint64_t ncompared;       /* functions */
	uint64_t nunmatched;      /* functions that ran and are not the same */
	uint64_t unmatched_paths; /* finished ones, in those */
	uint64_t unmatched_executions;
};

struct residual {
	const struct catalog *tested, *field;
	struct catalog_match *of_tested;     /* per function of the tests */
	struct residual_function *functions; /* per function of the field */
	struct residual_path *paths;
	size_t n, cap;
	uint32_t nfiles; /* that were added */
	struct residual_totals totals;
};

/* Requires: both catalogs outlive the result. */
void residual_init(struct residual *r, const struct catalog *tested,
                   const struct catalog *field);
void residual_release(struct residual *r);

/* Adds one of the files that the field's catalog is the sum of: its users, and
 * its row of the table. */
void residual_add_file(struct residual *r, const struct catalog *file,
                       struct residual_row *row);

/* The file that took the path earliest in its run; NULL if none says. */
const struct residual_first *residual_first(const struct residual_path *p);

/* Ranks the paths: by users, count, risk. */
void residual_rank(struct residual *r);

/* Is there anything that no test did?  Functions that ran and could not be
 * compared count as that. */
bool residual_is_any(const struct residual *r);

#endif /* CAIRN_ANALYSIS_RESIDUAL_H */
