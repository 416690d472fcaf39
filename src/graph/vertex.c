/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best counters on vertices only.
 *
 * D. Knuth and F. Stevenson, "Optimal measurement points for program frequency
 * counts", BIT 13, 1973.  Every block gets a front and a rear; an edge v -> w
 * says that the rear of v and the front of w are the same place.  The places,
 * classes of that equivalence, are the nodes of a reduced graph in which every
 * block is a link from the place of its front to that of its rear.  What comes
 * into a place by its blocks leaves it by its blocks, and these are all the
 * equations that the block counts satisfy: balanced totals at a place can
 * always be spread over its edges, since they connect it.  So the counts of the
 * chords of a spanning forest of the reduced graph determine all others, and
 * fewer or cheaper ones do not.
 *
 * A block nobody jumps to has a front of its own and so the equation count =
 * 0; the same holds for the rear of a block without successors.
 *
 * Invariant: node b is the front of block b, node nblocks + b its rear.
 * Cost: O((V+E) log V).
 */
#include "graph/vertex.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/cfg.h"
#include "graph/forest.h"
#include "graph/unionfind.h"
#include "graph/weight.h"

static uint64_t vertex_sum(const edge_id *edges, uint32_t from, uint32_t to,
                           const uint64_t *weight)
{
	uint64_t sum = 0;

	for (uint32_t i = from; i < to; i++) {
		uint64_t w = weight[edges[i]];

		if (w >= WEIGHT_MAX - sum)
			return WEIGHT_MAX;
		sum += w;
	}
	return sum;
}

void vertex_weights(const struct cfg *g, const uint64_t *edge_weight,
                    uint64_t *block_weight)
{
	block_weight[CFG_OUTSIDE] =
	        vertex_sum(g->out, g->out_at[CFG_OUTSIDE],
	                   g->out_at[CFG_OUTSIDE + 1], edge_weight);
	for (block_id b = 1; b < g->nblocks; b++)
		block_weight[b] = vertex_sum(g->in, g->in_at[b],
		                             g->in_at[b + 1], edge_weight);
}

/* The places: up[] maps fronts and rears to a root, the same for a class. */
static uint32_t *vertex_places(const struct cfg *g)
{
	uint32_t *up = unionfind_new(2 * g->nblocks);

	for (edge_id e = 0; e < g->nedges; e++) {
		uint32_t rear = g->nblocks + g->edges[e].src;

		up[unionfind_find(up, rear)] =
		        unionfind_find(up, g->edges[e].dst);
	}
	return up;
}

uint32_t vertex_place(const struct cfg *g, const uint64_t *weight,
                      bool *counted)
{
	uint32_t *up = vertex_places(g);
	struct forest_link *links = xcalloc(g->nblocks, sizeof(*links));
	uint32_t ncounted = 0;

	for (block_id b = 0; b < g->nblocks; b++)
		links[b] = (struct forest_link){
		        .a = unionfind_find(up, b),
		        .b = unionfind_find(up, g->nblocks + b),
		        .weight = weight[b],
		        .id = b,
		};
	forest_choose(2 * g->nblocks, links, g->nblocks, counted);
	for (block_id b = 0; b < g->nblocks; b++) {
		counted[b] = !counted[b];
		ncounted += counted[b];
	}
	free(links);
	free(up);
	return ncounted;
}
