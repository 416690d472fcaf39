/* SPDX-License-Identifier: Apache-2.0 */
/* Preferential numbers: figures 3.4 to 3.11 of 2007, limits, random sets. */
#include "graph/prefer.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/err.h"
#include "graph/paths.h"
#include "path_graphs.h"

static const struct paths_options no_options;
static const struct prefer_options printed = {.method = PREFER_INTERVALS};
static const struct prefer_options best = {.method = PREFER_BEST};

static int64_t sum_of(const struct prefer *f, const struct paths *p,
                      uint64_t number)
{
	uint32_t *route = calloc(p->dag.nvertices, sizeof(*route));
	int64_t sum = 0;
	uint32_t n;

	assert_non_null(route);
	n = paths_route(p, number, route);
	for (uint32_t i = 0; i < n; i++)
		sum += f->value[route[i]];
	free(route);
	return sum;
}

/* Interesting paths have slots of their own, others are told apart. */
static void assert_sound(const struct prefer *f, const struct paths *p)
{
	uint64_t *owner = calloc(f->size + 1, sizeof(*owner));
	uint32_t nfound = 0;

	assert_non_null(owner);
	prefer_owners(f, owner);
	for (uint64_t number = 0; number < p->n; number++) {
		uint64_t sum = (uint64_t)sum_of(f, p, number);
		bool interesting = false;

		for (uint32_t i = 0; i < f->n; i++)
			interesting |= f->number[i] == number;
		nfound += interesting;
		assert_int_equal(sum < f->size && owner[sum] == number,
		                 interesting);
	}
	assert_int_equal(nfound, f->n);
	free(owner);
}

/* Section 3.3.2, step by step, and the aliases of section 3.2.3. */
static void test_figure_34(void **state)
{
	static const uint64_t interesting[] = {5, 0, 1, 0};
	static const int64_t sums[] = {0, 1, -1, 0, 1, 2};
	static const int64_t values[FIG34_NEDGES] = {
	        [FIG34_S_B] = 2, [FIG34_B_C] = -1, [FIG34_C_T] = 1};
	struct paths p;
	struct prefer f;
	struct cfg g;

	(void)state;
	graph_figure_34(&g);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	assert_int_equal(prefer_init(&f, &p, interesting, 4, &printed, NULL),
	                 0);
	assert_int_equal(f.n, 3);
	assert_int_equal(f.size, 3);
	assert_true(prefer_delta(&f) == 1.0);
	for (edge_id e = 0; e < g.nedges; e++)
		assert_int_equal(f.value[p.dag.edge_of[e]], values[e]);
	for (uint64_t number = 0; number < 6; number++)
		assert_int_equal(sum_of(&f, &p, number), sums[number]);
	assert_int_equal(f.slot[0], 0);
	assert_int_equal(f.slot[1], 1);
	assert_int_equal(f.slot[2], 2);
	assert_sound(&f, &p);
	prefer_release(&f);
	paths_release(&p);
	cfg_release(&g);
}

/* All paths interesting: the Ball-Larus numbers. */
static void test_all_paths(void **state)
{
	static const uint64_t interesting[] = {0, 1, 2, 3, 4, 5};
	struct paths p;
	struct prefer f;
	struct cfg g;

	(void)state;
	graph_figure_34(&g);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	assert_int_equal(prefer_init(&f, &p, interesting, 6, &printed, NULL),
	                 0);
	for (uint32_t e = 0; e < p.dag.nedges; e++)
		assert_int_equal(f.value[e], p.value[e]);
	assert_sound(&f, &p);
	prefer_release(&f);
	paths_release(&p);
	cfg_release(&g);
}

/* Figure 3.5: s > a, b > c > d, e > t; w, x, y, z are the four halves. */
static void test_figure_35(void **state)
{
	static const struct graph_arc arcs[] = {{0, 1}, {1, 2}, {1, 3}, {2, 4},
	                                        {3, 4}, {4, 5}, {4, 6}, {5, 7},
	                                        {6, 7}, {7, 0}};
	static const uint64_t interesting[] = {1, 2}; /* sacet, sbcdt */
	struct paths p;
	struct prefer f;
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 8, arcs);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	assert_int_equal(p.n, 4);
	assert_int_equal(prefer_init(&f, &p, interesting, 2, &printed, NULL),
	                 0);
	assert_int_equal(f.size, 2);
	assert_sound(&f, &p);
	/* nothing separates: w + z, x + y in {0, 1}, w + y, x + z >= 2 */
	for (int w = -8; w <= 8; w++)
		for (int x = -8; x <= 8; x++)
			for (int y = -8; y <= 8; y++)
				for (int z = -8; z <= 8; z++)
					assert_false(
					        w + z + x + y == 1 &&
					        (w + z == 0 || w + z == 1) &&
					        w + y >= 2 && x + z >= 2);
	prefer_release(&f);
	paths_release(&p);
	cfg_release(&g);
}

