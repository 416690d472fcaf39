/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TRACE_PIECES_H
#define CAIRN_ANALYSIS_TRACE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/cfg.h"

struct traced_function;
struct walk_way;
struct whole;

/* What a piece of a path, as the walk gives it, does to the sum of the path
 * that its frame is on. */
struct trace_piece {
	const struct walk_way *way; /* NULL: free */
	uint64_t add;               /* up to the first end, or in all */
	bool ends;
	uint32_t nwhole; /* paths between the first end and the last */
	uint64_t *whole;
	uint64_t next;   /* the sum behind the last end */
	block_id part;   /* where the frame is then, in the trace's map ... */
	block_id behind; /* ... and when the call it is in comes back */
	edge_id call;    /* the edge of the map that calls, or CFG_NONE */
	bool is_in_call; /* it is in a call at the end of `part` */
	bool has_left;   /* it counts no more */
	bool resumes;    /* it has left with an exception */
	/* if it has left: the block (of other builds) where, and what its last
	 * edge adds */
	block_id exit;
	uint64_t exit_value;
	block_id before_exit; /* the one before, CFG_NONE: in another piece */
};

/* All that were worked out, by the address of the way; {0} at first. */
struct trace_pieces {
	struct trace_piece *items;
	size_t n, cap;
};

void trace_pieces_release(struct trace_pieces *p);

/* The piece of a way of a function; until the next one is looked for. Requires:
 * w and f are of the same function. */
const struct trace_piece *trace_pieces_find(struct trace_pieces *p,
                                            const struct whole *w,
                                            const struct traced_function *f,
                                            const struct walk_way *way);

#endif /* CAIRN_ANALYSIS_TRACE_PIECES_H */
