/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports of control flow, byte by byte; tests/export compares random ones with
 * what was fed.
 */
/* The sources of cairn are no library. */
#include "cli/export.c"
#include "cli/export_chrome.c"
#include "cli/export_folded.c"
#include "cli/export_speedscope.c"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

struct file {
	struct export_writer x;
	char *text;
	size_t size;
};

static void file_begin(struct file *f, const struct export_format *format,
                       enum export_clock clock)
{
	FILE *out = open_memstream(&f->text, &f->size);

	assert_non_null(out);
	export_begin(&f->x, format, out, clock, "prog", 7);
}

static void assert_file(struct file *f, const char *wanted)
{
	FILE *out = f->x.out;

	export_end(&f->x);
	fclose(out);
	assert_string_equal(f->text, wanted);
	free(f->text);
}

/* main calls f twice, the second time for good; another thread runs f, and its
 * clock goes back. */
static void feed(struct export_writer *x)
{
	uint32_t main_function = export_add_function(x, "main", "a.c", 3);
	uint32_t f = export_add_function(x, "f<\"int\">;\n", NULL, 0);

	export_begin_thread(x, 7, "main", 1000);
	export_enter(x, main_function, 1000);
	export_enter(x, f, 1003);
	export_leave(x, 1005);
	export_enter(x, f, 2006);
	export_end_thread(x, 2010);
	export_begin_thread(x, 8, NULL, 5);
	export_enter(x, f, 6);
	export_leave(x, 4);
	export_end_thread(x, 9);
}

static void test_chrome(void **state)
{
	struct file f;

	(void)state;
	file_begin(&f, &export_chrome, EXPORT_NANOSECONDS);
	feed(&f.x);
	assert_file(
	        &f,
	        "{\"displayTimeUnit\":\"ns\",\n"
	        "\"otherData\":{\"exporter\":\"cairn " CAIRN_VERSION
	        "\",\"clock\":\"nanoseconds\"},\n"
	        "\"traceEvents\":[\n"
	        "{\"ph\":\"M\",\"pid\":7,\"tid\":7,\"name\":\"process_name\","
	        "\"args\":{\"name\":\"prog\"}},\n"
	        "{\"ph\":\"M\",\"pid\":7,\"tid\":7,\"name\":\"thread_name\","
	        "\"args\":{\"name\":\"main\"}},\n"
	        "{\"ph\":\"B\",\"pid\":7,\"tid\":7,\"ts\":1.000,"
	        "\"cat\":\"function\",\"name\":\"main\"},\n"
	        "{\"ph\":\"B\",\"pid\":7,\"tid\":7,\"ts\":1.003,"
	        "\"cat\":\"function\",\"name\":\"f<\\\"int\\\">;\\u000a\"},\n"
	        "{\"ph\":\"E\",\"pid\":7,\"tid\":7,\"ts\":1.005,"
	        "\"cat\":\"function\",\"name\":\"f<\\\"int\\\">;\\u000a\"},\n"
	        "{\"ph\":\"B\",\"pid\":7,\"tid\":7,\"ts\":2.006,"
	        "\"cat\":\"function\",\"name\":\"f<\\\"int\\\">;\\u000a\"},\n"
	        "{\"ph\":\"E\",\"pid\":7,\"tid\":7,\"ts\":2.010,"
	        "\"cat\":\"function\",\"name\":\"f<\\\"int\\\">;\\u000a\"},\n"
	        "{\"ph\":\"E\",\"pid\":7,\"tid\":7,\"ts\":2.010,"
	        "\"cat\":\"function\",\"name\":\"main\"},\n"
	        "{\"ph\":\"B\",\"pid\":7,\"tid\":8,\"ts\":0.006,"
	        "\"cat\":\"function\",\"name\":\"f<\\\"int\\\">;\\u000a\"},\n"
	        "{\"ph\":\"E\",\"pid\":7,\"tid\":8,\"ts\":0.006,"
	        "\"cat\":\"function\",\"name\":\"f<\\\"int\\\">;\\u000a\"}\n"
	        "]}\n");
}

