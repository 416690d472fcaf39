/* SPDX-License-Identifier: Apache-2.0 */
/* Counters on vertices: figure 1, and the optimum by linear algebra. */
#include "graph/vertex.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "graph/cfg.h"
#include "graph/weight.h"
#include "graphs.h"

enum { MAX_BLOCKS = 7, MAX_EDGES = 20, MAX_ROWS = 2 * MAX_BLOCKS };

static void test_figure_1(void **state)
{
	uint64_t w[FIG1_NEDGES], b[FIG1_NBLOCKS], cost = 0;
	bool counted[FIG1_NBLOCKS];
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	weight_heuristic(&g, w);
	vertex_weights(&g, w, b);
	assert_int_equal(b[0], WEIGHT_ONE);
	assert_int_equal(b[FIG1_P], 11 * WEIGHT_ONE);
	assert_int_equal(vertex_place(&g, b, counted), 4);
	for (block_id v = 0; v < g.nblocks; v++)
		cost += counted[v] ? b[v] : 0;
	assert_true(counted[0] && counted[FIG1_A] && counted[FIG1_B] &&
	            counted[FIG1_C]);
	assert_int_equal(cost, 43 * WEIGHT_ONE / 2);
	cfg_release(&g);
}

static void test_weights_saturate(void **state)
{
	uint64_t w[FIG1_NEDGES] = {[FIG1_A_R] = WEIGHT_MAX - 1, [FIG1_B_R] = 2};
	uint64_t b[FIG1_NBLOCKS];
	struct cfg g;

	(void)state;
	graph_figure_1(&g);
	vertex_weights(&g, w, b);
	assert_int_equal(b[FIG1_R], WEIGHT_MAX);
	assert_int_equal(b[FIG1_Q], 0);
	cfg_release(&g);
}

#define FIELD 1000003 /* a prime: ranks of such small matrices are right */

static int64_t field_inverse(int64_t x)
{
	int64_t result = 1;

	for (int64_t n = FIELD - 2; n > 0; n >>= 1) {
		if (n & 1)
			result = result * x % FIELD;
		x = x * x % FIELD;
	}
	return result;
}

struct matrix {
	int64_t at[MAX_ROWS][MAX_EDGES];
	uint32_t nrows, ncols;
};

static void matrix_clear_column(struct matrix *m, uint32_t rank, uint32_t col)
{
	int64_t inverse = field_inverse(m->at[rank][col]);

	for (uint32_t i = 0; i < m->nrows; i++) {
		int64_t factor = m->at[i][col] * inverse % FIELD;

		if (i == rank)
			continue;
		for (uint32_t k = 0; k < m->ncols; k++) {
			int64_t x = m->at[i][k] - factor * m->at[rank][k];

			m->at[i][k] = (x % FIELD + FIELD) % FIELD;
		}
	}
}

static uint32_t matrix_rank(struct matrix m)
{
	uint32_t rank = 0;

	for (uint32_t col = 0; col < m.ncols && rank < m.nrows; col++) {
		uint32_t pivot = rank;
		int64_t row[MAX_EDGES];

		while (pivot < m.nrows && m.at[pivot][col] == 0)
			pivot++;
		if (pivot == m.nrows)
			continue;
		memcpy(row, m.at[pivot], sizeof(row));
		memcpy(m.at[pivot], m.at[rank], sizeof(row));
		memcpy(m.at[rank], row, sizeof(row));
		matrix_clear_column(&m, rank, col);
		rank++;
	}
	return rank;
}

/* Conservation at every block, and the counts of the blocks in the set. */
static uint32_t rank_with(const struct cfg *g, uint32_t set)
{
	struct matrix m = {.nrows = g->nblocks, .ncols = g->nedges};

	for (edge_id e = 0; e < g->nedges; e++) {
		if (g->edges[e].src == g->edges[e].dst)
			continue;
		m.at[g->edges[e].dst][e] = 1;
		m.at[g->edges[e].src][e] = FIELD - 1;
	}
	for (block_id b = 0; b < g->nblocks; b++) {
		if (!(set >> b & 1))
			continue;
		for (edge_id e = 0; e < g->nedges; e++)
			m.at[m.nrows][e] = g->edges[e].dst == b;
		m.nrows++;
	}
	return matrix_rank(m);
}

/* A set will do if the counts of all blocks add nothing to what it says. */
static void check_optimum(const struct cfg *g, const uint64_t *weight)
{
	uint32_t all = (1u << g->nblocks) - 1, ours = 0;
	uint64_t best = UINT64_MAX, cost = 0;
	uint32_t full = rank_with(g, all);
	bool counted[MAX_BLOCKS];

	for (uint32_t set = 0; set <= all; set++) {
		uint64_t sum = 0;

		for (block_id b = 0; b < g->nblocks; b++)
			sum += set >> b & 1 ? weight[b] : 0;
		if (sum < best && rank_with(g, set) == full)
			best = sum;
	}
	vertex_place(g, weight, counted);
	for (block_id b = 0; b < g->nblocks; b++) {
		ours |= (uint32_t)counted[b] << b;
		cost += counted[b] ? weight[b] : 0;
	}
	assert_int_equal(rank_with(g, ours), full);
	assert_int_equal(cost, best);
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(8);
	uint32_t nchecked = 0;

	(void)state;
	while (nchecked < 400) {
		struct graph_taste t =
		        graph_random_taste(&r, 2 + rng_below(&r, 5));
		uint64_t weight[MAX_BLOCKS];
		struct cfg g;

		graph_random(&g, &t, &r);
		for (block_id b = 0; b < MAX_BLOCKS; b++)
			weight[b] = rng_below(&r, 20);
		if (g.nedges <= MAX_EDGES) {
			check_optimum(&g, weight);
			nchecked++;
		}
		cfg_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        {"figure 1", test_figure_1, NULL, NULL, NULL},
	        cmocka_unit_test(test_weights_saturate),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("vertex", tests, NULL, NULL);
}
