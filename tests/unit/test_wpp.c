/* SPDX-License-Identifier: Apache-2.0 */
/* What cairn wpp prints, for a run that is made up. */
#include "cli/wpp.c"
#include "cli/wpp_json.c"
#include "cli/wpp_text.c"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum {
	MAIN_CALL,
	MAIN_ENTRY,
	MAIN_TURN,
	MAIN_END,
	MAIN_RETURN,
	F_CALL,
	F_SHORT,
	F_LONG,
	F_RETURN,
	F_DEATH,
	NSYMBOLS
};

static const struct {
	enum wpp_kind kind;
	const char *function, *lines;
	uint64_t weight;
} symbols[NSYMBOLS] = {
        [MAIN_CALL] = {WPP_CALL, "main", NULL, 0},
        [MAIN_ENTRY] = {WPP_PATH, "main", "a.c:10-12", 4},
        [MAIN_TURN] = {WPP_PATH, "main", "a.c:13", 5},
        [MAIN_END] = {WPP_PATH, "main", "", 3},
        [MAIN_RETURN] = {WPP_RETURN, "main", NULL, 0},
        [F_CALL] = {WPP_CALL, "f", NULL, 0},
        [F_SHORT] = {WPP_PATH, "f", "a.c:2-4", 6},
        [F_LONG] = {WPP_PATH, "f", "a.c:2-3,5", 7},
        [F_RETURN] = {WPP_RETURN, "f", NULL, 0},
        [F_DEATH] = {WPP_DEATH, "f", NULL, 0},
};

/* main calls f 4000 times, which goes one way and then another; another thread
 * calls f once and is ended in it. */
static void make(struct wpp *w)
{
	const struct wpp_options o = {
	        .hot = {2, 8, 0}, .share = 100000, .top = 3};
	struct cairn_err err;

	wpp_init(w, &o);
	w->program = "a";
	for (uint32_t i = 0; i < NSYMBOLS; i++)
		wpp_add(w, (struct wpp_symbol){
		                   .kind = symbols[i].kind,
		                   .function = symbols[i].function,
		                   .lines = symbols[i].lines
		                                    ? xstrdup(symbols[i].lines)
		                                    : NULL,
		                   .number = i,
		                   .weight = symbols[i].weight});
	wpp_begin_thread(w);
	wpp_push(w, MAIN_CALL);
	wpp_push(w, MAIN_ENTRY);
	for (int i = 0; i < 4000; i++) {
		wpp_push(w, F_CALL);
		wpp_push(w, i < 3000 ? F_SHORT : F_LONG);
		wpp_push(w, F_RETURN);
		wpp_push(w, MAIN_TURN);
	}
	wpp_push(w, MAIN_END);
	wpp_push(w, MAIN_RETURN);
	wpp_begin_thread(w);
	wpp_push(w, F_CALL);
	wpp_push(w, F_DEATH);
	if (wpp_finish(w, &err) < 0)
		fail_msg("%s", err.text);
}

static char *print(void (*write)(const struct wpp *, FILE *))
{
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	struct wpp w;

	make(&w);
	write(&w, out);
	fclose(out);
	wpp_release(&w);
	return text;
}

