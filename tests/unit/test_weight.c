/* SPDX-License-Identifier: Apache-2.0 */
/* Weights: the printed numbers of 1994, the rules, and their edges. */
#include "graph/weight.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "graph/cfg.h"
#include "graph/dfs.h"
#include "graph/loops.h"
#include "graphs.h"

/* Weights in hundredths of an execution; all that are used are exact. */
#define HUNDREDTHS(n) ((uint64_t)(n)*WEIGHT_ONE / 100)

static uint64_t *weights_of(const struct cfg *g)
{
	uint64_t *w = calloc((size_t)g->nedges + 1, sizeof(*w));

	assert_non_null(w);
	weight_heuristic(g, w);
	return w;
}

static void test_figure_1(void **state)
{
	static const uint64_t expected[] = {
	        100, 1050, 50, 525, 525, 525, 525, 1000, 50, 1000,
	};
	uint64_t sum = 0, *w;
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	w = weights_of(&g);
	for (edge_id e = 0; e < g.nedges; e++) {
		assert_int_equal(w[e], HUNDREDTHS(expected[e]));
		sum += w[e];
	}
	assert_int_equal(sum, HUNDREDTHS(5350));
	free(w);
	cfg_release(&g);
}

static void test_figure_6(void **state)
{
	static const uint64_t expected[] = {
	        100, 550, 550, 825, 275, 275, 1000, 100,
	};
	struct cfg g;
	uint64_t *w;

	(void)state;
	graph_figure_6(&g);
	w = weights_of(&g);
	for (edge_id e = 0; e < g.nedges; e++)
		assert_int_equal(w[e], HUNDREDTHS(expected[e]));
	free(w);
	cfg_release(&g);
}

/* Each of n nested loops multiplies by 11, until WEIGHT_MAX. */
static void test_nest(void **state)
{
	enum { DEPTH = 40 };
	uint64_t flow = WEIGHT_ONE, *w;
	struct cfg g;

	(void)state;
	graph_nest(&g, DEPTH);
	w = weights_of(&g);
	for (block_id b = 1; b <= DEPTH; b++) {
		/* edge b leaves head b */
		flow = flow > WEIGHT_MAX / 11 ? WEIGHT_MAX : 11 * flow;
		assert_int_equal(w[b], flow);
	}
	assert_int_equal(flow, WEIGHT_MAX);
	for (edge_id e = 0; e < g.nedges; e++)
		assert_true(w[e] <= WEIGHT_MAX);
	free(w);
	cfg_release(&g);
}

/* Two loops and a return in the inner one: both run ten times. */
static void test_return_from_inner_loop(void **state)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, /* 1 */
	        {1, 2}, /* 10.5 into the inner loop */
	        {1, 0}, /* .5 */
	        {2, 3}, /* 115.5 - 10 */
	        {2, 1}, /* 10: what the return leaves of 10.5 */
	        {3, 2}, /* 105 */
	        {3, 0}, /* .5: the return leaves the outer loop */
	};
	static const uint64_t expected[] = {
	        100, 1050, 50, 10550, 1000, 10500, 50,
	};
	struct cfg g;
	uint64_t *w;

	(void)state;
	GRAPH_MAKE(&g, 4, arcs);
	w = weights_of(&g);
	for (edge_id e = 0; e < g.nedges; e++)
		assert_int_equal(w[e], HUNDREDTHS(expected[e]));
	free(w);
	cfg_release(&g);
}

/*
 * The inner loop is entered 11/32 times, so that its return cannot have the
 * outer loop's share of 1/2: it gets half of 11/32, as the other exit does.
 */
static void test_return_from_cold_inner_loop(void **state)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {1, 8}, {2, 3}, {2, 8}, {3, 4},
	        {3, 8}, {4, 5}, {4, 8}, {5, 6}, {5, 8}, {6, 7},
	        {6, 8}, {7, 6}, {7, 0}, {8, 1}, {8, 0},
	};
	struct cfg g;
	uint64_t *w;

	(void)state;
	GRAPH_MAKE(&g, 9, arcs);
	w = weights_of(&g);
	assert_int_equal(w[9], 11 * WEIGHT_ONE / 32);
	assert_int_equal(w[12], 11 * WEIGHT_ONE / 64);
	assert_int_equal(w[14], 11 * WEIGHT_ONE / 64);
	assert_int_equal(w[13], 110 * WEIGHT_ONE / 32);
	assert_int_equal(w[16], WEIGHT_ONE / 2);
	free(w);
	cfg_release(&g);
}

static void test_infinite_and_unreachable(void **state)
{
	static const struct graph_arc arcs[] = {
	        {0, 1},
	        {1, 1},
	        {2, 1},
	        {2, 0},
	};
	struct cfg g;
	uint64_t *w;

	(void)state;
	GRAPH_MAKE(&g, 3, arcs);
	w = weights_of(&g);
	assert_int_equal(w[0], WEIGHT_ONE);
	assert_int_equal(w[1], 11 * WEIGHT_ONE);
	assert_int_equal(w[2], 0);
	assert_int_equal(w[3], 0);
	free(w);
	cfg_release(&g);
}

/* The exit's block runs 11/16 times, and 1 is asked for. */
static void test_cold_exit(void **state)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {1, 6}, {2, 3}, {2, 6}, {3, 4},
	        {3, 6}, {4, 5}, {4, 6}, {5, 6}, {5, 0}, {6, 1},
	};
	struct cfg g;
	uint64_t *w;

	(void)state;
	GRAPH_MAKE(&g, 7, arcs);
	w = weights_of(&g);
	assert_int_equal(w[10], 11 * WEIGHT_ONE / 16);
	assert_int_equal(w[9], 0);
	assert_int_equal(w[11], 11 * WEIGHT_ONE - w[10]);
	free(w);
	cfg_release(&g);
}

