/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_LOCAL_H
#define CAIRN_GRAPH_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/cfg.h"
#include "graph/paths.h"

/*
 * An innermost loop with a numbering of its own, for functions with many paths.
 * See local.c.
 *
 * Its graph `g` has the blocks of the loop; everything else is its outside, and
 * so is the head to those edges that lead back to it.  Edge 0 is the way in.  A
 * *turn* is a path of g: from the head to an edge back or a way out.
 */
struct local {
	block_id head;
	struct cfg g;
	block_id *block;    /* per block of g: that of the function */
	edge_id *edge;      /* per edge of g: that of the function; [0]: none */
	struct paths paths; /* the turns */
	/* per turn: the sum of the function's values along it, with that of
	 * its last edge and without that of what led to the head */
	uint64_t *sum;
};

/*
 * The loop of a head, if it can have a numbering of its own: all edges back are
 * ends of paths, it is entered at its head alone, no other path begins in it,
 * and it has at most max turns.
 *
 * Requires: p outlives l.
 * Ensures:  the result depends on p's graph, values and head alone.
 * Memory:   until local_release; nothing if it returns false.
 */
bool local_init(struct local *l, const struct paths *p, block_id head,
                uint64_t max);
void local_release(struct local *l);

/* The same sums of other values, one per edge of p's DAG; sum[] has room for
 * all turns. */
void local_sum(const struct local *l, const struct paths *p,
               const uint64_t *value, uint64_t *sum);

/* The block of g for a block of the function, CFG_NONE if it is outside. */
block_id local_block(const struct local *l, block_id b);

/* True if a turn ends with an edge back: then `number` is that of the path that
 * begins at the head and is this turn.  Requires: turn < paths.n. */
bool local_path(const struct local *l, const struct paths *p, uint64_t turn,
                uint64_t *number);

#endif /* CAIRN_GRAPH_LOCAL_H */