static const char wanted_text[] =
        "program    a\n"
        "threads    2\n"
        "symbols    16008, 12 different ones\n"
        "executed   45007 instructions\n"
        "grammar    4 rules, 18 items, 27 bytes: 889.3 symbols per item\n"
        "phases     2, in 704 intervals\n"
        "\n"
        "phases: each letter is 1.39 % of all instructions\n"
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABBBBBBBBBBBBBBBBB"
        "BB\n"
        "\n"
        "          instructions      %  paths that most of it is spent in\n"
        "A                33028  73.38   54.50 %  f  a.c:2-4\n"
        "                                45.45 %  main  a.c:13\n"
        "                                 0.04 %  f  a.c:2-3,5\n"
        "                                 0.01 %  main  a.c:10-12\n"
        "B                11979  26.62   58.32 %  f  a.c:2-3,5\n"
        "                                41.66 %  main  a.c:13\n"
        "                                 0.03 %  main  no lines known\n"
        "\n"
        "hot subpaths: 6, of 2 to 8 symbols and at least 10 % of all "
        "instructions;\n"
        "none begins with another one; occurrences may overlap\n"
        "\n"
        "#1 44.44 %: 4000 times, 5 instructions in 2 symbols\n"
        "    return from f\n"
        "    main  a.c:13\n"
        "\n"
        "#2 44.43 %: 3999 times, 5 instructions in 2 symbols\n"
        "    main  a.c:13\n"
        "    call f\n"
        "\n"
        "#3 39.99 %: 3000 times, 6 instructions in 2 symbols\n"
        "    call f\n"
        "    f  a.c:2-4\n"
        "               (3 more; --top 0 shows all)\n"
        "\n"
        "loops: 2; the heaviest, with what a turn does (% of all "
        "instructions)\n"
        "\n"
        "#1 73.32 %: begun 1 time, 3000 turns, 3000 each\n"
        "  0.00  call f\n"
        " 39.99  f  a.c:2-4\n"
        "  0.00  return from f\n"
        " 33.33  main  a.c:13\n"
        "\n"
        "#2 26.66 %: begun 1 time, 1000 turns, 1000 each\n"
        "  0.00  call f\n"
        " 15.55  f  a.c:2-3,5\n"
        "  0.00  return from f\n"
        " 11.11  main  a.c:13\n"
        "\n"
        "the run as nested loops (% of all instructions)\n"
        "  0.01 (3 things of less weight)\n"
        " 73.32 3000 times:\n"
        "  0.00   call f\n"
        " 39.99   f  a.c:2-4\n"
        "  0.00   return from f\n"
        " 33.33   main  a.c:13\n"
        " 26.66 1000 times:\n"
        "  0.00   call f\n"
        " 15.55   f  a.c:2-3,5\n"
        "  0.00   return from f\n"
        " 11.11   main  a.c:13\n"
        "  0.01 (5 things of less weight)\n";

static void test_text(void **state)
{
	char *text = print(wpp_text);

	(void)state;
	assert_string_equal(text, wanted_text);
	free(text);
}

/* Parts of the JSON: a symbol of each kind, a rule, and the rest once. */
static void test_json(void **state)
{
	static const char *const parts[] = {
	        "\"program\": \"a\"",
	        "\"length\": 16008",
	        "{\"kind\": \"path\", \"function\": \"f\", \"number\": 6, "
	        "\"lines\": \"a.c:2-4\", \"instructions\": 6, \"count\": 3000}",
	        "{\"kind\": \"call\", \"function\": \"f\", \"count\": 4001}",
	        "{\"kind\": \"death\", \"function\": \"f\", \"count\": 1}",
	        "{\"kind\": \"thread\", \"function\": null, \"number\": 2, "
	        "\"count\": 1}",
	        "{\"occurrences\": 3000, \"symbols\": 4, \"instructions\": 11, "
	        "\"items\": [[5, 1], [6, 1], [\"r0\", 1]]}",
	        "[\"r1\", 3000], [\"r2\", 1000]",
	        "{\"frequency\": 4000, \"instructions\": 5, \"symbols\": "
	        "[8, 2]}",
	        "{\"turn\": [\"r1\", 1], \"runs\": 1, \"turns\": 3000, "
	        "\"fewest\": 3000, \"most\": 3000, \"instructions\": 33000}",
	        "{\"name\": \"A\", \"instructions\": 33028, \"symbols\": "
	        "[{\"symbol\": 6, \"count\": 3000}",
	        "{\"first\": 0, \"end\": 25, \"instructions\": 65, "
	        "\"phase\": 0}",
	};
	char *text = print(wpp_json);

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strstr(text, parts[i]))
			fail_msg("there is no %s", parts[i]);
	free(text);
}

/* A run of nothing prints, too. */
static void test_empty(void **state)
{
	const struct wpp_options o = {
	        .hot = {2, 8, 0}, .share = 10000, .top = 3};
	struct cairn_err err;
	struct wpp w;
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	wpp_init(&w, &o);
	assert_int_equal(wpp_finish(&w, &err), 0);
	wpp_text(&w, out);
	wpp_json(&w, out);
	fclose(out);
	assert_non_null(strstr(text, "symbols    0, 0 different ones"));
	assert_non_null(strstr(text, "\"length\": 0"));
	free(text);
	wpp_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_text),
	        cmocka_unit_test(test_json),
	        cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
