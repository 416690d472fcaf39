/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finished grammars: lengths, weights, counts, places and bytes against the
 * expanded string; what is not sound is found; no bytes are trusted.
 */
#include "analysis/grammar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/err.h"
#include "strings.h"

#define ROUNDS 1000
#define ALPHABET 8

/* Rules as rows of items, with an item of 0 times behind the last of each. */
#define ROW 6
static int make(struct grammar *g, struct grammar_item (*rows)[ROW], uint32_t n,
                struct cairn_err *err)
{
	struct grammar_item *items = xcalloc((size_t)n * ROW, sizeof(*items));
	size_t *first = xcalloc(n + 1, sizeof(*first)), k = 0;

	for (uint32_t r = 0; r < n; r++) {
		for (int i = 0; i < ROW && rows[r][i].times; i++)
			items[k++] = rows[r][i];
		first[r + 1] = k;
	}
	return grammar_init(g, items, first, n, err);
}

#define RULE(r) (GRAMMAR_RULE + (r))

static void assert_check(struct grammar_item (*rows)[ROW], uint32_t n,
                         const char *wanted)
{
	struct cairn_err err = {0};
	struct grammar g;

	assert_int_equal(make(&g, rows, n, NULL), 0);
	assert_int_equal(grammar_check(&g, &err), wanted ? CAIRN_E_CORRUPT : 0);
	if (wanted)
		assert_non_null(strstr(err.text, wanted));
	grammar_release(&g);
}

static void test_check(void **state)
{
	struct grammar_item good[][ROW] = {
	        {{1, 1}, {2, 1}},
	        {{RULE(0), 2}, {3, 1}},
	        {{RULE(1), 1}, {1, 1}, {RULE(1), 1}}};
	struct grammar_item twice[][ROW] = {
	        {{1, 1}, {2, 1}}, {{RULE(0), 2}, {3, 1}, {1, 1}, {2, 1}}};
	/* the same symbols, but another number of times */
	struct grammar_item other[][ROW] = {
	        {{1, 1}, {2, 1}}, {{RULE(0), 2}, {3, 1}, {1, 2}, {2, 1}}};
	struct grammar_item within[][ROW] = {
	        {{1, 1}, {2, 1}, {3, 1}, {1, 1}, {2, 1}}};
	struct grammar_item equal[][ROW] = {{{1, 1}, {1, 2}}};
	struct grammar_item once[][ROW] = {{{1, 1}, {2, 1}},
	                                   {{RULE(0), 1}, {3, 1}}};
	struct grammar_item single[][ROW] = {{{1, 2}}, {{RULE(0), 2}, {3, 1}}};

	(void)state;
	assert_check(good, 3, NULL);
	assert_check(twice, 2, "digram");
	assert_check(other, 2, NULL);
	assert_check(within, 1, "digram");
	assert_check(equal, 1, "neighbours");
	assert_check(once, 2, "twice");
	assert_check(single, 2, "two items");
}

static void test_refused(void **state)
{
	struct grammar_item cycle[][ROW] = {{{1, 1}, {RULE(0), 1}}};
	struct grammar_item above[][ROW] = {{{RULE(1), 1}}, {{1, 1}}};
	struct grammar_item empty[][ROW] = {{{0}}, {{RULE(0), 1}}};
	struct grammar_item longest[][ROW] = {
	        {{1, (uint64_t)1 << 32}},
	        {{RULE(0), ((uint64_t)1 << 32) - 1}, {1, UINT32_MAX}}};
	struct grammar_item more[][ROW] = {{{1, (uint64_t)1 << 32}},
	                                   {{RULE(0), (uint64_t)1 << 32}}};
	struct grammar g;

	(void)state;
	assert_int_equal(make(&g, cycle, 1, NULL), CAIRN_E_CORRUPT);
	assert_int_equal(make(&g, above, 2, NULL), CAIRN_E_CORRUPT);
	assert_int_equal(make(&g, empty, 2, NULL), CAIRN_E_CORRUPT);
	assert_int_equal(make(&g, more, 2, NULL), CAIRN_E_LIMIT);
	assert_int_equal(make(&g, longest, 2, NULL), 0);
	assert_int_equal(grammar_length(&g), UINT64_MAX);
	grammar_release(&g);
}

static void test_measure_refused(void **state)
{
	struct grammar_item rows[][ROW] = {{{1, 1}, {2, 1}},
	                                   {{RULE(0), 2}, {0, 1}}};
	const uint64_t heavy[] = {1, (uint64_t)1 << 63, 0}, fine[] = {1, 2, 3};
	struct grammar g;

	(void)state;
	assert_int_equal(make(&g, rows, 2, NULL), 0);
	assert_int_equal(grammar_nsymbols(&g), 3);
	assert_int_equal(grammar_measure(&g, fine, 2, NULL), CAIRN_E_MISMATCH);
	assert_int_equal(grammar_measure(&g, heavy, 3, NULL), CAIRN_E_LIMIT);
	assert_int_equal(grammar_measure(&g, fine, 3, NULL), 0);
	assert_int_equal(g.weight[1], 11);
	grammar_release(&g);
}

/* How often a rule occurs, by expanding all of them. */
static void count_rules(const struct grammar *g, uint32_t rule,
                        uint64_t *counts)
{
	counts[rule]++;
	for (size_t i = g->first[rule]; i < g->first[rule + 1]; i++)
		for (uint64_t k = 0; grammar_is_rule(g->items[i].symbol) &&
		                     k < g->items[i].times;
		     k++)
			count_rules(g, g->items[i].symbol - GRAMMAR_RULE,
			            counts);
}

