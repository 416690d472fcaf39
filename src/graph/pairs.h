/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_PAIRS_H
#define CAIRN_GRAPH_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

struct paths;

/*
 * Numbers for what a function counts if it knows which path came before: those
 * of its paths, 0 .. n - 1, for what began at its entry, and behind them one
 * for each pair of a path and one that begins where an ended edge led.  See
 * pairs.c.
 */
struct pairs {
	uint64_t n;       /* paths */
	uint64_t first;   /* the first path that does not begin at the entry */
	uint64_t columns; /* paths from there on; 0: there are no pairs */
	uint64_t total;   /* numbers in use: 0 .. total - 1 */
};

/* A function with more paths cannot count pairs: its paths have to be cut. */
#define PAIRS_LIMIT ((uint64_t)1 << 30)

/* The first path that does not begin at the entry, or how many paths there are.
 * Any number of them is fine. */
uint64_t pairs_first(const struct paths *p);

/* Requires: p->n < PAIRS_LIMIT. */
void pairs_init(struct pairs *pairs, const struct paths *p);

/*
 * Nobody counts pairs joined by an edge to these blocks (per block): what
 * begins there has the number of its path alone.  If there are no others left,
 * there are no numbers for pairs.
 */
void pairs_leave_out(struct pairs *pairs, const struct paths *p,
                     const bool *left_out);

/* What path `before` adds to the number of the path behind it. */
static inline uint64_t pairs_row(const struct pairs *pairs, uint64_t before)
{
	return pairs->n + before * pairs->columns - pairs->first;
}

/*
 * The paths of a number; returns false if it is that of a single one, which is
 * then *path.
 *
 * Requires: number < total.
 */
bool pairs_split(const struct pairs *pairs, uint64_t number, uint64_t *before,
                 uint64_t *path);

#endif /* CAIRN_GRAPH_PAIRS_H */
