/* SPDX-License-Identifier: Apache-2.0 */
/* Overlap of two profiles: by hand, and what holds for all. */
#include "analysis/drift.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "chains.h"

#define ROUNDS 200

static void assert_near(double x, double y)
{
	if (x - y > 1e-9 || y - x > 1e-9)
		fail_msg("%.12f is not %.12f", x, y);
}

struct compared {
	struct profile *p, *q;
	struct catalog a, b;
	struct drift d;
};

static void compare(struct compared *c, const struct chain *a, size_t na,
                    const struct chain *b, size_t nb)
{
	c->p = chain_profile(1, a, na);
	c->q = chain_profile(2, b, nb);
	catalog_init(&c->a, c->p);
	catalog_init(&c->b, c->q);
	drift_init(&c->d, &c->a, &c->b);
}

static void drop(struct compared *c)
{
	drift_release(&c->d);
	catalog_release(&c->a);
	catalog_release(&c->b);
	profile_free(c->p);
	profile_free(c->q);
}

/* f: 80 % of A and 40 % of B; g is in both; h only in A, changed in B. */
static void test_by_hand(void **state)
{
	const uint64_t fa[4] = {60, 20, 0, 0}, fb[4] = {10, 20, 10, 0};
	const uint64_t ga[2] = {10, 0}, gb[2] = {0, 50};
	const uint64_t ha[2] = {10, 0}, hb[4] = {10, 0, 0, 0};
	const struct chain a[] = {{"f", "/a.c", 0, 1, 2, fa, 0, 0},
	                          {"g", "/a.c", 0, 2, 1, ga, 0, 0},
	                          {"h", "/a.c", 0, 3, 1, ha, 0, 0}};
	const struct chain b[] = {{"f", "/a.c", 0, 1, 2, fb, 0, 0},
	                          {"g", "/a.c", 0, 2, 1, gb, 0, 0},
	                          {"h", "/a.c", 0, 4, 2, hb, 0, 0}};
	struct compared c;

	(void)state;
	compare(&c, a, 3, b, 3);
	assert_int_equal(c.d.nmatched, 2);
	assert_near(c.d.overlap, 0.1 + 0.2);
	assert_near(c.d.compared_a, 0.9);
	assert_near(c.d.compared_b, 0.9);
	assert_int_equal(c.d.of_a[2].fate, CATALOG_CHANGED);
	assert_int_equal(c.d.nfunctions, 2);
	/* both moved by 40 %, and g has the smaller overlap */
	assert_string_equal(c.a.functions[c.d.functions[0].a].name, "g");
	assert_near(c.d.functions[0].overlap, 0);
	assert_near(c.d.functions[1].overlap, 0.25 + 0.25);
	assert_int_equal(c.d.npaths, 5);
	assert_int_equal(c.d.paths[0].count_a, 60);
	assert_int_equal(c.d.paths[0].count_b, 10);
	assert_int_equal(c.d.paths[4].count_a, 20);
	/* 60 + 20 of 90 are not 90 %: with g's 10 they are.  They make 30 of
	 * 90 in B, where 50 + 20 + 10 + 10 are hot */
	assert_int_equal(c.d.nhot_a, 3);
	assert_near(c.d.hot_in_b, 30.0 / 90);
	assert_int_equal(c.d.nhot_b, 4);
	assert_int_equal(c.d.nstill, 2);
	drop(&c);
}

static void test_equal(void **state)
{
	const uint64_t x[4] = {1, 2, 3, 0}, y[4] = {100, 200, 300, 0};
	const struct chain a = {"f", "/a.c", 0, 1, 2, x, 0, 0};
	const struct chain b = {"f", "/a.c", 0, 1, 2, y, 0, 0};
	struct compared c;

	(void)state;
	compare(&c, &a, 1, &b, 1);
	assert_near(c.d.overlap, 1);
	assert_int_equal(c.d.nstill, c.d.nhot_a);
	drop(&c);
}

/* A side that never ran overlaps with nothing, and divides by nothing. */
static void test_empty(void **state)
{
	const uint64_t x[4] = {1, 2, 3, 0};
	const struct chain a = {"f", "/a.c", 0, 1, 2, x, 0, 0};
	const struct chain b = {"f", "/a.c", 0, 1, 2, NULL, 0, 0};
	struct compared c;

	(void)state;
	compare(&c, &a, 1, &b, 1);
	assert_near(c.d.overlap, 0);
	assert_false(c.d.functions[0].has_overlap);
	assert_int_equal(c.d.nhot_b, 0);
	assert_int_equal(c.d.nstill, 0);
	drop(&c);
}

static uint64_t seed = 5;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* overlap + all that A has too much = all of A; the same from B's side. */
static void test_random(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t x[2][8], y[2][8];
		const struct chain a[] = {{"f", "/a.c", 0, 1, 3, x[0], 0, 0},
		                          {"g", "/a.c", 0, 1, 3, x[1], 0, 0}};
		const struct chain b[] = {{"f", "/a.c", 0, 1, 3, y[0], 0, 0},
		                          {"g", "/a.c", 0, 1, 3, y[1], 0, 0}};
		double more_a = 0, more_b = 0, last = 2;
		struct compared c;

		for (int i = 0; i < 16; i++) {
			x[i / 8][i % 8] = below(2) * below(100);
			y[i / 8][i % 8] = below(2) * below(100);
		}
		x[0][0] = y[0][0] = 1;
		compare(&c, a, 2, b, 2);
		for (size_t i = 0; i < c.d.npaths; i++) {
			const struct drift_path *p = &c.d.paths[i];
			double move = p->share_a - p->share_b;

			more_a += move > 0 ? move : 0;
			more_b += move < 0 ? -move : 0;
			move = move < 0 ? -move : move;
			assert_true(move <= last);
			last = move;
		}
		assert_near(c.d.overlap + more_a, c.d.compared_a);
		assert_near(c.d.overlap + more_b, c.d.compared_b);
		assert_near(c.d.compared_a, 1);
		drop(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_by_hand),
	        cmocka_unit_test(test_equal),
	        cmocka_unit_test(test_empty),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