/* The span of the six paths of figure 3.6, or 99 if two are the same. */
static int span_36(int u, int v, int w, int x, int y, int z)
{
	int id[] = {u + y, u + z, v + x, v + z, w + x, w + y};
	int min = id[0], max = id[0];

	for (int i = 0; i < 6; i++) {
		for (int k = 0; k < i; k++)
			if (id[i] == id[k])
				return 99;
		min = id[i] < min ? id[i] : min;
		max = id[i] > max ? id[i] : max;
	}
	return max - min + 1;
}

static int least_span_36(void)
{
	int least = 99;

	/* u and x can be 0: move a constant over d, and one out of all */
	for (int v = -7; v <= 7; v++)
		for (int w = -7; w <= 7; w++)
			for (int y = -7; y <= 7; y++)
				for (int z = -7; z <= 7; z++) {
					int span = span_36(0, v, w, 0, y, z);

					least = span < least ? span : least;
				}
	return least;
}

/* Figure 3.6: s > a, b, c > d > e, f, g > t.  The printed algorithm is best. */
static void test_figure_36(void **state)
{
	static const struct graph_arc arcs[] = {
	        {0, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 5}, {3, 5}, {4, 5},
	        {5, 6}, {5, 7}, {5, 8}, {6, 9}, {7, 9}, {8, 9}, {9, 0}};
	/* adf 1, adg 2, bde 3, bdg 5, cde 6, cdf 7 */
	static const uint64_t interesting[] = {1, 2, 3, 5, 6, 7};
	struct paths p;
	struct prefer f;
	struct cfg g;

	(void)state;
	GRAPH_MAKE(&g, 10, arcs);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	assert_int_equal(p.n, 9);
	assert_int_equal(prefer_init(&f, &p, interesting, 6, &printed, NULL),
	                 0);
	assert_int_equal(least_span_36(), 7);
	assert_int_equal(f.size, 7);
	assert_true(prefer_delta(&f) == 7.0 / 6);
	assert_sound(&f, &p);
	prefer_release(&f);
	paths_release(&p);
	cfg_release(&g);
}

/*
 * After figure 3.11.  G1: x, y and z come to c, which goes on to d or out, and
 * d has two ways out.  By x all three ways are interesting, by y and z only
 * the first of d and that of c: 0 1 2, 3 . 5, 6 . 8 leave two holes of one.
 * G2 and G3 are one path each, which would fit into them.
 */
enum {
	FIG311_S = 1,
	FIG311_X,
	FIG311_Y,
	FIG311_Z,
	FIG311_C,
	FIG311_D,
	FIG311_G2,
	FIG311_G3,
	FIG311_NBLOCKS
};

static void make_figure_311(struct cfg *g)
{
	static const struct graph_arc arcs[] = {
	        {0, FIG311_S},         {FIG311_S, FIG311_X},
	        {FIG311_S, FIG311_Y},  {FIG311_S, FIG311_Z},
	        {FIG311_S, FIG311_G2}, {FIG311_S, FIG311_G3},
	        {FIG311_X, FIG311_C},  {FIG311_Y, FIG311_C},
	        {FIG311_Z, FIG311_C},  {FIG311_C, FIG311_D},
	        {FIG311_C, 0},         {FIG311_D, 0},
	        {FIG311_D, 0},         {FIG311_G2, 0},
	        {FIG311_G3, 0},
	};

	GRAPH_MAKE(g, FIG311_NBLOCKS, arcs);
}

static void test_figure_311(void **state)
{
	/* x 0 1 2, y 3 5, z 6 8, G2 9, G3 10 */
	static const uint64_t interesting[] = {0, 1, 2, 3, 5, 6, 8, 9, 10};
	struct paths p;
	struct prefer f;
	struct cfg g;

	(void)state;
	make_figure_311(&g);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	assert_int_equal(p.n, 11);
	assert_int_equal(prefer_init(&f, &p, interesting, 9, &printed, NULL),
	                 0);
	assert_int_equal(f.size, 11); /* as printed: 11/9 */
	assert_sound(&f, &p);
	prefer_release(&f);
	assert_int_equal(prefer_init(&f, &p, interesting, 9, &best, NULL), 0);
	assert_int_equal(f.size, 9); /* the optimum */
	assert_true(prefer_delta(&f) == 1.0);
	assert_sound(&f, &p);
	prefer_release(&f);
	paths_release(&p);
	cfg_release(&g);
}

static void test_none_and_one(void **state)
{
	static const uint64_t last = 10;
	struct paths p;
	struct prefer f;
	struct cfg g;

	(void)state;
	make_figure_311(&g);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	assert_int_equal(prefer_init(&f, &p, NULL, 0, &best, NULL), 0);
	assert_int_equal(f.size, 0);
	assert_true(prefer_delta(&f) == 0.0);
	assert_sound(&f, &p);
	prefer_release(&f);
	assert_int_equal(prefer_init(&f, &p, &last, 1, &best, NULL), 0);
	assert_int_equal(f.size, 1);
	assert_sound(&f, &p);
	prefer_release(&f);
	paths_release(&p);
	cfg_release(&g);
}

