/* SPDX-License-Identifier: Apache-2.0 */
/* Untested paths, and both meanings of "no edge shows it", against counts by
 * hand and by brute force. */
#include "analysis/residual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "chains.h"

#define ROUNDS 300

static struct profile *open_one(const struct chain *chains, size_t n,
                                struct catalog *c)
{
	struct profile *p = chain_profile(0xcd, chains, n);

	catalog_init(c, p);
	return p;
}

/*
 * f: tests go 00 and 11, the field 01 and 10: both are new, no edge is.
 * g: tests go 00, the field 00, 01 (an untested edge) and 0 (as f's).
 */
static void test_hidden(void **state)
{
	const uint64_t f_tested[4] = {5, 0, 0, 5}, f_field[4] = {1, 7, 2, 0};
	const uint64_t g_tested[4] = {1, 0, 1, 0}, g_field[4] = {3, 4, 1, 0};
	const struct chain tested[] = {{"f", "/a.c", 0, 1, 2, f_tested, 0, 0},
	                               {"g", "/a.c", 0, 1, 2, g_tested, 0, 0}};
	const struct chain field[] = {{"f", "/a.c", 0, 1, 2, f_field, 0, 0},
	                              {"g", "/a.c", 0, 1, 2, g_field, 0, 0}};
	struct catalog a, b;
	struct profile *p = open_one(tested, 2, &a);
	struct profile *q = open_one(field, 2, &b);
	struct residual r;
	struct residual_row row;

	(void)state;
	residual_init(&r, &a, &b);
	residual_add_file(&r, &b, &row);
	residual_add_file(&r, &b, &row);
	residual_rank(&r);
	assert_int_equal(r.totals.all.npaths, 6);
	assert_int_equal(r.totals.all.nuntested, 3);
	assert_int_equal(r.totals.all.executions, 18);
	assert_int_equal(r.totals.all.untested_executions, 13);
	assert_int_equal(r.totals.nfunctions, 2);
	assert_int_equal(r.totals.nedges, 2); /* 4 -> 6 -> 7 of g */
	assert_int_equal(r.totals.nedge_functions, 1);
	assert_int_equal(r.totals.nquiet, 2);
	assert_int_equal(r.totals.nhidden, 2);
	assert_int_equal(row.nuntested, 3);
	assert_int_equal(row.npaths, 6);
	assert_int_equal(row.untested_executions, 13);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.paths[0].count, 7);
	assert_int_equal(r.paths[0].nusers, 2);
	assert_int_equal(r.paths[0].nedges, 0);
	assert_int_equal(r.paths[0].npairs, 1); /* the way in is no choice */
	assert_int_equal(r.paths[1].count, 4);
	assert_int_equal(r.paths[1].nedges, 2);
	assert_true(residual_is_any(&r));
	residual_release(&r);
	catalog_release(&a);
	catalog_release(&b);
	profile_free(p);
	profile_free(q);
}

/* Frames that died on a path that tests never began, and on one they did. */
static void test_died(void **state)
{
	const uint64_t counts[4] = {5, 5, 0, 0};
	struct chain tested = {"f", "/a.c", 0, 1, 2, counts, 0, 0};
	struct chain field = {"f", "/a.c", 0, 1, 2, counts, 2, 0};
	struct catalog a, b;
	struct profile *p = open_one(&tested, 1, &a), *q;
	struct residual r;

	(void)state;
	for (uint64_t path = 0; path < 4; path++) {
		field.died_on = path;
		q = open_one(&field, 1, &b);
		residual_init(&r, &a, &b);
		assert_int_equal(r.totals.all.nuntested, 0);
		assert_int_equal(r.totals.all.ndied, path >= 2);
		assert_int_equal(residual_is_any(&r), path >= 2);
		assert_int_equal(r.n, path >= 2);
		if (r.n) {
			assert_true(r.paths[0].is_prefix);
			assert_int_equal(r.paths[0].count, 2);
			assert_int_equal(r.paths[0].nedges, 2);
		}
		residual_release(&r);
		catalog_release(&b);
		profile_free(q);
	}
	catalog_release(&a);
	profile_free(p);
}

