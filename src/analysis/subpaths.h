/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_SUBPATHS_H
#define CAIRN_ANALYSIS_SUBPATHS_H

#include <stddef.h>
#include <stdint.h>

struct cairn_err;
struct grammar;

/* The longest subpath that can be asked for. */
#define SUBPATHS_LONGEST 1000

struct subpaths_options {
	uint32_t shortest, longest; /* symbols */
	uint64_t threshold;         /* weight * frequency; at least 1 */
};

/* Symbols that follow each other in the string. */
struct subpath {
	const uint32_t *symbols; /* of the list */
	uint32_t n;
	uint64_t weight;    /* of its symbols, together */
	uint64_t frequency; /* places where it begins */
};

struct subpaths {
	struct subpath *items; /* by weight * frequency, greatest first */
	size_t n, cap;
	uint32_t *symbols;
	size_t nsymbols, symbols_cap;
};

/* weight * frequency, or UINT64_MAX if that is more. */
uint64_t subpath_cost(const struct subpath *p);

/*
 * The share of a number, rounded up, but at least 1: a threshold for hot
 * subpaths of a string that weighs `whole`.
 */
uint64_t subpaths_threshold(uint64_t whole, uint32_t millionths);

/*
 * Finds the minimal hot subpaths of a string: those of `shortest` to `longest`
 * symbols whose weight times frequency is the threshold or more, if no shorter
 * one that they begin with is such.  Occurrences that overlap count each.
 *
 * Requires: grammar_measure(g, weight, nsymbols) done.
 * Fails:    CAIRN_E_USAGE if the lengths make no sense; CAIRN_E_LIMIT if the
 *           grammar has more than 2^31 items.
 * Memory:   until subpaths_release.
 */
int subpaths_init(struct subpaths *s, const struct grammar *g,
                  const uint64_t *weight, uint32_t nsymbols,
                  const struct subpaths_options *o, struct cairn_err *err);
void subpaths_release(struct subpaths *s);

#endif /* CAIRN_ANALYSIS_SUBPATHS_H */
