/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_PATH_GRAPHS_H
#define CAIRN_TESTS_PATH_GRAPHS_H

/* The graphs of the thesis of 2007, and help for tests on paths. */
#include "graph/paths.h"
#include "graphs.h"

/* Figure 3.4 and 4.2. */
enum {
	FIG34_S = 1,
	FIG34_A,
	FIG34_B,
	FIG34_C,
	FIG34_D,
	FIG34_T,
	FIG34_NBLOCKS
};
enum {
	FIG34_IN,
	FIG34_S_A,
	FIG34_S_B,
	FIG34_A_C,
	FIG34_A_B,
	FIG34_B_C,
	FIG34_C_D,
	FIG34_C_T,
	FIG34_D_T,
	FIG34_OUT,
	FIG34_NEDGES
};

static inline void graph_figure_34(struct cfg *g)
{
	static const struct graph_arc arcs[] = {
	        {0, FIG34_S},       {FIG34_S, FIG34_A}, {FIG34_S, FIG34_B},
	        {FIG34_A, FIG34_C}, {FIG34_A, FIG34_B}, {FIG34_B, FIG34_C},
	        {FIG34_C, FIG34_D}, {FIG34_C, FIG34_T}, {FIG34_D, FIG34_T},
	        {FIG34_T, 0},
	};

	GRAPH_MAKE(g, FIG34_NBLOCKS, arcs);
}

/* A chain of n branches: head 3i + 1, sides, and the next head. */
static inline void graph_diamonds(struct cfg *g, uint32_t n)
{
	cfg_init(g, 3 * n + 2);
	cfg_add_edge(g, CFG_OUTSIDE, 1);
	for (uint32_t i = 0; i < n; i++) {
		block_id head = 3 * i + 1;

		cfg_add_edge(g, head, head + 1);
		cfg_add_edge(g, head, head + 2);
		cfg_add_edge(g, head + 1, head + 3);
		cfg_add_edge(g, head + 2, head + 3);
	}
	cfg_add_edge(g, 3 * n + 1, CFG_OUTSIDE);
	cfg_link(g);
}

/*
 * The path that visits the blocks, the outside included where it enters or
 * leaves; between two blocks it takes the first edge.
 */
static inline struct path path_make(const struct cfg *g, const block_id *blocks,
                                    uint32_t nblocks)
{
	bool enters = blocks[0] == CFG_OUTSIDE;
	struct path path = {.enters = enters, .first = blocks[enters]};

	path.edges = calloc(nblocks, sizeof(*path.edges));
	path.edges_cap = nblocks;
	if (!path.edges)
		abort();
	for (uint32_t i = 0; i + 1 < nblocks; i++) {
		edge_id e = 0;

		while (e < g->nedges && (g->edges[e].src != blocks[i] ||
		                         g->edges[e].dst != blocks[i + 1]))
			e++;
		path.edges[path.nedges++] = e;
	}
	return path;
}

#define PATH_MAKE(g, ...)                               \
	path_make((g), (const block_id[]){__VA_ARGS__}, \
	          sizeof((const block_id[]){__VA_ARGS__}) / sizeof(block_id))

static inline bool path_equal(const struct path *a, const struct path *b)
{
	if (a->enters != b->enters || a->first != b->first ||
	    a->end != b->end || a->nedges != b->nedges)
		return false;
	for (uint32_t i = 0; i < a->nedges; i++)
		if (a->edges[i] != b->edges[i])
			return false;
	return true;
}

#endif /* CAIRN_TESTS_PATH_GRAPHS_H */
