/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic-coding view of paths: the examples of chapter 4 of the thesis,
 * and entropies against sums over all paths. */
#include "analysis/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/path_counts.h"
#include "graph/paths.h"
#include "path_graphs.h"

#define LOG2_3 1.58496250072115618145

/* log2 of x in (0, 1], digit by digit. */
static double slow_log2(double x)
{
	double result = 0, digit = 1;

	for (; x < 1; x *= 2)
		result--;
	for (int i = 0; i < 48; i++) {
		digit /= 2;
		x *= x;
		if (x >= 2) {
			x /= 2;
			result += digit;
		}
	}
	return result;
}

static void assert_near(double x, double y)
{
	if (x - y > 1e-9 || y - x > 1e-9)
		fail_msg("%.12f is not %.12f", x, y);
}

/* Table 4.1: a b c d e ! */
static const uint64_t table_41[] = {2, 3, 1, 2, 1, 1};

static void test_example_411(void **state)
{
	/* [0, 1) in steps of 10^-5 */
	struct model_range r = {0, 100000};

	(void)state;
	for (const char *s = "1022"; *s; s++)
		r = model_narrow(r, table_41, 6, (size_t)(*s - '0'));
	assert_int_equal(r.low, 23300);
	assert_int_equal(r.high, 23360);
	r = model_narrow(r, table_41, 6, 5);
	assert_int_equal(r.low, 23354);
	assert_int_equal(r.high, 23360);
}

static void test_entropy_of_table_41(void **state)
{
	(void)state;
	assert_near(model_bits(table_41, 6), 2.4464393446710154);
	assert_near(model_bits((const uint64_t[]){5}, 1), 0);
	assert_near(model_bits((const uint64_t[]){0, 0}, 2), 0);
	assert_near(model_bits((const uint64_t[]){1, 1, 0, 1, 1}, 5), 2);
}

static void number(struct cfg *g, struct paths *p)
{
	const struct paths_options o = {0};

	assert_int_equal(paths_init(p, g, &o, NULL), 0);
}

/* Figure 4.2: table 4.2, numbers of paths as codes, and log2 6. */
static void test_figure_42(void **state)
{
	static const struct {
		edge_id edge;
		double probability;
	} table_42[] = {
	        {FIG34_S_A, 2.0 / 3}, {FIG34_S_B, 1.0 / 3}, {FIG34_A_B, 0.5},
	        {FIG34_A_C, 0.5},     {FIG34_B_C, 1},       {FIG34_C_D, 0.5},
	        {FIG34_C_T, 0.5},     {FIG34_D_T, 1},
	};
	struct cfg g;
	struct paths p;
	struct model m;

	(void)state;
	graph_figure_34(&g);
	number(&g, &p);
	assert_int_equal(p.n, 6);
	model_init_uniform(&m, &p);
	for (size_t i = 0; i < sizeof(table_42) / sizeof(table_42[0]); i++)
		assert_near(
		        model_probability(&m, p.dag.edge_of[table_42[i].edge]),
		        table_42[i].probability);
	for (uint64_t i = 0; i < p.n; i++)
		assert_int_equal(model_encode(&m, p.n, i), i);
	assert_near(model_entropy(&m), 1 + LOG2_3);
	assert_near(model_gamma(model_entropy(&m), p.n), 1);
	assert_near(model_gamma(10.5, 1), 1448.154687870049);
	assert_near(model_gamma(0, 4), 0.25);
	model_release(&m);
	paths_release(&p);
	cfg_release(&g);
}

/* After example 4.2.3: {sacdt, sact, sbct} alike.  The model of edges cannot
 * tell sbcdt from them: 2/3, 1/3 at s, and 1/3, 2/3 at c. */
static void test_measured(void **state)
{
	static const struct path_count items[] = {{0, 10}, {1, 10}, {5, 10}};
	const double h3 = LOG2_3 - 2.0 / 3;
	struct cfg g;
	struct paths p;
	struct model m;

	(void)state;
	graph_figure_34(&g);
	number(&g, &p);
	model_init_measured(&m, &p, items, 3);
	assert_near(model_probability(&m, p.dag.edge_of[FIG34_S_A]), 2.0 / 3);
	assert_near(model_probability(&m, p.dag.edge_of[FIG34_A_B]), 0);
	assert_near(model_probability(&m, p.dag.edge_of[FIG34_C_D]), 1.0 / 3);
	assert_near(model_entropy(&m), 2 * h3);
	assert_near(model_gamma(LOG2_3, 3), 1);
	assert_true(model_gamma(model_entropy(&m), 3) > 1);
	model_release(&m);
	paths_release(&p);
	cfg_release(&g);
}

/* The entropy is that of the paths, summed one by one; and what measured paths
 * cost on average with the model of their edges. */
static void test_chain_rule(void **state)
{
	struct path_count items[81];
	struct cfg g;
	struct paths p;
	struct model m;
	double h = 0, cost = 0, all = 0;
	uint32_t route[64];

	(void)state;
	graph_diamonds(&g, 4);
	number(&g, &p);
	assert_int_equal(p.n, 16);
	for (uint64_t i = 0; i < p.n; i++) {
		items[i] = (struct path_count){i, 1 + i * i % 7};
		all += (double)items[i].count;
	}
	model_init_measured(&m, &p, items, (size_t)p.n);
	for (uint64_t i = 0; i < p.n; i++) {
		uint32_t n = paths_route(&p, i, route);
		double chance = 1;

		for (uint32_t k = 0; k < n; k++)
			chance *= model_probability(&m, route[k]);
		h -= chance * slow_log2(chance);
		cost -= (double)items[i].count / all * slow_log2(chance);
	}
	assert_near(model_entropy(&m), h);
	assert_near(model_entropy(&m), cost);
	model_release(&m);
	paths_release(&p);
	cfg_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_example_411),
	        cmocka_unit_test(test_entropy_of_table_41),
	        cmocka_unit_test(test_figure_42),
	        cmocka_unit_test(test_measured),
	        cmocka_unit_test(test_chain_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
