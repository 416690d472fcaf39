/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the path register: few, in the right places, exact. */
#include "graph/increments.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "graph/paths.h"
#include "graph/weight.h"
#include "path_graphs.h"
#include "path_machine.h"

struct subject {
	struct cfg g;
	struct paths p;
	uint64_t *weight;
	struct increments inc;
};

/* Numbers the paths of s->g and places operations. */
static void subject_init(struct subject *s, const enum dag_how *asked)
{
	struct paths_options o = {.asked = asked};

	assert_int_equal(paths_init(&s->p, &s->g, &o, NULL), 0);
	s->weight = calloc(s->g.nedges, sizeof(*s->weight));
	assert_non_null(s->weight);
	weight_heuristic(&s->g, s->weight);
	increments_init(&s->inc, &s->p.dag, s->p.value, s->weight);
}

static void subject_release(struct subject *s)
{
	increments_release(&s->inc);
	free(s->weight);
	paths_release(&s->p);
	cfg_release(&s->g);
}

/* Executes a path; the register at its begin is that behind an ended edge. */
static void assert_counts(const struct subject *s, const struct path *path,
                          uint64_t number)
{
	struct machine m;

	machine_init(&m, &s->p.dag, &s->inc);
	assert_int_equal(m.nrepeated, 0);
	for (edge_id e = 0; !path->enters && e < s->g.nedges; e++)
		if (dag_is_ended(&s->p.dag, e) &&
		    s->g.edges[e].dst == path->first)
			machine_take(&m, e);
	m.has_counted = false;
	for (uint32_t i = 0; i < path->nedges; i++) {
		assert_false(m.has_counted);
		machine_take(&m, path->edges[i]);
	}
	if (path->end == PATH_STOPS)
		machine_stop(&m, path_block(path, &s->g, path->nedges));
	assert_true(m.has_counted);
	assert_int_equal(m.counted, number);
	machine_release(&m);
}

static void assert_all_paths(const struct subject *s)
{
	struct path path = {0};

	for (uint64_t number = 0; number < s->p.n; number++)
		if (paths_decode(&s->p, number, &path, NULL) == 0)
			assert_counts(s, &path, number);
	path_release(&path);
}

static const struct increment *op_at(const struct subject *s,
                                     enum increment_place place, uint32_t where)
{
	for (uint32_t i = 0; i < s->inc.n; i++)
		if (s->inc.ops[i].place == place &&
		    s->inc.ops[i].where == where)
			return &s->inc.ops[i];
	return NULL;
}

static uint32_t count_ops(const struct subject *s, enum increment_kind kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->inc.n; i++)
		n += s->inc.ops[i].kind == kind;
	return n;
}

/* No branch: one count, and no register at all. */
static void test_straight(void **state)
{
	struct subject s;

	(void)state;
	graph_chain(&s.g, 5, false);
	subject_init(&s, NULL);
	assert_int_equal(s.inc.n, 1);
	assert_int_equal(s.inc.ops[0].kind, INCREMENT_COUNT_AT);
	assert_int_equal(s.inc.ops[0].value, 0);
	assert_false(s.inc.ops[0].then_set);
	assert_all_paths(&s);
	subject_release(&s);
}

/* A branch and no join: the register is known up to the end. */
static void test_branch_without_join(void **state)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {1, 3}, {2, 0}, {3, 0}};
	struct subject s;

	(void)state;
	GRAPH_MAKE(&s.g, 4, arcs);
	subject_init(&s, NULL);
	assert_int_equal(s.inc.n, 2);
	assert_int_equal(count_ops(&s, INCREMENT_COUNT_AT), 2);
	assert_all_paths(&s);
	subject_release(&s);
}

/*
 * Figure 3.4: b and c join, so the register is set on the edges into them from
 * s and a, where it is known.  The chord of c is free, as t ends the path ...
 */
static void test_figure_34(void **state)
{
	struct subject s;

	(void)state;
	graph_figure_34(&s.g);
	subject_init(&s, NULL);
	assert_true(s.inc.is_known[FIG34_S] && s.inc.is_known[FIG34_A]);
	assert_false(s.inc.is_known[FIG34_B] || s.inc.is_known[FIG34_C]);
	assert_int_equal(op_at(&s, INCREMENT_ON_EDGE, FIG34_S_B)->kind,
	                 INCREMENT_SET);
	assert_int_equal(op_at(&s, INCREMENT_ON_EDGE, FIG34_A_C)->kind,
	                 INCREMENT_SET);
	assert_int_equal(op_at(&s, INCREMENT_ON_EDGE, FIG34_A_B)->kind,
	                 INCREMENT_SET);
	assert_null(op_at(&s, INCREMENT_ON_EDGE, FIG34_S_A));
	/* ... but t joins c > t and d > t: one of c's edges has to add */
	assert_int_equal(count_ops(&s, INCREMENT_ADD), 1);
	assert_int_equal(count_ops(&s, INCREMENT_COUNT), 1);
	assert_all_paths(&s);
	subject_release(&s);
}

