/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Automata of path expressions against brute force over the tree: SEED=n runs
 * other ones.
 */
#include "words.h"

#include "analysis/automaton.h"
#include "analysis/expression.h"
#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define TRIALS 2500
#define WORDS 12
#define LENGTH 12

/* Symbols of the expression, from those of the tree: a, b, ... */
static uint64_t symbols_of(const struct expression *e, unsigned letter)
{
	uint64_t set = 0;

	for (uint32_t i = 0; i < e->nsymbols; i++)
		if (letter >> (e->symbols[i].pattern[0] - 'a') & 1)
			set |= (uint64_t)1 << i;
	return set;
}

static unsigned random_letter(uint64_t *seed)
{
	unsigned letter = 1u << words_below(seed, WORDS_SYMBOLS);

	if (!words_below(seed, 8))
		letter |= 1u << words_below(seed, WORDS_SYMBOLS);
	return letter;
}

/* What may come next: tried out, letter by letter. */
static uint64_t expected_by_force(const struct words_tree *t,
                                  const struct expression *e,
                                  const struct words_word *w)
{
	uint64_t set = 0;

	for (unsigned s = 0; s < WORDS_SYMBOLS; s++) {
		struct words_word longer = *w;

		longer.letters[longer.n++] = 1u << s;
		if (words_may_go_on(t, &longer, 1))
			set |= symbols_of(e, 1u << s);
	}
	return set;
}

/* Walks a random word as far as it goes. */
static void try_word(struct automaton *a, const struct words_tree *t,
                     const uint32_t *letters, uint64_t *seed)
{
	uint32_t state = automaton_start(a);
	struct words_word w = {.n = 0};
	struct cairn_err err;

	while (w.n < LENGTH) {
		uint64_t expected = 0;
		unsigned letter = random_letter(seed);

		assert_int_equal(automaton_is_final(a, state),
		                 words_match(t, &w));
		automaton_expected(a, state, &expected);
		assert_int_equal(expected, expected_by_force(t, a->e, &w));
		if (letters[letter] == AUTOMATON_OTHER)
			continue;
		w.letters[w.n++] = letter;
		assert_int_equal(
		        automaton_next(a, state, letters[letter], &state, &err),
		        0);
		assert_int_equal(state != AUTOMATON_DEAD,
		                 words_may_go_on(t, &w, 1));
		if (state == AUTOMATON_DEAD)
			break;
	}
}

static void try_tree(const struct words_tree *t, const char *text,
                     bool is_repeated, uint64_t *seed)
{
	uint32_t letters[1 << WORDS_SYMBOLS];
	struct expression e;
	struct automaton a;
	struct cairn_err err;

	assert_int_equal(expression_parse(&e, text, &err), 0);
	assert_int_equal(automaton_init(&a, &e, is_repeated, &err), 0);
	for (unsigned l = 0; l < 1 << WORDS_SYMBOLS; l++) {
		uint64_t set = symbols_of(&e, l);

		letters[l] = automaton_letter(&a, &set);
		assert_int_equal(letters[l] == AUTOMATON_OTHER, !set);
	}
	for (unsigned i = 0; e.nsymbols && i < WORDS; i++)
		try_word(&a, t, letters, seed);
	automaton_release(&a);
	expression_release(&e);
}

static void test_random(void **state)
{
	uint64_t seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : 1;

	(void)state;
	for (unsigned i = 0; i < TRIALS; i++) {
		struct words_tree *t = words_new(&seed, 1 + i % 4);
		struct words_tree again = words_repeated(t);
		char *text;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		assert_non_null(out);
		words_print(t, out);
		fclose(out);
		try_tree(t, text, false, &seed);
		try_tree(&again, text, true, &seed);
		free(text);
		words_free(t);
	}
}

/* Lets the automaton of `text` read one letter per character of `word`: '1' if
 * it is complete then, '0' if it may go on, '.' if it is dead. */
static void assert_run(const char *text, const char *word, bool is_anywhere,
                       const char *wanted)
{
	uint32_t letters[26], state;
	struct expression e;
	struct automaton a;
	struct cairn_err err;

	assert_int_equal(expression_parse(&e, text, &err), 0);
	assert_int_equal(automaton_init(&a, &e, false, &err), 0);
	for (unsigned l = 0; l < 26; l++) {
		uint64_t set = symbols_of(&e, 1u << l);

		letters[l] = automaton_letter(&a, &set);
	}
	state = is_anywhere ? automaton_anywhere(&a) : automaton_start(&a);
	for (; *word; word++, wanted++) {
		assert_int_equal(automaton_next(&a, state, letters[*word - 'a'],
		                                &state, &err),
		                 0);
		assert_int_equal(state == AUTOMATON_DEAD         ? '.'
		                 : automaton_is_final(&a, state) ? '1'
		                                                 : '0',
		                 *wanted);
	}
	automaton_release(&a);
	expression_release(&e);
}

