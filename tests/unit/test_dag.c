/* SPDX-License-Identifier: Apache-2.0 */
/* From control-flow graphs to acyclic ones. */
#include "graph/dag.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "graphs.h"

static uint32_t count_kind(const struct dag *d, enum dag_kind kind)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < d->nedges; e++)
		n += d->edges[e].kind == kind;
	return n;
}

/* The one edge of a kind and its name. */
static const struct dag_edge *find(const struct dag *d, enum dag_kind kind,
                                   uint32_t of)
{
	const struct dag_edge *found = NULL;

	for (uint32_t e = 0; e < d->nedges; e++)
		if (d->edges[e].kind == kind && d->edges[e].of == of) {
			assert_null(found);
			found = &d->edges[e];
		}
	return found;
}

static void assert_edge(const struct dag *d, enum dag_kind kind, uint32_t of,
                        uint32_t src, uint32_t dst)
{
	const struct dag_edge *edge = find(d, kind, of);

	assert_non_null(edge);
	assert_int_equal(edge->src, src);
	assert_int_equal(edge->dst, dst);
}

/* Edges lead forward in the order; every edge stands in both lists. */
static void assert_sound(const struct dag *d)
{
	uint32_t *at = calloc(d->nvertices, sizeof(*at)), nin = 0;

	assert_non_null(at);
	assert_int_equal(d->order[0], DAG_START);
	assert_int_equal(d->order[d->norder - 1], dag_end(d));
	for (uint32_t i = 0; i < d->norder; i++)
		at[d->order[i]] = i + 1;
	for (uint32_t v = 0; v < d->nvertices; v++) {
		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++) {
			assert_int_equal(d->edges[e].src, v);
			assert_true(at[v] > 0 && at[v] < at[d->edges[e].dst]);
		}
		for (uint32_t i = d->in_at[v]; i < d->in_at[v + 1]; i++) {
			assert_int_equal(d->edges[d->in[i]].dst, v);
			nin++;
		}
	}
	assert_int_equal(nin, d->nedges);
	free(at);
}

/* The thesis has the dummy edges of a back edge reversed. */
static void test_back_edge(void **state)
{
	struct cfg g;
	struct dag d;

	(void)state;
	graph_figure_1(&g);
	dag_init(&d, &g, NULL);
	assert_sound(&d);
	assert_int_equal(d.how[FIG1_C_P], DAG_BACK);
	assert_edge(&d, DAG_END, FIG1_C_P, FIG1_C, dag_end(&d));
	assert_edge(&d, DAG_BEGIN, FIG1_P, DAG_START, FIG1_P);
	assert_edge(&d, DAG_STEP, FIG1_EXIT_P, DAG_START, FIG1_P);
	assert_edge(&d, DAG_STEP, FIG1_R_EXIT, FIG1_R, dag_end(&d));
	assert_int_equal(d.nedges, FIG1_NEDGES + 1);
	for (edge_id e = 0; e < g.nedges; e++)
		assert_int_equal(d.edges[d.edge_of[e]].of, e);
	dag_release(&d);
	cfg_release(&g);
}

/* Two latches share the beginning, and each has its end. */
static void test_self_loop_and_shared_begin(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 1}, {1, 2},
	                                        {2, 1}, {2, 1}, {2, 0}};
	struct cfg g;
	struct dag d;

	(void)state;
	GRAPH_MAKE(&g, 3, arcs);
	dag_init(&d, &g, NULL);
	assert_sound(&d);
	assert_int_equal(count_kind(&d, DAG_END), 3);
	assert_int_equal(count_kind(&d, DAG_BEGIN), 1);
	assert_edge(&d, DAG_END, 1, 1, dag_end(&d));
	assert_edge(&d, DAG_END, 3, 2, dag_end(&d));
	assert_edge(&d, DAG_END, 4, 2, dag_end(&d));
	dag_release(&d);
	cfg_release(&g);
}

/* 1 > 2 <> 3 < 1: whichever way the walk takes, one edge is ended. */
static void test_irreducible(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {1, 3},
	                                        {2, 3}, {3, 2}, {3, 0}};
	struct cfg g;
	struct dag d;

	(void)state;
	GRAPH_MAKE(&g, 4, arcs);
	dag_init(&d, &g, NULL);
	assert_sound(&d);
	assert_int_equal(d.how[4], DAG_BACK);
	assert_int_equal(count_kind(&d, DAG_END), 1);
	dag_release(&d);
	cfg_release(&g);
}

/* An infinite loop, a block that never goes on, one that nobody reaches. */
static void test_no_way_out(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {2, 2},
	                                        {1, 3}, {4, 2}, {4, 0}};
	struct cfg g;
	struct dag d;

	(void)state;
	GRAPH_MAKE(&g, 5, arcs);
	dag_init(&d, &g, NULL);
	assert_sound(&d);
	assert_edge(&d, DAG_STOP, 3, 3, dag_end(&d));
	assert_int_equal(count_kind(&d, DAG_STOP), 1);
	assert_edge(&d, DAG_END, 2, 2, dag_end(&d));
	assert_int_equal(d.how[4], DAG_UNREACHED);
	assert_int_equal(d.edge_of[4], CFG_NONE);
	assert_int_equal(d.edge_of[5], CFG_NONE);
	dag_release(&d);
	cfg_release(&g);
}

