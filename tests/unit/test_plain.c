/* SPDX-License-Identifier: Apache-2.0 */
/* One name for each source file. */
#include "base/plain.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void assert_plain(const char *path, const char *want)
{
	char *plain = plain_path(path), *again = plain_path(plain);

	assert_string_equal(plain, want);
	assert_string_equal(again, want);
	free(plain);
	free(again);
}

static void test_text(void **state)
{
	(void)state;
	assert_plain("/a/b.c", "/a/b.c");
	assert_plain("/a/./b.c", "/a/b.c");
	assert_plain("//a//b.c", "/a/b.c");
	assert_plain("/a/x/../b.c", "/a/b.c");
	assert_plain("/a/x/y/../../b.c", "/a/b.c");
	assert_plain("/../b.c", "/b.c");
	assert_plain("/a/../../b.c", "/b.c");
	assert_plain("/", "/");
	assert_plain("./b.c", "b.c");
	assert_plain("a/../b.c", "b.c");
	assert_plain("../b.c", "../b.c");
	assert_plain("../../b.c", "../../b.c");
	assert_plain("../a/../../b.c", "../../b.c");
	assert_plain("a/..", ".");
	assert_plain("/a./..b/c.", "/a./..b/c.");
}

static void assert_file(const char *dir, const char *name, const char *want)
{
	char *plain = plain_file(xasprintf("%s/%s", dir, name));
	char *expected = xasprintf("%s/%s", dir, want);

	assert_string_equal(plain, expected);
	free(plain);
	free(expected);
}

static char *below(const char *dir, const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* real/deep is also called link: link/.. is real, and not dir. */
static void test_links(void **state)
{
	char dir[] = "/tmp/cairn-plain-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(mkdir(below(dir, "real"), 0777), 0);
	assert_int_equal(mkdir(below(dir, "real/deep"), 0777), 0);
	assert_int_equal(symlink("real/deep", below(dir, "link")), 0);
	assert_int_equal(close(creat(below(dir, "real/h"), 0666)), 0);
	assert_int_equal(close(creat(below(dir, "top"), 0666)), 0);
	assert_file(dir, "real/deep/.././h", "real/h");
	assert_file(dir, "real/../top", "top");
	assert_file(dir, "link/.././h", "link/../h");
	assert_file(dir, "absent/../h", "h");
	assert_int_equal(close(creat(below(dir, "h"), 0666)), 0);
	assert_file(dir, "link/../h", "link/../h");
	unlink(below(dir, "h"));
	unlink(below(dir, "top"));
	unlink(below(dir, "real/h"));
	unlink(below(dir, "link"));
	rmdir(below(dir, "real/deep"));
	rmdir(below(dir, "real"));
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_text),
	        cmocka_unit_test(test_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
