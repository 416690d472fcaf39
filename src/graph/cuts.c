/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which edges to cut when a function has too many paths.
 *
 * A cut of an edge u -> v turns the P(u) * N(v) paths through it (P from the
 * start, N to the end) into P(u) that end and N(v) that begin there.  Coldest
 * first by weight alone would cut many edges that divide next to nothing, such
 * as the sides of the last branch, so a weight is set against what it buys:
 *
 *     cost = weight / (share * bits),
 *     share = P(u) * N(v) / all paths,  bits = log2 min(P(u), N(v), piece),
 *
 * the share of the paths that the cut divides, and by how many bits.  A piece
 * is as large as may be if all pieces together are to stay below the limit; to
 * divide by more buys nothing.  Where a branch has a cold side the cold side
 * goes; in a chain of equal branches both sides of one, a piece apart.
 *
 * Measured on 61 graphs of 2^60 paths or more, chains and random ones of 100 to
 * 1000 blocks: the weight of all cuts is 0.19 (geometric mean) of that of
 * coldest first, and 0.96 of that without the bound by pieces.
 *
 * P and N run to 2^V: numbers here have a 32-bit exponent of their own, and
 * logarithms are fixed point, linear between powers of two (within 0.09): this
 * is a heuristic, but the same on every machine.  A round takes one edge, since
 * each changes what the others buy (several at once: 14 % more weight).  Only
 * far above the limit it takes several that lie a limit of paths apart, so
 * that a chain of 10000 branches is done in time.
 *
 * Invariant: a chosen edge has P(u) > 1 and N(v) > 1, so cutting it leaves
 * fewer paths than before or as many (2 * 2); every round cuts, so rounds end.
 * Cost: O(E) a round, O(E log E) far above the limit.
 */
#include "graph/cuts.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/dag.h"

/* A large number: m * 2^e, with m below 2^63, and at least 2^62 if e > 0. */
struct cuts_number {
	uint64_t m;
	uint32_t e;
};

/* Logarithms to the base 2 have this many bits behind the point. */
#define CUTS_POINT 16

static struct cuts_number cuts_sum(struct cuts_number a, struct cuts_number b)
{
	struct cuts_number sum = a.e >= b.e ? a : b;
	struct cuts_number less = a.e >= b.e ? b : a;
	uint32_t shift = sum.e - less.e;

	sum.m += shift < 64 ? less.m >> shift : 0;
	if (sum.m >> 63) {
		sum.m >>= 1;
		sum.e++;
	}
	return sum;
}

/* The logarithm of a; 0 for 0. */
static int64_t cuts_log(struct cuts_number a)
{
	int top;
	uint64_t fraction;

	if (a.m == 0)
		return 0;
	top = 63 - __builtin_clzll(a.m);
	fraction = a.m ^ (uint64_t)1 << top;
	fraction = top > CUTS_POINT ? fraction >> (top - CUTS_POINT)
	                            : fraction << (CUTS_POINT - top);
	return ((int64_t)a.e + top) * (1 << CUTS_POINT) + (int64_t)fraction;
}

struct cuts_candidate {
	int64_t cost; /* logarithm */
	int64_t from; /* logarithm of P(u) */
	edge_id e;
};

struct cuts {
	const struct dag *d;
	const uint64_t *weight;
	const bool *keep;
	int64_t *from, *to;   /* logarithms of P and N, per vertex */
	int64_t limit, piece; /* logarithms */
	uint32_t ncandidates;
	struct cuts_candidate *candidates;
};

/* Far above the limit: more than this many limits of bits. */
#define CUTS_FAR 64
/* Pieces are this many bits below what would do if all were alike. */
#define CUTS_SLACK 4

static void cuts_measure_from(struct cuts *c, struct cuts_number *number)
{
	const struct dag *d = c->d;

	for (uint32_t i = 0; i < d->norder; i++) {
		uint32_t v = d->order[i];
		struct cuts_number n = {v == DAG_START, 0};

		for (uint32_t j = d->in_at[v]; j < d->in_at[v + 1]; j++)
			n = cuts_sum(n, number[d->edges[d->in[j]].src]);
		number[v] = n;
		c->from[v] = cuts_log(n);
	}
}

static void cuts_measure_to(struct cuts *c, struct cuts_number *number)
{
	const struct dag *d = c->d;

	for (uint32_t i = d->norder; i-- > 0;) {
		uint32_t v = d->order[i];
		struct cuts_number n = {v == dag_end(d), 0};

		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++)
			n = cuts_sum(n, number[d->edges[e].dst]);
		number[v] = n;
		c->to[v] = cuts_log(n);
	}
}

