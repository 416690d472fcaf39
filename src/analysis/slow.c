/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edge counts of a build that counts blocks ("slow" of T. Ball and J. Larus,
 * "Optimally profiling and tracing programs", TOPLAS 16(4), 1994, section 5).
 *
 * Block counts do not determine all edges: that takes a graph without certain
 * cycles.  Every block gives two equations, one for the edges into it and one
 * for those out of it; an equation with one unknown solves it, which may leave
 * another with one unknown.  What stays is unknown and is reported as such.
 *
 * Invariant: a value is marked known only if it follows from known values.
 * Cost: O(V + E): each equation is looked at when one of its terms becomes
 * known, and summed at most twice.
 */
#include "analysis/slow.h"

#include "base/alloc.h"
#include "graph/cfg.h"

#include <stdlib.h>

struct solver {
	const struct cfg *g;
	const uint64_t *extra_in, *extra_out;
	uint64_t *entered, *edge;
	bool *entered_known, *edge_known;
	uint32_t *unknown; /* per equation: terms not known yet */
	uint32_t *ready;   /* equations with one unknown, or none */
	uint32_t nready;
};

/* Equation 2b: edges into b; equation 2b + 1: edges out of b. */
static bool is_out(uint32_t equation)
{
	return equation & 1;
}

static const edge_id *terms(const struct solver *s, uint32_t equation,
                            uint32_t *n)
{
	const struct cfg *g = s->g;
	uint32_t b = equation / 2;
	const uint32_t *at = is_out(equation) ? g->out_at : g->in_at;

	*n = at[b + 1] - at[b];
	return (is_out(equation) ? g->out : g->in) + at[b];
}

static void note(struct solver *s, uint32_t equation)
{
	if (--s->unknown[equation] == 1)
		s->ready[s->nready++] = equation;
}

static void know_edge(struct solver *s, edge_id e, uint64_t count)
{
	const struct cfg_edge *edge = &s->g->edges[e];

	s->edge[e] = count;
	s->edge_known[e] = true;
	if (edge->src)
		note(s, 2 * edge->src + 1);
	if (edge->dst)
		note(s, 2 * edge->dst);
}

static void know_block(struct solver *s, block_id b, uint64_t count)
{
	s->entered[b] = count;
	s->entered_known[b] = true;
	note(s, 2 * b);
	note(s, 2 * b + 1);
}

/* Sum of the known edges; *open is the last unknown one, or CFG_NONE. */
static uint64_t sum_edges(const struct solver *s, uint32_t equation,
                          edge_id *open)
{
	uint32_t n;
	const edge_id *e = terms(s, equation, &n);
	uint64_t sum = 0;

	*open = CFG_NONE;
	for (uint32_t i = 0; i < n; i++) {
		if (s->edge_known[e[i]])
			sum += s->edge[e[i]];
		else
			*open = e[i];
	}
	return sum;
}

/* What leaves a block more than enters it by edges. */
static uint64_t surplus(const struct solver *s, block_id b)
{
	return (s->extra_in ? s->extra_in[b] : 0) -
	       (s->extra_out ? s->extra_out[b] : 0);
}

static void solve(struct solver *s, uint32_t equation)
{
	block_id b = equation / 2;
	uint64_t extra = is_out(equation) ? surplus(s, b) : 0;
	edge_id open;
	uint64_t sum = sum_edges(s, equation, &open);

	if (s->unknown[equation] != 1)
		return; /* solved from its other side meanwhile */
	if (open != CFG_NONE)
		know_edge(s, open, s->entered[b] + extra - sum);
	else
		know_block(s, b, sum - extra);
}

static void count_unknowns(struct solver *s)
{
	for (uint32_t q = 2; q < 2 * s->g->nblocks; q++) {
		uint32_t n;
		const edge_id *e = terms(s, q, &n);

		s->unknown[q] = !s->entered_known[q / 2];
		for (uint32_t i = 0; i < n; i++)
			s->unknown[q] += !s->edge_known[e[i]];
		if (s->unknown[q] == 1)
			s->ready[s->nready++] = q;
	}
}

/* The first block where a fully known equation does not hold. */
static uint32_t find_contradiction(const struct solver *s)
{
	for (uint32_t q = 2; q < 2 * s->g->nblocks; q++) {
		block_id b = q / 2;
		uint64_t extra = is_out(q) ? surplus(s, b) : 0;
		edge_id open;
		uint64_t sum = sum_edges(s, q, &open);

		if (open == CFG_NONE && s->entered_known[b] &&
		    s->entered[b] + extra != sum)
			return b;
	}
	return 0;
}

uint32_t slow_derive(const struct cfg *g, const uint64_t *extra_in,
                     const uint64_t *extra_out, uint64_t *entered,
                     bool *entered_known, uint64_t *edge, bool *edge_known)
{
	struct solver s = {
	        .g = g,
	        .extra_in = extra_in,
	        .extra_out = extra_out,
	        .entered = entered,
	        .edge = edge,
	        .entered_known = entered_known,
	        .edge_known = edge_known,
	        .unknown = xcalloc(2 * (size_t)g->nblocks, sizeof(uint32_t)),
	        .ready = xcalloc(2 * (size_t)g->nblocks, sizeof(uint32_t)),
	};
	uint32_t bad;

	count_unknowns(&s);
	while (s.nready)
		solve(&s, s.ready[--s.nready]);
	bad = find_contradiction(&s);
	free(s.unknown);
	free(s.ready);
	return bad;
}
