/* SPDX-License-Identifier: Apache-2.0 */
/* Loops against Havlak's definition, by brute force. */
#include "graph/loops.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "graph/dfs.h"
#include "graph/dominators.h"
#include "graphs.h"

struct loop_test {
	struct cfg g;
	struct dfs d;
	struct loops l;
};

static void loop_test_start(struct loop_test *t)
{
	dfs_init(&t->d, &t->g);
	loops_init(&t->l, &t->g, &t->d);
}

static void loop_test_end(struct loop_test *t)
{
	loops_release(&t->l);
	dfs_release(&t->d);
	cfg_release(&t->g);
}

static void test_figure_1(void **state)
{
	struct loop_test t;

	(void)state;
	graph_figure_1(&t.g);
	loop_test_start(&t);
	assert_int_equal(t.l.n, 1);
	assert_int_equal(t.l.loop[0].head, FIG1_P);
	assert_int_equal(t.l.loop[0].nexits, 2);
	assert_int_equal(t.l.loop[0].nentries, 1);
	assert_int_equal(t.l.loop[0].nblocks, 6);
	assert_int_equal(t.l.loop[0].depth, 1);
	assert_false(t.l.loop[0].irreducible);
	loop_test_end(&t);
}

static void test_irreducible(void **state)
{
	/* 1 jumps to 2 and to 3, which form a loop without a single head */
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {1, 3}, {2, 3}, {3, 2}, {3, 0}, {2, 2},
	};
	struct loop_test t;

	(void)state;
	GRAPH_MAKE(&t.g, 4, arcs);
	loop_test_start(&t);
	assert_int_equal(t.l.n, 1);
	assert_true(t.l.loop[0].irreducible);
	assert_int_equal(t.l.loop[0].head, 2);
	assert_int_equal(t.l.loop[0].nentries, 2);
	assert_int_equal(t.l.loop[0].nblocks, 2);
	assert_int_equal(t.l.of[1], CFG_NONE);
	loop_test_end(&t);
}

static void test_nest(void **state)
{
	enum { DEPTH = 50000 };
	struct loop_test t;

	(void)state;
	graph_nest(&t.g, DEPTH);
	loop_test_start(&t);
	assert_int_equal(t.l.n, DEPTH);
	for (uint32_t i = 0; i < DEPTH; i++) {
		assert_int_equal(t.l.loop[i].head, i + 1);
		assert_int_equal(t.l.loop[i].depth, i + 1);
		assert_int_equal(t.l.loop[i].parent, i ? i - 1 : CFG_NONE);
		assert_int_equal(t.l.loop[i].nexits, 1);
		assert_false(t.l.loop[i].irreducible);
	}
	loop_test_end(&t);
}

/*
 * The body of head w by definition: w, and every block of w's subtree with a
 * way to the source of a retreating edge to w inside the subtree, around w.
 */
static bool *body_of(const struct loop_test *t, block_id w)
{
	const struct cfg *g = &t->g;
	bool *in = calloc(g->nblocks, sizeof(*in)), grown = true;

	assert_non_null(in);
	for (edge_id e = 0; e < g->nedges; e++)
		if (g->edges[e].dst == w &&
		    dfs_edge_kind(&t->d, g, e) == DFS_RETREATING)
			in[w] = in[g->edges[e].src] = true;
	while (grown) {
		grown = false;
		for (edge_id e = 0; e < g->nedges; e++) {
			block_id src = g->edges[e].src, dst = g->edges[e].dst;

			if (!dfs_is_reached(&t->d, src) || in[src] ||
			    !in[dst] || dst == w ||
			    !dfs_is_ancestor(&t->d, w, src))
				continue;
			in[src] = grown = true;
		}
	}
	return in;
}

static void check_loop(const struct loop_test *t, uint32_t i, const bool *body)
{
	const struct cfg *g = &t->g;
	const struct loop *loop = &t->l.loop[i];
	uint32_t nblocks = 0, nexits = 0, nentries = 0;
	bool irreducible = false;

	for (block_id b = 0; b < g->nblocks; b++) {
		assert_int_equal(loops_contains(&t->l, i, b), body[b]);
		nblocks += body[b];
	}
	for (edge_id e = 0; e < g->nedges; e++) {
		block_id src = g->edges[e].src, dst = g->edges[e].dst;

		if (!dfs_is_reached(&t->d, src) || body[src] == body[dst])
			continue;
		nexits += body[src];
		nentries += body[dst];
		irreducible |= body[dst] && dst != loop->head;
	}
	assert_int_equal(loop->nblocks, nblocks);
	assert_int_equal(loop->nexits, nexits);
	assert_int_equal(loop->nentries, nentries);
	assert_int_equal(loop->irreducible, irreducible);
}

static void check_loops(const struct loop_test *t)
{
	uint32_t nfound = 0;

	for (block_id w = 0; w < t->g.nblocks; w++) {
		bool *body = body_of(t, w);
		uint32_t i = t->l.of[w];

		if (body[w]) {
			assert_int_not_equal(i, CFG_NONE);
			assert_int_equal(t->l.loop[i].head, w);
			check_loop(t, i, body);
			nfound++;
		}
		free(body);
	}
	assert_int_equal(t->l.n, nfound);
	for (uint32_t i = 0; i < t->l.n; i++)
		if (t->l.loop[i].parent != CFG_NONE)
			assert_true(t->l.loop[i].parent < i);
}

/* loops_left against a walk from the innermost loop outwards. */
static void check_left(const struct loop_test *t)
{
	for (block_id from = 0; from < t->g.nblocks; from++) {
		for (block_id to = 0; to < t->g.nblocks; to++) {
			uint32_t last = CFG_NONE, i = t->l.of[from];

			while (i != CFG_NONE && !loops_contains(&t->l, i, to)) {
				last = i;
				i = t->l.loop[i].parent;
			}
			assert_int_equal(loops_left(&t->l, from, to), last);
		}
	}
}

static void test_left_deep(void **state)
{
	struct loop_test t;

	(void)state;
	graph_nest(&t.g, 40);
	loop_test_start(&t);
	check_left(&t);
	loop_test_end(&t);
}

/* Reducible means: the target of every retreating edge dominates its source. */
static bool some_edge_is_irreducible(const struct loop_test *t)
{
	struct dominators dom;
	bool found = false;

	dominators_init(&dom, &t->g, &t->d);
	for (edge_id e = 0; e < t->g.nedges; e++)
		if (dfs_edge_kind(&t->d, &t->g, e) == DFS_RETREATING &&
		    !dominators_dominates(&dom, t->g.edges[e].dst,
		                          t->g.edges[e].src))
			found = true;
	dominators_release(&dom);
	return found;
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(4);
	uint32_t nirreducible = 0;

	(void)state;
	for (int i = 0; i < 1500; i++) {
		struct graph_taste taste =
		        graph_random_taste(&r, 2 + rng_below(&r, 30));
		struct loop_test t;
		bool irreducible = false;

		graph_random(&t.g, &taste, &r);
		loop_test_start(&t);
		check_loops(&t);
		check_left(&t);
		for (uint32_t k = 0; k < t.l.n; k++)
			irreducible |= t.l.loop[k].irreducible;
		assert_int_equal(irreducible, some_edge_is_irreducible(&t));
		nirreducible += irreducible;
		loop_test_end(&t);
	}
	assert_true(nirreducible > 300 && nirreducible < 1400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_figure_1),
	        cmocka_unit_test(test_irreducible),
	        cmocka_unit_test(test_nest),
	        cmocka_unit_test(test_left_deep),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("loops", tests, NULL, NULL);
}
