/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks as edges: the split graph, its weights, recovery, names of faults. */
#include "graph/blocks.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "graph/place.h"
#include "graph/weight.h"
#include "graphs.h"

/* outside > 1 > 2 > outside, 2 a loop of one block. */
enum { ENTER, ON, AGAIN, LEAVE, LOOP_NEDGES };
enum { LOOP_NBLOCKS = 3, LOOP_NSPLIT = LOOP_NEDGES + LOOP_NBLOCKS - 1 };

static void make_loop(struct cfg *g)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {2, 2}, {2, 0}};

	GRAPH_MAKE(g, LOOP_NBLOCKS, arcs);
}

static void assert_edge(const struct cfg *g, edge_id e, block_id src,
                        block_id dst)
{
	assert_int_equal(g->edges[e].src, src);
	assert_int_equal(g->edges[e].dst, dst);
}

/* Tops keep their names, bottoms follow: 3 is that of 1, 4 that of 2. */
static void test_split(void **state)
{
	struct cfg g, split;

	(void)state;
	make_loop(&g);
	blocks_split(&g, &split);
	assert_int_equal(split.nblocks, 5);
	assert_int_equal(split.nedges, LOOP_NSPLIT);
	assert_edge(&split, ENTER, 0, 1);
	assert_edge(&split, ON, 3, 2);
	assert_edge(&split, AGAIN, 4, 2);
	assert_edge(&split, LEAVE, 4, 0);
	assert_edge(&split, blocks_edge(&g, 1), 1, 3);
	assert_edge(&split, blocks_edge(&g, 2), 2, 4);
	/* it is linked: the bottom of 2 has two ways out */
	assert_int_equal(split.out_at[5] - split.out_at[4], 2);
	cfg_release(&split);
	cfg_release(&g);
}

static void test_split_without_blocks(void **state)
{
	struct cfg g, split;
	uint64_t none[1] = {7};

	(void)state;
	cfg_init(&g, 1);
	cfg_link(&g);
	blocks_split(&g, &split);
	assert_int_equal(split.nblocks, 1);
	assert_int_equal(split.nedges, 0);
	blocks_weigh(&g, none, none);
	assert_int_equal(none[0], 7);
	cfg_release(&split);
	cfg_release(&g);
}

static void test_weigh(void **state)
{
	static const uint64_t w[] = {2, 2, 30, 2};
	static const uint64_t expected[] = {2, 2, 30, 2, 2, 32};
	uint64_t split[LOOP_NSPLIT];
	struct cfg g;

	(void)state;
	make_loop(&g);
	blocks_weigh(&g, w, split);
	assert_memory_equal(split, expected, sizeof(expected));
	cfg_release(&g);
}

/* A sum of weights that does not fit is the greatest, not a small one. */
static void test_weigh_saturates(void **state)
{
	static const uint64_t w[] = {1, UINT64_MAX - 1, 5, 1};
	uint64_t split[LOOP_NSPLIT];
	struct cfg g;

	(void)state;
	make_loop(&g);
	blocks_weigh(&g, w, split);
	assert_true(split[blocks_edge(&g, 1)] == 1);
	assert_true(split[blocks_edge(&g, 2)] == UINT64_MAX);
	cfg_release(&g);
}

/*
 * The self loop is critical: with its jump it weighs at least 60, the block
 * 32.  On edges alone it would be a chord; here its block is.
 */
static void test_self_loop_is_counted_in_its_block(void **state)
{
	static const uint64_t w[] = {2, 2, 30, 2};
	bool critical[LOOP_NSPLIT] = {false}, chord[LOOP_NSPLIT];
	uint64_t split_weight[LOOP_NSPLIT];
	struct cfg g, split;

	(void)state;
	make_loop(&g);
	blocks_split(&g, &split);
	blocks_weigh(&g, w, split_weight);
	critical[AGAIN] = true;
	weight_add_jumps(&split, critical, split_weight);
	assert_int_equal(place_edges(&split, split_weight, NULL, chord), 0);
	assert_false(chord[AGAIN]);
	assert_true(chord[blocks_edge(&g, 2)]);
	/* without the jump the edge is cheaper */
	blocks_weigh(&g, w, split_weight);
	assert_int_equal(place_edges(&split, split_weight, NULL, chord), 0);
	assert_true(chord[AGAIN]);
	assert_false(chord[blocks_edge(&g, 2)]);
	cfg_release(&split);
	cfg_release(&g);
}

