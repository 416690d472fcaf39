/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preferential path profiling: small numbers for interesting paths.
 *
 * K. Vaswani, "Efficient online path profiling", thesis, 2007, section 3.3,
 * figure 3.10.  Vertices are processed from the end backwards, and an edge gets
 * the least value that keeps paths apart which part at its source: for every
 * prefix q that interesting paths come by, what goes on over this edge must lie
 * above what went on over the edges before it, cis(q).  The greatest of what
 * the prefixes ask for is the value (the join).  Edges without interesting
 * paths get 0.
 *
 * The interesting paths form a tree of prefixes, one node each; sorted by
 * their number, the paths through a node stand together, in the order of the
 * edges that they take.  A node needs only the interval of its paths' sums, as
 * far as edges have values: all of them rise by the value of the edge to it.
 *
 * FIT goes beyond print: sums must differ, but intervals may overlap, so the
 * least value above 0 - min is taken at which no sum of a path meets that of
 * another one with the same prefix.  It fills the holes of figure 3.11.  As
 * either may win, BEST tries both.  Median delta of 101 random sets on chains
 * of 8 joins with 4 ways each, of 10, 40, 200 interesting paths: INTERVALS 1.2,
 * 3.9, 19.9; FIT 1.1, 1.7, 3.5.  Other orders of the edges (most paths first,
 * widest first) and moving single edges afterwards gain 6 % at most.
 *
 * Invariant: once a vertex v is done, two paths that part there have different
 * sums (lemma 3.3.3), and later values are added to both alike; the sums of
 * all paths through v lie in 0 .. npaths[v] - 1.  (An edge asks for cis(q) at
 * most, and cis(q) is at most the sum of npaths over the edges before.)  So
 * nothing overflows, and size is never above that of Ball and Larus.
 * Other paths may have any sum; their Ball-Larus number tells them apart.
 *
 * Oracle: proof_paths sums value[] along every path, and compares.
 * Cost: INTERVALS O(length of all paths); FIT O(paths^2) more, as every pair
 * is compared where it parts, and only there.
 */
#include "graph/prefer.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "graph/dag.h"
#include "graph/paths.h"

#define PREFER_MAX_SIZE ((uint64_t)1 << 32)

/* A prefix of interesting paths. */
struct prefix {
	uint32_t parent;
	uint32_t edge;       /* the last DAG edge of the prefix */
	uint32_t first, end; /* its paths: number[first .. end - 1] */
	int64_t min, max;    /* of their sums from here on */
	int64_t cis;         /* 1 + the greatest sum over the edges so far */
};

struct preferring {
	const struct paths *p;
	struct prefer *f;
	enum prefer_method method;
	uint32_t nprefixes, prefixes_cap;
	struct prefix *prefixes; /* [0] is the empty one */
	/* prefixes by last edge: by_edge[at[e]] .. by_edge[at[e + 1] - 1] */
	uint32_t *at, *by_edge;
	int64_t *sum;   /* FIT: per path, as far as edges have values */
	bool *conflict; /* FIT: values that are no good, from the least on */
	size_t conflict_cap;
};

/* --- the tree of prefixes ------------------------------------------------ */

