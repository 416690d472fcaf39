/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_CODES_H
#define CAIRN_GRAPH_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/cfg.h"
#include "graph/dag.h"
#include "graph/increments.h"
#include "graph/paths.h"

struct cairn_err;

/* Bits of a code that cuts keep to; more only where no cut helps. */
#define CODES_BITS 12u
#define CODES_BITS_MAX 32u
/* The same where every path is written by itself: a history has four bytes. */
#define CODES_BITS_ALONE 30u
/* A history that is not below this is full: a code of CODES_BITS more has to
 * fit into 63 bits. */
#define CODES_FULL (UINT64_C(1) << (63 - CODES_BITS))

/* How a loop that counts its turns says how many there were: a number of so
 * many bits, or all ones, and then it is written by itself. */
#define CODES_COUNT_BITS 8u
#define CODES_COUNT_MAX ((UINT64_C(1) << CODES_COUNT_BITS) - 1)

struct codes_options {
	const enum dag_how *asked; /* per CFG edge, or NULL: see dag_init */
	const uint64_t *weight;    /* per CFG edge, or NULL: all alike */
	/* per CFG edge, or NULL: it is CUT, and the history is written there,
	 * as where the function is left */
	const bool *is_call;
	/* per block, or NULL: the history from there on is written, even if
	 * there is only one */
	const bool *loud;
	/* every path ends its history: the stream of path numbers */
	bool one_by_one;
	/* cut these, those of an earlier codes_init, and choose none */
	bool is_cut;
	const edge_id *cuts;
	uint32_t ncuts;
	/* and count the turns of the loops with these heads */
	const block_id *heads;
	uint32_t nheads;
	/* instead: cut every edge out of a block that has several, and count no
	 * turns, so that at the end of each path the history has all branches
	 * that were taken; the cuts tell, so a reader need not know */
	bool branches;
};

/* A loop that has one way around: it counts its turns. */
struct codes_loop {
	block_id head;
	edge_id back;
	edge_id *entries, *exits; /* ascending */
	uint32_t nentries, nexits;
	unsigned bits; /* that tell the exits apart */
	/* codes of paths.h: of a turn, and of leaving by each exit */
	uint64_t turn, *leave;
};

/*
 * How a function writes down which way it goes, for one who knows where it is.
 * See codes.c.
 */
struct codes {
	struct paths paths; /* with all cuts; its dag is that of the codes */
	uint64_t *value; /* per DAG edge: along a path they sum to its code */
	uint64_t full;   /* CODES_FULL, or less if some codes are wider */
	uint8_t *width;  /* per block: bits of a path that begins there; [0] of
	                    one that enters the function */
	bool *is_call;   /* per CFG edge */
	bool *is_silent; /* per DAG edge: the history ends there, unwritten */
	bool one_by_one; /* wherever a path ends */
	struct codes_loop *loops;
	uint32_t nloops;
	uint32_t
	        *loop_of; /* per block: 0, or 1 + loop that it is the head of */
};

/*
 * Finds the codes of g.
 *
 * Requires: cfg_link(g) done, g outlives c; asked as for dag_init.
 * Ensures:  paths that begin in the same block have different codes.  The
 *           result is a function of g, asked, is_call, loud, one_by_one and
 *           c->paths.cuts alone.
 * Fails:    CAIRN_E_CORRUPT if asked breaks the rules of dag_init, or cuts are
 *           no edges that can be cut; CAIRN_E_LIMIT if a code would need more
 *           than CODES_BITS_MAX bits.  c is then released.
 * Memory:   until codes_release.
 */
int codes_init(struct codes *c, const struct cfg *g,
               const struct codes_options *options, struct cairn_err *err);
void codes_release(struct codes *c);

/*
 * The path with this code that begins in a block, or enters the function if
 * that is CFG_OUTSIDE.  At the head of a loop that counts its turns 0 is a
 * turn, and 1 + i leaves it by exit i.  *path is overwritten and must be {0} or
 * one that was written before.
 *
 * Fails: CAIRN_E_CORRUPT if there is no such path.
 */
int codes_decode(const struct codes *c, block_id first, uint64_t code,
                 struct path *path, struct cairn_err *err);

/* What becomes of the history where a path ends. */
enum codes_end {
	CODES_GOES_ON, /* it is not full, or it is written */
	CODES_WRITES,  /* it is written */
	CODES_IS_SILENT,
};

/* The end of a path that was decoded. */
enum codes_end codes_end_of(const struct codes *c, const struct path *path);

/*
 * An operation on the history h, at a place:
 *     h = (h << shift) + add
 * and if a path ends there, whatever `end` says, and
 *     h = (h << next_shift) + next_add
 * where the history is 1 after it was written, and when a function is entered.
 *
 * Loops count their turns beside it, in n: n = 0 on the way in, n += 1 on the
 * way back.  On a way out the operation is
 *     h = (h << shift) + (min(n, CODES_COUNT_MAX) << bits of the loop) + add
 * and if n is not less than that, h is written as if it were full, and n behind
 * it.
 */
struct codes_op {
	enum increment_place place;
	uint32_t where; /* CFG edge or block */
	unsigned shift, next_shift;
	uint64_t add, next_add;
	bool ends;
	enum codes_end end;
	bool enters_loop, turns_loop; /* that counts its turns */
	uint32_t leaves_loop;         /* 0, or 1 + its index */
	unsigned most; /* bits that the history can have at the end of a path */
};

struct codes_ops {
	uint32_t n;
	struct codes_op *ops;
};

/*
 * Places the operations, with as little work as possible on the way; cost as
 * for increments_init.  Memory: until codes_ops_release.
 */
void codes_place(const struct codes *c, const uint64_t *cost,
                 struct codes_ops *out);
void codes_ops_release(struct codes_ops *ops);

#endif /* CAIRN_GRAPH_CODES_H */