static void test_examples(void **state)
{
	(void)state;
	assert_run("o (r|w)* c", "orrwc", false, "00001");
	assert_run("o (r|w)* c", "oo", false, "0.");
	assert_run("o (r|w)* c", "oco", false, "01.");
	assert_run("o (r|w)* c", "r", false, ".");
	assert_run("a{2,3}", "aaaa", false, "011.");
	assert_run("a{2,}", "aaaa", false, "0111");
	assert_run("(a?){3}", "aaaa", false, "111.");
	assert_run("a b{0}", "ab", false, "1.");
	/* begun unseen: any place but before the beginning, and that one too */
	assert_run("o (r|w)* c", "rwc", true, "001");
	assert_run("o (r|w)* c", "co", true, "1.");
	assert_run("o (r|w)* c", "or", true, "00");
}

/* A letter that was there before the states is as good as one among others. */
static void test_more_symbols_than_a_word(void **state)
{
	struct expression e;
	struct automaton a;
	struct cairn_err err;
	uint64_t expected[2], set[2];
	char text[1000] = "";
	uint32_t letters[70], at;

	(void)state;
	for (unsigned i = 0; i < 70; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
		         "%sf%u", i ? " " : "", i);
	assert_int_equal(expression_parse(&e, text, &err), 0);
	assert_int_equal(automaton_init(&a, &e, true, &err), 0);
	assert_int_equal(a.symbol_width, 2);
	for (unsigned i = 0; i < 70; i++) {
		set[0] = i < 64 ? (uint64_t)1 << i : 0;
		set[1] = i < 64 ? 0 : (uint64_t)1 << (i - 64);
		letters[i] = automaton_letter(&a, set);
		assert_int_equal(letters[i], i);
		assert_int_equal(automaton_letter(&a, set), i);
	}
	at = automaton_start(&a);
	for (unsigned i = 0; i < 140; i++) {
		automaton_expected(&a, at, expected);
		assert_int_equal(expected[0],
		                 i % 70 < 64 ? (uint64_t)1 << i % 70 : 0);
		assert_int_equal(
		        automaton_next(&a, at, letters[i % 70], &at, &err), 0);
		assert_int_equal(automaton_is_final(&a, at), i % 70 == 69);
	}
	automaton_release(&a);
	expression_release(&e);
}

static void test_limits(void **state)
{
	static const char *const large[] = {"a{2048}", "(a{100}){100}",
	                                    "((a b){1000}){1000}"};
	struct expression e;
	struct automaton a;
	struct cairn_err err;
	uint64_t set[] = {1, 2};
	uint32_t letters[2], at;
	int status = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++) {
		assert_int_equal(expression_parse(&e, large[i], &err), 0);
		assert_int_equal(automaton_init(&a, &e, false, &err),
		                 CAIRN_E_LIMIT);
		assert_non_null(strstr(err.text, "2047"));
		expression_release(&e);
	}
	assert_int_equal(expression_parse(&e, "(){1000000} a{2047}", &err), 0);
	assert_int_equal(automaton_init(&a, &e, false, &err), 0);
	automaton_release(&a);
	expression_release(&e);

	/* 2^40 sets, of which a walk may meet so many only */
	assert_int_equal(expression_parse(&e, "(a|b)* a (a|b){40}", &err), 0);
	assert_int_equal(automaton_init(&a, &e, false, &err), 0);
	for (unsigned i = 0; i < 2; i++)
		letters[i] = automaton_letter(&a, &set[i]);
	at = automaton_start(&a);
	for (uint64_t i = 0, seed = 1; i < 10000000 && !status; i++)
		status = automaton_next(&a, at, letters[words_below(&seed, 2)],
		                        &at, &err);
	assert_int_equal(status, CAIRN_E_LIMIT);
	assert_true(a.size < (size_t)65 << 20);
	automaton_release(&a);
	expression_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_examples),
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_more_symbols_than_a_word),
	        cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests_name("automaton", tests, NULL, NULL);
}
