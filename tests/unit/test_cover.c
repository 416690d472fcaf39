/* SPDX-License-Identifier: Apache-2.0 */
/* Smallest covers against all subsets; what a search without steps says. */
#include "analysis/cover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define ROUNDS 2000
#define MAX_SETS 10
#define MAX_ELEMENTS 40

static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Is every element that is in any set in one of these? */
static bool covers(uint64_t sets, const uint64_t *holders, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (holders[i] && !(holders[i] & sets))
			return false;
	return true;
}

static size_t smallest(size_t nsets, const uint64_t *holders, size_t n)
{
	size_t best = nsets;

	for (uint64_t s = 0; s < (uint64_t)1 << nsets; s++) {
		size_t size = (size_t)__builtin_popcountll(s);

		if (size < best && covers(s, holders, n))
			best = size;
	}
	return best;
}

static uint64_t as_set(const struct cover *c)
{
	uint64_t s = 0;

	for (size_t i = 0; i < c->n; i++) {
		assert_true(!i || c->sets[i - 1] < c->sets[i]);
		s |= (uint64_t)1 << c->sets[i];
	}
	return s;
}

static void test_random(void **state)
{
	size_t nproved = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t holders[MAX_ELEMENTS];
		size_t nsets = 1 + below(MAX_SETS);
		size_t n = below(MAX_ELEMENTS), best;
		uint32_t rarity = 1 + below(5);
		struct cover c;

		for (size_t i = 0; i < n; i++) {
			holders[i] = 0;
			for (size_t t = 0; t < nsets; t++)
				if (!below(rarity))
					cover_put(&holders[i], t);
		}
		best = smallest(nsets, holders, n);
		cover_init(&c, nsets, holders, n, UINT64_MAX);
		assert_true(covers(as_set(&c), holders, n));
		assert_int_equal(c.n, best);
		assert_int_equal(c.at_least, best);
		cover_release(&c);
		cover_init(&c, nsets, holders, n, 0);
		assert_true(covers(as_set(&c), holders, n));
		assert_true(c.n >= best);
		assert_true(c.at_least <= best);
		nproved += c.at_least == c.n;
		cover_release(&c);
	}
	/* the rules alone prove some, and not all */
	assert_true(nproved > 0 && nproved < ROUNDS);
}

/* More than 64 sets; greedy takes the big one first and then needs three. */
static void test_wide(void **state)
{
	uint64_t holders[12][2];
	struct cover c;

	(void)state;
	memset(holders, 0, sizeof(holders));
	for (size_t i = 0; i < 12; i++)
		cover_put(holders[i], i < 6 ? 70 : 71);
	for (size_t i = 0; i < 4; i++) {
		cover_put(holders[i], 3);
		cover_put(holders[i + 6], 3);
	}
	cover_put(holders[4], 80);
	cover_put(holders[10], 80);
	cover_put(holders[5], 81);
	cover_put(holders[11], 81);
	cover_init(&c, 100, holders[0], 12, UINT64_MAX);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.sets[0], 70);
	assert_int_equal(c.sets[1], 71);
	assert_int_equal(c.at_least, 2);
	cover_release(&c);
	cover_init(&c, 100, holders[0], 0, UINT64_MAX);
	assert_int_equal(c.n, 0);
	cover_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
