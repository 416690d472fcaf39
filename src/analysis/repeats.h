/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_REPEATS_H
#define CAIRN_ANALYSIS_REPEATS_H

#include <stddef.h>
#include <stdint.h>

struct grammar;

/* What is repeated, wherever: a loop of the string. */
struct repeat {
	uint32_t symbol;       /* one turn: a symbol or a rule */
	uint64_t runs;         /* how often the loop begins */
	uint64_t turns;        /* in all */
	uint64_t fewest, most; /* turns of a run */
	uint64_t weight;       /* of all turns */
};

struct repeats {
	struct repeat *items; /* heaviest first */
	size_t n, cap;
};

/*
 * The loops of a string: all that its rules have twice or more in a row.
 *
 * Requires: grammar_measure(g, weight, ...) done.
 */
void repeats_init(struct repeats *r, const struct grammar *g,
                  const uint64_t *weight);
void repeats_release(struct repeats *r);

enum outline_kind {
	OUTLINE_SYMBOL, /* a symbol, so many times in a row */
	OUTLINE_REPEAT, /* the rows below it that are deeper, so many times */
	OUTLINE_REST, /* things that are too light, or too many, to be shown */
};

struct outline_row {
	enum outline_kind kind;
	uint32_t depth;
	uint32_t symbol; /* of a SYMBOL, or the rule of a REPEAT */
	uint64_t times;  /* of a REST: how many things */
	uint64_t weight; /* of all its executions within what is outlined */
};

struct outline {
	struct outline_row *rows;
	size_t n, cap;
};

struct outline_options {
	uint64_t lightest; /* weight that is shown */
	size_t rows;       /* that are shown, about */
};

/*
 * What a symbol or rule generates, as nested loops.
 *
 * Requires: as repeats_init.
 */
void outline_init(struct outline *o, const struct grammar *g,
                  const uint64_t *weight, uint32_t symbol,
                  const struct outline_options *options);
void outline_release(struct outline *o);

#endif /* CAIRN_ANALYSIS_REPEATS_H */