/* Counted: the way out (twice) and the loop's block (nine times). */
static void test_recover(void **state)
{
	static const bool edge_known[] = {false, false, false, true};
	static const bool block_known[] = {false, false, true};
	static const uint64_t edges[] = {2, 2, 7, 2}, blocks[] = {2, 2, 9};
	uint64_t edge[] = {77, 77, 77, 2}, block[] = {77, 77, 9};
	uint32_t bad = 99;
	struct cfg g;

	(void)state;
	make_loop(&g);
	assert_int_equal(blocks_recover(&g, edge_known, block_known, NULL, NULL,
	                                edge, block, &bad),
	                 RECOVER_OK);
	assert_memory_equal(edge, edges, sizeof(edges));
	assert_memory_equal(block, blocks, sizeof(blocks));
	cfg_release(&g);
}

/*
 * Two entered; one more began in the loop's block, and two died there.  The
 * counter at its top has seen the dead and not the one that began.
 */
static void test_recover_with_extras(void **state)
{
	static const bool edge_known[] = {false, false, false, true};
	static const bool block_known[] = {false, false, true};
	static const uint64_t edges[] = {2, 2, 7, 1}, blocks[] = {2, 2, 10};
	uint64_t edge[] = {0, 0, 0, 1}, block[] = {0, 0, 9};
	uint64_t in[] = {50, 0, 1}, out[] = {60, 0, 2};
	uint32_t bad = 99;
	struct cfg g;

	(void)state;
	make_loop(&g);
	assert_int_equal(blocks_recover(&g, edge_known, block_known, in, out,
	                                edge, block, &bad),
	                 RECOVER_OK);
	assert_memory_equal(edge, edges, sizeof(edges));
	assert_memory_equal(block, blocks, sizeof(blocks));
	cfg_release(&g);
}

struct fault {
	bool edge_known[LOOP_NEDGES], block_known[LOOP_NBLOCKS];
	uint64_t edge[LOOP_NEDGES], block[LOOP_NBLOCKS];
	uint64_t out[LOOP_NBLOCKS];
	enum recover_result result;
	uint32_t bad;
};

static void check_fault(const struct fault *fault)
{
	uint64_t edge[LOOP_NEDGES], block[LOOP_NBLOCKS];
	uint32_t bad = 99;
	struct cfg g;

	memcpy(edge, fault->edge, sizeof(edge));
	memcpy(block, fault->block, sizeof(block));
	make_loop(&g);
	assert_int_equal(blocks_recover(&g, fault->edge_known,
	                                fault->block_known, NULL, fault->out,
	                                edge, block, &bad),
	                 fault->result);
	if (fault->result != RECOVER_UNSOLVABLE)
		assert_int_equal(bad, fault->bad);
	cfg_release(&g);
}

