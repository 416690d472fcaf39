/* SPDX-License-Identifier: Apache-2.0 */
/* What cairn match-path prints, over a program that is made up here. */
#include "analysis/alphabet.h"
#include "analysis/automaton.h"
#include "analysis/expression.h"
#include "base/err.h"

/* The sources of cairn are no library. */
#include "cli/match.c"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { OPEN, READ, CLOSE, MAIN };

static const char *name_of(void *context, uint32_t function)
{
	static const char *const names[] = {"open", "read", "close", "main"};

	(void)context;
	return names[function];
}

/* Block b of main is line 10 b, and block 9 has none. */
static bool find_place(void *context, uint32_t function, uint32_t block,
                       const char **file, uint32_t *line)
{
	(void)context;
	assert_int_equal(function, MAIN);
	*file = "m.c";
	*line = 10 * block;
	return block != 9;
}

static const struct match_input input = {.name = name_of, .place = find_place};

struct run {
	struct expression e;
	struct automaton a;
	struct alphabet l;
	struct violations v;
	struct violations_thread t;
	struct cairn_err err;
	const char *text;
};

static void run_begin(struct run *r, const char *text, bool is_repeated,
                      size_t keep)
{
	r->text = text;
	assert_int_equal(expression_parse(&r->e, text, &r->err), 0);
	assert_int_equal(automaton_init(&r->a, &r->e, is_repeated, &r->err), 0);
	alphabet_init(&r->l, &r->a);
	for (uint32_t f = 0; f <= MAIN; f++)
		alphabet_add_function(&r->l, name_of(NULL, f), NULL);
	for (uint32_t b = 1; b < 9; b++)
		alphabet_add_line(&r->l, b, 0, "m.c", 10 * b);
	assert_int_equal(alphabet_finish(&r->l, "m.cairn", &r->err), 0);
	violations_init(&r->v, &r->a, &r->l, keep);
	violations_begin(&r->t, &r->v, 42, false);
	assert_int_equal(violations_enter(&r->t, MAIN, &r->err), 0);
}

/* main gets to a block and calls a function there. */
static void call(struct run *r, uint32_t block, uint32_t function)
{
	r->t.time += 10;
	assert_int_equal(violations_blocks(&r->t, &block, 1, &r->err), 0);
	if (function == MAIN)
		return;
	assert_int_equal(violations_enter(&r->t, function, &r->err), 0);
	r->t.time++;
	assert_int_equal(violations_leave(&r->t, block == 8, &r->err), 0);
}

static void assert_printed(struct run *r, bool is_json, const char *wanted)
{
	struct match m = {.input = &input,
	                  .file = "m.cairn",
	                  .expression = r->text,
	                  .violations = &r->v};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	violations_end(&r->t, false);
	violations_finish(&r->v);
	if (is_json)
		match_json(&m, out);
	else
		match_text(&m, out);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
	violations_release(&r->v);
	alphabet_release(&r->l);
	automaton_release(&r->a);
	expression_release(&r->e);
}

static void test_fine(void **state)
{
	struct run r;

	(void)state;
	run_begin(&r, "open read* close", true, 20);
	call(&r, 1, OPEN);
	call(&r, 2, READ);
	call(&r, 3, CLOSE);
	assert_printed(&r, false,
	               "expression open read* close, repeated\n"
	               "file       m.cairn\n"
	               "events     3 that it names, in 1 thread; complete 1 "
	               "time\n"
	               "violations 0\n");
}

static void test_text(void **state)
{
	struct run r;

	(void)state;
	run_begin(&r, "open read* close", true, 20);
	call(&r, 1, OPEN);
	call(&r, 9, READ);
	call(&r, 1, OPEN);
	call(&r, 3, CLOSE);
	call(&r, 2, READ);
	call(&r, 3, CLOSE);
	call(&r, 1, OPEN);
	assert_printed(
	        &r, false,
	        "expression open read* close, repeated\n"
	        "file       m.cairn\n"
	        "events     7 that it names, in 1 thread; complete 1 time\n"
	        "violations 3\n"
	        "\n"
	        "thread 42: unexpected open; expected read or close\n"
	        "            10  open  called by main  m.c:10\n"
	        "            21  read  called by main\n"
	        "            32  open  called by main  m.c:10  <<<\n"
	        "\n"
	        "thread 42: unexpected read; expected open or nothing more\n"
	        "            54  read  called by main  m.c:20  <<<\n"
	        "                1 more until it could begin anew\n"
	        "\n"
	        "thread 42: unfinished at its end; expected read or close\n"
	        "            76  open  called by main  m.c:10\n");
}

static void test_once(void **state)
{
	struct run r;

	(void)state;
	run_begin(&r, "main m.c:10 leave(open)", false, 1);
	call(&r, 1, OPEN);
	call(&r, 8, OPEN);
	call(&r, 1, MAIN);
	assert_printed(
	        &r, false,
	        "expression main m.c:10 leave(open), once\n"
	        "file       m.cairn\n"
	        "events     5 that it names, in 1 thread; complete 1 time\n"
	        "violations 1\n"
	        "\n"
	        "thread 42: unexpected leave(open); expected nothing\n"
	        "            22  leave(open), not by a return  to main  "
	        "m.c:80  <<<\n"
	        "                1 more until it ended\n");
}

