/* SPDX-License-Identifier: Apache-2.0 */
/* Path numbers: figure 3.4 of 2007, cuts, prefixes, edge counts. */
#include "graph/paths.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/err.h"
#include "graph/weight.h"
#include "path_graphs.h"

static const struct paths_options no_options;

static void assert_number(const struct paths *p, struct path path,
                          uint64_t number, enum path_end end)
{
	struct path back = {0};
	uint64_t got = 0;

	assert_int_equal(paths_encode(p, &path, &got, NULL), 0);
	assert_int_equal(got, number);
	assert_int_equal(paths_decode(p, number, &back, NULL), 0);
	path.end = end;
	assert_true(path_equal(&path, &back));
	path_release(&path);
	path_release(&back);
}

static void test_figure_34(void **state)
{
	enum { S = 1, A, B, C, D, T };
	struct paths p;
	struct cfg g;

	(void)state;
	graph_figure_34(&g);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	assert_int_equal(p.n, 6);
	assert_int_equal(p.ncuts, 0);
	assert_number(&p, PATH_MAKE(&g, 0, S, A, C, D, T, 0), 0, PATH_LEAVES);
	assert_number(&p, PATH_MAKE(&g, 0, S, A, C, T, 0), 1, PATH_LEAVES);
	assert_number(&p, PATH_MAKE(&g, 0, S, A, B, C, D, T, 0), 2,
	              PATH_LEAVES);
	assert_number(&p, PATH_MAKE(&g, 0, S, A, B, C, T, 0), 3, PATH_LEAVES);
	assert_number(&p, PATH_MAKE(&g, 0, S, B, C, D, T, 0), 4, PATH_LEAVES);
	assert_number(&p, PATH_MAKE(&g, 0, S, B, C, T, 0), 5, PATH_LEAVES);
	/* table 4.2: N(dst) / N(src) */
	assert_int_equal(p.npaths[S], 6);
	assert_int_equal(p.npaths[A], 4);
	assert_int_equal(p.npaths[B], 2);
	assert_int_equal(p.npaths[C], 2);
	paths_release(&p);
	cfg_release(&g);
}

/* Figure 1 of 1994, by hand: 3 ways from P to out or back, begun twice. */
static void test_loop(void **state)
{
	enum { P = 1, Q, A, B, R, C };
	struct paths p;
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	assert_int_equal(p.n, 10);
	assert_number(&p, PATH_MAKE(&g, 0, P, Q, A, R, C, P), 0, PATH_ENDED);
	assert_number(&p, PATH_MAKE(&g, 0, P, Q, A, R, 0), 1, PATH_LEAVES);
	assert_number(&p, PATH_MAKE(&g, 0, P, 0), 4, PATH_LEAVES);
	assert_number(&p, PATH_MAKE(&g, P, Q, A, R, C, P), 5, PATH_ENDED);
	assert_number(&p, PATH_MAKE(&g, P, Q, B, R, 0), 8, PATH_LEAVES);
	assert_number(&p, PATH_MAKE(&g, P, 0), 9, PATH_LEAVES);
	paths_release(&p);
	cfg_release(&g);
}

/* 1 > 2 (stops), 1 > 1, and a path that is one block. */
static void test_stops(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {1, 1}};
	static const enum dag_how asked[] = {DAG_THROUGH, DAG_CUT, DAG_THROUGH};
	struct paths_options o = {.asked = asked};
	struct paths p;
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 3, arcs);
	assert_int_equal(paths_init(&p, &g, &o, NULL), 0);
	assert_int_equal(p.n, 5);
	assert_number(&p, PATH_MAKE(&g, 0, 1, 2), 0, PATH_ENDED);
	assert_number(&p, PATH_MAKE(&g, 0, 1, 1), 1, PATH_ENDED);
	assert_number(&p, PATH_MAKE(&g, 1, 1), 3, PATH_ENDED);
	assert_number(&p, PATH_MAKE(&g, 2), 4, PATH_STOPS);
	paths_release(&p);
	cfg_release(&g);
}

static void assert_no_path(const struct paths *p, struct path path)
{
	struct cairn_err err;
	uint64_t number;

	assert_int_equal(paths_encode(p, &path, &number, &err),
	                 CAIRN_E_MISMATCH);
	path_release(&path);
}

