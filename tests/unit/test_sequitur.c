/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequitur: the examples of the paper, and for random strings of all kinds that
 * the grammar generates the string, and is one.
 */
#include "analysis/sequitur.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/err.h"
#include "strings.h"

#define ROUNDS 20000
#define LONG_ROUNDS 20

static void assert_generates(const struct grammar *g, const struct text *t)
{
	struct grammar_walk w = {0};
	uint32_t symbol;
	uint64_t n;
	size_t at = 0;

	assert_int_equal(grammar_length(g), t->n);
	grammar_seek(&w, g, 0);
	while ((n = grammar_next(&w, &symbol)))
		for (; n; n--)
			if (t->symbols[at++] != symbol)
				fail_msg("symbol %zu is %u", at - 1, symbol);
	assert_int_equal(at, t->n);
	grammar_walk_release(&w);
}

static void assert_sound(const struct grammar *g)
{
	struct cairn_err err;

	if (grammar_check(g, &err) < 0)
		fail_msg("%s", err.text);
}

/* The grammar of a string of letters, as text: rules in their order. */
static char *grammar_of(const char *string)
{
	struct text t = {0};
	struct grammar g;
	char *text = xstrdup(""), *more;

	for (; *string; string++)
		text_add(&t, (uint32_t)*string);
	text_grammar(&t, &g);
	assert_sound(&g);
	assert_generates(&g, &t);
	for (uint32_t r = 0; r < g.nrules; r++) {
		for (size_t i = g.first[r]; i < g.first[r + 1]; i++) {
			uint32_t s = g.items[i].symbol;
			char c = grammar_is_rule(s)
			                 ? (char)('0' + s - GRAMMAR_RULE)
			                 : (char)s;

			more = g.items[i].times > 1
			               ? xasprintf("%s%c^%d", text, c,
			                           (int)g.items[i].times)
			               : xasprintf("%s%c", text, c);
			free(text);
			text = more;
		}
		more = xasprintf("%s%s", text, r + 1 < g.nrules ? " " : "");
		free(text);
		text = more;
	}
	grammar_release(&g);
	text_release(&t);
	return text;
}

static void assert_grammar(const char *string, const char *wanted)
{
	char *text = grammar_of(string);

	assert_string_equal(text, wanted);
	free(text);
}

/* Figures 1 and 2 of Nevill-Manning and Witten, and what runs are. */
static void test_examples(void **state)
{
	(void)state;
	assert_grammar("", "");
	assert_grammar("a", "a");
	assert_grammar("abcdbc", "bc a0d0");
	/* the paper has S -> AA, A -> aBdB, B -> bc */
	assert_grammar("abcdbcabcdbc", "bc a0d0 1^2");
	assert_grammar("aaa", "a^3");
	assert_grammar("aaaaaaaaab", "a^9b");
	assert_grammar("xababababy", "ab x0^4y");
	assert_grammar("abbbcabbbc", "ab^3c 0^2");
}

/* A loop in a loop, of any number of turns, is as large as one turn of it. */
static void test_nested_loops(void **state)
{
	struct sequitur *s = sequitur_new();
	struct grammar g;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		for (int k = 0; k < 300; k++) {
			sequitur_push(s, 1);
			sequitur_push(s, 2);
			sequitur_push_run(s, 3, 70);
		}
		sequitur_push(s, 4);
	}
	assert_int_equal(sequitur_finish(s, &g, NULL), 0);
	sequitur_free(s);
	assert_sound(&g);
	assert_int_equal(grammar_length(&g), 1000 * (300 * 72 + 1));
	assert_int_equal(g.nrules, 3);
	assert_int_equal(grammar_nitems(&g), 3 + 2 + 1);
	grammar_release(&g);
}

static void check_text(const struct text *t)
{
	struct grammar g;

	text_grammar(t, &g);
	assert_sound(&g);
	assert_generates(&g, t);
	grammar_release(&g);
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(1);
	struct text t = {0};

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		text_random(&t, &r, rng_below(&r, 80), 1 + rng_below(&r, 6));
		check_text(&t);
	}
	for (int i = 0; i < LONG_ROUNDS; i++) {
		text_random(&t, &r, 50000, 1 + rng_below(&r, 1000));
		check_text(&t);
	}
	text_release(&t);
}