/* Edges asked for are ended first: the loop around needs no second end. */
static void test_asked(void **state)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 0}};
	enum dag_how asked[] = {DAG_CUT, DAG_THROUGH, DAG_CUT, DAG_THROUGH,
	                        DAG_CUT};
	struct cfg g;
	struct dag d;

	(void)state;
	GRAPH_MAKE(&g, 4, arcs);
	dag_init(&d, &g, asked);
	assert_sound(&d);
	assert_int_equal(d.how[0], DAG_THROUGH); /* nothing to cut */
	assert_int_equal(d.how[4], DAG_THROUGH);
	assert_int_equal(d.how[2], DAG_CUT);
	assert_int_equal(d.how[3], DAG_THROUGH);
	assert_edge(&d, DAG_BEGIN, 3, DAG_START, 3);
	dag_release(&d);
	cfg_release(&g);
}

/* Two indirect branches, with a target in common: 1 > {3, 4}, 2 > {4, 4}. */
static void test_indirect(void **state)
{
	static const struct graph_arc arcs[] = {{0, 5}, {5, 1}, {5, 2},
	                                        {1, 3}, {1, 4}, {2, 4},
	                                        {2, 4}, {3, 5}, {4, 0}};
	static const enum dag_how asked[] = {
	        [3] = DAG_INDIRECT, [4] = DAG_INDIRECT, [5] = DAG_INDIRECT,
	        [6] = DAG_INDIRECT, [8] = DAG_THROUGH,
	};
	struct cfg g;
	struct dag d;

	(void)state;
	GRAPH_MAKE(&g, 6, arcs);
	dag_init(&d, &g, asked);
	assert_sound(&d);
	assert_edge(&d, DAG_GATHER, 1, 1, dag_hub(&d));
	assert_edge(&d, DAG_GATHER, 2, 2, dag_hub(&d));
	assert_edge(&d, DAG_SCATTER, 3, dag_hub(&d), dag_end(&d));
	assert_edge(&d, DAG_SCATTER, 4, dag_hub(&d), dag_end(&d));
	assert_edge(&d, DAG_BEGIN, 3, DAG_START, 3);
	assert_edge(&d, DAG_BEGIN, 4, DAG_START, 4);
	assert_int_equal(d.how[7], DAG_THROUGH); /* no second end */
	assert_int_equal(d.edge_of[5], d.edge_of[6]);
	assert_int_equal(dag_indirect(&d, 1, 4), 4);
	assert_int_equal(dag_indirect(&d, 2, 4), 5);
	assert_int_equal(dag_indirect(&d, 2, 3), CFG_NONE);
	dag_release(&d);
	cfg_release(&g);
}

static void test_cut(void **state)
{
	static const edge_id cut[] = {FIG1_Q_A, FIG1_B_R};
	struct cfg g;
	struct dag d;

	(void)state;
	graph_figure_1(&g);
	dag_init(&d, &g, NULL);
	dag_cut(&d, cut, 2);
	assert_sound(&d);
	assert_int_equal(d.how[FIG1_Q_A], DAG_CUT);
	assert_edge(&d, DAG_END, FIG1_Q_A, FIG1_Q, dag_end(&d));
	assert_edge(&d, DAG_BEGIN, FIG1_A, DAG_START, FIG1_A);
	assert_edge(&d, DAG_BEGIN, FIG1_R, DAG_START, FIG1_R);
	assert_edge(&d, DAG_BEGIN, FIG1_P, DAG_START, FIG1_P);
	dag_release(&d);
	cfg_release(&g);
}

/* A function that cannot be entered, and one without blocks. */
static void test_empty(void **state)
{
	static const struct graph_arc nothing[] = {{1, 0}};
	static const struct graph_arc through[] = {{0, 0}};
	struct cfg g;
	struct dag d;

	(void)state;
	GRAPH_MAKE(&g, 2, nothing);
	dag_init(&d, &g, NULL);
	assert_int_equal(d.nedges, 0);
	dag_release(&d);
	cfg_release(&g);
	GRAPH_MAKE(&g, 1, through);
	dag_init(&d, &g, NULL);
	assert_sound(&d);
	assert_edge(&d, DAG_STEP, 0, DAG_START, dag_end(&d));
	dag_release(&d);
	cfg_release(&g);
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(3);

	(void)state;
	for (int i = 0; i < 500; i++) {
		struct graph_taste t =
		        graph_random_taste(&r, 2 + rng_below(&r, 60));
		struct cfg g;
		struct dag d;

		graph_random(&g, &t, &r);
		dag_init(&d, &g, NULL);
		assert_sound(&d);
		dag_release(&d);
		cfg_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_back_edge),
	        cmocka_unit_test(test_self_loop_and_shared_begin),
	        cmocka_unit_test(test_irreducible),
	        cmocka_unit_test(test_no_way_out),
	        cmocka_unit_test(test_asked),
	        cmocka_unit_test(test_indirect),
	        cmocka_unit_test(test_cut),
	        cmocka_unit_test(test_empty),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("dag", tests, NULL, NULL);
}
