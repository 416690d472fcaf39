/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery: the examples of 1994, what it refuses, and large graphs. */
#include "graph/recover.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "graph/cfg.h"
#include "graph/place.h"
#include "graph/weight.h"
#include "graphs.h"

/* P Q A R C P Q B R C P Q A R EXIT, and P EXIT; counted by hand. */
static void test_figure_1(void **state)
{
	static const uint64_t truth[] = {2, 3, 1, 2, 1, 2, 1, 2, 1, 2};
	static const uint64_t blocks[] = {2, 4, 3, 2, 1, 3, 2};
	uint64_t w[FIG1_NEDGES], edge[FIG1_NEDGES], block[FIG1_NBLOCKS];
	bool chord[FIG1_NEDGES];
	uint32_t bad = 0;
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	weight_heuristic(&g, w);
	place_edges(&g, w, NULL, chord);
	for (edge_id e = 0; e < g.nedges; e++)
		edge[e] = chord[e] ? truth[e] : UINT64_MAX;
	assert_int_equal(
	        recover_counts(&g, chord, NULL, NULL, edge, block, &bad),
	        RECOVER_OK);
	assert_memory_equal(edge, truth, sizeof(truth));
	assert_memory_equal(block, blocks, sizeof(blocks));
	cfg_release(&g);
}

/* After figure 4: P > A > P, and P > EXIT. */
static void make_figure_4(struct cfg *g)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {2, 1}, {1, 0}};

	GRAPH_MAKE(g, 3, arcs);
}

/* exit() in A at the third iteration; `depth` frames did the same. */
static void check_figure_4(uint64_t depth)
{
	/* chords: P > A and P > EXIT */
	static const bool known[] = {false, true, false, true};
	uint64_t truth[] = {depth, 3 * depth, 2 * depth, 0};
	uint64_t edge[] = {0, 3 * depth, 0, 0}, block[3];
	uint64_t extra_out[] = {0, 0, depth};
	uint32_t bad = 0;
	struct cfg g;

	make_figure_4(&g);
	assert_int_equal(
	        recover_counts(&g, known, NULL, extra_out, edge, block, &bad),
	        RECOVER_OK);
	assert_memory_equal(edge, truth, sizeof(truth));
	assert_int_equal(block[0], depth);
	assert_int_equal(block[1], 3 * depth);
	assert_int_equal(block[2], 3 * depth);
	/* without the extra way out the counts are wrong */
	memset(edge, 0, sizeof(edge));
	edge[1] = 3 * depth;
	assert_int_equal(
	        recover_counts(&g, known, NULL, NULL, edge, block, &bad),
	        RECOVER_OK);
	assert_int_equal(edge[2], 3 * depth);
	assert_int_equal(edge[0], 0);
	cfg_release(&g);
}

static void test_after_figure_4(void **state)
{
	(void)state;
	check_figure_4(1);
}

static void test_after_figure_4_recursion(void **state)
{
	(void)state;
	check_figure_4(5);
}

/* A fork child begins in A and returns by P > EXIT. */
static void test_extra_in(void **state)
{
	static const bool known[] = {false, true, false, true};
	static const uint64_t truth[] = {0, 4, 5, 1};
	uint64_t edge[] = {0, 4, 0, 1}, block[3], extra_in[] = {0, 0, 1};
	uint32_t bad = 0;
	struct cfg g;

	(void)state;
	make_figure_4(&g);
	assert_int_equal(
	        recover_counts(&g, known, extra_in, NULL, edge, block, &bad),
	        RECOVER_OK);
	assert_memory_equal(edge, truth, sizeof(truth));
	assert_int_equal(block[0], 0);
	assert_int_equal(block[2], 5);
	/* entry 0 of the extras is not looked at */
	extra_in[0] = 77;
	assert_int_equal(
	        recover_counts(&g, known, extra_in, NULL, edge, block, &bad),
	        RECOVER_OK);
	assert_int_equal(block[0], 0);
	cfg_release(&g);
}

static void test_negative(void **state)
{
	static const bool known[] = {false, true, false, true};
	/* a death in A that was counted twice: 3 in, 4 dead */
	uint64_t edge[] = {0, 3, 0, 0}, block[3], extra_out[] = {0, 0, 4};
	uint32_t bad = 99;
	struct cfg g;

	(void)state;
	make_figure_4(&g);
	assert_int_equal(
	        recover_counts(&g, known, NULL, extra_out, edge, block, &bad),
	        RECOVER_NEGATIVE);
	assert_int_equal(bad, 2);
	assert_int_equal(edge[2], UINT64_MAX);
	cfg_release(&g);
}

static void test_unbalanced(void **state)
{
	static const bool known[] = {true, true, true, true};
	uint64_t edge[] = {1, 3, 2, 1}, block[3];
	uint32_t bad = 99;
	struct cfg g;

	(void)state;
	make_figure_4(&g);
	assert_int_equal(
	        recover_counts(&g, known, NULL, NULL, edge, block, &bad),
	        RECOVER_UNBALANCED);
	assert_int_equal(bad, 1);
	edge[2] = 3;
	assert_int_equal(
	        recover_counts(&g, known, NULL, NULL, edge, block, &bad),
	        RECOVER_OK);
	cfg_release(&g);
}

