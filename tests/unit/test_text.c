/* SPDX-License-Identifier: Apache-2.0 */
/* Text for terminals and for formats of lines. */
#include "base/text.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void assert_escaped(const char *s, const char *want)
{
	char *escaped = text_escape(s, strlen(s));
	char *again = text_escape(escaped, strlen(escaped));

	assert_string_equal(escaped, want);
	assert_string_equal(again, want);
	free(escaped);
	free(again);
}

static void test_escape(void **state)
{
	(void)state;
	assert_escaped("", "");
	assert_escaped("a b\\c", "a b\\c");
	assert_escaped("a\nb\tc\r", "a\\nb\\tc\\r");
	assert_escaped("\033[2J\007\177", "\\x1b[2J\\x07\\x7f");
	assert_escaped("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
	               "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
	assert_escaped("\xc2\x9b\xc2\xa0", "\\u009b\xc2\xa0");
	assert_escaped("\x9b\xff\xc0\x80", "\\x9b\\xff\\xc0\\x80");
	assert_escaped("\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa9\xd8\x9c",
	               "\\u202e\\u2028\\u2069\\u061c");
	assert_escaped("\xe2\x82", "\\xe2\\x82"); /* cut */
}

static void assert_prints(const char *want, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* As text_print, and, if nothing is escaped, as printf. */
static void assert_prints(const char *want, const char *format, ...)
{
	char *text = NULL, plain[256];
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	va_list args;

	assert_non_null(out);
	va_start(args, format);
	assert_int_equal(text_vprint(out, format, args), 0);
	va_end(args);
	fclose(out);
	if (want) {
		assert_string_equal(text, want);
	} else {
		va_start(args, format);
		vsnprintf(plain, sizeof(plain), format, args);
		va_end(args);
		assert_string_equal(text, plain);
	}
	free(text);
}

static void test_strings(void **state)
{
	(void)state;
	assert_prints("a\nb\\nc\n", "a\n%s\n", "b\nc");
	assert_prints("[  \\x1b]", "[%6s]", "\033");
	assert_prints("[\\x1b  ]", "[%-6s]", "\033");
	assert_prints("[\\x1b  ]", "[%*s]", -6, "\033");
	assert_prints("[ \\x1b]", "[%*.*s]", 5, 1, "\033[2J");
	assert_prints("[ab]", "[%.*s]", 2, "abc");
	assert_prints("[a\\xc3]", "[%.2s]", "a\xc3\xbc");
	assert_prints("[]", "[%.0s]", "abc");
}

static void test_numbers(void **state)
{
	(void)state;
	assert_prints(NULL, "%d %5d %-5d| %+d %05d", -1, 2, 3, 4, 5);
	assert_prints(NULL, "%u %x %#x %X %o %c%%", 1u, 255u, 255u, 255u, 8u,
	              'c');
	assert_prints(NULL, "%" PRIu64 " %14" PRIu64 " %-4" PRIu32 "|",
	              UINT64_MAX, (uint64_t)1 << 40, UINT32_MAX);
	assert_prints(NULL, "%zu %zd %jd %td %lld %hhu", (size_t)-1,
	              (ssize_t)-2, (intmax_t)-3, (ptrdiff_t)-4, -5LL,
	              (unsigned char)200);
	assert_prints(NULL, "%.1f %6.2f %g %+.1f%% %Lg %e", 0.25, 3.14159, 1e9,
	              -2.0, 2.5L, 1.0);
	assert_prints(NULL, "%*d %.*f %p", 7, 42, 3, 1.0, (void *)&state);
	assert_prints(NULL, "%s", "plain");
}

static void test_source(void **state)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	assert_non_null(out);
	text_put_source(out, "\tint a;\033\rb\r");
	fclose(out);
	assert_string_equal(text, "\tint a;\\x1b\\rb");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_escape),
	        cmocka_unit_test(test_strings),
	        cmocka_unit_test(test_numbers),
	        cmocka_unit_test(test_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
