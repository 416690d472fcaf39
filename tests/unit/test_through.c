/* SPDX-License-Identifier: Apache-2.0 */
/* The paths through some blocks, against every number decoded. */
#include "graph/through.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "path_graphs.h"

#define PATHS_MAX 4000 /* to look at one by one */

static const struct paths_options no_options;

/* The blocks that a path executes: not the one behind an ended edge. */
static bool runs_through(const struct path *path, const struct cfg *g,
                         const bool *block)
{
	bool is_left = path->end == PATH_LEAVES || path->end == PATH_ENDED;
	uint32_t end = path->nedges + (is_left ? 0 : 1);

	for (uint32_t i = path->enters ? 1 : 0; i < end; i++)
		if (block[path_block(path, g, i)])
			return true;
	return false;
}

static void mark_edges(const struct path *path, bool *edge)
{
	for (uint32_t i = 0; i < path->nedges; i++)
		edge[path->edges[i]] = true;
}

/* Edges that end a path are not looked at: nobody cuts them. */
static void assert_edges(const struct paths *p, const bool *block,
                         const bool *expected)
{
	uint32_t nedges = p->dag.g->nedges;
	bool *edge = calloc(nedges, sizeof(*edge));

	assert_non_null(edge);
	through_edges(&p->dag, block, edge);
	for (edge_id e = 0; e < nedges; e++)
		if (p->dag.how[e] == DAG_THROUGH)
			assert_int_equal(edge[e], expected[e]);
		else
			assert_false(edge[e]);
	free(edge);
}

/* Returns how many there are. */
static uint64_t assert_right(const struct paths *p, const bool *block)
{
	uint64_t length, n = through_count(p, block, &length), k = 0;
	uint64_t *number = calloc(n + 1, sizeof(*number)), sum = 0;
	uint32_t *route = calloc(p->dag.nvertices, sizeof(*route));
	bool *edge = calloc(p->dag.g->nedges, sizeof(*edge));
	struct path path = {0};

	assert_non_null(number);
	assert_non_null(route);
	assert_non_null(edge);
	assert_int_equal(through_count(p, block, NULL), n);
	number[n] = 12345;
	through_list(p, block, number);
	assert_int_equal(number[n], 12345);
	for (uint64_t i = 0; i < p->n; i++) {
		if (paths_decode(p, i, &path, NULL) < 0 ||
		    !runs_through(&path, p->dag.g, block))
			continue;
		assert_true(k < n);
		assert_int_equal(number[k++], i);
		sum += paths_route(p, i, route);
		mark_edges(&path, edge);
	}
	assert_edges(p, block, edge);
	assert_int_equal(k, n);
	assert_int_equal(length, sum);
	path_release(&path);
	free(number);
	free(route);
	free(edge);
	return n;
}

static void test_figure_34(void **state)
{
	bool block[FIG34_NBLOCKS] = {false};
	struct paths p;
	struct cfg g;

	(void)state;
	graph_figure_34(&g);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	assert_int_equal(assert_right(&p, block), 0);
	block[CFG_OUTSIDE] = true; /* means nothing */
	assert_int_equal(assert_right(&p, block), 0);
	block[FIG34_B] = true;
	assert_int_equal(assert_right(&p, block), 4);
	block[FIG34_D] = true;
	assert_int_equal(assert_right(&p, block), 5);
	block[FIG34_T] = true;
	assert_int_equal(assert_right(&p, block), 6);
	paths_release(&p);
	cfg_release(&g);
}

/* 1 > {3, 4}, 2 > {4, 4} are indirect; the pair 2, 3 does not exist. */
static void test_indirect(void **state)
{
	static const struct graph_arc arcs[] = {{0, 5}, {5, 1}, {5, 2},
	                                        {1, 3}, {1, 4}, {2, 4},
	                                        {2, 4}, {3, 5}, {4, 0}};
	static const enum dag_how asked[9] = {
	        [3] = DAG_INDIRECT,
	        [4] = DAG_INDIRECT,
	        [5] = DAG_INDIRECT,
	        [6] = DAG_INDIRECT,
	};
	struct paths_options o = {.asked = asked};
	bool block[6] = {[5] = true};
	struct paths p;
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 6, arcs);
	assert_int_equal(paths_init(&p, &g, &o, NULL), 0);
	assert_int_equal(assert_right(&p, block), 6);
	block[5] = false;
	block[2] = true;
	assert_int_equal(assert_right(&p, block), 2);
	block[2] = false;
	block[4] = true; /* not those that the branch ends there */
	assert_int_equal(assert_right(&p, block), 1);
	paths_release(&p);
	cfg_release(&g);
}

/* 40 diamonds: as many paths as nobody can list, but few of one side. */
static void test_many(void **state)
{
	enum { N = 40 };
	bool block[3 * N + 2] = {false};
	uint64_t length;
	struct paths p;
	struct cfg g;

	(void)state;
	graph_diamonds(&g, N);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	block[2] = true;
	assert_int_equal(through_count(&p, block, &length),
	                 (uint64_t)1 << (N - 1));
	assert_int_equal(length, ((uint64_t)1 << (N - 1)) * (2 * N + 2));
	block[3] = true;
	assert_int_equal(through_count(&p, block, NULL), (uint64_t)1 << N);
	paths_release(&p);
	cfg_release(&g);
}

/* Gives some blocks indirect branches, to landing blocks behind the others. */
static enum dag_how *add_indirect(struct cfg *g, const struct cfg *old,
                                  struct rng *r)
{
	uint32_t nlandings = 1 + rng_below(r, 4);
	enum dag_how *asked =
	        calloc(2 * (size_t)old->nedges + nlandings, sizeof(*asked));

	assert_non_null(asked);
	cfg_init(g, old->nblocks + nlandings);
	for (block_id b = 0; b < old->nblocks; b++) {
		bool is_indirect = b != CFG_OUTSIDE && rng_percent(r, 25);

		for (uint32_t i = old->out_at[b]; i < old->out_at[b + 1]; i++) {
			block_id to = old->edges[old->out[i]].dst;

			if (is_indirect)
				to = old->nblocks + rng_below(r, nlandings);
			asked[cfg_add_edge(g, b, to)] =
			        is_indirect ? DAG_INDIRECT : DAG_THROUGH;
		}
	}
	for (uint32_t i = 0; i < nlandings; i++)
		cfg_add_edge(g, old->nblocks + i,
		             1 + rng_below(r, old->nblocks - 1));
	cfg_link(g);
	return asked;
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(23);
	uint32_t nchecked = 0;

	(void)state;
	for (int i = 0; i < 600; i++) {
		struct graph_taste t =
		        graph_random_taste(&r, 2 + rng_below(&r, 14));
		struct cfg old, g;
		enum dag_how *asked;
		struct paths p;

		graph_random(&old, &t, &r);
		asked = add_indirect(&g, &old, &r);
		assert_int_equal(
		        paths_init(&p, &g,
		                   &(struct paths_options){.asked = asked},
		                   NULL),
		        0);
		if (p.n <= PATHS_MAX) {
			bool block[32] = {false};
			uint32_t percent = rng_below(&r, 60);

			for (block_id b = 0; b < g.nblocks; b++)
				block[b] = rng_percent(&r, percent);
			nchecked += assert_right(&p, block) > 0;
		}
		paths_release(&p);
		cfg_release(&old);
		cfg_release(&g);
		free(asked);
	}
	assert_true(nchecked > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        {"figure 3.4", test_figure_34, NULL, NULL, NULL},
	        cmocka_unit_test(test_indirect),
	        cmocka_unit_test(test_many),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("through", tests, NULL, NULL);
}
