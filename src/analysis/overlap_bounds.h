/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_OVERLAP_BOUNDS_H
#define CAIRN_ANALYSIS_OVERLAP_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/overlap.h"
#include "analysis/overlap_margins.h"

/* As degree: from paths, and calls by site and callee, alone. */
#define OVERLAP_PLAIN (-1)
/* Every second half is known. */
#define OVERLAP_ALL INT32_MAX

/* How often one side of pairs was taken, within a block. */
struct overlap_margin {
	uint32_t first, last; /* its name: struct overlap_item */
	uint64_t sum;
	uint64_t count;
	/* of a row, if not by_site: what the columns could take of it, each by
	 * itself, added up */
	uint64_t reach;
};

/*
 * Pairs of which the same is known: any row with any column.  Rows are first
 * halves and columns second ones, and all of a row goes to the columns.
 *
 * In a block that is by_site, of plain paths, rows are the caller's halves at
 * the site and columns the callee's, and `ncalls` of both are joined.
 */
struct overlap_block {
	enum overlap_kind kind;
	bool by_site;
	uint32_t group;     /* of the second halves, or by_site: the site ... */
	uint32_t callee;    /* ... and who is called */
	uint32_t what_last; /* the class: what the columns begin with ... */
	uint64_t what_sum;  /* ... as a part of a path ... */
	bool is_whole;      /* ... which is all of it */
	uint32_t function;  /* that has the second halves */
	size_t first_row, nrows, first_column, ncolumns;
	uint64_t nopen_rows; /* rows that were never completed, together ... */
	uint64_t nopen;      /* ... and columns */
	uint64_t row_sum;    /* all rows */
	uint64_t total;  /* all that goes to the columns, from others, too */
	uint64_t ncalls; /* if by_site */
	uint64_t reach;  /* if by_site: over all pairs */
};

/* Sums over pairs.  Pairs are all that paths alone allow. */
struct overlap_totals {
	uint64_t npairs;
	uint64_t nexact, ntight; /* lower and upper bound are the same */
	uint64_t real;           /* as counted */
	uint64_t definite;       /* lower bounds, by iteration */
	uint64_t tight_definite; /* lower bounds, the tightest ones */
	uint64_t potential;      /* upper bounds */
};

/* Bounds of all pairs.  See overlap_bounds.c. */
struct overlap_bounds {
	const struct overlap_margins *margins; /* borrowed */
	int32_t degree;
	struct overlap_margin *rows, *columns; /* of a block: by name */
	size_t nrows, rows_cap, ncolumns, columns_cap;
	struct overlap_block *blocks; /* by kind, group, callee, class */
	size_t nblocks, blocks_cap;
	/* per function and kind: [OVERLAP_NKINDS * function + kind] */
	struct overlap_totals *totals;
	struct overlap_totals all[OVERLAP_NKINDS], sum;
};

/*
 * Requires: m outlives b; degree is OVERLAP_PLAIN, a number up to what is
 *           known (overlap_margins_known), or OVERLAP_ALL if all is.
 * Memory:   until overlap_bounds_release.
 */
void overlap_bounds_init(struct overlap_bounds *b,
                         const struct overlap_margins *m, int32_t degree);
void overlap_bounds_release(struct overlap_bounds *b);

/* The bounds of one pair. */
struct overlap_bound {
	uint64_t lower, tight_lower, upper;
};

/* Row and column are places in b->rows and b->columns, of the block. */
struct overlap_bound overlap_bounds_cell(const struct overlap_bounds *b,
                                         const struct overlap_block *block,
                                         size_t row, size_t column);
/* Those of a pair of margins->joints[kind]; 0 to 0 if paths have no such half,
 * as in a file whose counts contradict each other (rule C9). */
struct overlap_bound overlap_bounds_pair(const struct overlap_bounds *b,
                                         enum overlap_kind kind,
                                         const struct overlap_joint *pair);

/* So many decisions are known of all second halves that were counted;
 * OVERLAP_ALL if each is whole. */
int32_t overlap_margins_known(const struct overlap_margins *m);
/* The highest degree of any loop, callee or site that pairs were counted of. */
uint32_t overlap_margins_degree(const struct overlap_margins *m);

#endif /* CAIRN_ANALYSIS_OVERLAP_BOUNDS_H */
