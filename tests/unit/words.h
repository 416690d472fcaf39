/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_WORDS_H
#define CAIRN_TESTS_WORDS_H

/*
 * Random path expressions with a meaning of their own: trees that are printed
 * for the parser, and matched here by brute force, by sets of places in a word.
 * Nothing is shared with src/analysis.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_SYMBOLS 5
#define WORDS_MAX 24 /* letters of a word: a set of places is one number */
#define WORDS_FOREVER UINT32_MAX

enum words_kind { WORDS_SYMBOL, WORDS_SEQUENCE, WORDS_CHOICE, WORDS_REPEAT };

struct words_tree {
	enum words_kind kind;
	unsigned symbol;
	struct words_tree *children[3];
	unsigned nchildren;
	uint32_t min, max;
};

static inline uint64_t words_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static inline unsigned words_below(uint64_t *seed, unsigned n)
{
	return (unsigned)(words_random(seed) % n);
}

static inline struct words_tree *words_new(uint64_t *seed, unsigned depth)
{
	struct words_tree *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->kind = depth ? (enum words_kind)words_below(seed, 4) : WORDS_SYMBOL;
	t->symbol = words_below(seed, WORDS_SYMBOLS);
	if (t->kind == WORDS_SEQUENCE)
		t->nchildren = words_below(seed, 4);
	else if (t->kind == WORDS_CHOICE)
		t->nchildren = 2 + words_below(seed, 2);
	else if (t->kind == WORDS_REPEAT)
		t->nchildren = 1;
	for (unsigned i = 0; i < t->nchildren; i++)
		t->children[i] = words_new(seed, depth - 1);
	t->min = words_below(seed, 3);
	t->max = words_below(seed, 2) ? WORDS_FOREVER
	                              : t->min + words_below(seed, 3);
	return t;
}

static inline void words_free(struct words_tree *t)
{
	for (unsigned i = 0; i < t->nchildren; i++)
		words_free(t->children[i]);
	free(t);
}

static inline void words_print_repeat(const struct words_tree *t, FILE *out)
{
	if (t->min == 0 && t->max == WORDS_FOREVER)
		fputs("*", out);
	else if (t->min == 1 && t->max == WORDS_FOREVER)
		fputs("+", out);
	else if (t->min == 0 && t->max == 1)
		fputs("?", out);
	else if (t->max == WORDS_FOREVER)
		fprintf(out, "{%u,}", t->min);
	else if (t->min == t->max)
		fprintf(out, "{ %u }", t->min);
	else
		fprintf(out, "{%u, %u}", t->min, t->max);
}

/* As a user could write it: symbols are a, b, ... */
static inline void words_print(const struct words_tree *t, FILE *out)
{
	if (t->kind == WORDS_SYMBOL) {
		fputc('a' + (int)t->symbol, out);
		return;
	}
	fputc('(', out);
	for (unsigned i = 0; i < t->nchildren; i++) {
		if (i)
			fputc(t->kind == WORDS_CHOICE ? '|' : ' ', out);
		words_print(t->children[i], out);
		if (t->kind == WORDS_REPEAT)
			words_print_repeat(t, out);
	}
	fputc(')', out);
}

/* A word: each letter is a set of symbols. */
struct words_word {
	unsigned letters[WORDS_MAX];
	unsigned n;
};

/* Where matches of t that begin in one of `starts` end. */
static inline uint32_t words_ends(const struct words_tree *t,
                                  const struct words_word *w, uint32_t starts)
{
	uint32_t ends = 0, more;

	if (!starts)
		return 0;
	switch (t->kind) {
	case WORDS_SYMBOL:
		for (unsigned i = 0; i < w->n; i++)
			if (starts >> i & 1 && w->letters[i] >> t->symbol & 1)
				ends |= (uint32_t)2 << i;
		return ends;
	case WORDS_SEQUENCE:
		for (unsigned i = 0; i < t->nchildren; i++)
			starts = words_ends(t->children[i], w, starts);
		return starts;
	case WORDS_CHOICE:
		for (unsigned i = 0; i < t->nchildren; i++)
			ends |= words_ends(t->children[i], w, starts);
		return ends;
	default:
		break;
	}
	for (uint32_t i = 0; i < t->min; i++)
		starts = words_ends(t->children[0], w, starts);
	ends = starts;
	for (uint32_t i = t->min; i < t->max; i++) {
		starts = words_ends(t->children[0], w, starts);
		more = ends | starts;
		if (more == ends)
			break;
		ends = more;
	}
	return ends;
}

/* From one of `starts` on, is the rest of w the beginning of a match of t? */
static inline bool words_may_go_on(const struct words_tree *t,
                                   const struct words_word *w, uint32_t starts)
{
	bool may = false;

	if (!starts)
		return false;
	switch (t->kind) {
	case WORDS_SYMBOL:
		return (starts | words_ends(t, w, starts)) >> w->n & 1;
	case WORDS_SEQUENCE:
		may = starts >> w->n & 1;
		for (unsigned i = 0; i < t->nchildren; i++) {
			may |= words_may_go_on(t->children[i], w, starts);
			starts = words_ends(t->children[i], w, starts);
		}
		return may;
	case WORDS_CHOICE:
		for (unsigned i = 0; i < t->nchildren; i++)
			may |= words_may_go_on(t->children[i], w, starts);
		return may;
	default:
		break;
	}
	may = starts >> w->n & 1;
	for (uint32_t i = 0, old = 0; i < t->max; i++) {
		may |= words_may_go_on(t->children[0], w, starts);
		starts = words_ends(t->children[0], w, starts);
		if (i >= t->min && (starts | old) == old)
			break;
		if (i >= t->min)
			old |= starts;
	}
	return may;
}

static inline bool words_match(const struct words_tree *t,
                               const struct words_word *w)
{
	return words_ends(t, w, 1) >> w->n & 1;
}

/* A tree for any number of t, one after the other. */
static inline struct words_tree words_repeated(struct words_tree *t)
{
	return (struct words_tree){.kind = WORDS_REPEAT,
	                           .children = {t},
	                           .nchildren = 1,
	                           .max = WORDS_FOREVER};
}

#endif /* CAIRN_TESTS_WORDS_H */