/* More continued in a block than ever did: a recorded start taken back. */
static void test_negative_block(void **state)
{
	static const bool known[] = {true, true, true, true};
	uint64_t edge[] = {0, 0, 0, 0}, block[3];
	uint64_t extra[] = {0, 0, (uint64_t)-1};
	uint32_t bad = 99;
	struct cfg g;

	(void)state;
	make_figure_4(&g);
	assert_int_equal(
	        recover_counts(&g, known, extra, extra, edge, block, &bad),
	        RECOVER_UNBALANCED);
	assert_int_equal(bad, 2);
	cfg_release(&g);
}

static void test_unsolvable(void **state)
{
	static const bool cycle[] = {true, false, false, true};
	static const struct graph_arc arcs[] = {{0, 1}, {1, 1}, {1, 0}};
	static const bool self[] = {false, false, true};
	uint64_t edge[] = {1, 0, 0, 1}, block[3];
	uint32_t bad = 0;
	struct cfg g;

	(void)state;
	make_figure_4(&g);
	assert_int_equal(
	        recover_counts(&g, cycle, NULL, NULL, edge, block, &bad),
	        RECOVER_UNSOLVABLE);
	cfg_release(&g);
	GRAPH_MAKE(&g, 2, arcs);
	assert_int_equal(
	        recover_counts(&g, self, NULL, NULL, edge, block, &bad),
	        RECOVER_UNSOLVABLE);
	cfg_release(&g);
}

/* A block count that reaches 2^63 is reported, not passed on as negative. */
static void test_count_too_large(void **state)
{
	static const bool known[] = {false, true, false, true};
	uint64_t edge[] = {0, INT64_MAX, 0, 1}, block[3];
	uint32_t bad = 0;
	struct cfg g;

	(void)state;
	make_figure_4(&g);
	assert_int_equal(
	        recover_counts(&g, known, NULL, NULL, edge, block, &bad),
	        RECOVER_UNBALANCED);
	assert_int_equal(edge[2], INT64_MAX);
	assert_int_equal(bad, 1); /* its count is 2^63 */
	cfg_release(&g);
}

static void test_large(void **state)
{
	enum { N = 200000 };
	uint64_t *edge, *block;
	bool *known;
	uint32_t bad = 0;
	struct cfg g;

	(void)state;
	graph_chain(&g, N, false);
	edge = calloc(g.nedges, sizeof(*edge));
	known = calloc(g.nedges, sizeof(*known));
	block = calloc(g.nblocks, sizeof(*block));
	assert_true(edge && known && block);
	known[N / 2] = true;
	edge[N / 2] = 42;
	assert_int_equal(
	        recover_counts(&g, known, NULL, NULL, edge, block, &bad),
	        RECOVER_OK);
	for (block_id b = 0; b < g.nblocks; b++)
		assert_int_equal(block[b], 42);
	free(edge);
	free(known);
	free(block);
	cfg_release(&g);
}

/*
 * Any numbers on the chords are the counts of some flow: recovery must find
 * one that adds up, with these very numbers (oracle: the equations).
 */
static void test_random(void **state)
{
	struct rng r = rng_from_environment(7);

	(void)state;
	for (int i = 0; i < 500; i++) {
		struct graph_taste t =
		        graph_random_taste(&r, 2 + rng_below(&r, 40));
		struct cfg g;
		uint64_t *w, *edge, *block, *sum;
		bool *chord;
		uint32_t bad = 0;

		graph_random(&g, &t, &r);
		w = calloc(g.nedges, sizeof(*w));
		edge = calloc(g.nedges, sizeof(*edge));
		chord = calloc(g.nedges, sizeof(*chord));
		block = calloc(g.nblocks, sizeof(*block));
		sum = calloc(g.nblocks, sizeof(*sum));
		assert_true(w && edge && chord && block && sum);
		weight_heuristic(&g, w);
		place_edges(&g, w, NULL, chord);
		for (edge_id e = 0; e < g.nedges; e++)
			edge[e] = w[e] = rng_below(&r, 1000);
		assert_int_not_equal(recover_counts(&g, chord, NULL, NULL, edge,
		                                    block, &bad),
		                     RECOVER_UNSOLVABLE);
		for (edge_id e = 0; e < g.nedges; e++) {
			if (chord[e])
				assert_int_equal(edge[e], w[e]);
			sum[g.edges[e].dst] += edge[e];
			sum[g.edges[e].src] -= edge[e];
		}
		for (block_id b = 0; b < g.nblocks; b++)
			assert_int_equal(sum[b], 0);
		free(w);
		free(edge);
		free(chord);
		free(block);
		free(sum);
		cfg_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        {"figure 1", test_figure_1, NULL, NULL, NULL},
	        {"after figure 4", test_after_figure_4, NULL, NULL, NULL},
	        {"after figure 4, recursion", test_after_figure_4_recursion,
	         NULL, NULL, NULL},
	        cmocka_unit_test(test_extra_in),
	        cmocka_unit_test(test_negative),
	        cmocka_unit_test(test_unbalanced),
	        cmocka_unit_test(test_negative_block),
	        cmocka_unit_test(test_unsolvable),
	        cmocka_unit_test(test_count_too_large),
	        cmocka_unit_test(test_large),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("recover", tests, NULL, NULL);
}
