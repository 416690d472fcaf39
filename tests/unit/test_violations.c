/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a run leaves a path expression: examples, and random runs against brute
 * force.  SEED=n runs other ones.
 */
#include "words.h"

#include "analysis/alphabet.h"
#include "analysis/automaton.h"
#include "analysis/expression.h"
#include "analysis/violations.h"
#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* Functions of the program that all tests watch. */
static const char *const names[] = {"open", "read",   "write", "close",
                                    "_Z1f", "strlen", "strcmp"};
enum { OPEN, READ, WRITE, CLOSE, F, STRLEN, STRCMP, NFUNCTIONS };

struct watch {
	struct expression e;
	struct automaton a;
	struct alphabet l;
	struct violations v;
	struct violations_thread t;
	struct cairn_err err;
};

/* Lines of `open`: line 10 in blocks 1 and 2, 11 in 2, 12 in 3 alone, and 10
 * again in 4, where it is inlined; 20 in blocks 6 to 9: a loop. */
static void add_lines(struct alphabet *l)
{
	alphabet_add_line(l, 1, 0, "src/a.c", 10);
	alphabet_add_line(l, 2, 0, "src/a.c", 10);
	alphabet_add_line(l, 2, 0, "src/a.c", 11);
	alphabet_add_line(l, 3, 0, "src/a.c", 12);
	alphabet_add_line(l, 4, 1, "src/a.c", 10);
	for (uint32_t b = 6; b < 10; b++)
		alphabet_add_line(l, b, 0, "src/a.c", 20);
}

static int watch_open(struct watch *w, const char *text, bool is_repeated)
{
	assert_int_equal(expression_parse(&w->e, text, &w->err), 0);
	assert_int_equal(automaton_init(&w->a, &w->e, is_repeated, &w->err), 0);
	alphabet_init(&w->l, &w->a);
	for (unsigned i = 0; i < NFUNCTIONS; i++) {
		alphabet_add_function(&w->l, names[i],
		                      i == F ? "f(int)" : NULL);
		if (i == OPEN)
			add_lines(&w->l);
	}
	return alphabet_finish(&w->l, "prog", &w->err);
}

static void watch_begin(struct watch *w, const char *text, bool is_repeated,
                        bool is_cut)
{
	assert_int_equal(watch_open(w, text, is_repeated), 0);
	violations_init(&w->v, &w->a, &w->l, 100);
	violations_begin(&w->t, &w->v, 7, is_cut);
}

static void watch_release(struct watch *w)
{
	violations_release(&w->v);
	alphabet_release(&w->l);
	automaton_release(&w->a);
	expression_release(&w->e);
}

/* A call of a function that does nothing. */
static void call(struct watch *w, uint32_t function)
{
	w->t.time++;
	assert_int_equal(violations_enter(&w->t, function, &w->err), 0);
	assert_int_equal(violations_leave(&w->t, false, &w->err), 0);
}

/* Calls the functions that begin with these letters: o r w c. */
static void call_all(struct watch *w, const char *letters)
{
	for (; *letters; letters++)
		call(w, (uint32_t)(strchr("orwc", *letters) - "orwc"));
}

static uint64_t expected(const struct watch *w, size_t i)
{
	return w->v.items[i].expected[0];
}

#define FILES "open (read|write)* close"

static void test_conforming(void **state)
{
	struct watch w;

	(void)state;
	watch_begin(&w, FILES, true, false);
	call_all(&w, "ocorwrcoc");
	call(&w, F);
	violations_end(&w.t, false);
	violations_finish(&w.v);
	assert_int_equal(w.v.count, 0);
	assert_int_equal(w.v.nevents, 9);
	assert_int_equal(w.v.ncomplete, 3);
	assert_int_equal(w.v.nthreads, 1);
	watch_release(&w);
}