static void test_lines(void **state)
{
	struct run r;

	(void)state;
	run_begin(&r, "m.c:10 (m.c:20|m.c:30|leave(read))", true, 1);
	call(&r, 1, MAIN);
	call(&r, 4, MAIN);
	call(&r, 1, MAIN);
	call(&r, 5, MAIN);
	call(&r, 1, MAIN);
	assert_printed(
	        &r, false,
	        "expression m.c:10 (m.c:20|m.c:30|leave(read)), repeated\n"
	        "file       m.cairn\n"
	        "events     3 that it names, in 1 thread; complete 0 times\n"
	        "violations 3\n"
	        "\n"
	        "thread 42: unexpected line 10; expected m.c:20, m.c:30 or "
	        "leave(read)\n"
	        "            10  m.c:10  in main\n"
	        "            30  m.c:10  in main  <<<\n"
	        "\n"
	        "(2 more; --top 0 shows all)\n");
}

static void test_long_history(void **state)
{
	struct run r;
	char wanted[4000] =
	        "expression open read* close, repeated\n"
	        "file       m.cairn\n"
	        "events     30 that it names, in 1 thread; complete 0 times\n"
	        "violations 1\n"
	        "\n"
	        "thread 42: unfinished at its end; expected read or close\n"
	        "            10  open  called by main  m.c:10\n";

	(void)state;
	run_begin(&r, "open read* close", true, 1);
	call(&r, 1, OPEN);
	for (unsigned i = 1; i < 30; i++) {
		char line[100];

		snprintf(line, sizeof(line),
		         "%14u  read  called by main  m.c:20\n", 10 + 11 * i);
		if (i == VIOLATIONS_FIRST)
			snprintf(line, sizeof(line), "%14s  ... 14 more ...\n",
			         "");
		if (i <= VIOLATIONS_FIRST || i >= 30 - VIOLATIONS_LAST)
			strncat(wanted, line,
			        sizeof(wanted) - 1 - strlen(wanted));
		call(&r, 2, READ);
	}
	assert_printed(&r, false, wanted);
}

static void test_json(void **state)
{
	struct run r;

	(void)state;
	run_begin(&r, "open leave(read) \"clos?\"", true, 20);
	call(&r, 1, OPEN);
	call(&r, 8, READ);
	call(&r, 1, OPEN);
	assert_printed(
	        &r, true,
	        "{\n"
	        " \"version\": 1,\n"
	        " \"file\": \"m.cairn\",\n"
	        " \"expression\": \"open leave(read) \\\"clos?\\\"\",\n"
	        " \"interleaved\": false,\n"
	        " \"repeated\": true,\n"
	        " \"events\": 3,\n"
	        " \"threads\": 1,\n"
	        " \"complete\": 0,\n"
	        " \"violations\": 2,\n"
	        " \"list\": [\n"
	        "  {\n"
	        "   \"kind\": \"unexpected\",\n"
	        "   \"thread\": 42,\n"
	        "   \"time\": 32,\n"
	        "   \"event\": {\"time\": 32, \"what\": \"enter\", "
	        "\"function\": \"open\", \"caller\": \"main\", \"file\": "
	        "\"m.c\", \"line\": 10},\n"
	        "   \"expected\": [\"\\\"clos?\\\"\"],\n"
	        "   \"complete_before\": false,\n"
	        "   \"history\": [{\"time\": 10, \"what\": \"enter\", "
	        "\"function\": \"open\", \"caller\": \"main\", \"file\": "
	        "\"m.c\", \"line\": 10}, {\"time\": 22, \"what\": \"leave\", "
	        "\"function\": \"read\", \"died\": true, \"caller\": \"main\", "
	        "\"file\": \"m.c\", \"line\": 80}],\n"
	        "   \"history_left_out\": 0,\n"
	        "   \"skipped\": 0\n"
	        "  },\n"
	        "  {\n"
	        "   \"kind\": \"unfinished\",\n"
	        "   \"thread\": 42,\n"
	        "   \"time\": 33,\n"
	        "   \"expected\": [\"leave(read)\"],\n"
	        "   \"complete_before\": false,\n"
	        "   \"history\": [{\"time\": 32, \"what\": \"enter\", "
	        "\"function\": \"open\", \"caller\": \"main\", \"file\": "
	        "\"m.c\", \"line\": 10}],\n"
	        "   \"history_left_out\": 0,\n"
	        "   \"skipped\": 0\n"
	        "  }\n"
	        " ]\n"
	        "}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_fine),
	        cmocka_unit_test(test_text),
	        cmocka_unit_test(test_once),
	        cmocka_unit_test(test_lines),
	        cmocka_unit_test(test_long_history),
	        cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
