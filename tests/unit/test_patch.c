/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines a unified diff changes, before and after it. */
#include "analysis/patch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"

/* "file:line " for each changed line. */
static const char *changed(const char *text, bool is_new)
{
	static char out[1000];
	struct cairn_err err;
	struct patch p;
	size_t n = 0;

	if (patch_parse(&p, text, strlen(text), is_new, "x.diff", &err))
		fail_msg("%s", err.text);
	*out = '\0';
	for (size_t i = 0; i < p.n; i++)
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%s:%u ",
		                      p.files.items[p.lines[i].file],
		                      p.lines[i].line);
	patch_release(&p);
	return out;
}

static void fails(const char *text, const char *sentence)
{
	struct cairn_err err;
	struct patch p;

	assert_int_equal(
	        patch_parse(&p, text, strlen(text), false, "x.diff", &err),
	        CAIRN_E_CORRUPT);
	if (!strstr(err.text, sentence))
		fail_msg("'%s' is not in: %s", sentence, err.text);
}

static void test_change(void **state)
{
	static const char text[] =
	        "diff --git a/src/a.c b/src/a.c\nindex 1..2 100644\n"
	        "--- a/src/a.c\t2026-01-01 00:00\n"
	        "+++ b/src/a.c\t2026-01-02 00:00\n"
	        "@@ -10,4 +10,5 @@ int f(void)\n ten\n-eleven\n+11\n+11b\n"
	        " twelve\n 13\n"
	        "@@ -20,2 +21 @@\n-\n 21\n";

	(void)state;
	assert_string_equal(changed(text, false), "a/src/a.c:11 a/src/a.c:20 ");
	/* line 20 is gone: 20 and 21 of the new code are around that place */
	assert_string_equal(
	        changed(text, true),
	        "b/src/a.c:11 b/src/a.c:12 b/src/a.c:20 b/src/a.c:21 ");
}

static void test_insertion(void **state)
{
	static const char text[] = "--- a.c\n+++ a.c\n"
	                           "@@ -5,0 +6,2 @@\n+six\n+seven\n"
	                           "@@ -9,3 +12,2 @@\n 9\n-10\n 11\n";

	(void)state;
	assert_string_equal(changed(text, false), "a.c:5 a.c:6 a.c:10 ");
	assert_string_equal(changed(text, true), "a.c:6 a.c:7 a.c:12 a.c:13 ");
}

static void test_files(void **state)
{
	(void)state;
	/* a new file has no old lines */
	assert_string_equal(changed("--- /dev/null\n+++ b/n.c\n"
	                            "@@ -0,0 +1,2 @@\n+1\n+2\n",
	                            false),
	                    "");
	assert_string_equal(changed("--- /dev/null\n+++ b/n.c\n"
	                            "@@ -0,0 +1,2 @@\n+1\n+2\n",
	                            true),
	                    "b/n.c:1 b/n.c:2 ");
	/* what looks like a head is a removed line */
	assert_string_equal(changed("--- a.c\n+++ a.c\n@@ -1,2 +1,2 @@\n"
	                            "--- b.c\n+++ b.c\n x\n"
	                            "\\ No newline at end of file\n",
	                            false),
	                    "a.c:1 ");
	assert_string_equal(changed("--- \"a/\\303\\244 \\\"b.c\"\n"
	                            "+++ \"b/\\303\\244 \\\"b.c\"\n"
	                            "@@ -1 +1 @@\n-x\n+y\n",
	                            false),
	                    "a/\303\244 \"b.c:1 ");
	/* context that lost its blank; carriage returns */
	assert_string_equal(changed("--- a.c\r\n+++ a.c\r\n@@ -1,2 +1,2 @@\r\n"
	                            "\n-x\r\n+y\r\n",
	                            false),
	                    "a.c:2 ");
}

static void test_bad(void **state)
{
	(void)state;
	fails("", "x.diff:0: there is no hunk");
	fails("--- a.c\n+++ a.c\n@@ -1,2 +1,2 @@\n x\n",
	      "x.diff:4: a hunk is shorter");
	fails("--- a.c\n+++ a.c\n@@ -1,1 +1,1 @@\n+x\n+y\n",
	      "x.diff:5: this line does not fit");
	fails("--- a.c\n+++ a.c\n@@ -1,1 +1,1 @@\n?\n",
	      "x.diff:4: this line does not fit");
	fails("--- a.c\n+++ a.c\n@@ 1,1 +1,1 @@\n x\n",
	      "x.diff:3: the head of a hunk");
	fails("--- a.c\n+++ a.c\n@@ -1,99999999999 +1,1 @@\n x\n",
	      "x.diff:3: the head of a hunk");
	fails("@@ -1 +1 @@\n x\n", "x.diff:1: a hunk of no file");
	fails("@@@ -1 -1 +1 @@@\n  x\n", "x.diff:1: a diff of more than two");
}

/* Cut anywhere and with any byte replaced, it is a diff or it is not; lines
 * are in order and files are there. */
static void test_damaged(void **state)
{
	static const char text[] =
	        "--- \"a/\\303\\244.c\"\n+++ b/a.c\t2026\n"
	        "@@ -10,3 +10,3 @@ f\n ten\n-eleven\n+11\n twelve\n"
	        "@@ -20,2 +21 @@\n-\n 21\n\\ No newline\n";
	static const char bytes[] = "-+ @,\"\\\n0\t9x";
	char copy[sizeof(text)];
	struct cairn_err err;
	struct patch p;
	uint32_t ngood = 0, nbad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		for (size_t k = 0; k < sizeof(bytes); k++) {
			/* the last one cuts */
			size_t n = k + 1 < sizeof(bytes) ? strlen(text) : i;
			int rc;

			memcpy(copy, text, sizeof(text));
			if (i < strlen(text))
				copy[i] = bytes[k];
			rc = patch_parse(&p, copy, n, k % 2, "x.diff", &err);
			assert_true(!rc || rc == CAIRN_E_CORRUPT);
			ngood += !rc;
			nbad += rc != 0;
			for (size_t j = 0; !rc && j < p.n; j++)
				assert_true(p.lines[j].file < p.files.n &&
				            p.lines[j].line);
			patch_release(&p);
		}
	assert_true(ngood && nbad);
}

static void test_names(void **state)
{
	(void)state;
	assert_true(patch_is_file("/home/x/src/a.c", "a/src/a.c"));
	assert_true(patch_is_file("/home/x/src/a.c", "src/a.c"));
	assert_true(patch_is_file("/home/x/src/a.c", "/home/x/src/a.c"));
	assert_true(patch_is_file("a.c", "a/a.c"));
	assert_false(patch_is_file("/home/x/lib/a.c", "a/src/a.c"));
	assert_false(patch_is_file("/home/x/src/aa.c", "a.c"));
	assert_false(patch_is_file("/home/x/src/a.c", "a/x/lib/a.c"));
	assert_false(patch_is_file("/home/x/src/a.c", "dir/"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_change),
	        cmocka_unit_test(test_insertion),
	        cmocka_unit_test(test_files),
	        cmocka_unit_test(test_bad),
	        cmocka_unit_test(test_damaged),
	        cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