static void test_unexpected(void **state)
{
	struct watch w;

	(void)state;
	watch_begin(&w, FILES, true, false);
	call_all(&w, "ocorworc");
	violations_end(&w.t, false);
	assert_int_equal(w.v.count, 1);
	assert_int_equal(w.v.n, 1);
	assert_int_equal(w.v.items[0].kind, VIOLATION_UNEXPECTED);
	assert_int_equal(w.v.items[0].thread, 7);
	assert_int_equal(w.v.items[0].event.function, OPEN);
	assert_int_equal(w.v.items[0].time, 6);
	assert_int_equal(w.v.items[0].nhistory, 3);
	assert_int_equal(w.v.items[0].history[0].function, OPEN);
	assert_int_equal(w.v.items[0].history[0].time, 3);
	assert_int_equal(w.v.items[0].history[2].function, WRITE);
	assert_false(w.v.items[0].may_end);
	assert_int_equal(expected(&w, 0), 1 << READ | 1 << WRITE | 1 << CLOSE);
	/* the open began anew, and was closed */
	assert_int_equal(w.v.items[0].nskipped, 0);
	assert_int_equal(w.v.ncomplete, 2);
	watch_release(&w);
}

static void test_skips_what_cannot_begin(void **state)
{
	struct watch w;

	(void)state;
	watch_begin(&w, FILES, true, false);
	call_all(&w, "ocrrcocr");
	violations_end(&w.t, false);
	assert_int_equal(w.v.count, 2);
	assert_int_equal(w.v.items[0].event.function, READ);
	assert_int_equal(w.v.items[0].time, 3);
	assert_true(w.v.items[0].may_end);
	assert_int_equal(expected(&w, 0), 1 << OPEN);
	assert_int_equal(w.v.items[0].nhistory, 0);
	assert_int_equal(w.v.items[0].nskipped, 2);
	assert_int_equal(w.v.items[1].time, 8);
	assert_int_equal(w.v.items[1].nskipped, 0);
	watch_release(&w);
}

static void test_unfinished(void **state)
{
	struct watch w;

	(void)state;
	watch_begin(&w, FILES, true, false);
	call_all(&w, "ocor");
	w.t.time = 50;
	violations_end(&w.t, false);
	assert_int_equal(w.v.count, 1);
	assert_int_equal(w.v.items[0].kind, VIOLATION_UNFINISHED);
	assert_int_equal(w.v.items[0].time, 50);
	assert_int_equal(w.v.items[0].nhistory, 2);
	assert_int_equal(expected(&w, 0), 1 << READ | 1 << WRITE | 1 << CLOSE);
	watch_release(&w);
	/* what came after it is not known */
	watch_begin(&w, FILES, true, false);
	call_all(&w, "or");
	violations_end(&w.t, true);
	violations_finish(&w.v);
	assert_int_equal(w.v.count, 0);
	watch_release(&w);
}

static void test_cut_beginning(void **state)
{
	struct watch w;

	(void)state;
	watch_begin(&w, FILES, true, true);
	violations_resume(&w.t, F, 3);
	call_all(&w, "rcoc");
	assert_int_equal(w.v.count, 0);
	call_all(&w, "c");
	violations_end(&w.t, false);
	assert_int_equal(w.v.count, 1);
	assert_int_equal(w.v.items[0].event.function, CLOSE);
	assert_int_equal(w.v.items[0].event.caller, F);
	assert_int_equal(w.v.items[0].event.block, 3);
	watch_release(&w);
}

/* One word: the rest of the thread belongs to its first violation. */
static void test_once(void **state)
{
	struct watch w;

	(void)state;
	watch_begin(&w, FILES, false, false);
	call_all(&w, "orcocr");
	violations_end(&w.t, false);
	violations_begin(&w.t, &w.v, 8, false);
	call_all(&w, "oc");
	violations_end(&w.t, false);
	violations_begin(&w.t, &w.v, 9, false);
	call(&w, F);
	violations_end(&w.t, false);
	violations_finish(&w.v);
	assert_int_equal(w.v.count, 1);
	assert_int_equal(w.v.nthreads, 2);
	assert_int_equal(w.v.items[0].thread, 7);
	assert_int_equal(w.v.items[0].time, 4);
	assert_true(w.v.items[0].may_end);
	assert_int_equal(expected(&w, 0), 0);
	assert_int_equal(w.v.items[0].nskipped, 2);
	watch_release(&w);
}

