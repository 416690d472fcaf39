/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_OVERLAP_H
#define CAIRN_GRAPH_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/cfg.h"
#include "graph/loops.h"

struct paths;

/*
 * Pairs of paths that follow each other, and how much is known of the second
 * one: overlapping paths.  See overlap.c.
 */
enum overlap_kind {
	OVERLAP_LOOP,  /* two paths of a frame, joined by an ended edge */
	OVERLAP_CALL,  /* up to a call, and the callee's first path */
	OVERLAP_RETURN /* the callee's last path, and the rest behind the call
	                */
};
#define OVERLAP_NKINDS 3

/* As degree: all of the second half is known. */
#define OVERLAP_MAX UINT32_MAX

/* The paths of a function, with its loops. */
struct overlap_graph {
	const struct paths *paths; /* borrowed */
	struct loops loops;
	uint32_t *route; /* scratch */
	/* Paths were cut, there were too many: per edge of the CFG, and per
	 * block, at some edge that leads to it. */
	bool *is_cut, *is_behind_cut;
	/* per block: were pairs behind an edge to it not counted? NULL: all
	 * were; borrowed */
	const bool *left_out;
};

/* Requires: p outlives g. */
void overlap_graph_init(struct overlap_graph *g, const struct paths *p);
void overlap_graph_release(struct overlap_graph *g);

/*
 * A part of a path: the vertices of the DAG that it is at first and last, and
 * the sum of the values between.  Two parts of a function are the same exactly
 * if all three are: see paths_decode_prefix.
 *
 * It is torn if it would go on, or would have begun earlier, had paths not been
 * cut: then it is no half of a pair.  A path that begins where a cut leads to
 * may have begun there in any case; it is taken for torn.
 */
struct overlap_part {
	uint32_t first, last;
	uint64_t sum;
	bool is_torn;
};

/* Where a path begins: the block behind an ended edge, or CFG_OUTSIDE if it
 * enters the function.  Requires: number is one of a path, or a prefix of one
 * that has left the start. */
block_id overlap_begins(const struct overlap_graph *g, uint64_t number);
/* The block that the ended edge at the end of a path leads to; CFG_NONE if it
 * has none. */
block_id overlap_goes_to(const struct overlap_graph *g, uint64_t number);
/* Does a path end where a loop turns, or an indirect branch goes on?  Not at a
 * cut, and not before a call that may come back twice. */
bool overlap_turns(const struct overlap_graph *g, uint64_t number);
/* Is what a path, or a prefix of one, has done from its beginning on torn? */
bool overlap_begins_torn(const struct overlap_graph *g, uint64_t number);
/* Is the loop of a block one that is entered elsewhere than at its head? */
bool overlap_is_irreducible(const struct overlap_graph *g, block_id head);
/* Were pairs that an ended edge to this block joins not counted? */
static inline bool overlap_is_left_out(const struct overlap_graph *g,
                                       block_id head)
{
	return g->left_out && g->left_out[head];
}

/*
 * The first half of a LOOP pair: the part of a path within the loop of the
 * block that it goes to, from that block on if it comes by.  If that block is
 * in no loop the function is taken for one.
 *
 * Requires: overlap_goes_to(g, number) is a block.
 * Returns false if overlap_turns does, or its last block is not in the loop:
 * the edge enters it.
 */
bool overlap_before(const struct overlap_graph *g, uint64_t number,
                    struct overlap_part *part);

/* A second half, or as much of it as is known. */
struct overlap_behind {
	struct overlap_part part;
	uint32_t degree; /* decisions that are known */
	bool is_whole;   /* nothing of it is missing */
};

/*
 * The second half of a pair, as far as an overlapping path of degree k knows
 * it.  LOOP: of the path with this number; CALL: the same; RETURN: from block
 * `from` on, and the sum of the values from there on is the number.  If block
 * is not CFG_NONE, the number is that of a prefix that ends in it.
 *
 * Returns false if the prefix ends before the k-th decision.
 */
bool overlap_behind(const struct overlap_graph *g, enum overlap_kind kind,
                    block_id from, uint64_t number, block_id block, uint32_t k,
                    struct overlap_behind *out);

/* The highest degree of the second half of any pair: LOOP: behind an ended edge
 * to block `from`; CALL: of calls of the function; RETURN: behind a call in
 * block `from`. */
uint32_t overlap_degree(const struct overlap_graph *g, enum overlap_kind kind,
                        block_id from);

/* Is this the number of a path, or that of a prefix that ends in `block`? */
bool overlap_is_number(const struct overlap_graph *g, uint64_t number,
                       block_id block);

/* A vertex that a path comes by, and the sum of the values up to it. */
struct overlap_step {
	uint32_t vertex;
	uint64_t sum;
};

/*
 * What a path comes by, from the start (DAG_START) or from a block on, where
 * the sum is 0; of a prefix up to `block`.  The first one is not told if it is
 * the start.  steps[] has room for dag.nvertices.  Returns how many.
 */
uint32_t overlap_steps(const struct overlap_graph *g, uint32_t from,
                       uint64_t number, block_id block,
                       struct overlap_step *steps);

#endif /* CAIRN_GRAPH_OVERLAP_H */