static void test_refused(void **state)
{
	enum { P = 1, Q, A, B, R, C };
	struct path path = {0};
	struct cairn_err err;
	struct paths p;
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	assert_int_equal(paths_decode(&p, 10, &path, &err), CAIRN_E_CORRUPT);
	assert_int_equal(paths_decode(&p, UINT64_MAX, &path, &err),
	                 CAIRN_E_CORRUPT);
	assert_no_path(&p, PATH_MAKE(&g, 0, P, Q));    /* ends nowhere */
	assert_no_path(&p, PATH_MAKE(&g, Q, A, R, 0)); /* begins nowhere */
	assert_no_path(&p, PATH_MAKE(&g, 0, P, R, 0)); /* no edge */
	assert_no_path(&p, PATH_MAKE(&g, P, Q, A, R, C, P, 0)); /* two paths */
	assert_no_path(&p, PATH_MAKE(&g, 0, P, 0, P, 0));
	assert_no_path(&p, PATH_MAKE(&g, 77, P, 0));
	paths_release(&p);
	cfg_release(&g);
}

/* Every prefix of every path of figure 1 comes back, and from nothing else. */
static void test_prefixes(void **state)
{
	struct path whole = {0}, prefix = {0};
	uint32_t nfound = 0;
	struct paths p;
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	for (uint64_t number = 0; number < p.n; number++) {
		uint64_t sum = 0;

		assert_int_equal(paths_decode(&p, number, &whole, NULL), 0);
		whole.end = PATH_UNFINISHED;
		while (--whole.nedges > 0) {
			block_id at = path_block(&whole, &g, whole.nedges);

			assert_int_equal(paths_encode(&p, &whole, &sum, NULL),
			                 0);
			assert_int_equal(
			        paths_decode_prefix(&p, sum, at, &prefix, NULL),
			        0);
			assert_true(path_equal(&whole, &prefix));
		}
	}
	for (uint64_t sum = 0; sum < 2 * p.n; sum++)
		for (block_id b = 0; b <= g.nblocks; b++)
			nfound += paths_decode_prefix(&p, sum, b, &prefix,
			                              NULL) == 0;
	/* P 2, Q 2, A 2, B 2, R 4, C 4: twice one or two ways */
	assert_int_equal(nfound, 16);
	path_release(&whole);
	path_release(&prefix);
	paths_release(&p);
	cfg_release(&g);
}

/* P Q A R C P Q B R C P Q A R EXIT, P EXIT, and P Q A R C P Q with a death. */
static void test_edge_counts(void **state)
{
	enum { P = 1, Q, A, B, R, C };
	static const uint64_t truth[] = {3, 5, 1, 3, 1, 3, 1, 3, 1, 3};
	static const uint64_t number[] = {0, 7, 6, 4, 0};
	uint64_t edge[FIG1_NEDGES] = {0}, sum;
	struct path dead;
	struct paths p;
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	for (size_t i = 0; i < sizeof(number) / sizeof(*number); i++)
		assert_int_equal(paths_count(&p, number[i], 1, edge, NULL), 0);
	dead = PATH_MAKE(&g, P, Q);
	dead.end = PATH_UNFINISHED;
	assert_int_equal(path_block(&dead, &g, 0), P);
	assert_int_equal(path_block(&dead, &g, 1), Q);
	assert_int_equal(paths_encode(&p, &dead, &sum, NULL), 0);
	assert_int_equal(paths_count_prefix(&p, sum, Q, 1, edge, NULL), 0);
	assert_memory_equal(edge, truth, sizeof(truth));
	/* a child that was forked in Q takes its prefix back */
	assert_int_equal(
	        paths_count_prefix(&p, sum, Q, (uint64_t)-1, edge, NULL), 0);
	assert_int_equal(edge[FIG1_P_Q], 4);
	assert_int_equal(paths_count(&p, 10, 1, edge, NULL), CAIRN_E_CORRUPT);
	path_release(&dead);
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
	struct path path = {0};
	uint32_t nunused = 0;
	struct paths p;
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 6, arcs);
	assert_int_equal(paths_init(&p, &g, &o, NULL), 0);
	assert_int_equal(p.n, 9);
	assert_number(&p, PATH_MAKE(&g, 0, 5, 1, 3), 0, PATH_ENDED);
	assert_number(&p, PATH_MAKE(&g, 0, 5, 1, 4), 1, PATH_ENDED);
	assert_number(&p, PATH_MAKE(&g, 0, 5, 2, 4), 3, PATH_ENDED);
	assert_number(&p, PATH_MAKE(&g, 3, 5, 1, 3), 4, PATH_ENDED);
	assert_number(&p, PATH_MAKE(&g, 4, 0), 8, PATH_LEAVES);
	for (uint64_t number = 0; number < p.n; number++)
		nunused += paths_decode(&p, number, &path, NULL) < 0;
	assert_int_equal(nunused, 2); /* 2 and 6 */
	path_release(&path);
	paths_release(&p);
	cfg_release(&g);
}

