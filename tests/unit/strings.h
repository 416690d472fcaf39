/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_STRINGS_H
#define CAIRN_TESTS_STRINGS_H

/*
 * Strings of symbols for the tests of grammars: random ones, of several kinds,
 * and what a program with loops and calls would write.
 */
#include "graphs.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/grammar.h"
#include "analysis/sequitur.h"
#include "base/alloc.h"

struct text {
	uint32_t *symbols;
	size_t n, cap;
};

static inline void text_add(struct text *t, uint32_t symbol)
{
	VEC_RESERVE(t->symbols, t->n, t->cap);
	t->symbols[t->n++] = symbol;
}

static inline void text_release(struct text *t)
{
	free(t->symbols);
	*t = (struct text){0};
}

/* Appends a copy of a part of itself. */
static inline void text_repeat(struct text *t, size_t from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text_add(t, t->symbols[from + i]);
}

/* At least n symbols below `alphabet`: noise, runs, copies of what was before,
 * and parts that are repeated. */
static inline void text_random(struct text *t, struct rng *r, size_t n,
                               uint32_t alphabet)
{
	uint32_t noise = rng_below(r, 100), runs = rng_below(r, 40);

	t->n = 0;
	while (t->n < n) {
		uint32_t times = 1 + rng_below(r, 6);
		size_t from, length;

		if (!t->n || rng_percent(r, noise)) {
			text_add(t, rng_below(r, alphabet));
			continue;
		}
		if (rng_percent(r, runs)) {
			while (times--)
				text_add(t, t->symbols[t->n - 1]);
			continue;
		}
		from = rng_below(r, (uint32_t)t->n);
		length = 1 + rng_below(r, 12);
		if (length > t->n - from)
			length = t->n - from;
		if (rng_percent(r, 50))
			from = t->n - length; /* a loop */
		while (times--)
			text_repeat(t, from, length);
	}
}

static inline void text_grammar(const struct text *t, struct grammar *g)
{
	struct sequitur *s = sequitur_new();

	for (size_t i = 0; i < t->n; i++)
		sequitur_push(s, t->symbols[i]);
	if (sequitur_finish(s, g, NULL) < 0)
		abort();
	sequitur_free(s);
}

#endif /* CAIRN_TESTS_STRINGS_H */
