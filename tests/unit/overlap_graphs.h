/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_OVERLAP_GRAPHS_H
#define CAIRN_TESTS_OVERLAP_GRAPHS_H

/* The graphs of the paper of 2004. */
#include "graph/overlap.h"
#include "graph/paths.h"
#include "path_graphs.h"

/* Table 2: a loop with three ways, from P1 to P3. */
enum { T2_EN = 1, T2_P1, T2_B1, T2_P2, T2_B2, T2_B3, T2_P3, T2_EX, T2_NBLOCKS };

static inline void graph_table_2(struct cfg *g)
{
	static const struct graph_arc arcs[] = {
	        {0, T2_EN},     {T2_EN, T2_P1}, {T2_P1, T2_B1}, {T2_P1, T2_P2},
	        {T2_B1, T2_P3}, {T2_P2, T2_B2}, {T2_P2, T2_B3}, {T2_B2, T2_P3},
	        {T2_B3, T2_P3}, {T2_P3, T2_P1}, {T2_P3, T2_EX}, {T2_EX, 0},
	};

	GRAPH_MAKE(g, T2_NBLOCKS, arcs);
}

/* Figure 2: f, which calls g in C1. */
enum {
	F2_EN = 1,
	F2_P1,
	F2_P2,
	F2_B1,
	F2_B2,
	F2_B3,
	F2_C1,
	F2_P3,
	F2_B4,
	F2_B5,
	F2_B6,
	F2_EX,
	F2_NBLOCKS
};

static inline void graph_figure_2_f(struct cfg *g)
{
	static const struct graph_arc arcs[] = {
	        {0, F2_EN},     {F2_EN, F2_P1}, {F2_P1, F2_P2}, {F2_P1, F2_B2},
	        {F2_P2, F2_B1}, {F2_P2, F2_B2}, {F2_B1, F2_B3}, {F2_B2, F2_B3},
	        {F2_B3, F2_C1}, {F2_C1, F2_P3}, {F2_P3, F2_B4}, {F2_P3, F2_B5},
	        {F2_B4, F2_B6}, {F2_B5, F2_B6}, {F2_B6, F2_EX}, {F2_EX, 0},
	};

	GRAPH_MAKE(g, F2_NBLOCKS, arcs);
}

enum { G2_EN = 1, G2_P1, G2_P2, G2_B1, G2_P3, G2_B2, G2_B3, G2_EX, G2_NBLOCKS };

static inline void graph_figure_2_g(struct cfg *g)
{
	static const struct graph_arc arcs[] = {
	        {0, G2_EN},     {G2_EN, G2_P1}, {G2_P1, G2_B3}, {G2_P1, G2_P2},
	        {G2_P2, G2_B1}, {G2_P2, G2_P3}, {G2_B1, G2_P3}, {G2_P3, G2_B3},
	        {G2_P3, G2_B2}, {G2_B2, G2_B3}, {G2_B3, G2_EX}, {G2_EX, 0},
	};

	GRAPH_MAKE(g, G2_NBLOCKS, arcs);
}

/* A function for overlapping paths. */
struct overlap_subject {
	struct cfg g;
	struct paths p;
	struct overlap_graph o;
};

static inline void overlap_subject_init(struct overlap_subject *s,
                                        void (*make)(struct cfg *))
{
	static const struct paths_options no_options;

	make(&s->g);
	if (paths_init(&s->p, &s->g, &no_options, NULL) < 0)
		abort();
	overlap_graph_init(&s->o, &s->p);
}

static inline void overlap_subject_release(struct overlap_subject *s)
{
	overlap_graph_release(&s->o);
	paths_release(&s->p);
	cfg_release(&s->g);
}

/* The number of the path over these blocks, as PATH_MAKE takes them. */
static inline uint64_t overlap_number(const struct overlap_subject *s,
                                      struct path path)
{
	uint64_t number = UINT64_MAX;

	if (paths_encode(&s->p, &path, &number, NULL) < 0)
		abort();
	path_release(&path);
	return number;
}

#endif /* CAIRN_TESTS_OVERLAP_GRAPHS_H */
