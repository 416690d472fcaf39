/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_OVERLAP_H
#define CAIRN_ANALYSIS_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/overlap.h"

struct cairn_err;

/*
 * What was counted of pairs of paths that follow each other (graph/overlap.h),
 * and of the paths themselves.  Who reads a trace, or the profile of a build
 * with overlap=K, fills it; overlap_bounds.h makes bounds of it.
 */

/* A call.  Those of one block have their order. */
struct overlap_site {
	uint32_t function;
	block_id block;
};

/*
 * One half of a pair.  If block is CFG_NONE, number is that of a path, and else
 * the sum of the values of a prefix that ends in it.  The caller's end of a
 * CALL: the prefix to the site's block.  The caller's end of a RETURN: the sum
 * of the path less that of its prefix to the site's block, and where it was
 * cut, CFG_NONE if it is all of the rest.
 */
struct overlap_end {
	uint32_t function;
	uint32_t site; /* of a caller; CFG_NONE: none */
	uint64_t number;
	block_id block;
};

/* How often a pair was seen; what is known of its second half may be less than
 * all of it, in different counts more or less. */
struct overlap_count {
	enum overlap_kind kind;
	struct overlap_end from, to;
	uint64_t count;
};

/* How often a path was taken; block is not CFG_NONE: it was begun and went no
 * further than there. */
struct overlap_path {
	uint32_t function;
	block_id block;
	uint64_t number;
	uint64_t count;
};

/* Calls of a function at a site, and how many of those came back to it; a tail
 * call in between makes another function come back. */
struct overlap_calls {
	uint32_t site, callee;
	uint64_t ncalls, nreturns;
};

/* Interesting flow that is left out, by why. */
struct overlap_excluded {
	uint64_t nirreducible; /* turns of loops that are entered at several
	                          places, by edges that the loop lacks */
	uint64_t nunmarked;    /* calls of functions without marks */
	uint64_t nentered; /* functions that no known call entered: callbacks,
	                      handlers, threads */
	uint64_t ncut;     /* one half is torn, since paths were cut */
	uint64_t nunfinished[OVERLAP_NKINDS]; /* one half was never completed */
};

/* Interesting flow where a build has no marks, for there was little of it in
 * an earlier run (prefer=). */
struct overlap_left_out {
	bool any;        /* were marks left out? */
	uint64_t nloops; /* paths that ended where another begins */
	/* calls; those through pointers only as far as somebody was entered by
	 * no call that is known */
	uint64_t ncalls;
};

struct overlap_profile {
	const struct overlap_graph *graphs; /* per function; borrowed */
	uint32_t nfunctions;
	struct overlap_site *sites;
	uint32_t nsites, sites_cap;
	struct overlap_path *paths; /* each once */
	size_t npaths, paths_cap;
	struct overlap_calls *calls; /* each pair of site and callee once */
	size_t ncalls, calls_cap;
	struct overlap_count *counts;
	size_t ncounts, counts_cap;
	/* Only pairs were counted whose second half was completed.  If not,
	 * paths that were not completed may be among the counts. */
	bool is_finished;
	/* Only paths were counted, and nobody knows how often pairs ran: their
	 * counts are 0. */
	bool is_plain;
	struct overlap_excluded excluded;
	struct overlap_left_out left_out;
	/* path executions that are part of a pair: of a LOOP, or else of
	 * another one */
	uint64_t nin_loops, nin_calls;
	bool knows_in_calls; /* or nin_calls means nothing */
};

void overlap_profile_release(struct overlap_profile *p);

/*
 * Do all numbers name what they should: functions, sites, paths, halves of
 * pairs that can be joined?  For who reads them from a file.
 *
 * Fails: CAIRN_E_CORRUPT, with the first that does not.
 */
int overlap_profile_check(const struct overlap_profile *p,
                          struct cairn_err *err);

/*
 * Notes the turns that no LOOP pair stands for.  A loop with several entries is
 * what one walk of the graph takes for it (loops.h).  Paths end at the edges
 * that retreat in a walk without those that had to be ended, and one of them
 * may lead into the loop from a block that the other walk has put elsewhere.
 */
void overlap_note_irreducible(struct overlap_profile *p);
/* Notes the pairs that are none, since paths of a function were cut within one
 * of their halves. */
void overlap_note_cuts(struct overlap_profile *p);

/* All that was left out. */
uint64_t overlap_excluded_sum(const struct overlap_excluded *x);
/* All that has no marks: a call would be in two pairs. */
uint64_t overlap_left_out_sum(const struct overlap_left_out *x);

#endif /* CAIRN_ANALYSIS_OVERLAP_H */
