/* SPDX-License-Identifier: Apache-2.0 */
/* The graph itself: names, adjacency, order. */
#include "graph/cfg.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "graphs.h"

static void test_adjacency(void **state)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {1, 2}, {2, 2}, {2, 0},
	};
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 4, arcs);
	assert_int_equal(g.nedges, 5);
	assert_int_equal(g.out_at[1 + 1] - g.out_at[1], 2);
	assert_int_equal(g.out[g.out_at[1]], 1);
	assert_int_equal(g.out[g.out_at[1] + 1], 2);
	assert_int_equal(g.in_at[2 + 1] - g.in_at[2], 3);
	assert_int_equal(g.in[g.in_at[2] + 2], 3);
	/* block 3 has no edges at all */
	assert_int_equal(g.out_at[3], g.out_at[4]);
	assert_int_equal(g.in_at[3], g.in_at[4]);
	assert_int_equal(g.in[g.in_at[0]], 4);
	cfg_release(&g);
	assert_null(g.edges);
}

static void test_no_edges(void **state)
{
	struct cfg g;

	(void)state;
	cfg_init(&g, 1);
	cfg_link(&g);
	assert_int_equal(g.nedges, 0);
	assert_int_equal(g.out_at[1], 0);
	cfg_release(&g);
}

/* Every edge once in each list, under its own block, in order. */
static void check_lists(const struct cfg *g)
{
	for (block_id b = 0; b < g->nblocks; b++) {
		for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++) {
			assert_int_equal(g->edges[g->out[i]].src, b);
			if (i > g->out_at[b])
				assert_true(g->out[i - 1] < g->out[i]);
		}
		for (uint32_t i = g->in_at[b]; i < g->in_at[b + 1]; i++) {
			assert_int_equal(g->edges[g->in[i]].dst, b);
			if (i > g->in_at[b])
				assert_true(g->in[i - 1] < g->in[i]);
		}
	}
	assert_int_equal(g->out_at[g->nblocks], g->nedges);
	assert_int_equal(g->in_at[g->nblocks], g->nedges);
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(1);

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct graph_taste t =
		        graph_random_taste(&r, 2 + rng_below(&r, 60));
		struct cfg g;

		graph_random(&g, &t, &r);
		check_lists(&g);
		cfg_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_adjacency),
	        cmocka_unit_test(test_no_edges),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("cfg", tests, NULL, NULL);
}