static void test_refused(void **state)
{
	static const uint64_t all[] = {0, 1, 2, 3, 5, 6, 8, 9, 10};
	static const uint64_t wrong[] = {3, 11};
	struct prefer_options tight = {.method = PREFER_INTERVALS,
	                               .max_size = 9};
	struct cairn_err err;
	struct paths p;
	struct prefer f;
	struct cfg g;

	(void)state;
	make_figure_311(&g);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	assert_int_equal(prefer_init(&f, &p, wrong, 2, &best, &err),
	                 CAIRN_E_MISMATCH);
	assert_int_equal(prefer_init(&f, &p, all, 9, &tight, &err),
	                 CAIRN_E_LIMIT);
	tight.method = PREFER_FIT;
	assert_int_equal(prefer_init(&f, &p, all, 9, &tight, &err), 0);
	prefer_release(&f);
	tight.method = PREFER_BEST; /* though the printed one does not fit */
	assert_int_equal(prefer_init(&f, &p, all, 9, &tight, &err), 0);
	assert_int_equal(f.size, 9);
	prefer_release(&f);
	tight.max_size = 8;
	assert_int_equal(prefer_init(&f, &p, all, 9, &tight, &err),
	                 CAIRN_E_LIMIT);
	paths_release(&p);
	cfg_release(&g);
}

/* A few of 2^59 paths, on the longest graph without cuts. */
static void test_few_of_many(void **state)
{
	enum { N = 50 };
	struct rng r = rng_from_environment(17);
	uint64_t interesting[N];
	struct paths p;
	struct prefer f;
	struct cfg g;

	(void)state;
	graph_diamonds(&g, 59);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	for (int i = 0; i < N; i++)
		interesting[i] = rng_next(&r) % p.n;
	assert_int_equal(prefer_init(&f, &p, interesting, N, &best, NULL), 0);
	assert_int_equal(f.n, N);
	for (uint32_t i = 0; i < N; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(f.slot[i], f.slot[k]);
	printf("50 of 2^59 paths: delta %.2f\n", prefer_delta(&f));
	prefer_release(&f);
	paths_release(&p);
	cfg_release(&g);
}

static uint64_t size_by(const struct paths *p, const uint64_t *interesting,
                        uint32_t n, enum prefer_method method)
{
	struct prefer_options o = {.method = method};
	struct prefer f;
	uint64_t size;

	assert_int_equal(prefer_init(&f, p, interesting, n, &o, NULL), 0);
	assert_sound(&f, p);
	size = f.size;
	prefer_release(&f);
	return size;
}

/* BEST is never behind, often ahead, and no matter of luck. */
static void test_orders(void **state)
{
	enum { N = 20, NSETS = 20 };
	struct rng r = rng_from_environment(23);
	uint32_t nahead = 0;
	struct paths p;
	struct cfg g;

	(void)state;
	graph_diamonds(&g, 8);
	assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
	for (int i = 0; i < NSETS; i++) {
		uint64_t set[N], size, other;

		for (int k = 0; k < N; k++)
			set[k] = rng_next(&r) % p.n;
		size = size_by(&p, set, N, PREFER_BEST);
		assert_int_equal(size_by(&p, set, N, PREFER_BEST), size);
		other = size_by(&p, set, N, PREFER_INTERVALS);
		assert_true(size <= other);
		nahead += size < other;
		other = size_by(&p, set, N, PREFER_FIT);
		assert_true(size <= other);
		nahead += size < other;
	}
	assert_true(nahead > NSETS);
	paths_release(&p);
	cfg_release(&g);
}

static void test_random(void **state)
{
	static const enum prefer_method methods[] = {PREFER_INTERVALS,
	                                             PREFER_FIT, PREFER_BEST};
	struct rng r = rng_from_environment(19);

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct graph_taste t =
		        graph_random_taste(&r, 2 + rng_below(&r, 12));
		struct prefer_options o = {.method = methods[i % 3]};
		uint64_t interesting[20];
		struct paths p;
		struct prefer f;
		struct cfg g;

		graph_random(&g, &t, &r);
		assert_int_equal(paths_init(&p, &g, &no_options, NULL), 0);
		for (int k = 0; k < 20; k++)
			interesting[k] = rng_next(&r) % p.n;
		assert_int_equal(prefer_init(&f, &p, interesting, 20, &o, NULL),
		                 0);
		if (p.n < 1000)
			assert_sound(&f, &p);
		prefer_release(&f);
		paths_release(&p);
		cfg_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        {"figure 3.4", test_figure_34, NULL, NULL, NULL},
	        cmocka_unit_test(test_all_paths),
	        {"figure 3.5", test_figure_35, NULL, NULL, NULL},
	        {"figure 3.6", test_figure_36, NULL, NULL, NULL},
	        {"after figure 3.11", test_figure_311, NULL, NULL, NULL},
	        cmocka_unit_test(test_none_and_one),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_few_of_many),
	        cmocka_unit_test(test_orders),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("prefer", tests, NULL, NULL);
}
