/* SPDX-License-Identifier: Apache-2.0 */
/* What is interesting: profiles, lists, and sets that are named. */
#include "analysis/interest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "chains.h"

static const struct interest_options no_options;

/* Opens a list with this text. */
static int open_list(const char *text, const struct interest_options *o,
                     struct interest **in, struct cairn_err *err)
{
	struct synth_dir dir;
	const char *path;
	FILE *f;
	int rc;

	synth_dir_make(&dir);
	path = synth_path(&dir, "list");
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	rc = interest_open(path, o, in, err);
	unlink(path);
	rmdir(dir.path);
	return rc;
}

static void assert_numbers(const struct interest_function *f, uint32_t n,
                           const uint64_t *numbers)
{
	assert_non_null(f);
	assert_int_equal(f->n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(f->numbers[i], numbers[i]);
}

static void test_list(void **state)
{
	struct interest_range r;
	const struct interest_set *sets;
	struct interest *in;
	struct cairn_err err;
	size_t n;

	(void)state;
	assert_int_equal(open_list("# a list\n"
	                           "f 7 3 3 # two\n"
	                           "\n"
	                           "g *\n"
	                           "src/a.c:12 *\n"
	                           "b.c:12 *\n"
	                           "b.c:7 *\n"
	                           "g\t*",
	                           &no_options, &in, &err),
	                 0);
	assert_numbers(interest_find(in, "f", NULL, 1), 2,
	               (const uint64_t[]){3, 7});
	assert_null(interest_find(in, "g", NULL, 1));
	sets = interest_sets(in, &n);
	assert_int_equal(n, 4); /* g once */
	r = interest_of_function(in, "g");
	assert_int_equal(r.end - r.first, 1);
	assert_string_equal(sets[r.first].function, "g");
	r = interest_of_function(in, "f");
	assert_int_equal(r.end, r.first);
	r = interest_of_line(in, 12);
	assert_int_equal(r.end - r.first, 2);
	assert_string_equal(sets[r.first].spot.file, "b.c");
	assert_string_equal(sets[r.first + 1].spot.file, "src/a.c");
	r = interest_of_line(in, 8);
	assert_int_equal(r.end, r.first);
	interest_free(in);
}

static void test_no_list(void **state)
{
	static const char *const wrong[] = {
	        "f",      "f x",      "f 1 x",   "f -1",
	        "f * 1",  "f 1 *",    "f **",    "*",
	        "a.c:12", "a.c:12 3", "a.c:1 x", "f 99999999999999999999",
	};
	struct interest *in;
	struct cairn_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(open_list(wrong[i], &no_options, &in, &err),
		                 CAIRN_E_CORRUPT);
		assert_null(in);
		assert_non_null(strstr(err.text, "list:1: "));
	}
	assert_int_equal(open_list("# nothing", &no_options, &in, &err),
	                 CAIRN_E_MISMATCH);
}

static void test_options(void **state)
{
	static const char *const sets[] = {"function:f", "line:a.c:3",
	                                   "function:f"};
	static const char *const wrong[] = {
	        "", "f", "function:", "line:a.c", "line:a.c:0", "line::1"};
	struct interest_options o = {.sets = sets, .nsets = 3};
	struct interest *in;
	struct cairn_err err;
	size_t n;

	(void)state;
	assert_int_equal(interest_open(NULL, &o, &in, &err), 0);
	interest_sets(in, &n);
	assert_int_equal(n, 2);
	assert_null(interest_find(in, "f", NULL, 1));
	interest_free(in);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		o = (struct interest_options){.sets = &wrong[i], .nsets = 1};
		assert_int_equal(interest_open(NULL, &o, &in, &err),
		                 CAIRN_E_USAGE);
		assert_null(in);
	}
	o = (struct interest_options){.top = 1, .sets = sets, .nsets = 1};
	assert_int_equal(interest_open(NULL, &o, &in, &err), CAIRN_E_USAGE);
	o = (struct interest_options){.share = 1};
	assert_int_equal(open_list("f *", &o, &in, &err), CAIRN_E_USAGE);
}

/* Names, local files and hashes; copies are one function; the hottest. */
static void test_profile(void **state)
{
	const uint64_t f[4] = {5, 0, 0, 1}, g[2] = {0, 9};
	const uint64_t more[4] = {0, 0, 2, 1};
	const struct chain chains[] = {
	        {"f", "/a.c", 0, 1, 2, f, 0, 0},
	        {"f", "/b.c", 0, 1, 2, more, 0, 0},
	        {"g", "/a.c", CAIRN_FN_LOCAL, 2, 1, g, 0, 0}};
	const char *set = "function:h";
	struct interest_options o = {.sets = &set, .nsets = 1};
	struct synth_dir dir;
	struct interest *in;
	struct cairn_err err;
	const char *path;
	size_t n;

	(void)state;
	synth_dir_make(&dir);
	path = synth_path(&dir, "p.cairn");
	chain_save(path, 1, chains, 3);
	assert_int_equal(interest_open(path, &o, &in, &err), 0);
	assert_numbers(interest_find(in, "f", "/a.c", 1), 3,
	               (const uint64_t[]){0, 2, 3});
	assert_numbers(interest_find(in, "f", NULL, 1), 3,
	               (const uint64_t[]){0, 2, 3});
	assert_null(interest_find(in, "f", NULL, 2));
	assert_numbers(interest_find(in, "g", "/a.c", 2), 1,
	               (const uint64_t[]){1});
	assert_null(interest_find(in, "g", "/b.c", 2));
	assert_null(interest_find(in, "g", NULL, 2));
	interest_sets(in, &n);
	assert_int_equal(n, 1);
	interest_free(in);
	o.top = 2;
	assert_int_equal(interest_open(path, &o, &in, &err), 0);
	assert_numbers(interest_find(in, "f", NULL, 1), 1,
	               (const uint64_t[]){0});
	interest_sets(in, &n);
	assert_int_equal(n, 1); /* top is about the profile */
	interest_free(in);
	o.top = 3; /* and no more than three, be the fourth as hot */
	assert_int_equal(interest_open(path, &o, &in, &err), 0);
	assert_numbers(interest_find(in, "f", NULL, 1), 2,
	               (const uint64_t[]){0, 2});
	interest_free(in);
	o = (struct interest_options){.share = 500000}; /* 9 of 18 */
	assert_int_equal(interest_open(path, &o, &in, &err), 0);
	assert_int_equal(interest_find(in, "f", NULL, 1)->n, 0);
	assert_int_equal(interest_find(in, "g", "/a.c", 2)->n, 1);
	interest_free(in);
	o.share = 780000; /* 14.04 of 18 */
	assert_int_equal(interest_open(path, &o, &in, &err), 0);
	assert_numbers(interest_find(in, "f", NULL, 1), 2,
	               (const uint64_t[]){0, 2});
	interest_free(in);
	unlink(path);
	rmdir(dir.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_list),
	        cmocka_unit_test(test_no_list),
	        cmocka_unit_test(test_options),
	        cmocka_unit_test(test_profile),
	};

	return cmocka_run_group_tests_name("interest", tests, NULL, NULL);
}
