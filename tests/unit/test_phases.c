/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases: those that differ in paths alone are told apart, where they change is
 * found, and chance makes none.
 */
#include "analysis/phases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/real.h"
#include "strings.h"

#define ROUNDS 100
#define WIDTH 20

static void assert_timeline(struct phases *p, const char *wanted)
{
	char text[WIDTH + 1];

	phases_find(p);
	phases_timeline(p, text, WIDTH);
	assert_string_equal(text, wanted);
	phases_free(p);
}

/* Intervals follow each other, and have all symbols and all work. */
static void assert_covers(const struct phases *p, uint64_t length)
{
	uint64_t at = 0, work = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		assert_int_equal(p->intervals[i].first, at);
		at = p->intervals[i].end;
		work += p->intervals[i].work;
		assert_true(p->intervals[i].phase < p->nphases);
	}
	assert_int_equal(at, length);
	assert_int_equal(work, p->work);
}

/*
 * A loop with two branches, b1 (b2|b3) b4 (b5|b6) b7: first b2 goes with b5 and
 * b3 with b6, then b2 with b6 and b3 with b5.  All blocks run equally often in
 * both halves.
 */
static void test_same_blocks(void **state)
{
	struct phases *p = phases_new();
	const uint32_t paths[2][2] = {{0 /* b2 b5 */, 1 /* b3 b6 */},
	                              {2 /* b2 b6 */, 3 /* b3 b5 */}};

	(void)state;
	for (int i = 0; i < 200000; i++)
		phases_push(p, paths[i >= 100000][i % 2], 10, 1);
	phases_find(p);
	assert_int_equal(p->nphases, 2);
	assert_in_range(p->n, PHASES_INTERVALS / 2, PHASES_INTERVALS);
	assert_covers(p, 200000);
	assert_timeline(p, "AAAAAAAAAABBBBBBBBBB");
}

/* A phase that comes back has the same letter; marks weigh nothing. */
static void test_return(void **state)
{
	struct phases *p = phases_new();
	struct rng r = rng_from_environment(1);

	(void)state;
	for (int i = 0; i < 400000; i++) {
		uint32_t phase = i < 20000 ? 0 : i / 100000 == 2 ? 2 : 1;

		phases_push(p, 500, 0, 1);
		phases_push(p, 100 * phase + rng_below(&r, 90), 10, 1);
	}
	assert_timeline(p, "ABBBBBBBBBCCCCCBBBBB");
}

/* The same paths, in other shares. */
static void test_shares(void **state)
{
	struct phases *p = phases_new();
	struct rng r = rng_from_environment(1);

	(void)state;
	for (int i = 0; i < 400000; i++)
		phases_push(p, rng_percent(&r, i < 200000 ? 60 : 40), 10, 1);
	assert_timeline(p, "AAAAAAAAAABBBBBBBBBB");
}

/* Runs pushed at once are cut into intervals all the same. */
static void test_runs(void **state)
{
	struct phases *p = phases_new();

	(void)state;
	phases_push(p, 1, 3, (uint64_t)1 << 40);
	phases_push(p, 2, 3, (uint64_t)1 << 40);
	phases_find(p);
	assert_covers(p, (uint64_t)1 << 41);
	assert_timeline(p, "AAAAAAAAAABBBBBBBBBB");
}

/* n symbols of paths by chance, some rarer than others. */
static void push_noise(struct phases *p, struct rng *r, uint32_t n,
                       uint32_t npaths, uint32_t heaviest, uint32_t skew)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t path = rng_below(r, npaths);

		for (uint32_t s = 0; s < skew; s++)
			path = rng_below(r, path + 1);
		phases_push(p, path, 1 + path % heaviest, 1);
	}
}

static void assert_one_phase(struct phases *p, uint32_t length)
{
	phases_find(p);
	assert_int_equal(p->nphases, 1);
	assert_covers(p, length);
	phases_free(p);
}

/* Paths by chance, many or few, light and heavy, of any shares: one phase. */
static void test_noise(void **state)
{
	struct rng r = rng_from_environment(1);

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct phases *p = phases_new();
		uint32_t n = 2000u << rng_below(&r, 7);

		push_noise(p, &r, n, 1 + rng_below(&r, 1u << rng_below(&r, 12)),
		           1 + rng_below(&r, 30), rng_below(&r, 3));
		assert_one_phase(p, n);
		/* a rare path: intervals have none or one of it */
		p = phases_new();
		push_noise(p, &r, 16000, 4, 24, 2);
		assert_one_phase(p, 16000);
	}
}

/* More paths than an interval has symbols. */
static void test_many_paths(void **state)
{
	struct rng r = rng_from_environment(1);
	struct phases *p = phases_new();

	(void)state;
	for (uint32_t i = 0; i < 100000; i++)
		phases_push(p, rng_below(&r, 900) + (i < 50000 ? 0 : 900), 10,
		            1);
	assert_timeline(p, "AAAAAAAAAABBBBBBBBBB");
}

static void test_little(void **state)
{
	struct phases *p = phases_new();
	const char *none = "                    ";

	(void)state;
	assert_timeline(p, none);
	p = phases_new();
	phases_push(p, 1, 0, 5);
	assert_timeline(p, none);
	p = phases_new();
	phases_push(p, 1, 1000000, 1);
	phases_push(p, 2, 1000000, 1);
	assert_timeline(p, "AAAAAAAAAAAAAAAAAAAA");
}

static void assert_near(double x, double y)
{
	if (x - y > 1e-14 * y || y - x > 1e-14 * y)
		fail_msg("%.17g is not %.17g", x, y);
}

static void test_real(void **state)
{
	(void)state;
	assert_near(real_sqrt(2), 1.41421356237309504880);
	assert_near(real_sqrt(1e-300), 1e-150);
	assert_near(real_sqrt(4503599627370496.0), 67108864);
	assert_true(real_sqrt(0) == 0);
	assert_near(real_log(10), 2.30258509299404568402);
	assert_near(-real_log(0.25), 1.38629436111989061883);
	for (double x = 1e-9; x < 1e9; x *= 1.37)
		assert_near(real_sqrt(x) * real_sqrt(x), x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_same_blocks),
	        cmocka_unit_test(test_return),
	        cmocka_unit_test(test_shares),
	        cmocka_unit_test(test_runs),
	        cmocka_unit_test(test_many_paths),
	        cmocka_unit_test(test_noise),
	        cmocka_unit_test(test_little),
	        cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
