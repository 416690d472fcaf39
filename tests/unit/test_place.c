/* SPDX-License-Identifier: Apache-2.0 */
/* Placement: figure 1, seeds, and the optimum by trying all edge sets. */
#include "graph/place.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "graph/cfg.h"
#include "graph/weight.h"
#include "graphs.h"

static void test_figure_1(void **state)
{
	uint64_t w[FIG1_NEDGES], tree = 0, chords = 0;
	bool chord[FIG1_NEDGES];
	uint32_t nchords = 0;
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	weight_heuristic(&g, w);
	assert_int_equal(place_edges(&g, w, NULL, chord), 0);
	for (edge_id e = 0; e < g.nedges; e++) {
		nchords += chord[e];
		*(chord[e] ? &chords : &tree) += w[e];
	}
	assert_int_equal(nchords, 4);
	assert_int_equal(tree, 42 * WEIGHT_ONE);
	assert_int_equal(chords, 23 * WEIGHT_ONE / 2);
	assert_false(chord[FIG1_EXIT_P]);
	cfg_release(&g);
}

static void test_figure_6(void **state)
{
	uint64_t w[FIG6_NEDGES], cost = 0;
	bool chord[FIG6_NEDGES];
	struct cfg g;

	(void)state;
	graph_figure_6(&g);
	weight_heuristic(&g, w);
	assert_int_equal(place_edges(&g, w, NULL, chord), 0);
	for (edge_id e = 0; e < g.nedges; e++)
		cost += chord[e] ? w[e] : 0;
	/* tree: C>P 10, A>C 8.25, P>A or P>B 5.5, EXIT>P 1 */
	assert_int_equal(cost, 12 * WEIGHT_ONE);
	cfg_release(&g);
}

/* Edge 0 weighs nothing and is in the tree all the same. */
static void test_seed(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 0}};
	static const uint64_t w[] = {0, 100};
	bool chord[2];
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 2, arcs);
	assert_int_equal(place_edges(&g, w, NULL, chord), 0);
	assert_false(chord[0]);
	assert_true(chord[1]);
	cfg_release(&g);
}

static void test_must(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {1, 2}, {2, 0}};
	static const uint64_t w[] = {1, 5, 9, 7};
	static const bool one[] = {false, true, false, false};
	static const bool both[] = {false, true, true, false};
	static const bool last[] = {false, true, false, true};
	bool chord[4];
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 3, arcs);
	assert_int_equal(place_edges(&g, w, one, chord), 0);
	assert_false(chord[1]);
	assert_true(chord[2]);
	assert_int_equal(place_edges(&g, w, both, chord), 1);
	/* must[] goes before the seed */
	assert_int_equal(place_edges(&g, w, last, chord), 0);
	assert_true(chord[0]);
	cfg_release(&g);
}

static void test_ties_go_by_index(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {1, 2}, {2, 0}};
	static const uint64_t w[] = {3, 3, 3, 3};
	bool chord[4];
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 3, arcs);
	assert_int_equal(place_edges(&g, w, NULL, chord), 0);
	assert_false(chord[0]);
	assert_false(chord[1]);
	assert_true(chord[2]);
	assert_true(chord[3]);
	cfg_release(&g);
}

static void test_self_loop_is_a_chord(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 1}, {1, 0}};
	static const uint64_t w[] = {1, WEIGHT_MAX, 1};
	static const bool must[] = {false, true, false};
	bool chord[3];
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 2, arcs);
	assert_int_equal(place_edges(&g, w, NULL, chord), 0);
	assert_true(chord[1]);
	assert_int_equal(place_edges(&g, w, must, chord), 1);
	cfg_release(&g);
}

/* The weight of an edge set, or -1 if it has a cycle. */
static int64_t forest_weight(const struct cfg *g, const uint64_t *w,
                             uint32_t set)
{
	block_id group[16];
	int64_t sum = 0;

	for (block_id b = 0; b < g->nblocks; b++)
		group[b] = b;
	for (edge_id e = 0; e < g->nedges; e++) {
		block_id a = group[g->edges[e].src], z = group[g->edges[e].dst];

		if (!(set >> e & 1))
			continue;
		if (a == z)
			return -1;
		for (block_id b = 0; b < g->nblocks; b++)
			if (group[b] == z)
				group[b] = a;
		sum += (int64_t)w[e];
	}
	return sum;
}

/* Best forest with edge 0 in it; must[] edges are worth more than anything. */
static void check_optimum(const struct cfg *g, const uint64_t *w,
                          const bool *must)
{
	int64_t best = -1, ours;
	uint32_t set = 0, nimpossible = 0;
	uint64_t ranked[12];
	bool chord[12];

	for (edge_id e = 0; e < g->nedges; e++) {
		ranked[e] = w[e] + (e == 0 && !must[e] ? 10000 : 0);
		ranked[e] += must[e] ? 1000000 : 0;
	}
	for (uint32_t s = 0; s < 1u << g->nedges; s++) {
		int64_t weight = forest_weight(g, ranked, s);

		best = weight > best ? weight : best;
	}
	nimpossible = place_edges(g, w, must, chord);
	for (edge_id e = 0; e < g->nedges; e++) {
		set |= (uint32_t)!chord[e] << e;
		nimpossible -= must[e] && chord[e];
	}
	ours = forest_weight(g, ranked, set);
	assert_int_equal(ours, best);
	assert_int_equal(nimpossible, 0);
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(6);
	uint32_t nchecked = 0;

	(void)state;
	while (nchecked < 400) {
		struct graph_taste t =
		        graph_random_taste(&r, 2 + rng_below(&r, 5));
		uint64_t w[12];
		bool must[12];
		struct cfg g;

		graph_random(&g, &t, &r);
		for (edge_id e = 0; e < 12; e++) {
			w[e] = rng_below(&r, rng_percent(&r, 50) ? 3 : 100);
			must[e] = rng_percent(&r, 10);
		}
		if (g.nedges <= 12) {
			check_optimum(&g, w, must);
			nchecked++;
		}
		cfg_release(&g);
	}
}

static void test_no_edges(void **state)
{
	bool chord[1];
	uint64_t w[1] = {0};
	struct cfg g;

	(void)state;
	cfg_init(&g, 3);
	cfg_link(&g);
	assert_int_equal(place_edges(&g, w, NULL, chord), 0);
	cfg_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        {"figure 1", test_figure_1, NULL, NULL, NULL},
	        {"figure 6", test_figure_6, NULL, NULL, NULL},
	        cmocka_unit_test(test_seed),
	        cmocka_unit_test(test_must),
	        cmocka_unit_test(test_ties_go_by_index),
	        cmocka_unit_test(test_self_loop_is_a_chord),
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_no_edges),
	};

	return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
