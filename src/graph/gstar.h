/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_GSTAR_H
#define CAIRN_GRAPH_GSTAR_H

#include <stdint.h>

struct cfg;

enum gstar_answer {
	GSTAR_NO,
	GSTAR_YES,
	GSTAR_UNKNOWN, /* the budget did not suffice */
};

/* Enough for what compilers produce; some milliseconds. */
#define GSTAR_BUDGET ((uint64_t)1 << 20)

/*
 * Is the graph in the class G* of Ball and Larus 1994, section 3.3: is every
 * simple cycle, directions ignored, a directed cycle or a diamond?  Then the
 * cheapest placement that determines all edges is also the cheapest that
 * determines all blocks, and the cheapest for traces.
 *
 * The graph is the one that is profiled: the edge outside -> entry is part of
 * it.  Edges of unreachable blocks never run, weigh nothing, and are left out.
 * Two parallel edges are not a diamond, since no block tells them apart: the
 * cheapest way to determine the blocks does not count them separately.
 *
 * Requires: cfg_link(g) done.
 * Ensures:  YES and NO are exact.  UNKNOWN after about `budget` steps, which
 *           only graphs with large parts can use up that do not come apart at
 *           any two blocks.
 */
enum gstar_answer gstar_test(const struct cfg *g, uint64_t budget);

#endif /* CAIRN_GRAPH_GSTAR_H */
