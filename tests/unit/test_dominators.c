/* SPDX-License-Identifier: Apache-2.0 */
/* Dominators against their definition: what is cut off without a block. */
#include "graph/dominators.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "graph/dfs.h"
#include "graphs.h"

static void test_figure_1(void **state)
{
	static const block_id idom[] = {CFG_NONE, 0,      FIG1_P, FIG1_Q,
	                                FIG1_Q,   FIG1_Q, FIG1_R};
	struct cfg g;
	struct dfs d;
	struct dominators dom;

	(void)state;
	graph_figure_1(&g);
	dfs_init(&d, &g);
	dominators_init(&dom, &g, &d);
	for (block_id b = 0; b < g.nblocks; b++)
		assert_int_equal(dom.idom[b], idom[b]);
	dominators_release(&dom);
	dfs_release(&d);
	cfg_release(&g);
}

/* a dominates b exactly when b cannot be reached without a. */
static void check_against_cuts(const struct cfg *g,
                               const struct dominators *dom)
{
	bool *reached = graph_reach(g, CFG_NONE);

	for (block_id a = 0; a < g->nblocks; a++) {
		bool *left = graph_reach(g, a);

		for (block_id b = 0; b < g->nblocks; b++)
			assert_int_equal(dominators_dominates(dom, a, b),
			                 reached[a] && reached[b] && !left[b]);
		free(left);
	}
	for (block_id b = 0; b < g->nblocks; b++) {
		bool has = reached[b] && b != CFG_OUTSIDE;

		assert_int_equal(dom->idom[b] != CFG_NONE, has);
		/* every other strict dominator dominates the immediate one */
		for (block_id a = 0; has && a < g->nblocks; a++)
			if (a != b && dominators_dominates(dom, a, b))
				assert_true(dominators_dominates(dom, a,
				                                 dom->idom[b]));
	}
	free(reached);
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(3);

	(void)state;
	for (int i = 0; i < 400; i++) {
		struct graph_taste t =
		        graph_random_taste(&r, 2 + rng_below(&r, 30));
		struct cfg g;
		struct dfs d;
		struct dominators dom;

		graph_random(&g, &t, &r);
		dfs_init(&d, &g);
		dominators_init(&dom, &g, &d);
		check_against_cuts(&g, &dom);
		dominators_release(&dom);
		dfs_release(&d);
		cfg_release(&g);
	}
}

static void test_deep(void **state)
{
	struct cfg g;
	struct dfs d;
	struct dominators dom;

	(void)state;
	graph_nest(&g, 100000);
	dfs_init(&d, &g);
	dominators_init(&dom, &g, &d);
	for (block_id b = 1; b < g.nblocks; b++)
		assert_int_equal(dom.idom[b], b - 1);
	dominators_release(&dom);
	dfs_release(&d);
	cfg_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_figure_1),
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests_name("dominators", tests, NULL, NULL);
}
