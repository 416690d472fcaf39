/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of lines: texts against the longest common subsequence, by dynamic
 * programming; patches against what they say. */
#include "analysis/linemap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/patch.h"
#include "base/err.h"

#define MOST 40

static uint32_t seed = 1;

static uint32_t draw(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 16) % n;
}

/* n lines of one letter each. */
static size_t make(char *text, size_t n, uint32_t letters)
{
	for (size_t i = 0; i < n; i++) {
		text[2 * i] = (char)('a' + draw(letters));
		text[2 * i + 1] = '\n';
	}
	return 2 * n;
}

static size_t longest(const char *a, size_t n, const char *b, size_t m)
{
	static size_t t[MOST + 1][MOST + 1];

	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k <= m; k++)
			if (!i || !k)
				t[i][k] = 0;
			else if (a[2 * i - 2] == b[2 * k - 2])
				t[i][k] = t[i - 1][k - 1] + 1;
			else
				t[i][k] = t[i - 1][k] > t[i][k - 1]
				                  ? t[i - 1][k]
				                  : t[i][k - 1];
	return t[n][m];
}

static void test_random(void **state)
{
	char a[2 * MOST], b[2 * MOST];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t n = draw(MOST + 1), m = draw(MOST + 1), pairs = 0;
		uint32_t letters = 1 + draw(12), last = 0;
		struct linemap map;

		make(a, n, letters);
		make(b, m, letters);
		linemap_init_text(&map, a, 2 * n, b, 2 * m);
		for (uint32_t i = 1; i <= n; i++) {
			uint32_t now = linemap_now(&map, i);

			if (!now)
				continue;
			assert_true(now > last && now <= m);
			assert_int_equal(a[2 * i - 2], b[2 * now - 2]);
			last = now;
			pairs++;
		}
		assert_int_equal(pairs, longest(a, n, b, m));
		assert_int_equal(linemap_now(&map, (uint32_t)n + 1), 0);
		linemap_release(&map);
	}
}

/* More edits than the search makes: a common subsequence all the same. */
static void test_large(void **state)
{
	enum { LINES = 20000 };
	char *a = malloc(2 * LINES), *b = malloc(2 * LINES);
	struct linemap map;
	uint32_t last = 0;
	size_t pairs = 0;

	(void)state;
	make(a, LINES, 20);
	make(b, LINES, 20);
	linemap_init_text(&map, a, 2 * LINES, b, 2 * LINES);
	for (uint32_t i = 1; i <= LINES; i++) {
		uint32_t now = linemap_now(&map, i);

		if (!now)
			continue;
		assert_true(now > last);
		assert_int_equal(a[2 * i - 2], b[2 * now - 2]);
		last = now;
		pairs++;
	}
	assert_true(pairs > LINES / 8);
	linemap_release(&map);
	free(a);
	free(b);
}

static void test_ends(void **state)
{
	static const char a[] = "one\r\ntwo\nthree", b[] = "one\nthree\nfour\n";
	struct linemap map;

	(void)state;
	linemap_init_text(&map, a, sizeof(a) - 1, b, sizeof(b) - 1);
	assert_int_equal(linemap_now(&map, 1), 1);
	assert_int_equal(linemap_now(&map, 2), 0);
	assert_int_equal(linemap_now(&map, 3), 2);
	linemap_release(&map);
	linemap_init_text(&map, a, 0, b, sizeof(b) - 1);
	assert_int_equal(linemap_now(&map, 1), 0);
	linemap_release(&map);
	linemap_init_identity(&map);
	assert_int_equal(linemap_now(&map, 77), 77);
	linemap_release(&map);
}

static void test_patch(void **state)
{
	static const char text[] =
	        "--- a/x.c\n+++ b/x.c\n"
	        "@@ -10,4 +10,5 @@\n ten\n-eleven\n+11\n+11b\n 12\n 13\n"
	        "@@ -20,2 +21 @@\n-\n 21\n"
	        "@@ -30,0 +31,2 @@\n+a\n+b\n"
	        "--- a/y.c\n+++ b/y.c\n@@ -1 +1 @@\n-1\n+one\n";
	static const uint32_t want[][2] = {
	        {1, 1},  {10, 10}, {11, 0},  {12, 13}, {13, 14},  {19, 20},
	        {20, 0}, {21, 21}, {30, 30}, {31, 33}, {900, 902}};
	struct cairn_err err;
	struct linemap map;
	struct patch p;

	(void)state;
	if (patch_parse(&p, text, sizeof(text) - 1, true, "x", &err))
		fail_msg("%s", err.text);
	linemap_init_patch(&map, &p, 0, 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(linemap_now(&map, want[i][0]), want[i][1]);
	linemap_release(&map);
	linemap_init_patch(&map, &p, STRTAB_NONE, STRTAB_NONE);
	assert_int_equal(linemap_now(&map, 11), 11);
	linemap_release(&map);
	patch_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_large),
	        cmocka_unit_test(test_ends),
	        cmocka_unit_test(test_patch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