/* A loop of one block: the back edge counts and sets in one operation. */
static void test_self_loop(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 1}, {1, 0}};
	const struct increment *back;
	struct subject s;

	(void)state;
	GRAPH_MAKE(&s.g, 2, arcs);
	subject_init(&s, NULL);
	back = op_at(&s, INCREMENT_ON_EDGE, 1);
	assert_int_equal(back->kind, INCREMENT_COUNT);
	assert_true(back->then_set);
	assert_int_equal(op_at(&s, INCREMENT_ON_EDGE, 0)->kind, INCREMENT_SET);
	assert_int_equal(s.inc.n, 3);
	assert_int_equal(count_ops(&s, INCREMENT_ADD), 0);
	assert_all_paths(&s);
	subject_release(&s);
}

/* The hot way of figure 1, P Q B R C P, has one addition at most. */
static void test_figure_1(void **state)
{
	struct subject s;

	(void)state;
	graph_figure_1(&s.g);
	subject_init(&s, NULL);
	assert_int_equal(count_ops(&s, INCREMENT_ADD), 1);
	assert_all_paths(&s);
	subject_release(&s);
}

static void test_indirect_and_stop(void **state)
{
	static const struct graph_arc arcs[] = {{0, 5}, {5, 1}, {5, 2},
	                                        {1, 3}, {1, 4}, {2, 4},
	                                        {2, 4}, {3, 5}, {4, 6}};
	static const enum dag_how asked[9] = {
	        [3] = DAG_INDIRECT,
	        [4] = DAG_INDIRECT,
	        [5] = DAG_INDIRECT,
	        [6] = DAG_INDIRECT,
	};
	struct subject s;

	(void)state;
	GRAPH_MAKE(&s.g, 7, arcs);
	subject_init(&s, asked);
	for (edge_id e = 3; e <= 6; e++)
		assert_null(op_at(&s, INCREMENT_ON_EDGE, e));
	assert_non_null(op_at(&s, INCREMENT_AT_HEAD, 3));
	assert_non_null(op_at(&s, INCREMENT_AT_HEAD, 4));
	assert_int_equal(op_at(&s, INCREMENT_AT_END, 6)->kind,
	                 INCREMENT_COUNT_AT);
	/* only indirect branches come to 3: its register is known */
	assert_true(s.inc.is_known[3]);
	assert_false(op_at(&s, INCREMENT_AT_HEAD, 3)->then_set);
	assert_all_paths(&s);
	subject_release(&s);
}

/* The register of a frame that died in R of figure 1 gives the prefix. */
static void test_prefix(void **state)
{
	enum { P = 1, Q, A, B, R, C };
	struct path prefix = {0}, truth;
	struct subject s;
	struct machine m;
	uint64_t sum;

	(void)state;
	graph_figure_1(&s.g);
	subject_init(&s, NULL);
	machine_init(&m, &s.p.dag, &s.inc);
	truth = PATH_MAKE(&s.g, 0, P, Q, A, R, C, P);
	for (uint32_t i = 0; i < truth.nedges; i++)
		machine_take(&m, truth.edges[i]);
	path_release(&truth);
	truth = PATH_MAKE(&s.g, P, Q, B, R);
	truth.end = PATH_UNFINISHED;
	for (uint32_t i = 0; i < truth.nedges; i++)
		machine_take(&m, truth.edges[i]);
	sum = increments_prefix(&s.inc, R, m.r);
	assert_int_equal(paths_decode_prefix(&s.p, sum, R, &prefix, NULL), 0);
	assert_true(path_equal(&truth, &prefix));
	path_release(&truth);
	path_release(&prefix);
	machine_release(&m);
	subject_release(&s);
}

/* 2^59 paths: sums wrap on the way, numbers are right; also the extremes. */
static void test_many_paths(void **state)
{
	struct rng r = rng_from_environment(11);
	struct path path = {0};
	struct subject s;

	(void)state;
	graph_diamonds(&s.g, 59);
	subject_init(&s, NULL);
	assert_int_equal(count_ops(&s, INCREMENT_ADD), 58);
	for (int i = 0; i < 200; i++) {
		uint64_t number = rng_next(&r) % s.p.n;

		if (i < 2)
			number = i == 0 ? 0 : s.p.n - 1;
		assert_int_equal(paths_decode(&s.p, number, &path, NULL), 0);
		assert_counts(&s, &path, number);
	}
	path_release(&path);
	subject_release(&s);
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(13);

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct graph_taste t =
		        graph_random_taste(&r, 2 + rng_below(&r, 12));
		struct subject s;

		graph_random(&s.g, &t, &r);
		subject_init(&s, NULL);
		if (s.p.n < 2000)
			assert_all_paths(&s);
		subject_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_straight),
	        cmocka_unit_test(test_branch_without_join),
	        {"figure 3.4", test_figure_34, NULL, NULL, NULL},
	        cmocka_unit_test(test_self_loop),
	        {"figure 1 of 1994", test_figure_1, NULL, NULL, NULL},
	        cmocka_unit_test(test_indirect_and_stop),
	        cmocka_unit_test(test_prefix),
	        cmocka_unit_test(test_many_paths),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("increments", tests, NULL, NULL);
}