static int prefer_compare(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* Sorts the numbers, drops repeated ones, refuses wrong ones. */
static int prefer_take(struct prefer *f, const struct paths *p,
                       const uint64_t *interesting, uint32_t n,
                       struct cairn_err *err)
{
	f->number = xcalloc((size_t)n + 1, sizeof(*f->number));
	if (n > 0)
		memcpy(f->number, interesting, n * sizeof(*interesting));
	if (n > 1)
		qsort(f->number, n, sizeof(*f->number), prefer_compare);
	for (uint32_t i = 0; i < n; i++) {
		if (f->number[i] >= p->n)
			return cairn_fail(err, CAIRN_E_MISMATCH,
			                  "interesting path %" PRIu64
			                  " of a function with %" PRIu64,
			                  f->number[i], p->n);
		if (f->n == 0 || f->number[f->n - 1] != f->number[i])
			f->number[f->n++] = f->number[i];
	}
	return 0;
}

static uint32_t preferring_add(struct preferring *w, uint32_t parent,
                               uint32_t edge, uint32_t first)
{
	VEC_RESERVE(w->prefixes, w->nprefixes, w->prefixes_cap);
	w->prefixes[w->nprefixes] =
	        (struct prefix){.parent = parent, .edge = edge, .first = first};
	return w->nprefixes++;
}

/* Builds the tree, path after path: each shares a prefix with the last one. */
static void preferring_grow(struct preferring *w)
{
	uint32_t nvertices = w->p->dag.nvertices;
	uint32_t *route = xcalloc(nvertices, sizeof(*route));
	/* the prefixes of the path before, by length */
	uint32_t *last = xcalloc((size_t)nvertices + 1, sizeof(*last));
	uint32_t nlast = 0;

	last[0] = preferring_add(w, CFG_NONE, CFG_NONE, 0);
	for (uint32_t i = 0; i < w->f->n; i++) {
		uint32_t n = paths_route(w->p, w->f->number[i], route), k = 0;

		while (k < nlast && w->prefixes[last[k + 1]].edge == route[k])
			k++;
		for (; k < n; k++)
			last[k + 1] = preferring_add(w, last[k], route[k], i);
		nlast = n;
		for (k = 0; k <= n; k++)
			w->prefixes[last[k]].end = i + 1;
	}
	free(route);
	free(last);
}

/* Sorts the prefixes by their last edge. */
static void preferring_sort(struct preferring *w)
{
	uint32_t nedges = w->p->dag.nedges;
	uint32_t *next;

	w->at = xcalloc((size_t)nedges + 1, sizeof(*w->at));
	w->by_edge = xcalloc(w->nprefixes, sizeof(*w->by_edge));
	for (uint32_t i = 1; i < w->nprefixes; i++)
		w->at[w->prefixes[i].edge + 1]++;
	for (uint32_t e = 0; e < nedges; e++)
		w->at[e + 1] += w->at[e];
	next = xcalloc((size_t)nedges + 1, sizeof(*next));
	memcpy(next, w->at, (size_t)nedges * sizeof(*next));
	for (uint32_t i = 1; i < w->nprefixes; i++)
		w->by_edge[next[w->prefixes[i].edge]++] = i;
	free(next);
}

/* --- the value of one edge ------------------------------------------------ */

/* Figure 3.10, lines 3 to 12.  *least: the least that keeps sums >= 0. */
static int64_t preferring_join(const struct preferring *w, uint32_t e,
                               int64_t *least)
{
	int64_t value = INT64_MIN;

	*least = INT64_MIN;
	for (uint32_t i = w->at[e]; i < w->at[e + 1]; i++) {
		const struct prefix *to = &w->prefixes[w->by_edge[i]];
		int64_t asked = w->prefixes[to->parent].cis - to->min;

		if (asked > value)
			value = asked;
		if (-to->min > *least)
			*least = -to->min;
	}
	return value;
}

/* The paths that parted from those of `to` before, over other edges. */
static uint32_t preferring_nbefore(const struct preferring *w,
                                   const struct prefix *to)
{
	return to->first - w->prefixes[to->parent].first;
}

/* Marks the values at which a path of `to` meets one that parted before. */
static void preferring_collide(struct preferring *w, const struct prefix *to,
                               int64_t least, size_t nvalues)
{
	uint32_t before = to->first - preferring_nbefore(w, to);

	for (uint32_t i = before; i < to->first; i++)
		for (uint32_t k = to->first; k < to->end; k++) {
			int64_t value = w->sum[i] - w->sum[k];

			if (value >= least &&
			    (uint64_t)(value - least) < nvalues)
				w->conflict[value - least] = true;
		}
}

/* The least value from `least` on that keeps all sums apart.  Each pair of
 * paths rules out one value, so as many and one more are looked at. */
static int64_t preferring_fit(struct preferring *w, uint32_t e, int64_t least)
{
	int64_t value = least;
	size_t nvalues = 1;

	for (uint32_t i = w->at[e]; i < w->at[e + 1]; i++) {
		const struct prefix *to = &w->prefixes[w->by_edge[i]];

		nvalues += (size_t)preferring_nbefore(w, to) *
		           (to->end - to->first);
	}
	if (!w->conflict || nvalues > w->conflict_cap) {
		w->conflict =
		        xrealloc(w->conflict, nvalues, sizeof(*w->conflict));
		w->conflict_cap = nvalues;
	}
	memset(w->conflict, 0, nvalues * sizeof(*w->conflict));
	for (uint32_t i = w->at[e]; i < w->at[e + 1]; i++)
		preferring_collide(w, &w->prefixes[w->by_edge[i]], least,
		                   nvalues);
	while (w->conflict[value - least])
		value++;
	return value;
}

/* Adds the value of e to all paths through it. */
static void preferring_raise(struct preferring *w, uint32_t e, int64_t value)
{
	w->f->value[e] = value;
	for (uint32_t i = w->at[e]; i < w->at[e + 1]; i++) {
		const struct prefix *to = &w->prefixes[w->by_edge[i]];
		struct prefix *q = &w->prefixes[to->parent];

		if (q->cis == 0 || to->min + value < q->min)
			q->min = to->min + value;
		if (q->cis == 0 || to->max + value > q->max)
			q->max = to->max + value;
		q->cis = q->max + 1;
		for (uint32_t k = to->first; w->sum && k < to->end; k++)
			w->sum[k] += value;
	}
}

static void preferring_edge(struct preferring *w, uint32_t e)
{
	int64_t least, value;

	if (w->at[e] == w->at[e + 1])
		return; /* no interesting path */
	value = preferring_join(w, e, &least);
	if (w->method == PREFER_FIT)
		value = preferring_fit(w, e, least);
	preferring_raise(w, e, value);
}

/* --- all of them ------------------------------------------------------------
 */

static void preferring_assign(struct preferring *w)
{
	const struct dag *d = &w->p->dag;

	for (uint32_t i = d->norder; i-- > 0;) {
		uint32_t v = d->order[i];

		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++)
			preferring_edge(w, e);
	}
	w->f->size = (uint64_t)w->prefixes[0].cis;
	assert(w->f->size <= w->p->n);
}