/* How many limits of bits there are, rounded down. */
static int64_t cuts_nlimits(const struct cuts *c)
{
	return c->to[DAG_START] / c->limit;
}

static void cuts_measure_piece(struct cuts *c)
{
	uint64_t npieces = (uint64_t)cuts_nlimits(c) + 1;
	int64_t bit = (int64_t)1 << CUTS_POINT;

	c->piece = c->limit - cuts_log((struct cuts_number){npieces, 0}) -
	           CUTS_SLACK * bit;
	if (c->piece < bit)
		c->piece = bit;
}

static int64_t cuts_cost(const struct cuts *c, const struct dag_edge *edge,
                         int64_t bits)
{
	uint64_t weight = c->weight ? c->weight[edge->of] : 1;
	int64_t lost = c->to[DAG_START] - c->from[edge->src] - c->to[edge->dst];

	if (lost < 0)
		lost = 0; /* rounding */
	assert(weight < INT64_MAX);
	return cuts_log((struct cuts_number){weight + 1, 0}) + lost -
	       cuts_log((struct cuts_number){(uint64_t)bits, 0});
}

static void cuts_consider(struct cuts *c, const struct dag_edge *edge)
{
	int64_t from = c->from[edge->src], to = c->to[edge->dst];
	int64_t bits = from < to ? from : to;

	if (bits > c->piece)
		bits = c->piece;
	if (edge->kind != DAG_STEP || edge->src == DAG_START ||
	    edge->dst == dag_end(c->d) || (c->keep && c->keep[edge->of]) ||
	    bits == 0)
		return;
	c->candidates[c->ncandidates++] = (struct cuts_candidate){
	        .cost = cuts_cost(c, edge, bits),
	        .from = from,
	        .e = edge->of,
	};
}

static int cuts_compare(const void *pa, const void *pb)
{
	const struct cuts_candidate *a = pa, *b = pb;

	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	return a->e < b->e ? -1 : a->e > b->e;
}

/* Takes candidates in order, but none within a limit of one taken before. */
static uint32_t cuts_take_many(struct cuts *c, edge_id *cut)
{
	size_t nbands = (size_t)cuts_nlimits(c) + 3;
	bool *taken = xcalloc(nbands, sizeof(*taken));
	uint32_t n = 0;

	qsort(c->candidates, c->ncandidates, sizeof(*c->candidates),
	      cuts_compare);
	for (uint32_t i = 0; i < c->ncandidates; i++) {
		size_t band = (size_t)(c->candidates[i].from / c->limit) + 1;

		/* rounding may make P(u) larger than all paths */
		band = band < nbands - 1 ? band : nbands - 2;
		if (taken[band - 1] || taken[band] || taken[band + 1])
			continue;
		taken[band] = true;
		cut[n++] = c->candidates[i].e;
	}
	free(taken);
	return n;
}

static uint32_t cuts_take_best(const struct cuts *c, edge_id *cut)
{
	const struct cuts_candidate *best = &c->candidates[0];

	for (uint32_t i = 1; i < c->ncandidates; i++)
		if (cuts_compare(&c->candidates[i], best) < 0)
			best = &c->candidates[i];
	*cut = best->e;
	return 1;
}

uint32_t cuts_choose(const struct dag *d, const uint64_t *weight,
                     const bool *keep, uint64_t limit, edge_id *cut)
{
	struct cuts c = {
	        .d = d,
	        .weight = weight,
	        .keep = keep,
	        .from = xcalloc(d->nvertices, sizeof(*c.from)),
	        .to = xcalloc(d->nvertices, sizeof(*c.to)),
	        .candidates =
	                xcalloc((size_t)d->nedges + 1, sizeof(*c.candidates)),
	};
	struct cuts_number *number = xcalloc(d->nvertices, sizeof(*number));
	uint32_t n = 0;

	c.limit = cuts_log((struct cuts_number){limit / 2 + 1, 0});
	assert(c.limit > 0);
	cuts_measure_from(&c, number);
	cuts_measure_to(&c, number);
	cuts_measure_piece(&c);
	for (uint32_t e = 0; e < d->nedges; e++)
		cuts_consider(&c, &d->edges[e]);
	if (c.ncandidates > 0)
		n = cuts_nlimits(&c) > CUTS_FAR ? cuts_take_many(&c, cut)
		                                : cuts_take_best(&c, cut);
	free(number);
	free(c.from);
	free(c.to);
	free(c.candidates);
	return n;
}