/* Faults of the split graph are told in names of the original one. */
static void test_names_of_faults(void **state)
{
	static const struct fault faults[] = {
	        /* a negative edge: 3 in block 2, 4 leave it */
	        {{0, 0, 0, 1},
	         {0, 0, 1},
	         {0, 0, 0, 4},
	         {0, 0, 3},
	         {0},
	         RECOVER_NEGATIVE,
	         AGAIN},
	        /* 2^63 - 1 turns and one way out: block 2 ran 2^63 times */
	        {{0, 0, 1, 1},
	         {0},
	         {0, 0, INT64_MAX, 1},
	         {0},
	         {0},
	         RECOVER_UNBALANCED,
	         2},
	        /* more died in block 2 than came: -1 entered */
	        {{0, 0, 1, 1},
	         {0},
	         {0, 0, 0, 0},
	         {0},
	         {0, 0, (uint64_t)-1},
	         RECOVER_NEGATIVE,
	         ENTER},
	        /* the top of block 1: two in, one seen */
	        {{1, 1, 1, 1},
	         {0, 1, 1},
	         {2, 2, 0, 2},
	         {0, 1, 2},
	         {0},
	         RECOVER_UNBALANCED,
	         1},
	        /* the bottom of block 1: two seen, one leaves */
	        {{1, 1, 1, 1},
	         {0, 1, 1},
	         {2, 1, 1, 2},
	         {0, 2, 2},
	         {0},
	         RECOVER_UNBALANCED,
	         1},
	        /* the outside: one in, none comes out */
	        {{1, 1, 1, 1},
	         {0, 1, 1},
	         {1, 1, 0, 0},
	         {0, 1, 1},
	         {0},
	         RECOVER_UNBALANCED,
	         CFG_OUTSIDE},
	        /* neither the self loop nor its block is counted */
	        {{1, 1, 0, 1},
	         {0, 1, 0},
	         {1, 1, 0, 1},
	         {0, 1, 0},
	         {0},
	         RECOVER_UNSOLVABLE,
	         0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		check_fault(&faults[i]);
}

/* What cannot be solved leaves the counters as they were. */
static void test_unsolvable_changes_nothing(void **state)
{
	static const bool edge_known[] = {true, true, false, true};
	static const bool block_known[] = {false, true, false};
	uint64_t edge[] = {1, 1, 70, 1}, block[] = {71, 1, 72};
	uint64_t edges[LOOP_NEDGES], blocks[LOOP_NBLOCKS];
	uint32_t bad = 99;
	struct cfg g;

	(void)state;
	memcpy(edges, edge, sizeof(edge));
	memcpy(blocks, block, sizeof(block));
	make_loop(&g);
	assert_int_equal(blocks_recover(&g, edge_known, block_known, NULL, NULL,
	                                edge, block, &bad),
	                 RECOVER_UNSOLVABLE);
	assert_memory_equal(edge, edges, sizeof(edge));
	assert_memory_equal(block, blocks, sizeof(block));
	cfg_release(&g);
}

/* With no block counted, blocks_recover is recover_counts. */
static void check_against_recover(struct rng *r)
{
	struct graph_taste t = graph_random_taste(r, 2 + rng_below(r, 30));
	enum recover_result a, b;
	uint64_t *w, *edge, *block, *split_edge, *split_block;
	bool *chord, *no_block;
	uint32_t bad = 0, split_bad = 0;
	struct cfg g;

	graph_random(&g, &t, r);
	w = calloc(g.nedges, sizeof(*w));
	chord = calloc(g.nedges, sizeof(*chord));
	edge = calloc(g.nedges, sizeof(*edge));
	split_edge = calloc(g.nedges, sizeof(*edge));
	block = calloc(g.nblocks, sizeof(*block));
	split_block = calloc(g.nblocks, sizeof(*block));
	no_block = calloc(g.nblocks, sizeof(*no_block));
	assert_true(w && chord && edge && split_edge && block && split_block &&
	            no_block);
	weight_heuristic(&g, w);
	place_edges(&g, w, NULL, chord);
	for (edge_id e = 0; e < g.nedges; e++)
		edge[e] = split_edge[e] = rng_below(r, 1000);
	a = recover_counts(&g, chord, NULL, NULL, edge, block, &bad);
	b = blocks_recover(&g, chord, no_block, NULL, NULL, split_edge,
	                   split_block, &split_bad);
	assert_int_equal(a == RECOVER_OK, b == RECOVER_OK);
	assert_memory_equal(edge, split_edge, g.nedges * sizeof(*edge));
	assert_memory_equal(block, split_block, g.nblocks * sizeof(*block));
	free(w);
	free(chord);
	free(edge);
	free(split_edge);
	free(block);
	free(split_block);
	free(no_block);
	cfg_release(&g);
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(16);

	(void)state;
	for (int i = 0; i < 300; i++)
		check_against_recover(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_split),
	        cmocka_unit_test(test_split_without_blocks),
	        cmocka_unit_test(test_weigh),
	        cmocka_unit_test(test_weigh_saturates),
	        cmocka_unit_test(test_self_loop_is_counted_in_its_block),
	        cmocka_unit_test(test_recover),
	        cmocka_unit_test(test_recover_with_extras),
	        cmocka_unit_test(test_names_of_faults),
	        cmocka_unit_test(test_unsolvable_changes_nothing),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