static void prefer_set_slots(struct prefer *f, const struct paths *p)
{
	uint32_t *route = xcalloc(p->dag.nvertices, sizeof(*route));

	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t n = paths_route(p, f->number[i], route);
		uint64_t sum = 0; /* may run below 0 on the way */

		for (uint32_t k = 0; k < n; k++)
			sum += (uint64_t)f->value[route[k]];
		assert(sum < f->size);
		f->slot[i] = sum;
	}
	free(route);
}

/* Numbers the paths that f holds, by one method. */
static void prefer_assign(struct prefer *f, const struct paths *p,
                          enum prefer_method method)
{
	struct preferring w = {.p = p, .f = f, .method = method};

	f->value = xcalloc((size_t)p->dag.nedges + 1, sizeof(*f->value));
	f->slot = xcalloc((size_t)f->n + 1, sizeof(*f->slot));
	if (method == PREFER_FIT)
		w.sum = xcalloc((size_t)f->n + 1, sizeof(*w.sum));
	preferring_grow(&w);
	preferring_sort(&w);
	preferring_assign(&w);
	prefer_set_slots(f, p);
	free(w.prefixes);
	free(w.at);
	free(w.by_edge);
	free(w.sum);
	free(w.conflict);
}

/* Numbers by FIT as well, and keeps it if it is better than what f has. */
static void prefer_improve(struct prefer *f, const struct paths *p)
{
	struct prefer other = {.n = f->n, .number = f->number};

	prefer_assign(&other, p, PREFER_FIT);
	if (other.size < f->size) {
		struct prefer swap = *f;

		*f = other;
		other = swap;
	}
	free(other.value);
	free(other.slot);
}

int prefer_init(struct prefer *f, const struct paths *p,
                const uint64_t *interesting, uint32_t n,
                const struct prefer_options *options, struct cairn_err *err)
{
	uint64_t max_size =
	        options->max_size ? options->max_size : PREFER_MAX_SIZE;
	int result;

	*f = (struct prefer){0};
	result = prefer_take(f, p, interesting, n, err);
	if (result < 0) {
		prefer_release(f);
		return result;
	}
	prefer_assign(f, p,
	              options->method == PREFER_FIT ? PREFER_FIT
	                                            : PREFER_INTERVALS);
	if (options->method == PREFER_BEST && f->n <= PREFER_FIT_MAX)
		prefer_improve(f, p);
	if (f->size > max_size) {
		result = cairn_fail(err, CAIRN_E_LIMIT,
		                    "%" PRIu32 " interesting paths need "
		                    "%" PRIu64 " slots, above %" PRIu64,
		                    f->n, f->size, max_size);
		prefer_release(f);
	}
	return result;
}

void prefer_release(struct prefer *f)
{
	free(f->value);
	free(f->number);
	free(f->slot);
	*f = (struct prefer){0};
}

void prefer_owners(const struct prefer *f, uint64_t *owner)
{
	for (uint64_t s = 0; s < f->size; s++)
		owner[s] = PREFER_NONE;
	for (uint32_t i = 0; i < f->n; i++) {
		assert(owner[f->slot[i]] == PREFER_NONE);
		owner[f->slot[i]] = f->number[i];
	}
}

double prefer_delta(const struct prefer *f)
{
	return f->n ? (double)f->size / (double)f->n : 0;
}