/* A clock of blocks has no decimals. */
static void test_chrome_blocks(void **state)
{
	struct file f;

	(void)state;
	file_begin(&f, &export_chrome, EXPORT_BLOCKS);
	export_add_function(&f.x, "", NULL, 0);
	export_begin_thread(&f.x, 7, NULL, 0);
	export_enter(&f.x, 0, 12345);
	export_end_thread(&f.x, 12346);
	assert_file(
	        &f,
	        "{\"displayTimeUnit\":\"ns\",\n"
	        "\"otherData\":{\"exporter\":\"cairn " CAIRN_VERSION
	        "\",\"clock\":\"executed blocks, 1 us each\"},\n"
	        "\"traceEvents\":[\n"
	        "{\"ph\":\"M\",\"pid\":7,\"tid\":7,\"name\":\"process_name\","
	        "\"args\":{\"name\":\"prog\"}},\n"
	        "{\"ph\":\"B\",\"pid\":7,\"tid\":7,\"ts\":12345,"
	        "\"cat\":\"function\",\"name\":\"[no name]\"},\n"
	        "{\"ph\":\"E\",\"pid\":7,\"tid\":7,\"ts\":12346,"
	        "\"cat\":\"function\",\"name\":\"[no name]\"}\n"
	        "]}\n");
}

static void test_speedscope(void **state)
{
	struct file f;

	(void)state;
	file_begin(&f, &export_speedscope, EXPORT_BLOCKS);
	feed(&f.x);
	assert_file(
	        &f,
	        "{\"$schema\":\"https://www.speedscope.app/"
	        "file-format-schema.json\",\n"
	        "\"exporter\":\"cairn " CAIRN_VERSION "\",\n"
	        "\"name\":\"prog\",\n"
	        "\"activeProfileIndex\":0,\n"
	        "\"profiles\":[\n"
	        "{\"type\":\"evented\",\"name\":\"main\",\"unit\":\"none\","
	        "\"startValue\":1000,\"events\":[\n"
	        "{\"type\":\"O\",\"frame\":0,\"at\":1000},\n"
	        "{\"type\":\"O\",\"frame\":1,\"at\":1003},\n"
	        "{\"type\":\"C\",\"frame\":1,\"at\":1005},\n"
	        "{\"type\":\"O\",\"frame\":1,\"at\":2006},\n"
	        "{\"type\":\"C\",\"frame\":1,\"at\":2010},\n"
	        "{\"type\":\"C\",\"frame\":0,\"at\":2010}\n"
	        "],\"endValue\":2010},\n"
	        "{\"type\":\"evented\",\"name\":\"thread 8\",\"unit\":\"none\","
	        "\"startValue\":5,\"events\":[\n"
	        "{\"type\":\"O\",\"frame\":1,\"at\":6},\n"
	        "{\"type\":\"C\",\"frame\":1,\"at\":6}\n"
	        "],\"endValue\":9}\n"
	        "],\n"
	        "\"shared\":{\"frames\":[\n"
	        "{\"name\":\"main\",\"file\":\"a.c\",\"line\":3},\n"
	        "{\"name\":\"f<\\\"int\\\">;\\u000a\"}\n"
	        "]}}\n");
}

static void test_folded(void **state)
{
	struct file f;

	(void)state;
	file_begin(&f, &export_folded, EXPORT_NANOSECONDS);
	feed(&f.x);
	/* f alone took no time */
	assert_file(&f, "main 1004\n"
	                "main;f<\"int\">:\\n 6\n");
}

/* Frames below the 1000th are one; each keeps its time. */
static void test_deep_recursion(void **state)
{
	struct file f;
	uint64_t time = 0;
	size_t lines = 0, deeper = 0;
	FILE *out;

	(void)state;
	file_begin(&f, &export_folded, EXPORT_BLOCKS);
	out = f.x.out;
	export_add_function(&f.x, "f", NULL, 0);
	export_begin_thread(&f.x, 7, NULL, 0);
	for (unsigned i = 0; i < 5000; i++)
		export_enter(&f.x, 0, time++);
	for (unsigned i = 0; i < 4500; i++)
		export_leave(&f.x, time++);
	export_enter(&f.x, 0, time++);
	export_end_thread(&f.x, time);
	export_end(&f.x);
	fclose(out);
	for (const char *s = f.text; *s; s = strchr(s, '\n') + 1) {
		size_t n = strcspn(s, " ");

		lines++;
		if (n > 9 && !strncmp(s + n - 8, "[deeper]", 8))
			deeper = strtoul(s + n, NULL, 10);
	}
	assert_int_equal(lines, 1001);
	/* frame 1001 began at 1000 and ended at 8999 */
	assert_int_equal(deeper, 7999);
	free(f.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_chrome),
	        cmocka_unit_test(test_chrome_blocks),
	        cmocka_unit_test(test_speedscope),
	        cmocka_unit_test(test_folded),
	        cmocka_unit_test(test_deep_recursion),
	};

	return cmocka_run_group_tests_name("export", tests, NULL, NULL);
}