/* All strings of up to 11 symbols over two letters, and 7 over three. */
static void test_all_short(void **state)
{
	struct text t = {0};

	(void)state;
	for (uint32_t letters = 2; letters <= 3; letters++) {
		size_t most = letters == 2 ? 11 : 7, n;
		uint32_t all = 1;

		for (n = 1; n <= most; n++) {
			all *= letters;
			for (uint32_t i = 0; i < all; i++) {
				uint32_t rest = i;

				t.n = 0;
				while (t.n < n) {
					text_add(&t, rest % letters);
					rest /= letters;
				}
				check_text(&t);
			}
		}
	}
	text_release(&t);
}

/* Pushes a string in runs, which are cut anywhere, or symbol by symbol. */
static void push_runs(struct sequitur *s, const struct text *t, struct rng *r)
{
	for (size_t i = 0, n; i < t->n; i += n) {
		size_t most = 1 + rng_below(r, 9);

		for (n = 1; n < most && i + n < t->n &&
		            t->symbols[i + n] == t->symbols[i];
		     n++)
			;
		if (n == 1 && rng_percent(r, 50))
			sequitur_push(s, t->symbols[i]);
		else
			sequitur_push_run(s, t->symbols[i], n);
	}
}

/* Runs pushed at once and one by one make the same grammar. */
static void test_runs(void **state)
{
	struct rng r = rng_from_environment(2);
	struct text t = {0};

	(void)state;
	for (int i = 0; i < ROUNDS / 4; i++) {
		struct sequitur *s = sequitur_new();
		struct grammar g, one_by_one;

		text_random(&t, &r, rng_below(&r, 300), 1 + rng_below(&r, 4));
		push_runs(s, &t, &r);
		assert_int_equal(sequitur_finish(s, &g, NULL), 0);
		sequitur_free(s);
		assert_sound(&g);
		assert_generates(&g, &t);
		text_grammar(&t, &one_by_one);
		assert_int_equal(g.nrules, one_by_one.nrules);
		assert_int_equal(grammar_nitems(&g),
		                 grammar_nitems(&one_by_one));
		grammar_release(&one_by_one);
		grammar_release(&g);
	}
	text_release(&t);
}

/* Counts of turns that 32 bits do not hold, and their sums. */
static void test_big_runs(void **state)
{
	struct sequitur *s = sequitur_new();
	const uint64_t big = (uint64_t)1 << 40;
	struct grammar_walk w = {0};
	struct grammar g;
	uint32_t symbol;

	(void)state;
	for (int i = 0; i < 5; i++) {
		sequitur_push_run(s, 7, big);
		sequitur_push_run(s, 7, 0x7fffffff);
		sequitur_push_run(s, 8, 0x80000000);
	}
	sequitur_push_run(s, 7, big);
	sequitur_push(s, 9);
	assert_int_equal(sequitur_finish(s, &g, NULL), 0);
	sequitur_free(s);
	assert_sound(&g);
	assert_int_equal(grammar_length(&g), 5 * (big + 0xffffffff) + big + 1);
	grammar_seek(&w, &g, 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(grammar_next(&w, &symbol), big + 0x7fffffff);
		assert_int_equal(symbol, 7);
		assert_int_equal(grammar_next(&w, &symbol), 0x80000000);
		assert_int_equal(symbol, 8);
	}
	assert_int_equal(grammar_next(&w, &symbol), big);
	assert_int_equal(grammar_next(&w, &symbol), 1);
	assert_int_equal(grammar_next(&w, &symbol), 0);
	grammar_walk_release(&w);
	grammar_release(&g);
}

static void test_too_long(void **state)
{
	struct sequitur *s = sequitur_new();
	struct cairn_err err;
	struct grammar g;

	(void)state;
	sequitur_push_run(s, 1, UINT64_MAX);
	sequitur_push(s, 1);
	assert_int_equal(sequitur_finish(s, &g, &err), CAIRN_E_LIMIT);
	sequitur_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_examples),
	        cmocka_unit_test(test_nested_loops),
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_all_short),
	        cmocka_unit_test(test_runs),
	        cmocka_unit_test(test_big_runs),
	        cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
