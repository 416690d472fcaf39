/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drift: are the paths that were hot in one profile still hot in another?
 *
 * K. Vaswani, "Efficient online path profiling", thesis, 2007, chapter 1, asks
 * the question.  The answer is the overlap of two distributions: the sum, over
 * all paths, of the smaller one of their two shares; 1 if all shares agree, 0
 * if no path ran on both sides.  Shares are of all executions of paths on a
 * side, those of functions that cannot be compared included, so that these
 * lower the overlap.  Within a function, shares are of its own executions.
 *
 * Invariant: overlap + sum over paths of max(0, share_a - share_b) =
 * compared_a, and likewise for b.
 * Cost: O(n log n) in the number of paths that ran.
 */
#include "analysis/drift.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static double least(double x, double y)
{
	return x < y ? x : y;
}

static void add_path(struct drift *d, struct drift_path p)
{
	p.share_a = share(p.count_a, d->a->executions);
	p.share_b = share(p.count_b, d->b->executions);
	d->overlap += least(p.share_a, p.share_b);
	VEC_RESERVE(d->paths, d->npaths, d->paths_cap);
	d->paths[d->npaths++] = p;
}

/* Joins the lists of paths of both sides, which are sorted by number. */
static void add_paths(struct drift *d, uint32_t a, uint32_t b)
{
	const struct path_counts *x = &d->a->functions[a].pc;
	const struct path_counts *y = &d->b->functions[b].pc;
	size_t i = 0, k = 0;

	while (i < x->n || k < y->n) {
		bool of_a =
		        i < x->n &&
		        (k == y->n || x->items[i].number <= y->items[k].number);
		bool of_b =
		        k < y->n &&
		        (i == x->n || y->items[k].number <= x->items[i].number);

		add_path(d, (struct drift_path){
		                    .a = a,
		                    .b = b,
		                    .number = of_a ? x->items[i].number
		                                   : y->items[k].number,
		                    .count_a = of_a ? x->items[i].count : 0,
		                    .count_b = of_b ? y->items[k].count : 0,
		            });
		i += of_a;
		k += of_b;
	}
}

static void add_function(struct drift *d, uint32_t a, uint32_t b)
{
	uint64_t in_a = d->a->functions[a].executions;
	uint64_t in_b = d->b->functions[b].executions;
	size_t first = d->npaths;
	struct drift_function f = {
	        .a = a,
	        .b = b,
	        .share_a = share(in_a, d->a->executions),
	        .share_b = share(in_b, d->b->executions),
	        .has_overlap = in_a && in_b,
	};

	d->nmatched++;
	add_paths(d, a, b);
	if (first == d->npaths)
		return;
	for (size_t i = first; i < d->npaths; i++)
		f.overlap += least(share(d->paths[i].count_a, in_a),
		                   share(d->paths[i].count_b, in_b));
	d->compared_a += f.share_a;
	d->compared_b += f.share_b;
	VEC_RESERVE(d->functions, d->nfunctions, d->functions_cap);
	d->functions[d->nfunctions++] = f;
}

static int descending(double x, double y)
{
	return x > y ? -1 : x < y;
}

static double distance(double x, double y)
{
	return x > y ? x - y : y - x;
}

static int by_name(const struct drift_path *x, const struct drift_path *y)
{
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_count_a(const void *p, const void *q)
{
	const struct drift_path *x = p, *y = q;

	if (x->count_a != y->count_a)
		return x->count_a > y->count_a ? -1 : 1;
	return by_name(x, y);
}

static int by_count_b(const void *p, const void *q)
{
	const struct drift_path *x = p, *y = q;

	if (x->count_b != y->count_b)
		return x->count_b > y->count_b ? -1 : 1;
	return by_name(x, y);
}

static int by_move(const void *p, const void *q)
{
	const struct drift_path *x = p, *y = q;
	int order = descending(distance(x->share_a, x->share_b),
	                       distance(y->share_a, y->share_b));

	return order ? order : by_name(x, y);
}

static int by_function_move(const void *p, const void *q)
{
	const struct drift_function *x = p, *y = q;
	int order = descending(distance(x->share_a, x->share_b),
	                       distance(y->share_a, y->share_b));

	/* the same share, but of other paths */
	if (!order)
		order = descending(y->overlap, x->overlap);
	return order ? order : x->a < y->a ? -1 : x->a > y->a;
}

/* How many of the first paths make DRIFT_HOT of the counts of one side. */
static size_t count_hot(const struct drift *d, bool of_b)
{
	double all = 0, sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < d->npaths; i++)
		all += (double)(of_b ? d->paths[i].count_b
		                     : d->paths[i].count_a);
	while (n < d->npaths && sum < DRIFT_HOT * all) {
		sum += (double)(of_b ? d->paths[n].count_b
		                     : d->paths[n].count_a);
		n++;
	}
	return n;
}

static void find_hot(struct drift *d)
{
	struct drift_path *hot;
	double sum = 0;

	if (!d->npaths)
		return;
	qsort(d->paths, d->npaths, sizeof(*d->paths), by_count_a);
	d->nhot_a = count_hot(d, false);
	hot = xcalloc(d->nhot_a + 1, sizeof(*hot));
	memcpy(hot, d->paths, d->nhot_a * sizeof(*hot));
	qsort(d->paths, d->npaths, sizeof(*d->paths), by_count_b);
	d->nhot_b = count_hot(d, true);
	for (size_t i = 0; i < d->nhot_a; i++) {
		sum += hot[i].share_b;
		d->nstill += d->nhot_b &&
		             by_count_b(&hot[i], &d->paths[d->nhot_b - 1]) <= 0;
	}
	d->hot_in_b = d->compared_b > 0 ? sum / d->compared_b : 0;
	free(hot);
}

void drift_init(struct drift *d, const struct catalog *a,
                const struct catalog *b)
{
	*d = (struct drift){.a = a, .b = b};
	d->of_a = xcalloc(a->n + 1, sizeof(*d->of_a));
	d->of_b = xcalloc(b->n + 1, sizeof(*d->of_b));
	catalog_match(a, b, d->of_a, d->of_b);
	for (uint32_t i = 0; i < a->n; i++)
		if (d->of_a[i].fate == CATALOG_SAME)
			add_function(d, i, d->of_a[i].other);
	find_hot(d);
	if (d->npaths)
		qsort(d->paths, d->npaths, sizeof(*d->paths), by_move);
	if (d->nfunctions)
		qsort(d->functions, d->nfunctions, sizeof(*d->functions),
		      by_function_move);
}

void drift_release(struct drift *d)
{
	free(d->of_a);
	free(d->of_b);
	free(d->paths);
	free(d->functions);
	*d = (struct drift){0};
}
