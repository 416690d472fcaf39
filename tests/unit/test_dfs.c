/* SPDX-License-Identifier: Apache-2.0 */
/* Depth-first order: kinds of edges, orders, graphs too deep to recurse. */
#include "graph/dfs.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "graphs.h"

static void test_kinds(void **state)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {2, 3}, {1, 3}, {1, 4},
	        {4, 3}, {3, 2}, {4, 4}, {4, 0}, {5, 4},
	};
	static const enum dfs_kind kinds[] = {
	        DFS_TREE, DFS_TREE,      DFS_TREE,       DFS_FORWARD,
	        DFS_TREE, DFS_CROSS,     DFS_RETREATING, DFS_RETREATING,
	        DFS_OUT,  DFS_UNREACHED,
	};
	struct cfg g;
	struct dfs d;

	(void)state;
	GRAPH_MAKE(&g, 6, arcs);
	dfs_init(&d, &g);
	for (edge_id e = 0; e < g.nedges; e++)
		assert_int_equal(dfs_edge_kind(&d, &g, e), kinds[e]);
	assert_int_equal(d.nreached, 5);
	assert_false(dfs_is_reached(&d, 5));
	assert_int_equal(dfs_parent(&d, &g, 3), 2);
	assert_int_equal(dfs_parent(&d, &g, CFG_OUTSIDE), CFG_NONE);
	assert_true(dfs_is_ancestor(&d, 1, 3));
	assert_false(dfs_is_ancestor(&d, 4, 3));
	dfs_release(&d);
	cfg_release(&g);
}

/* Ancestry by walking up the tree. */
static bool is_above(const struct cfg *g, const struct dfs *d, block_id a,
                     block_id b)
{
	while (b != CFG_NONE && b != a)
		b = dfs_parent(d, g, b);
	return b == a;
}

static void check_orders(const struct cfg *g, const struct dfs *d)
{
	bool *reached = graph_reach(g, CFG_NONE);

	for (block_id b = 0; b < g->nblocks; b++) {
		assert_int_equal(dfs_is_reached(d, b), reached[b]);
		if (!reached[b])
			continue;
		assert_int_equal(d->preorder[d->pre[b]], b);
		assert_int_equal(d->postorder[d->post[b]], b);
		for (block_id a = 0; a < g->nblocks; a++)
			if (reached[a])
				assert_int_equal(dfs_is_ancestor(d, a, b),
				                 is_above(g, d, a, b));
	}
	free(reached);
	for (edge_id e = 0; e < g->nedges; e++) {
		block_id src = g->edges[e].src, dst = g->edges[e].dst;

		switch (dfs_edge_kind(d, g, e)) {
		case DFS_UNREACHED:
			assert_false(dfs_is_reached(d, src));
			break;
		case DFS_OUT:
			assert_int_equal(dst, CFG_OUTSIDE);
			break;
		case DFS_RETREATING:
			assert_true(d->post[src] <= d->post[dst]);
			break;
		default:
			assert_true(d->post[src] > d->post[dst]);
		}
	}
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(2);

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct graph_taste t =
		        graph_random_taste(&r, 2 + rng_below(&r, 40));
		struct cfg g;
		struct dfs d;

		graph_random(&g, &t, &r);
		dfs_init(&d, &g);
		check_orders(&g, &d);
		dfs_release(&d);
		cfg_release(&g);
	}
}

static void test_deep(void **state)
{
	struct cfg g;
	struct dfs d;

	(void)state;
	graph_chain(&g, 300000, true);
	dfs_init(&d, &g);
	assert_int_equal(d.nreached, 300001);
	assert_int_equal(d.pre[300000], 300000);
	assert_int_equal(d.post[300000], 0);
	dfs_release(&d);
	cfg_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_kinds),
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests_name("dfs", tests, NULL, NULL);
}
