/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_RECOVER_H
#define CAIRN_GRAPH_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

struct cfg;

enum recover_result {
	RECOVER_OK = 0,
	RECOVER_NEGATIVE, /* some count came out below zero: *bad names the edge
	                   */
	RECOVER_UNBALANCED, /* a block's flow does not add up: *bad names the
	                       block */
	RECOVER_UNSOLVABLE, /* the unknown edges contain a cycle */
};

/*
 * Recovers all edge and block counts from known edge counts.
 *
 * For every block: counts in + extra_in = counts out + extra_out, where
 * extra_out counts frames that died in the block (exit, longjmp, throw: figure
 * 4 of Ball and Larus 1994) and extra_in frames that began in its middle
 * (fork, the second return of setjmp).  Either may be NULL: all zero.  The
 * outside absorbs the extras and so balances whenever all blocks do.
 *
 * Requires: cfg_link(g) done; edge[e] holds the count of every e with known[e].
 * Ensures:  on RECOVER_OK all of edge[] is filled in, and block[b] = counts in
 *           + extra_in[b]; block[0] = the number of entries.
 *           On NEGATIVE and UNBALANCED they hold the best there is (negative
 *           ones as two's complement) and *bad says where.
 */
enum recover_result recover_counts(const struct cfg *g, const bool *known,
                                   const uint64_t *extra_in,
                                   const uint64_t *extra_out, uint64_t *edge,
                                   uint64_t *block, uint32_t *bad);

#endif /* CAIRN_GRAPH_RECOVER_H */