/* If it is to happen and nothing did, that is said, once. */
static void test_nothing_happens(void **state)
{
	struct watch w;

	(void)state;
	for (unsigned is_cut = 0; is_cut < 2; is_cut++) {
		watch_begin(&w, FILES, false, false);
		call(&w, F);
		violations_end(&w.t, is_cut);
		violations_finish(&w.v);
		assert_int_equal(w.v.count, !is_cut);
		watch_release(&w);
	}
	watch_begin(&w, "open?", false, false);
	violations_end(&w.t, false);
	violations_finish(&w.v);
	assert_int_equal(w.v.count, 0);
	watch_release(&w);
}

static void test_nested_calls(void **state)
{
	static const uint32_t blocks[] = {4, 9};
	struct watch w;

	(void)state;
	watch_begin(&w, "open leave(\"f(*)\") close", true, false);
	assert_int_equal(violations_enter(&w.t, F, &w.err), 0);
	assert_int_equal(violations_blocks(&w.t, blocks, 2, &w.err), 0);
	call(&w, OPEN);
	call(&w, READ);
	assert_int_equal(violations_leave(&w.t, true, &w.err), 0);
	call(&w, CLOSE);
	assert_int_equal(w.v.count, 0);
	assert_int_equal(w.v.ncomplete, 1);
	assert_int_equal(violations_enter(&w.t, F, &w.err), 0);
	assert_int_equal(violations_blocks(&w.t, blocks, 2, &w.err), 0);
	call(&w, CLOSE);
	assert_int_equal(violations_leave(&w.t, true, &w.err), 0);
	violations_end(&w.t, false);
	assert_int_equal(w.v.count, 1);
	assert_int_equal(w.v.items[0].event.caller, F);
	assert_int_equal(w.v.items[0].event.block, 9);
	assert_int_equal(w.v.items[0].nskipped, 1);
	watch_release(&w);
}

/* Counts how often the lines of an expression happen, as letters a, b, ... */
static void assert_lines(const char *text, const uint32_t *blocks, size_t n,
                         uint64_t nevents)
{
	struct watch w;

	watch_begin(&w, text, true, false);
	assert_int_equal(violations_enter(&w.t, OPEN, &w.err), 0);
	/* one by one, with a call between: it makes no difference */
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(violations_blocks(&w.t, &blocks[i], 1, &w.err),
		                 0);
		call(&w, F);
	}
	assert_int_equal(w.v.nevents, nevents);
	violations_end(&w.t, true);
	watch_release(&w);
	watch_begin(&w, text, true, false);
	assert_int_equal(violations_enter(&w.t, OPEN, &w.err), 0);
	assert_int_equal(violations_blocks(&w.t, blocks, n, &w.err), 0);
	assert_int_equal(w.v.nevents, nevents);
	violations_end(&w.t, true);
	watch_release(&w);
}

#define BLOCKS(...)                      \
	(const uint32_t[]){__VA_ARGS__}, \
	        sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

