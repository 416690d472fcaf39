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
 * either may win, BEST tries both, and then FIT with the edges out of every
 * vertex in orders that are drawn: no rule for the order is better than the
 * others (most paths first, widest first: 6 % at most), but the best of a few
 * orders is.  How far that is from the optimum: proof_prefer.
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
 * is compared where it parts, and only there; BEST draws orders until delta is
 * 1, TRIES in a row were in vain, or WORK steps are done.
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
#define PREFER_TRIES 128
#define PREFER_WORK ((uint64_t)1 << 22)

/* A prefix of interesting paths. */
struct prefix {
	uint32_t parent;
	uint32_t edge;       /* the last DAG edge of the prefix */
	uint32_t first, end; /* its paths: number[first .. end - 1] */
	int64_t min, max;    /* of their sums from here on */
	int64_t cis;         /* 1 + the greatest sum over the edges so far */
	uint32_t nplaced;    /* paths over the edges so far */
};

struct preferring {
	const struct paths *p;
	struct prefer *f;
	enum prefer_method method;
	uint32_t nprefixes, prefixes_cap;
	struct prefix *prefixes; /* [0] is the empty one */
	/* prefixes by last edge: by_edge[at[e]] .. by_edge[at[e + 1] - 1] */
	uint32_t *at, *by_edge;
	uint32_t *order; /* the edges, those out of a vertex in any order */
	uint64_t rng;
	uint64_t enough; /* give up when size cannot be below */
	/* FIT: */
	int64_t *sum;     /* per path, as far as edges have values */
	uint32_t *placed; /* per path: the last vertex with a value for it */
	bool *conflict;   /* values that are no good, from the least on */
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

/* Marks the values at which a path of `to` meets one that parted before. */
static void preferring_collide(struct preferring *w, const struct prefix *to,
                               int64_t least, size_t nvalues)
{
	const struct prefix *q = &w->prefixes[to->parent];
	uint32_t v = w->p->dag.edges[to->edge].src;

	for (uint32_t i = q->first; i < q->end; i++) {
		if (w->placed[i] != v)
			continue;
		for (uint32_t k = to->first; k < to->end; k++) {
			int64_t value = w->sum[i] - w->sum[k];

			if (value >= least &&
			    (uint64_t)(value - least) < nvalues)
				w->conflict[value - least] = true;
		}
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

		nvalues += (size_t)w->prefixes[to->parent].nplaced *
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

/* Adds the value of e to all paths through it.  False: this is too wide. */
static bool preferring_raise(struct preferring *w, uint32_t e, int64_t value)
{
	bool good = true;

	w->f->value[e] = value;
	for (uint32_t i = w->at[e]; i < w->at[e + 1]; i++) {
		const struct prefix *to = &w->prefixes[w->by_edge[i]];
		struct prefix *q = &w->prefixes[to->parent];

		if (q->cis == 0 || to->min + value < q->min)
			q->min = to->min + value;
		if (q->cis == 0 || to->max + value > q->max)
			q->max = to->max + value;
		q->cis = q->max + 1;
		q->nplaced += to->end - to->first;
		good &= (uint64_t)(q->max - q->min) + 1 < w->enough;
		for (uint32_t k = to->first; w->sum && k < to->end; k++) {
			w->sum[k] += value;
			w->placed[k] = w->p->dag.edges[e].src;
		}
	}
	return good;
}

static bool preferring_edge(struct preferring *w, uint32_t e)
{
	int64_t least, value;

	if (w->at[e] == w->at[e + 1])
		return true; /* no interesting path */
	value = preferring_join(w, e, &least);
	if (w->method == PREFER_FIT)
		value = preferring_fit(w, e, least);
	return preferring_raise(w, e, value);
}

/* --- all of them ------------------------------------------------------------
 */

/* False if the size would not be below `enough`; f has no use then. */
static bool preferring_assign(struct preferring *w)
{
	const struct dag *d = &w->p->dag;

	for (uint32_t i = d->norder; i-- > 0;) {
		uint32_t v = d->order[i];

		for (uint32_t k = d->out_at[v]; k < d->out_at[v + 1]; k++)
			if (!preferring_edge(w, w->order[k]))
				return false;
	}
	w->f->size = (uint64_t)w->prefixes[0].cis;
	assert(w->f->size <= w->p->n);
	return true;
}

static void preferring_init(struct preferring *w, struct prefer *f,
                            const struct paths *p, enum prefer_method method)
{
	*w = (struct preferring){
	        .p = p, .f = f, .method = method, .enough = UINT64_MAX};
	f->value = xcalloc((size_t)p->dag.nedges + 1, sizeof(*f->value));
	w->order = xcalloc((size_t)p->dag.nedges + 1, sizeof(*w->order));
	for (uint32_t e = 0; e < p->dag.nedges; e++)
		w->order[e] = e;
	if (method == PREFER_FIT) {
		w->sum = xcalloc((size_t)f->n + 1, sizeof(*w->sum));
		w->placed = xcalloc((size_t)f->n + 1, sizeof(*w->placed));
		memset(w->placed, 0xff, f->n * sizeof(*w->placed));
	}
	preferring_grow(w);
	preferring_sort(w);
}

static void preferring_release(struct preferring *w)
{
	free(w->prefixes);
	free(w->at);
	free(w->by_edge);
	free(w->order);
	free(w->sum);
	free(w->placed);
	free(w->conflict);
}

/* --- other orders of the edges --------------------------------------------
 */

/* A number in 0 .. n - 1.  G. Marsaglia's xorshift: any sequence will do. */
static uint32_t preferring_draw(struct preferring *w, uint32_t n)
{
	w->rng ^= w->rng << 13;
	w->rng ^= w->rng >> 7;
	w->rng ^= w->rng << 17;
	return (uint32_t)(w->rng >> 32) % n;
}

/* Forgets all values, and draws an order of the edges out of each vertex. */
static void preferring_restart(struct preferring *w)
{
	const struct dag *d = &w->p->dag;

	for (uint32_t v = 0; v < d->nvertices; v++)
		for (uint32_t i = d->out_at[v + 1]; i > d->out_at[v] + 1; i--) {
			uint32_t k = d->out_at[v] +
			             preferring_draw(w, i - d->out_at[v]);
			uint32_t e = w->order[k];

			w->order[k] = w->order[i - 1];
			w->order[i - 1] = e;
		}
	for (uint32_t i = 0; i < w->nprefixes; i++) {
		struct prefix *q = &w->prefixes[i];

		q->min = q->max = q->cis = 0;
		q->nplaced = 0;
	}
	memset(w->sum, 0, w->f->n * sizeof(*w->sum));
	memset(w->placed, 0xff, w->f->n * sizeof(*w->placed));
}

/* What one order costs, about: every path as long as it is, every pair. */
static uint64_t preferring_cost(const struct preferring *w)
{
	uint64_t cost = (uint64_t)w->f->n * w->f->n + w->p->dag.nedges;

	for (uint32_t i = 0; i < w->nprefixes; i++)
		cost += w->prefixes[i].end - w->prefixes[i].first;
	return cost;
}

/* Gives f the values that w has found; the next ones must be better. */
static void preferring_keep(struct preferring *w, struct prefer *f)
{
	int64_t *value = f->value;

	f->value = w->f->value;
	f->size = w->f->size;
	w->f->value = value;
	w->enough = f->size;
}

/* Numbers by FIT as well, and keeps what is better than f. */
static void prefer_improve(struct prefer *f, const struct paths *p)
{
	struct prefer other = {.n = f->n, .number = f->number};
	uint64_t cost, work = 0;
	struct preferring w;

	preferring_init(&w, &other, p, PREFER_FIT);
	w.enough = f->size;
	w.rng = 0x9e3779b97f4a7c15u;
	if (preferring_assign(&w))
		preferring_keep(&w, f);
	cost = preferring_cost(&w);
	for (uint32_t nvain = 0; nvain < PREFER_TRIES && f->size > f->n &&
	                         work + cost < PREFER_WORK;
	     work += cost) {
		preferring_restart(&w);
		nvain++;
		if (preferring_assign(&w)) {
			preferring_keep(&w, f);
			nvain = 0;
		}
	}
	preferring_release(&w);
	free(other.value);
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

/* Numbers the paths that f holds. */
static void prefer_assign(struct prefer *f, const struct paths *p,
                          enum prefer_method method)
{
	struct preferring w;

	preferring_init(&w, f, p,
	                method == PREFER_FIT ? PREFER_FIT : PREFER_INTERVALS);
	preferring_assign(&w);
	preferring_release(&w);
	if (method == PREFER_BEST && f->n <= PREFER_FIT_MAX)
		prefer_improve(f, p);
	f->slot = xcalloc((size_t)f->n + 1, sizeof(*f->slot));
	prefer_set_slots(f, p);
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
	prefer_assign(f, p, options->method);
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
