/* SPDX-License-Identifier: Apache-2.0 */
/* FILE:LINE as users write it. */
#include "base/spot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void assert_spot(const char *text, const char *file, uint32_t line)
{
	struct spot s;

	assert_true(spot_parse(&s, text));
	assert_string_equal(s.file, file);
	assert_int_equal(s.line, line);
	spot_release(&s);
	assert_null(s.file);
}

static void test_parse(void **state)
{
	static const char *const wrong[] = {
	        "",       "foo.c",
	        "foo.c:", ":1",
	        "f:0",    "f:-1",
	        "f:+1",   "f: 1",
	        "f:1x",   "f:1:",
	        "f:0x10", "f:2147483648",
	        "f:1 ",   "f:99999999999999999999",
	};
	struct spot s;

	(void)state;
	assert_spot("foo.c:12", "foo.c", 12);
	assert_spot("/a/b:c.c:2147483647", "/a/b:c.c", 2147483647);
	assert_spot("f:007", "f", 7);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(spot_parse(&s, wrong[i]));
}

static void test_is_file(void **state)
{
	(void)state;
	assert_true(spot_is_file("/a/b/foo.c", "foo.c"));
	assert_true(spot_is_file("/a/b/foo.c", "b/foo.c"));
	assert_true(spot_is_file("/a/b/foo.c", "/foo.c"));
	assert_true(spot_is_file("/a/b/foo.c", "/a/b/foo.c"));
	assert_true(spot_is_file("foo.c", "foo.c"));
	assert_false(spot_is_file("/a/b/foo.c", "oo.c"));
	assert_false(spot_is_file("/a/b/foo.c", "a/foo.c"));
	assert_false(spot_is_file("foo.c", "b/foo.c"));
	assert_false(spot_is_file("/a/b/foo.c", "foo"));
	assert_true(spot_is_file("/a/b/foo.c", "./foo.c"));
	assert_true(spot_is_file("/a/b/foo.c", "../b/foo.c"));
	assert_true(spot_is_file("/a/b/foo.c", "b/x/../foo.c"));
	assert_false(spot_is_file("/a/b/foo.c", "../a/foo.c"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_parse),
	        cmocka_unit_test(test_is_file),
	};

	return cmocka_run_group_tests_name("spot", tests, NULL, NULL);
}
