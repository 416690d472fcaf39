/* SPDX-License-Identifier: Apache-2.0 */
/* Test suites in terms of paths: what each test adds, the order for a change,
 * lines and paths that go with failure. */
#include "analysis/suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/cover.h"
#include "analysis/patch.h"
#include "chains.h"

#define NTESTS 4

static void assert_near(double x, double y)
{
	if (x - y > 1e-9 || y - x > 1e-9)
		fail_msg("%.12f is not %.12f", x, y);
}

/*
 * Two diamonds: blocks 1, 2 or 3, 4, 5 or 6, 7; block b is line 10 b.
 *     test 0: 00           test 1: 00 01
 *     test 2: 00 10        test 3: 11, and dies on 10
 */
static const uint64_t taken[NTESTS][4] = {
        {3, 0, 0, 0}, {1, 1, 0, 0}, {1, 0, 9, 0}, {0, 0, 0, 2}};

struct fixture {
	struct profile *all;
	struct catalog catalog;
	struct suite suite;
};

static struct chain chain_of(size_t test)
{
	return (struct chain){.name = "f",
	                      .file = "/src/f.c",
	                      .hash = 1,
	                      .n = 2,
	                      .counts = taken[test],
	                      .died = test == 3,
	                      .died_on = 2};
}

static void make(struct fixture *x)
{
	struct synth_dir dir;
	char names[NTESTS][128];
	const char *paths[NTESTS];
	struct cairn_err err;

	synth_dir_make(&dir);
	for (size_t i = 0; i < NTESTS; i++) {
		struct chain c = chain_of(i);

		snprintf(names[i], sizeof(names[i]), "%s/%zu", dir.path, i);
		paths[i] = names[i];
		chain_save(paths[i], 7, &c, 1);
	}
	assert_int_equal(profile_open(&x->all, paths, NTESTS, NULL, &err), 0);
	catalog_init(&x->catalog, x->all);
	suite_init(&x->suite, &x->catalog, NTESTS);
	for (size_t i = 0; i < NTESTS; i++) {
		struct profile *p;
		struct catalog c;

		assert_int_equal(profile_open(&p, &paths[i], 1, NULL, &err), 0);
		catalog_init(&c, p);
		suite_add(&x->suite, i, &c);
		catalog_release(&c);
		profile_free(p);
		unlink(paths[i]);
	}
	rmdir(dir.path);
	suite_finish(&x->suite);
}

static void drop(struct fixture *x)
{
	suite_release(&x->suite);
	catalog_release(&x->catalog);
	profile_free(x->all);
}

static void test_takers(void **state)
{
	static const uint64_t expected[] = {7, 2, 4, 8, 8};
	struct fixture x;
	struct cover c;

	(void)state;
	make(&x);
	assert_int_equal(x.suite.npaths, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(*suite_takers(&x.suite, i), expected[i]);
	assert_true(x.suite.paths[4].is_prefix);
	assert_int_equal(x.suite.npaths_of[0], 1);
	assert_int_equal(x.suite.nalone_of[0], 0);
	assert_int_equal(x.suite.npaths_of[1], 2);
	assert_int_equal(x.suite.nalone_of[1], 1);
	assert_int_equal(x.suite.nalone_of[2], 1);
	assert_int_equal(x.suite.npaths_of[3], 2);
	assert_int_equal(x.suite.nalone_of[3], 2);
	suite_cover(&x.suite, 1000, &c);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.at_least, 3);
	assert_int_equal(c.sets[0], 1);
	cover_release(&c);
	drop(&x);
}