static void test_limit_is_exact(void **state)
{
	struct paths p;
	struct cfg g;

	(void)state;
	/* 2^59 paths, the most that need no cut, and 2^60 */
	graph_diamonds(&g, 59);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	assert_int_equal(p.n, (uint64_t)1 << 59);
	assert_int_equal(p.ncuts, 0);
	paths_release(&p);
	cfg_release(&g);
	graph_diamonds(&g, 60);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	assert_true(p.n > 0 && p.n < PATHS_LIMIT);
	assert_int_equal(p.ncuts, 1);
	paths_release(&p);
	cfg_release(&g);
}

/* The weight of the cuts, in units of one execution of the whole chain. */
static double cut_weight(const struct paths *p, const uint64_t *weight)
{
	double sum = 0;

	for (uint32_t i = 0; i < p->ncuts; i++)
		sum += (double)weight[p->cuts[i]] / (double)WEIGHT_ONE;
	return sum;
}

/* A chain of 100: halves of 2^50; a chain of 10000 is done in time. */
static void test_long_chains(void **state)
{
	static const uint32_t lengths[] = {100, 1000, 10000};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct paths_options o = {0};
		uint64_t *weight;
		struct paths p;
		struct cfg g;

		graph_diamonds(&g, lengths[i]);
		weight = calloc(g.nedges, sizeof(*weight));
		assert_non_null(weight);
		weight_heuristic(&g, weight);
		o.weight = weight;
		assert_int_equal(paths_init(&p, &g, &o, NULL), 0);
		assert_true(p.n > 0 && p.n < PATHS_LIMIT);
		printf("chain of %u: %u cuts, %.2f of the flow\n", lengths[i],
		       p.ncuts, cut_weight(&p, weight));
		/* a cut through all paths every 59 branches would do */
		assert_true(cut_weight(&p, weight) <= lengths[i] / 25.0);
		free(weight);
		paths_release(&p);
		cfg_release(&g);
	}
}

/* 100 branches with one cold side each: only cold sides go. */
static void test_cold_first(void **state)
{
	enum { N = 100 };
	struct paths_options o = {0};
	uint64_t *weight;
	struct paths p;
	struct cfg g;

	(void)state;
	graph_diamonds(&g, N);
	weight = calloc(g.nedges, sizeof(*weight));
	assert_non_null(weight);
	for (edge_id e = 0; e < g.nedges; e++)
		weight[e] = e % 4 == 1 || e % 4 == 3 ? 1 : 1000000;
	o.weight = weight;
	assert_int_equal(paths_init(&p, &g, &o, NULL), 0);
	assert_true(p.ncuts > 0 && p.ncuts <= N);
	for (uint32_t i = 0; i < p.ncuts; i++) {
		assert_int_equal(weight[p.cuts[i]], 1);
		assert_int_equal(p.dag.how[p.cuts[i]], DAG_CUT);
	}
	free(weight);
	paths_release(&p);
	cfg_release(&g);
}

/* Edges of interesting paths are never cut; if none is left, it says so. */
static void test_keep(void **state)
{
	enum { N = 70 };
	struct paths_options o = {0};
	struct cairn_err err;
	struct paths p;
	struct cfg g;
	bool *keep;

	(void)state;
	graph_diamonds(&g, N);
	keep = calloc(g.nedges, sizeof(*keep));
	assert_non_null(keep);
	for (edge_id e = 0; e < g.nedges; e++)
		keep[e] = e % 4 == 1 || e % 4 == 3;
	o.keep = keep;
	assert_int_equal(paths_init(&p, &g, &o, NULL), 0);
	assert_true(p.ncuts > 0 && p.n < PATHS_LIMIT);
	for (uint32_t i = 0; i < p.ncuts; i++)
		assert_false(keep[p.cuts[i]]);
	paths_release(&p);
	memset(keep, true, g.nedges * sizeof(*keep));
	assert_int_equal(paths_init(&p, &g, &o, &err), CAIRN_E_LIMIT);
	free(keep);
	cfg_release(&g);
}

