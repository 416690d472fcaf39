/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counter placement: which edges to count so that all others follow.
 *
 * D. Knuth and F. Stevenson, "Optimal measurement points for program frequency
 * counts", BIT 13, 1973, in the form of T. Ball and J. Larus, "Optimally
 * profiling and tracing programs", TOPLAS 16(4), 1994, section 3.1: counts of
 * the chords of a spanning tree, direction ignored, determine all others, and
 * a tree of the greatest weight leaves the chords of the least cost.
 *
 * No code runs on outside -> entry, so it must not be a chord: the tree is
 * seeded with it.  Edges that cannot carry a counter go before it; if they
 * close a cycle among themselves, one of them is a chord, and the result says
 * that the placement cannot be realised.  Only a self loop can keep edge 0 out
 * of the tree then, or must[] edges that connect its ends.
 *
 * Invariant, cost: see forest.c.
 */
#include "graph/place.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/cfg.h"
#include "graph/forest.h"

enum { PLACE_MUST, PLACE_ENTRY, PLACE_OTHER };

static uint32_t place_rank(const struct cfg *g, const bool *must, edge_id e)
{
	if (must && must[e])
		return PLACE_MUST;
	if (e == 0 && g->edges[e].src == CFG_OUTSIDE)
		return PLACE_ENTRY;
	return PLACE_OTHER;
}

uint32_t place_edges(const struct cfg *g, const uint64_t *weight,
                     const bool *must, bool *chord)
{
	struct forest_link *links =
	        xcalloc((size_t)g->nedges + 1, sizeof(*links));
	uint32_t nimpossible = 0;

	for (edge_id e = 0; e < g->nedges; e++)
		links[e] = (struct forest_link){
		        .a = g->edges[e].src,
		        .b = g->edges[e].dst,
		        .rank = place_rank(g, must, e),
		        .weight = weight[e],
		        .id = e,
		};
	forest_choose(g->nblocks, links, g->nedges, chord);
	for (edge_id e = 0; e < g->nedges; e++) {
		chord[e] = !chord[e];
		nimpossible += must && must[e] && chord[e];
	}
	free(links);
	return nimpossible;
}