static void test_lines(void **state)
{
	(void)state;
	assert_lines("a.c:10+", BLOCKS(1), 1);
	assert_lines("a.c:10+", BLOCKS(1, 2), 1);       /* two of its blocks */
	assert_lines("a.c:10+", BLOCKS(1, 2, 1, 2), 2); /* 11 between */
	assert_lines("a.c:10+", BLOCKS(1, 1, 1), 3);    /* a loop of its own */
	assert_lines("a.c:11+", BLOCKS(1, 2, 3, 2), 2);
	assert_lines("a.c:12+", BLOCKS(3, 3), 2);
	assert_lines("a.c:10+", BLOCKS(1, 4), 2); /* another copy */
	assert_lines("(a.c:10|src/a.c:11)+", BLOCKS(1, 2, 3), 2);
	assert_lines("(a.c:10|src/a.c:10)+", BLOCKS(1, 2, 3), 1);
	assert_lines("a.c:12+", BLOCKS(5, 1000000), 0);
}

/* A loop on one line: the block with which the frame comes there is not in
 * it. */
static void test_line_of_a_loop(void **state)
{
	(void)state;
	assert_lines("a.c:20+", BLOCKS(6, 9), 1);
	assert_lines("a.c:20+", BLOCKS(6, 7, 8, 9), 1);
	assert_lines("a.c:20+", BLOCKS(6, 7, 8, 7, 8, 7, 9), 3);
	assert_lines("a.c:20+", BLOCKS(6, 8, 8, 8, 8, 8, 9), 5);
	assert_lines("a.c:20+", BLOCKS(7, 8, 7, 8, 7, 9, 7), 4);
	/* both ways through a turn, and no line in between */
	assert_lines("a.c:20+", BLOCKS(6, 7, 5, 8, 7, 5, 9, 7, 8), 3);
	assert_lines("a.c:20+", BLOCKS(6, 8, 8, 3, 6, 8, 8), 4);
}

/* Frames of a recursion have a turn each. */
static void test_line_of_a_recursion(void **state)
{
	static const uint32_t blocks[] = {6, 7};
	struct watch w;

	(void)state;
	watch_begin(&w, "a.c:20+", true, false);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(violations_enter(&w.t, OPEN, &w.err), 0);
		assert_int_equal(violations_blocks(&w.t, blocks, 2, &w.err), 0);
	}
	assert_int_equal(w.v.nevents, 2);
	assert_int_equal(violations_leave(&w.t, false, &w.err), 0);
	assert_int_equal(violations_blocks(&w.t, blocks + 1, 1, &w.err), 0);
	assert_int_equal(w.v.nevents, 3);
	violations_end(&w.t, true);
	watch_release(&w);
}

static void test_line_events(void **state)
{
	static const uint32_t blocks[] = {1, 3};
	struct watch w;

	(void)state;
	watch_begin(&w, "a.c:10 a.c:11", true, false);
	assert_int_equal(violations_enter(&w.t, OPEN, &w.err), 0);
	assert_int_equal(violations_blocks(&w.t, blocks, 2, &w.err), 0);
	assert_int_equal(violations_blocks(&w.t, blocks, 1, &w.err), 0);
	violations_end(&w.t, false);
	assert_int_equal(w.v.count, 2);
	assert_int_equal(w.v.items[0].event.what, EXPRESSION_LINE);
	assert_int_equal(w.v.items[0].event.function, OPEN);
	assert_int_equal(w.v.items[0].event.line->line, 10);
	assert_int_equal(w.v.items[0].event.block, 1);
	assert_int_equal(w.v.items[1].kind, VIOLATION_UNFINISHED);
	watch_release(&w);
}

/* An event may be what two symbols stand for. */
static void test_overlapping_symbols(void **state)
{
	struct watch w;

	(void)state;
	watch_begin(&w, "\"str*\" strlen strcmp", true, false);
	call(&w, STRLEN);
	call(&w, STRLEN);
	call(&w, STRCMP);
	assert_int_equal(w.v.count, 0);
	assert_int_equal(w.v.ncomplete, 1);
	call(&w, STRCMP);
	call(&w, STRCMP);
	violations_end(&w.t, false);
	assert_int_equal(w.v.count, 2); /* it began anew, and ended */
	watch_release(&w);
}

