/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as messages of an arithmetic coder.
 *
 * K. Vaswani, "Efficient online path profiling", thesis, 2007, chapter 4.  A
 * path is a string of edges, and a vertex is the context in which the next edge
 * has a probability.  If that is its share of the paths from there on, the code
 * of a path is its Ball-Larus number, and the entropy log2 of their number;
 * with measured shares the entropy says how many bits a path is worth in this
 * program, and 2^entropy how many equally likely paths it behaves like.
 *
 * The entropy of the paths is not summed over paths, of which there may be
 * 2^60, but by the chain rule: paths of a model are walks whose next edge
 * depends on the vertex alone, so H is the sum over all vertices of the
 * probability to get there times the entropy of the choice there.
 *
 * Weights are integers, and ranges are narrowed without rounding errors.
 * Oracle: the worked examples of the thesis, and sums over all paths, in
 * test_model.
 * Cost: O(V + E), and O(length) per path.
 */
#include "analysis/model.h"

#include "analysis/path_counts.h"
#include "base/alloc.h"
#include "graph/paths.h"

#include <assert.h>
#include <math.h> /* frexp and ldexp, which need no libm */
#include <stdlib.h>

#define LN2 0.69314718055994530942

/* log2(x) by the series of atanh; to the last bits of a double. */
static double log_2(double x)
{
	int exponent;
	double m = frexp(x, &exponent), t, square, term, sum = 0;

	if (m < 0.70710678118654752440) {
		m *= 2;
		exponent--;
	}
	t = (m - 1) / (m + 1); /* less than 0.172 */
	square = t * t;
	term = t;
	for (int k = 1; k < 28; k += 2) {
		sum += term / k;
		term *= square;
	}
	return exponent + 2 * sum / LN2;
}

/* 2^x for x >= 0. */
static double power_of_2(double x)
{
	int whole = x < 2000 ? (int)x : 2000; /* more is infinite */
	double rest = (x - whole) * LN2, term = 1, sum = 0;

	for (int k = 1; k < 24; k++) {
		sum += term;
		term *= rest / k;
	}
	return ldexp(sum, whole);
}

/* a * b / c, rounded down or up. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c, bool up)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)((product + (up ? c - 1 : 0)) / c);
}

struct model_range model_narrow(struct model_range range,
                                const uint64_t *weight, size_t n, size_t symbol)
{
	uint64_t before = 0, sum = 0, size = range.high - range.low;

	assert(symbol < n);
	for (size_t i = 0; i < n; i++) {
		if (i < symbol)
			before += weight[i];
		sum += weight[i];
	}
	return (struct model_range){
	        range.low + scale(before, size, sum, false),
	        range.low + scale(before + weight[symbol], size, sum, true),
	};
}

double model_bits(const uint64_t *weight, size_t n)
{
	double sum = 0, bits = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)weight[i];
	for (size_t i = 0; i < n; i++)
		if (weight[i]) {
			double p = (double)weight[i] / sum;

			bits -= p * log_2(p);
		}
	return bits;
}

void model_init_uniform(struct model *m, const struct paths *p)
{
	const struct dag *d = &p->dag;

	*m = (struct model){p, xcalloc(d->nedges, sizeof(*m->weight))};
	for (uint32_t e = 0; e < d->nedges; e++)
		m->weight[e] = p->npaths[d->edges[e].dst];
}

void model_init_measured(struct model *m, const struct paths *p,
                         const struct path_count *items, size_t n)
{
	const struct dag *d = &p->dag;
	uint32_t *route = xcalloc(d->nvertices, sizeof(*route));

	*m = (struct model){p, xcalloc(d->nedges, sizeof(*m->weight))};
	for (size_t i = 0; i < n; i++) {
		uint32_t length = paths_route(p, items[i].number, route);

		for (uint32_t k = 0; k < length; k++)
			m->weight[route[k]] += items[i].count;
	}
	free(route);
}

void model_release(struct model *m)
{
	free(m->weight);
	*m = (struct model){0};
}

double model_probability(const struct model *m, uint32_t edge)
{
	const struct dag *d = &m->p->dag;
	uint32_t v = d->edges[edge].src;
	double sum = 0;

	for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++)
		sum += (double)m->weight[e];
	return sum > 0 ? (double)m->weight[edge] / sum : 0;
}

double model_entropy(const struct model *m)
{
	const struct dag *d = &m->p->dag;
	double *reached = xcalloc(d->nvertices, sizeof(*reached));
	double bits = 0;

	reached[DAG_START] = 1;
	for (uint32_t i = 0; i < d->norder; i++) {
		uint32_t v = d->order[i], first = d->out_at[v];
		uint32_t n = d->out_at[v + 1] - first;

		bits += reached[v] * model_bits(m->weight + first, n);
		for (uint32_t e = first; e < first + n; e++)
			reached[d->edges[e].dst] +=
			        reached[v] * model_probability(m, e);
	}
	free(reached);
	return bits;
}

uint64_t model_encode(const struct model *m, uint64_t size, uint64_t number)
{
	const struct dag *d = &m->p->dag;
	uint32_t *route = xcalloc(d->nvertices, sizeof(*route));
	uint32_t length = paths_route(m->p, number, route);
	struct model_range range = {0, size};

	for (uint32_t i = 0; i < length; i++) {
		uint32_t first = d->out_at[d->edges[route[i]].src];
		uint32_t end = d->out_at[d->edges[route[i]].src + 1];

		range = model_narrow(range, m->weight + first, end - first,
		                     route[i] - first);
	}
	free(route);
	return range.low;
}

double model_gamma(double entropy, uint64_t n)
{
	return n ? power_of_2(entropy) / (double)n : 0;
}
