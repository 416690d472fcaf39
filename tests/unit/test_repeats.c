/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of a grammar, and outlines: by hand, and what holds for all. */
#include "analysis/repeats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "strings.h"

#define ROUNDS 1000
#define ALPHABET 6

/* 1000 times: 1, 20 times (2 3 3 3), 4; and 5 at the end.  4 is a mark. */
static void make_nest(struct grammar *g, const uint64_t *weight)
{
	struct text t = {0};

	for (int i = 0; i < 1000; i++) {
		text_add(&t, 1);
		for (int k = 0; k < 20; k++) {
			text_add(&t, 2);
			for (int n = 0; n < 3; n++)
				text_add(&t, 3);
		}
		text_add(&t, 4);
	}
	text_add(&t, 5);
	text_grammar(&t, g);
	assert_int_equal(grammar_measure(g, weight, ALPHABET, NULL), 0);
	text_release(&t);
}

static void assert_row(const struct outline *o, size_t i, enum outline_kind k,
                       uint32_t depth, uint64_t times, uint64_t weight)
{
	assert_true(i < o->n);
	assert_int_equal(o->rows[i].kind, k);
	assert_int_equal(o->rows[i].depth, depth);
	assert_int_equal(o->rows[i].times, times);
	assert_int_equal(o->rows[i].weight, weight);
}

static void test_nest(void **state)
{
	const uint64_t weight[ALPHABET] = {0, 100, 2, 3, 0, 7};
	struct repeats r;
	struct outline o;
	struct grammar g;

	(void)state;
	make_nest(&g, weight);
	repeats_init(&r, &g, weight);
	assert_int_equal(r.n, 3);
	/* the whole; 2 3 3 3; 3 */
	assert_int_equal(r.items[0].runs, 1);
	assert_int_equal(r.items[0].turns, 1000);
	assert_int_equal(r.items[0].weight, 1000 * (100 + 20 * 11));
	assert_int_equal(r.items[1].runs, 1000);
	assert_int_equal(r.items[1].turns, 20000);
	assert_int_equal(r.items[1].fewest, 20);
	assert_int_equal(r.items[1].most, 20);
	assert_int_equal(r.items[2].symbol, 3);
	assert_int_equal(r.items[2].turns, 60000);
	repeats_release(&r);
	outline_init(&o, &g, weight, GRAMMAR_RULE + grammar_start(&g),
	             &(struct outline_options){1000, 100});
	assert_int_equal(o.n, 7);
	assert_row(&o, 0, OUTLINE_REPEAT, 0, 1000, 320000);
	assert_row(&o, 1, OUTLINE_SYMBOL, 1, 1, 100000);
	assert_row(&o, 2, OUTLINE_REPEAT, 1, 20, 220000);
	assert_row(&o, 3, OUTLINE_SYMBOL, 2, 1, 40000);
	assert_row(&o, 4, OUTLINE_SYMBOL, 2, 3, 180000);
	assert_row(&o, 5, OUTLINE_SYMBOL, 1, 1, 0); /* the mark */
	assert_row(&o, 6, OUTLINE_REST, 0, 1, 7);
	outline_release(&o);
	outline_init(&o, &g, weight, 3, &(struct outline_options){1, 1});
	assert_int_equal(o.n, 1);
	assert_row(&o, 0, OUTLINE_SYMBOL, 0, 1, 3);
	outline_release(&o);
	grammar_release(&g);
}

/* The rows below a row weigh what it does, those of depth 0 all. */
static uint64_t check_weights(const struct outline *o, size_t *at,
                              uint32_t depth)
{
	uint64_t sum = 0;

	while (*at < o->n && o->rows[*at].depth == depth) {
		const struct outline_row *r = &o->rows[(*at)++];

		sum += r->weight;
		if (r->kind == OUTLINE_REPEAT)
			assert_int_equal(check_weights(o, at, depth + 1),
			                 r->weight);
	}
	return sum;
}

/* If all is shown, the outline is the string. */
static void write_out(struct text *t, const struct outline *o, size_t *at,
                      uint32_t depth)
{
	while (*at < o->n && o->rows[*at].depth == depth) {
		const struct outline_row *r = &o->rows[(*at)++];
		size_t from = t->n, n;

		assert_int_not_equal(r->kind, OUTLINE_REST);
		if (r->kind == OUTLINE_REPEAT)
			write_out(t, o, at, depth + 1);
		else
			text_add(t, r->symbol);
		n = t->n - from;
		for (uint64_t i = 1; i < r->times; i++)
			text_repeat(t, from, n);
	}
}

static void check_outline(const struct grammar *g, const struct text *t,
                          const uint64_t *weight, uint64_t lightest)
{
	struct text written = {0};
	struct outline o;
	size_t at = 0;

	outline_init(&o, g, weight, GRAMMAR_RULE + grammar_start(g),
	             &(struct outline_options){lightest, SIZE_MAX});
	assert_int_equal(check_weights(&o, &at, 0),
	                 g->weight[grammar_start(g)]);
	assert_int_equal(at, o.n);
	at = 0;
	if (lightest == 0) {
		write_out(&written, &o, &at, 0);
		assert_int_equal(written.n, t->n);
		assert_memory_equal(written.symbols, t->symbols,
		                    t->n * sizeof(*t->symbols));
	}
	text_release(&written);
	outline_release(&o);
}

static void test_random(void **state)
{
	const uint64_t weight[ALPHABET] = {0, 5, 1, 30, 0, 2};
	struct rng r = rng_from_environment(1);
	struct text t = {0};

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct grammar g;

		text_random(&t, &r, 1 + rng_below(&r, 300),
		            1 + rng_below(&r, ALPHABET));
		text_grammar(&t, &g);
		assert_int_equal(grammar_measure(&g, weight, ALPHABET, NULL),
		                 0);
		check_outline(&g, &t, weight, 0);
		check_outline(&g, &t, weight, 1 + rng_below(&r, 200));
		grammar_release(&g);
	}
	text_release(&t);
}

/* A bound on rows is kept, but for what closes the rows above. */
static void test_rows(void **state)
{
	const uint64_t weight[ALPHABET] = {1, 1, 1, 1, 1, 1};
	struct rng r = rng_from_environment(5);
	struct text t = {0};
	struct outline o;
	struct grammar g;
	size_t at = 0;

	(void)state;
	text_random(&t, &r, 5000, ALPHABET);
	text_grammar(&t, &g);
	assert_int_equal(grammar_measure(&g, weight, ALPHABET, NULL), 0);
	outline_init(&o, &g, weight, GRAMMAR_RULE + grammar_start(&g),
	             &(struct outline_options){1, 10});
	assert_in_range(o.n, 10, 20);
	assert_int_equal(check_weights(&o, &at, 0), t.n);
	outline_release(&o);
	grammar_release(&g);
	text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_nest),
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
