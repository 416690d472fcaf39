/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_RECOVER_H
#define CAIRN_GRAPH_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

struct cfg;

enum recover_result {
	RECOVER_OK = 0,
	/* an edge count came out below zero: *bad names the edge */
	RECOVER_NEGATIVE,
	/* the flow of a block does not add up, or its count is below zero
	 * though those of all edges are not: *bad names the block */
	RECOVER_UNBALANCED,
	/* the unknown edges contain a cycle */
	RECOVER_UNSOLVABLE,
};

/*
 * Recovers all edge and block counts from known edge counts.
 *
 * For every block: counts in + extra_in = counts out + extra_out, where
 * extra_out counts frames that died in the block (exit, longjmp, throw: figure
 * 4 of Ball and Larus 1994) and extra_in frames that began in its middle
 * (fork, the second return of setjmp).  Either may be NULL: all zero.  The
 * outside absorbs the extras and so balances whenever all blocks do; entry 0
 * of both arrays is not looked at.  Extras and counts are two's complement.
 *
 * Requires: cfg_link(g) done; edge[e] holds the count of every e with known[e].
 * Ensures:  on RECOVER_OK all of edge[] is filled in, and block[b] = counts in
 *           + extra_in[b]; block[0] = the number of entries.
 *           On NEGATIVE and UNBALANCED they hold the best there is (negative
 *           ones as two's complement) and *bad says where; a block that is
 *           out of balance is reported before a negative edge.  On UNSOLVABLE
 *           edges that could not be determined are 0, and *bad is not set.
 */
enum recover_result recover_counts(const struct cfg *g, const bool *known,
                                   const uint64_t *extra_in,
                                   const uint64_t *extra_out, uint64_t *edge,
                                   uint64_t *block, uint32_t *bad);

#endif /* CAIRN_GRAPH_RECOVER_H */