static void test_absent(void **state)
{
	static const char *const wrong[] = {"open opne", "open a.c:13",
	                                    "leave(\"x*\")", "\"f(\"",
	                                    "\"f(int, int)\""};
	struct watch w;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(watch_open(&w, wrong[i], true),
		                 CAIRN_E_ABSENT);
		assert_non_null(strstr(w.err.text, "prog: no "));
		alphabet_release(&w.l);
		automaton_release(&w.a);
		expression_release(&w.e);
	}
}

/* Is a function meant by the only symbol of an expression? */
static bool is_meant(const char *text, const char *name, const char *readable)
{
	struct watch w;
	bool is;

	assert_int_equal(expression_parse(&w.e, text, &w.err), 0);
	assert_int_equal(automaton_init(&w.a, &w.e, true, &w.err), 0);
	alphabet_init(&w.l, &w.a);
	alphabet_add_function(&w.l, name, readable);
	is = w.l.functions[0].enter != AUTOMATON_OTHER;
	alphabet_release(&w.l);
	automaton_release(&w.a);
	expression_release(&w.e);
	return is;
}

static void test_names(void **state)
{
	(void)state;
	assert_true(is_meant("_Z1fi", "_Z1fi", "f(int)"));
	assert_true(is_meant("f", "_Z1fi", "f(int)"));
	assert_true(is_meant("\"f(int)\"", "_Z1fi", "f(int)"));
	assert_false(is_meant("g", "_Z1fi", "f(int)"));
	assert_true(is_meant("A::get", "x", "A::get(int (*)(char)) const"));
	assert_true(is_meant("\"A::operator()\"", "x", "A::operator()(int)"));
	assert_true(is_meant("\"(anonymous namespace)::f\"", "x",
	                     "(anonymous namespace)::f()"));
	assert_false(is_meant("\"\\(*\"", "x", "no)parentheses"));
	assert_true(is_meant("f", "f", NULL));
}

static void test_long_history(void **state)
{
	struct watch w;
	const struct violation *x;

	(void)state;
	watch_begin(&w, FILES, true, false);
	call_all(&w, "o");
	for (unsigned i = 0; i < 100; i++)
		call(&w, READ);
	call_all(&w, "o");
	x = &w.v.items[0];
	assert_int_equal(x->nhistory, VIOLATIONS_FIRST + VIOLATIONS_LAST);
	assert_int_equal(x->nhidden, 101 - x->nhistory);
	for (size_t i = 0; i < x->nhistory; i++)
		assert_int_equal(
		        x->history[i].time,
		        i + 1 + (i < VIOLATIONS_FIRST ? 0 : x->nhidden));
	violations_end(&w.t, true);
	watch_release(&w);
}

static void test_keeps_some(void **state)
{
	struct watch w;

	(void)state;
	assert_int_equal(watch_open(&w, FILES, true), 0);
	violations_init(&w.v, &w.a, &w.l, 2);
	violations_begin(&w.t, &w.v, 0, false);
	call_all(&w, "ooooorcrr");
	violations_end(&w.t, false);
	assert_int_equal(w.v.n, 2);
	assert_int_equal(w.v.count, 5);
	assert_int_equal(w.v.items[1].nskipped, 0);
	watch_release(&w);
}

/* --- random runs -------------------------------------------------------- */

#define TRIALS 4000
#define LENGTH 16

static struct words_word part_of(const struct words_word *w, unsigned from,
                                 unsigned end)
{
	struct words_word part = {.n = end - from};

	memcpy(part.letters, w->letters + from, part.n * sizeof(*part.letters));
	return part;
}

