/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_LOOPS_H
#define CAIRN_GRAPH_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/cfg.h"

struct dfs;

struct loop {
	block_id head;     /* the first block of the loop that a walk reaches */
	uint32_t parent;   /* the loop around it, or CFG_NONE */
	uint32_t depth;    /* 1 for an outermost loop */
	uint32_t nblocks;  /* those of inner loops included */
	uint32_t nentries; /* edges from outside the loop into it */
	uint32_t nexits;   /* edges out of it, ways out of the function too */
	bool irreducible;  /* some entry does not lead to the head */
	uint32_t in, out;  /* interval in the forest, for loops_contains */
	uint32_t jump;     /* a loop further out, for loops_left */
};

/*
 * The loop forest.  A reducible loop is the natural loop of all back edges to
 * its head; an irreducible one is Havlak's: the head is the block that the
 * depth-first walk reaches first.  Parents come before their children.
 */
struct loops {
	uint32_t n;
	struct loop *loop; /* n */
	uint32_t *of;      /* per block: innermost loop, or CFG_NONE */
};

/*
 * Requires: cfg_link(g) done, d of the same graph.
 * Ensures:  every RETREATING edge of d leads to the head of a loop that holds
 *           its source; unreachable blocks are in no loop.
 * Memory:   one word per block and one struct loop per loop, until
 *           loops_release.
 */
void loops_init(struct loops *l, const struct cfg *g, const struct dfs *d);
void loops_release(struct loops *l);

/* Is block b in loop i, or in a loop inside it? */
bool loops_contains(const struct loops *l, uint32_t i, block_id b);

/*
 * The outermost loop that holds block `from` but not block `to`: the last one
 * that an edge between them leaves, and the first one that the reverse edge
 * enters.  CFG_NONE if there is none.  O(log of the nesting depth).
 */
uint32_t loops_left(const struct loops *l, block_id from, block_id to);

#endif /* CAIRN_GRAPH_LOOPS_H */