static void check_measures(struct grammar *g, const struct text *t)
{
	uint64_t weight[ALPHABET], sum = 0;
	uint64_t *counts = xcalloc(g->nrules, sizeof(*counts));

	for (uint32_t i = 0; i < ALPHABET; i++)
		weight[i] = i * i;
	for (size_t i = 0; i < t->n; i++)
		sum += weight[t->symbols[i]];
	assert_int_equal(grammar_measure(g, weight, ALPHABET, NULL), 0);
	assert_int_equal(g->weight[grammar_start(g)], sum);
	count_rules(g, grammar_start(g), counts);
	for (uint32_t r = 0; r < g->nrules; r++)
		assert_int_equal(g->occurrences[r], counts[r]);
	free(counts);
}

/* Two parts of the string: counted, and read from a place in it. */
static void check_parts(const struct grammar *g, const struct text *t,
                        struct rng *r)
{
	uint64_t counts[ALPHABET] = {0}, wanted[ALPHABET] = {0};
	struct grammar_range ranges[2];
	struct grammar_walk w = {0};

	for (int k = 0; k < 2; k++) {
		uint64_t from = rng_below(r, (uint32_t)t->n + 1);
		uint64_t to = from + rng_below(r, (uint32_t)(t->n - from) + 1);
		uint64_t at = from, n;
		uint32_t symbol;

		ranges[k] = (struct grammar_range){from, to};
		for (uint64_t i = from; i < to; i++)
			wanted[t->symbols[i]]++;
		grammar_seek(&w, g, from);
		while ((n = grammar_next(&w, &symbol)))
			for (; n; n--)
				assert_int_equal(t->symbols[at++], symbol);
		assert_int_equal(at, t->n);
	}
	grammar_count(g, ranges, 2, counts);
	assert_memory_equal(counts, wanted, sizeof(counts));
	grammar_walk_release(&w);
}

static void assert_same(const struct grammar *a, const struct grammar *b)
{
	assert_int_equal(a->nrules, b->nrules);
	for (uint32_t r = 0; r <= a->nrules; r++)
		assert_int_equal(a->first[r], b->first[r]);
	for (size_t i = 0; i < grammar_nitems(a); i++) {
		assert_int_equal(a->items[i].symbol, b->items[i].symbol);
		assert_int_equal(a->items[i].times, b->items[i].times);
	}
}

static void check_bytes(const struct grammar *g)
{
	struct bytes b = {0};
	struct grammar read;

	grammar_write(g, &b);
	assert_int_equal(grammar_read(&read, b.data, b.n, "x", NULL), 0);
	assert_same(g, &read);
	grammar_release(&read);
	bytes_release(&b);
}

static void test_random(void **state)
{
	struct rng r = rng_from_environment(1);
	struct text t = {0};

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct grammar g;

		text_random(&t, &r, rng_below(&r, 500),
		            1 + rng_below(&r, ALPHABET));
		text_grammar(&t, &g);
		check_measures(&g, &t);
		check_parts(&g, &t, &r);
		check_bytes(&g);
		grammar_release(&g);
	}
	text_release(&t);
}

/* Reads bytes that may be anything; what is read can be walked. */
static bool read_any(const unsigned char *data, size_t n)
{
	struct grammar_walk w = {0};
	struct grammar g;
	uint32_t symbol;

	if (grammar_read(&g, data, n, "x", NULL) < 0)
		return false;
	grammar_seek(&w, &g, grammar_length(&g) / 2);
	for (int i = 0; i < 100 && grammar_next(&w, &symbol); i++)
		assert_true(symbol < GRAMMAR_RULE);
	grammar_walk_release(&w);
	grammar_release(&g);
	return true;
}

/* No truncation reads as a grammar; no change of a byte does harm. */
static void test_damage(void **state)
{
	struct rng r = rng_from_environment(3);
	struct text t = {0};
	struct bytes b = {0};
	struct grammar g;
	size_t nread = 0;

	(void)state;
	text_random(&t, &r, 3000, 40);
	text_grammar(&t, &g);
	grammar_write(&g, &b);
	for (size_t n = 0; n < b.n; n++)
		assert_false(read_any(b.data, n));
	for (size_t i = 0; i < b.n; i++) {
		unsigned char was = b.data[i];

		for (int bit = 0; bit < 8; bit++) {
			b.data[i] = (unsigned char)(was ^ 1 << bit);
			nread += read_any(b.data, b.n);
		}
		b.data[i] = was;
	}
	assert_true(nread > 0);
	bytes_release(&b);
	grammar_release(&g);
	text_release(&t);
}

/* Few bytes that say much: numbers of rules and items that are not there. */
static void test_claims(void **state)
{
	static const unsigned char none[] = {0};
	static const unsigned char rules[] = {0xff, 0xff, 0xff, 0xff, 0x07, 0};
	static const unsigned char items[] = {1, 0xff, 0xff, 0xff, 0xff, 0x0f};
	static const unsigned char loop[] = {1, 1, 2}; /* uses itself */
	static const unsigned char more[] = {1, 1, 4, 0};
	static const unsigned char fine[] = {1, 1, 4};
	/* once more than 2^64 - 1 times */
	static const unsigned char times[] = {1,    1,    5,    0xff, 0xff,
	                                      0xff, 0xff, 0xff, 0xff, 0xff,
	                                      0xff, 0xff, 0x01};

	(void)state;
	assert_false(read_any(none, sizeof(none)));
	assert_false(read_any(rules, sizeof(rules)));
	assert_false(read_any(items, sizeof(items)));
	assert_false(read_any(loop, sizeof(loop)));
	assert_false(read_any(more, sizeof(more)));
	assert_false(read_any(times, sizeof(times)));
	assert_true(read_any(fine, sizeof(fine)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_check),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_measure_refused),
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_damage),
	        cmocka_unit_test(test_claims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