/* Checks what was found against the words that begin at each restart. */
static void assert_found(const struct violations *v, const struct words_tree *t,
                         const struct words_word *w)
{
	unsigned from = 0, since = 0;
	size_t found = 0;
	uint64_t complete = 0;
	bool is_lost = false;

	for (unsigned i = 0; i < w->n; i++) {
		struct words_word part = part_of(w, from, i + 1);

		if (!is_lost && !words_may_go_on(t, &part, 1)) {
			assert_true(found < v->n);
			assert_int_equal(v->items[found].time, i);
			assert_int_equal(v->items[found].nhistory, i - since);
			is_lost = true;
			found++;
			part = part_of(w, i, i + 1);
			since = from = i;
			is_lost = !words_may_go_on(t, &part, 1);
		} else if (is_lost) {
			part = part_of(w, i, i + 1);
			since = from = i;
			is_lost = !words_may_go_on(t, &part, 1);
		}
		if (!is_lost && words_match(t, &part)) {
			complete++;
			since = i + 1;
		}
	}
	assert_int_equal(v->ncomplete, complete);
	if (w->n && !is_lost && since < w->n) {
		assert_true(found < v->n);
		assert_int_equal(v->items[found].kind, VIOLATION_UNFINISHED);
		assert_int_equal(v->items[found].nhistory, w->n - since);
		found++;
	}
	assert_int_equal(v->count, found);
}

static void try_run(struct words_tree *t, const char *text, uint64_t *seed)
{
	struct words_tree again = words_repeated(t);
	struct words_word w = {.n = 0};
	struct expression e;
	struct automaton a;
	struct alphabet l;
	struct violations v;
	struct violations_thread thread;
	struct cairn_err err;

	assert_int_equal(expression_parse(&e, text, &err), 0);
	assert_int_equal(automaton_init(&a, &e, true, &err), 0);
	alphabet_init(&l, &a);
	for (unsigned i = 0; i < WORDS_SYMBOLS; i++) {
		char name[] = {(char)('a' + i), '\0'};

		alphabet_add_function(&l, name, NULL);
	}
	assert_int_equal(alphabet_finish(&l, "program", &err), 0);
	violations_init(&v, &a, &l, SIZE_MAX);
	violations_begin(&thread, &v, 0, false);
	for (unsigned i = 0; i < LENGTH; i++) {
		uint32_t f = words_below(seed, WORDS_SYMBOLS);

		thread.time = w.n;
		assert_int_equal(violations_enter(&thread, f, &err), 0);
		assert_int_equal(violations_leave(&thread, false, &err), 0);
		if (l.functions[f].enter != AUTOMATON_OTHER)
			w.letters[w.n++] = 1u << f;
	}
	violations_end(&thread, false);
	assert_int_equal(v.nevents, w.n);
	assert_found(&v, &again, &w);
	violations_release(&v);
	alphabet_release(&l);
	automaton_release(&a);
	expression_release(&e);
}

static void test_random(void **state)
{
	uint64_t seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : 1;

	(void)state;
	for (unsigned i = 0; i < TRIALS; i++) {
		struct words_tree *t = words_new(&seed, 1 + i % 3);
		char *text;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		assert_non_null(out);
		words_print(t, out);
		fclose(out);
		for (unsigned k = 0; k < 4; k++)
			try_run(t, text, &seed);
		free(text);
		words_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_conforming),
	        cmocka_unit_test(test_unexpected),
	        cmocka_unit_test(test_skips_what_cannot_begin),
	        cmocka_unit_test(test_unfinished),
	        cmocka_unit_test(test_cut_beginning),
	        cmocka_unit_test(test_once),
	        cmocka_unit_test(test_nothing_happens),
	        cmocka_unit_test(test_nested_calls),
	        cmocka_unit_test(test_lines),
	        cmocka_unit_test(test_line_of_a_loop),
	        cmocka_unit_test(test_line_of_a_recursion),
	        cmocka_unit_test(test_line_events),
	        cmocka_unit_test(test_overlapping_symbols),
	        cmocka_unit_test(test_absent),
	        cmocka_unit_test(test_names),
	        cmocka_unit_test(test_long_history),
	        cmocka_unit_test(test_keeps_some),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("violations", tests, NULL, NULL);
}
