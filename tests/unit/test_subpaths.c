/* SPDX-License-Identifier: Apache-2.0 */
/* Hot subpaths: by hand, and against all substrings of random strings. */
#include "analysis/subpaths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/err.h"
#include "strings.h"

#define ROUNDS 5000
#define ALPHABET 6

static const struct subpath *find(const struct subpaths *s,
                                  const uint32_t *symbols, uint32_t n)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].n == n &&
		    !memcmp(s->items[i].symbols, symbols, n * sizeof(*symbols)))
			return &s->items[i];
	return NULL;
}

/* abcabcabcx, all of weight 1: "ab" thrice, 6 of 10, is hot at 60 %; "ca" is
 * not, and is as "cab", 6 of 10 again. */
static void test_by_hand(void **state)
{
	static const uint32_t ab[] = {0, 1}, bc[] = {1, 2}, cab[] = {2, 0, 1};
	const uint64_t weight[] = {1, 1, 1, 1};
	const struct subpaths_options o = {2, 3,
	                                   subpaths_threshold(10, 600000)};
	struct text t = {0};
	struct subpaths s;
	struct grammar g;

	(void)state;
	for (uint32_t i = 0; i < 9; i++)
		text_add(&t, i % 3);
	text_add(&t, 3);
	text_grammar(&t, &g);
	assert_int_equal(grammar_measure(&g, weight, 4, NULL), 0);
	assert_int_equal(subpaths_init(&s, &g, weight, 4, &o, NULL), 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(find(&s, ab, 2)->frequency, 3);
	assert_int_equal(find(&s, bc, 2)->frequency, 3);
	assert_int_equal(find(&s, cab, 3)->frequency, 2);
	subpaths_release(&s);
	grammar_release(&g);
	text_release(&t);
}

static void test_threshold(void **state)
{
	(void)state;
	assert_int_equal(subpaths_threshold(0, 10000), 1);
	assert_int_equal(subpaths_threshold(1000, 10000), 10);
	assert_int_equal(subpaths_threshold(1001, 10000), 11);
	assert_int_equal(subpaths_threshold(UINT64_MAX, 1000000), UINT64_MAX);
}

/* Overlapping occurrences in a run of 2^40, which nobody expands. */
static void test_run(void **state)
{
	static const uint32_t aaa[] = {0, 0, 0};
	const uint64_t big = (uint64_t)1 << 40, weight[] = {2, 1};
	const struct subpaths_options o = {3, 8,
	                                   subpaths_threshold(2 * big, 10000)};
	struct sequitur *q = sequitur_new();
	struct subpaths s;
	struct grammar g;

	(void)state;
	sequitur_push_run(q, 0, big);
	sequitur_push(q, 1);
	assert_int_equal(sequitur_finish(q, &g, NULL), 0);
	sequitur_free(q);
	assert_int_equal(grammar_measure(&g, weight, 2, NULL), 0);
	assert_int_equal(subpaths_init(&s, &g, weight, 2, &o, NULL), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(find(&s, aaa, 3)->frequency, big - 2);
	assert_int_equal(find(&s, aaa, 3)->weight, 6);
	subpaths_release(&s);
	grammar_release(&g);
}

static void test_lengths(void **state)
{
	const struct subpaths_options bad[] = {
	        {0, 3, 1}, {4, 3, 1}, {1, SUBPATHS_LONGEST + 1, 1}};
	const uint64_t weight[] = {1};
	struct text t = {0};
	struct subpaths s;
	struct grammar g;

	(void)state;
	text_grammar(&t, &g);
	assert_int_equal(grammar_measure(&g, weight, 1, NULL), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
		        subpaths_init(&s, &g, weight, 1, &bad[i], NULL),
		        CAIRN_E_USAGE);
	assert_int_equal(subpaths_init(&s, &g, weight, 1,
	                               &(struct subpaths_options){1, 3, 1},
	                               NULL),
	                 0);
	assert_int_equal(s.n, 0);
	grammar_release(&g);
}

/* How often the n symbols at `at` occur; *is_first: nowhere before. */
static uint64_t count(const struct text *t, size_t at, size_t n, bool *is_first)
{
	uint64_t found = 0;

	*is_first = true;
	for (size_t i = 0; i + n <= t->n; i++) {
		if (memcmp(t->symbols + i, t->symbols + at,
		           n * sizeof(*t->symbols)))
			continue;
		found++;
		*is_first &= i >= at;
	}
	return found;
}

/* The minimal hot subpath that begins at `at`, if any, is in the list.  Returns
 * whether that is its first occurrence. */
static bool check_at(const struct text *t, size_t at, const uint64_t *weight,
                     const struct subpaths_options *o, const struct subpaths *s)
{
	uint64_t sum = 0;

	for (uint32_t n = 1; n <= o->longest && at + n <= t->n; n++) {
		const struct subpath *p;
		uint64_t frequency;
		bool is_first;

		sum += weight[t->symbols[at + n - 1]];
		if (n < o->shortest)
			continue;
		frequency = count(t, at, n, &is_first);
		if (sum * frequency < o->threshold)
			continue;
		p = find(s, t->symbols + at, n);
		assert_non_null(p);
		assert_int_equal(p->frequency, frequency);
		assert_int_equal(p->weight, sum);
		return is_first;
	}
	return false;
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(1);
	struct text t = {0};
	size_t nlonger = 0;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct subpaths_options o = {.shortest = 1 + rng_below(&r, 4)};
		uint64_t weight[ALPHABET];
		struct subpaths s;
		struct grammar g;
		size_t n = 0;

		o.longest = o.shortest + rng_below(&r, 12);
		for (int k = 0; k < ALPHABET; k++)
			weight[k] = rng_below(&r, rng_percent(&r, 80) ? 5 : 99);
		text_random(&t, &r, rng_below(&r, 120),
		            1 + rng_below(&r, ALPHABET));
		text_grammar(&t, &g);
		assert_int_equal(grammar_measure(&g, weight, ALPHABET, NULL),
		                 0);
		o.threshold = subpaths_threshold(
		        g.weight[grammar_start(&g)],
		        rng_below(&r, rng_percent(&r, 50) ? 1000000 : 200000));
		assert_int_equal(
		        subpaths_init(&s, &g, weight, ALPHABET, &o, NULL), 0);
		for (size_t at = 0; at < t.n; at++)
			n += check_at(&t, at, weight, &o, &s);
		assert_int_equal(n, s.n);
		for (size_t k = 0; k < s.n; k++) {
			nlonger += s.items[k].n > o.shortest;
			assert_true(!k || subpath_cost(&s.items[k - 1]) >=
			                          subpath_cost(&s.items[k]));
		}
		subpaths_release(&s);
		grammar_release(&g);
	}
	/* the search did go further than the shortest ones */
	assert_true(nlonger > ROUNDS);
	text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_by_hand),
	        cmocka_unit_test(test_threshold),
	        cmocka_unit_test(test_run),
	        cmocka_unit_test(test_lengths),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