/* A cut function still counts every edge: here below 200 paths. */
static void test_counts_with_cuts(void **state)
{
	struct paths_options o = {.limit = 200};
	struct rng r = rng_from_environment(5);
	struct path path = {0};
	uint64_t *edge, *truth, number;
	struct paths p;
	struct cfg g;

	(void)state;
	graph_diamonds(&g, 12);
	assert_int_equal(paths_init(&p, &g, &o, NULL), 0);
	assert_true(p.n < 200 && p.ncuts > 0);
	edge = calloc(g.nedges, sizeof(*edge));
	truth = calloc(g.nedges, sizeof(*truth));
	path.edges = calloc(g.nedges, sizeof(*path.edges));
	assert_true(edge && truth && path.edges);
	for (int i = 0; i < 100; i++) {
		block_id b = CFG_OUTSIDE;

		path.enters = true;
		do {
			uint32_t nout = g.out_at[b + 1] - g.out_at[b];
			edge_id e = g.out[g.out_at[b] + rng_below(&r, nout)];

			truth[e]++;
			b = g.edges[e].dst;
			path.edges[path.nedges++] = e;
			if (!dag_is_ended(&p.dag, e) && b != CFG_OUTSIDE)
				continue;
			assert_int_equal(paths_encode(&p, &path, &number, NULL),
			                 0);
			assert_int_equal(paths_count(&p, number, 1, edge, NULL),
			                 0);
			path.enters = false;
			path.first = b;
			path.nedges = 0;
		} while (b != CFG_OUTSIDE);
	}
	assert_memory_equal(edge, truth, g.nedges * sizeof(*edge));
	free(edge);
	free(truth);
	path_release(&path);
	paths_release(&p);
	cfg_release(&g);
}

/* The list of cuts alone gives the same numbers again. */
static void test_cuts_again(void **state)
{
	struct paths_options o = {0};
	struct paths p, again;
	uint64_t *weight;
	struct cfg g;

	(void)state;
	graph_diamonds(&g, 100);
	weight = calloc(g.nedges, sizeof(*weight));
	assert_non_null(weight);
	weight_heuristic(&g, weight);
	o.weight = weight;
	assert_int_equal(paths_init(&p, &g, &o, NULL), 0);
	assert_true(p.ncuts > 0);
	o = (struct paths_options){.cuts = p.cuts, .ncuts = p.ncuts};
	assert_int_equal(paths_init(&again, &g, &o, NULL), 0);
	assert_int_equal(again.n, p.n);
	assert_int_equal(again.ncuts, p.ncuts);
	assert_int_equal(again.dag.nedges, p.dag.nedges);
	assert_memory_equal(again.value, p.value,
	                    p.dag.nedges * sizeof(*p.value));
	free(weight);
	paths_release(&p);
	paths_release(&again);
	cfg_release(&g);
}

static void assert_cut_refused(const struct cfg *g, edge_id first,
                               edge_id second)
{
	edge_id cuts[] = {first, second};
	struct paths_options o = {.cuts = cuts, .ncuts = 2};
	struct cairn_err err;
	struct paths p;

	assert_int_equal(paths_init(&p, g, &o, &err), CAIRN_E_CORRUPT);
}

/* What may come from a damaged file. */
static void test_bad_options(void **state)
{
	enum dag_how asked[FIG1_NEDGES] = {[FIG1_Q_A] = DAG_INDIRECT};
	struct paths_options o = {.asked = asked};
	struct cairn_err err;
	struct paths p;
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	assert_cut_refused(&g, FIG1_P_Q, FIG1_NEDGES);
	assert_cut_refused(&g, FIG1_P_Q, FIG1_P_Q);
	assert_cut_refused(&g, FIG1_EXIT_P, FIG1_P_Q);
	assert_cut_refused(&g, FIG1_P_Q, FIG1_R_EXIT);
	assert_cut_refused(&g, FIG1_P_Q, FIG1_C_P);
	/* Q has another edge out, which is not indirect */
	assert_int_equal(paths_init(&p, &g, &o, &err), CAIRN_E_CORRUPT);
	asked[FIG1_Q_B] = DAG_INDIRECT;
	assert_int_equal(paths_init(&p, &g, &o, &err), 0);
	paths_release(&p);
	/* R gets A > R and B > R */
	asked[FIG1_A_R] = DAG_INDIRECT;
	assert_int_equal(paths_init(&p, &g, &o, &err), CAIRN_E_CORRUPT);
	asked[FIG1_A_R] = DAG_THROUGH;
	asked[FIG1_EXIT_P] = asked[FIG1_C_P] = DAG_INDIRECT;
	assert_int_equal(paths_init(&p, &g, &o, &err), CAIRN_E_CORRUPT);
	cfg_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        {"figure 3.4", test_figure_34, NULL, NULL, NULL},
	        cmocka_unit_test(test_loop),
	        cmocka_unit_test(test_stops),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_prefixes),
	        cmocka_unit_test(test_edge_counts),
	        cmocka_unit_test(test_indirect),
	        cmocka_unit_test(test_limit_is_exact),
	        cmocka_unit_test(test_long_chains),
	        cmocka_unit_test(test_cold_first),
	        cmocka_unit_test(test_keep),
	        cmocka_unit_test(test_counts_with_cuts),
	        cmocka_unit_test(test_cuts_again),
	        cmocka_unit_test(test_bad_options),
	};

	return cmocka_run_group_tests_name("paths", tests, NULL, NULL);
}