static void test_unmatched(void **state)
{
	const uint64_t counts[4] = {5, 5, 0, 0};
	const struct chain tested[] = {{"f", "/a.c", 0, 1, 2, counts, 0, 0},
	                               {"g", "/a.c", 0, 2, 2, counts, 0, 0}};
	const struct chain field[] = {{"f", "/a.c", 0, 1, 2, counts, 0, 0},
	                              {"g", "/a.c", 0, 3, 1, counts, 0, 0},
	                              {"h", "/a.c", 0, 4, 1, counts, 0, 0},
	                              {"i", "/a.c", 0, 4, 1, NULL, 0, 0}};
	struct catalog a, b;
	struct profile *p = open_one(tested, 2, &a);
	struct profile *q = open_one(field, 4, &b);
	struct residual r;

	(void)state;
	residual_init(&r, &a, &b);
	assert_int_equal(r.n, 0);
	assert_int_equal(r.totals.ncompared, 1);
	assert_int_equal(r.totals.nunmatched, 2); /* i never ran */
	assert_int_equal(r.totals.unmatched_paths, 4);
	assert_int_equal(r.totals.unmatched_executions, 20);
	assert_int_equal(r.functions[1].match.fate, CATALOG_CHANGED);
	assert_int_equal(r.functions[2].match.fate, CATALOG_ABSENT);
	assert_true(residual_is_any(&r));
	residual_release(&r);
	catalog_release(&a);
	catalog_release(&b);
	profile_free(p);
	profile_free(q);
}

static uint64_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* The edge of diamond i that a path takes, as a bit. */
static uint32_t ways_of(uint32_t n, uint64_t number)
{
	uint32_t ways = 0;

	for (uint32_t i = 0; i < n; i++)
		ways |= 1u << (2 * i + (number >> (n - 1 - i) & 1));
	return ways;
}

static void check_round(void)
{
	uint32_t n = 1 + below(4), size = 1u << n;
	uint64_t tested[16] = {0}, field[16] = {0};
	uint32_t seen = 0, fresh = 0, untested = 0, hidden = 0;
	const struct chain a = {"f", "/a.c", 0, 1, n, tested, 0, 0};
	const struct chain b = {"f", "/a.c", 0, 1, n, field, 0, 0};
	struct catalog ca, cb;
	struct profile *p, *q;
	struct residual r;

	for (uint32_t i = 0; i < size; i++) {
		tested[i] = below(3) ? 0 : below(9);
		field[i] = below(2) ? 0 : below(9);
		if (tested[i])
			seen |= ways_of(n, i);
	}
	for (uint32_t i = 0; i < size; i++) {
		if (!field[i] || tested[i])
			continue;
		untested++;
		hidden += !(ways_of(n, i) & ~seen);
		fresh |= ways_of(n, i) & ~seen;
	}
	p = open_one(&a, 1, &ca);
	q = open_one(&b, 1, &cb);
	residual_init(&r, &ca, &cb);
	assert_int_equal(r.totals.all.nuntested, untested);
	assert_int_equal(r.totals.nhidden, hidden);
	assert_int_equal(r.totals.nquiet, fresh ? 0 : untested);
	/* each new way is two edges; with none tested, in and out are new */
	assert_int_equal(r.totals.nedges,
	                 2 * (uint32_t)__builtin_popcount(fresh) +
	                         (seen || !untested ? 0 : 2));
	residual_release(&r);
	catalog_release(&ca);
	catalog_release(&cb);
	profile_free(p);
	profile_free(q);
}

static void test_random(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++)
		check_round();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_hidden),
	        cmocka_unit_test(test_died),
	        cmocka_unit_test(test_unmatched),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