static uint64_t flow_in(const struct cfg *g, const struct dfs *d,
                        const uint64_t *w, block_id b, bool retreating)
{
	uint64_t sum = 0;

	for (uint32_t i = g->in_at[b]; i < g->in_at[b + 1]; i++) {
		enum dfs_kind kind = dfs_edge_kind(d, g, g->in[i]);

		if (retreating == (kind == DFS_RETREATING))
			sum += w[g->in[i]];
	}
	return sum;
}

static uint64_t flow_out(const struct cfg *g, const uint64_t *w, block_id b)
{
	uint64_t sum = 0;

	for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++)
		sum += w[g->out[i]];
	return sum;
}

/* Conservation at blocks, ten trips at heads, zero where nothing runs. */
static void check_flow(const struct cfg *g, const struct dfs *d,
                       const struct loops *l, const uint64_t *w)
{
	for (block_id b = 1; b < g->nblocks; b++) {
		uint64_t in, out = flow_out(g, w, b);

		if (!dfs_is_reached(d, b)) {
			assert_int_equal(out, 0);
			continue;
		}
		in = flow_in(g, d, w, b, false);
		if (l->of[b] != CFG_NONE && l->loop[l->of[b]].head == b)
			in *= 11;
		if (g->out_at[b] < g->out_at[b + 1])
			assert_int_equal(in, out);
	}
	assert_int_equal(flow_out(g, w, CFG_OUTSIDE), WEIGHT_ONE);
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(5);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct graph_taste t =
		        graph_random_taste(&r, 2 + rng_below(&r, 25));
		struct cfg g;
		struct dfs d;
		struct loops l;
		uint64_t *w, depth = 0;

		graph_random(&g, &t, &r);
		w = weights_of(&g);
		dfs_init(&d, &g);
		loops_init(&l, &g, &d);
		for (uint32_t k = 0; k < l.n; k++)
			if (l.loop[k].depth > depth)
				depth = l.loop[k].depth;
		if (depth < 8) /* nothing saturates */
			check_flow(&g, &d, &l, w);
		loops_release(&l);
		dfs_release(&d);
		free(w);
		cfg_release(&g);
	}
}

/* Heads balance too where the rules do not collide: while loops. */
static void test_heads_balance(void **state)
{
	struct cfg g;
	struct dfs d;
	uint64_t *w;

	(void)state;
	graph_nest(&g, 8);
	w = weights_of(&g);
	dfs_init(&d, &g);
	for (block_id b = 1; b < g.nblocks; b++)
		assert_int_equal(flow_in(&g, &d, w, b, false) +
		                         flow_in(&g, &d, w, b, true),
		                 flow_out(&g, w, b));
	dfs_release(&d);
	free(w);
	cfg_release(&g);
}

static void test_counts(void **state)
{
	static const uint64_t count[] = {
	        0, 1, 7, WEIGHT_MAX / WEIGHT_ONE, UINT64_MAX, 1, 1, 1, 1, 1,
	};
	uint64_t w[FIG1_NEDGES];
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	weight_from_counts(&g, count, w);
	assert_int_equal(w[0], 0);
	assert_int_equal(w[1], WEIGHT_ONE);
	assert_int_equal(w[2], 7 * WEIGHT_ONE);
	assert_int_equal(w[3], WEIGHT_MAX);
	assert_int_equal(w[4], WEIGHT_MAX);
	cfg_release(&g);
}

/* Frequencies count in units of edge 0, and may not know the entry at all. */
static void test_frequencies(void **state)
{
	uint64_t f[FIG1_NEDGES] = {8, 4, 80, 0, UINT64_MAX};
	uint64_t w[FIG1_NEDGES];
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	weight_from_frequencies(&g, f, w);
	assert_int_equal(w[0], WEIGHT_ONE);
	assert_int_equal(w[1], WEIGHT_ONE / 2);
	assert_int_equal(w[2], 10 * WEIGHT_ONE);
	assert_int_equal(w[3], 0);
	assert_int_equal(w[4], WEIGHT_MAX);
	f[0] = 0;
	weight_from_frequencies(&g, f, w);
	assert_int_equal(w[0], 0);
	assert_int_equal(w[2], 80 * WEIGHT_ONE);
	cfg_release(&g);
}

static void test_jumps(void **state)
{
	static const bool needs_block[FIG1_NEDGES] = {
	        [FIG1_P_EXIT] = true, [FIG1_R_C] = true};
	uint64_t w[FIG1_NEDGES];
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	weight_heuristic(&g, w);
	w[FIG1_R_C] = WEIGHT_MAX - 1;
	weight_add_jumps(&g, needs_block, w);
	assert_int_equal(w[FIG1_P_EXIT], WEIGHT_ONE / 2 * (1 + WEIGHT_JUMP));
	assert_int_equal(w[FIG1_R_EXIT], WEIGHT_ONE / 2);
	assert_int_equal(w[FIG1_R_C], WEIGHT_MAX);
	cfg_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        {"figure 1", test_figure_1, NULL, NULL, NULL},
	        {"figure 6", test_figure_6, NULL, NULL, NULL},
	        cmocka_unit_test(test_nest),
	        cmocka_unit_test(test_return_from_inner_loop),
	        cmocka_unit_test(test_return_from_cold_inner_loop),
	        cmocka_unit_test(test_infinite_and_unreachable),
	        cmocka_unit_test(test_cold_exit),
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_heads_balance),
	        cmocka_unit_test(test_counts),
	        cmocka_unit_test(test_frequencies),
	        cmocka_unit_test(test_jumps),
	};

	return cmocka_run_group_tests_name("weight", tests, NULL, NULL);
}