static void test_order(void **state)
{
	static const char text[] = "--- a/src/f.c\n+++ b/src/f.c\n"
	                           "@@ -30 +30 @@\n-x\n+y\n"
	                           "--- a/README\n+++ b/README\n"
	                           "@@ -1 +1 @@\n-x\n+y\n";
	struct suite_step order[NTESTS];
	bool changed[5], used[2];
	struct cairn_err err;
	struct fixture x;
	struct patch p;

	(void)state;
	make(&x);
	suite_order(&x.suite, NULL, order);
	/* tests 1, 2 and 3 have two paths each, the first comes first */
	assert_int_equal(order[0].test, 1);
	assert_int_equal(order[0].nadded, 2);
	assert_int_equal(order[1].test, 3);
	assert_int_equal(order[2].test, 2);
	assert_int_equal(order[2].nadded, 1);
	assert_int_equal(order[3].test, 0);
	assert_int_equal(order[3].nadded, 0);

	assert_int_equal(
	        patch_parse(&p, text, strlen(text), false, "x.diff", &err), 0);
	suite_mark(&x.suite, &p, changed, used);
	/* line 30 is block 3, the second way at the first diamond */
	assert_false(changed[0]);
	assert_false(changed[1]);
	assert_true(changed[2]);
	assert_true(changed[3]);
	assert_true(changed[4]);
	assert_true(used[0]);
	assert_false(used[1]);
	suite_order(&x.suite, changed, order);
	assert_int_equal(order[0].test, 3);
	assert_int_equal(order[0].nchanged, 2);
	assert_int_equal(order[1].test, 2);
	assert_int_equal(order[1].nadded_changed, 1);
	assert_int_equal(order[2].test, 1);
	assert_int_equal(order[2].nadded_changed, 0);
	assert_int_equal(order[3].test, 0);
	patch_release(&p);
	drop(&x);
}

static const struct suite_line *line_of(const struct suite_lines *l,
                                        uint32_t line)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].line == line)
			return &l->items[i];
	fail_msg("no line %u", line);
	return NULL;
}

static void test_failure(void **state)
{
	const bool failed[NTESTS] = {false, false, true, true};
	struct suite_score scores[5];
	const struct suite_line *l;
	struct suite_lines lines;
	struct fixture x;

	(void)state;
	make(&x);
	suite_score(&x.suite, failed, scores);
	/* path 00: tests 0, 1 and 2, of which 2 failed */
	assert_int_equal(scores[0].nfailed, 1);
	assert_int_equal(scores[0].npassed, 2);
	assert_near(scores[0].ochiai * scores[0].ochiai, 1.0 / (2 * 3));
	assert_near(scores[0].tarantula, 0.5 / 1.5);
	assert_near(scores[1].ochiai, 0);
	assert_near(scores[2].ochiai * scores[2].ochiai, 1.0 / 2);
	assert_near(scores[2].tarantula, 1);
	suite_rank_lines(&x.suite, failed, scores, &lines);
	/* line 30 is run by both failed tests and no other, on two paths */
	assert_int_equal(lines.items[0].line, 30);
	assert_near(lines.items[0].score, 1);
	assert_near(lines.items[0].own.ochiai, 1);
	assert_near(lines.items[0].best.ochiai * lines.items[0].best.ochiai,
	            0.5);
	assert_string_equal(lines.files.items[lines.items[0].file], "/src/f.c");
	/* line 10 is run by all, but on a path that only failing ones take */
	l = line_of(&lines, 10);
	assert_int_equal(l->own.nfailed, 2);
	assert_int_equal(l->own.npassed, 2);
	assert_near(l->best.ochiai * l->best.ochiai, 0.5);
	/* block 7 has lines 70 and 71; the frame died before 71 */
	assert_int_equal(line_of(&lines, 71)->own.nfailed, 2);
	assert_int_equal(lines.n, 8);
	suite_lines_release(&lines);
	drop(&x);
}

/* Without passed tests, and for what no failed test ran. */
static void test_extremes(void **state)
{
	const bool all[NTESTS] = {true, true, true, true};
	const bool none[NTESTS] = {false, false, false, false};
	struct suite_score scores[5];
	struct fixture x;

	(void)state;
	make(&x);
	suite_score(&x.suite, all, scores);
	assert_near(scores[0].tarantula, 1);
	assert_near(scores[0].ochiai * scores[0].ochiai, 0.75);
	suite_score(&x.suite, none, scores);
	for (size_t i = 0; i < 5; i++) {
		assert_near(scores[i].ochiai, 0);
		assert_near(scores[i].tarantula, 0);
	}
	drop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_takers),
	        cmocka_unit_test(test_order),
	        cmocka_unit_test(test_failure),
	        cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
