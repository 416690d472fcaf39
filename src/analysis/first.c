/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of first occurrences in terms of a catalog.
 *
 * Records name a function by the address of its words.  A function that was
 * compiled into several files or modules has several, and the catalog joins
 * those: name, source file if it is local, control-flow graph and cuts agree
 * (catalog.c), and so it is found.
 *
 * Cost: O(log n) per record, once the tables of all modules are sorted.
 */
#include "analysis/first.h"

#include "analysis/key.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* A function with a table. */
struct place {
	uint32_t module;
	uint64_t owner;
	uint32_t index;    /* in the map */
	uint32_t function; /* in the catalog, or NONE */
};

struct places {
	struct place *items;
	size_t n, cap;
};

static int by_owner(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->owner < y->owner ? -1 : x->owner > y->owner;
}

static bool is_residual(const struct map *m)
{
	for (uint32_t i = 0; m && i < m->nfunctions; i++)
		if (m->functions[i].paths == CAIRN_PATHS_RESIDUAL)
			return true;
	return false;
}

bool first_is_known(const struct profile *p)
{
	for (uint32_t i = 0; p->order.is_there && i < p->nmodules; i++)
		if (is_residual(p->modules[i].map))
			return true;
	return false;
}

/* --- functions of the catalog ------------------------------------------- */

/* Have equal numbers equal paths in both?  Their keys agree. */
static bool has_same_shape(const struct catalog_function *f,
                           const struct map *m, const struct map_function *g)
{
	const struct map_edge *a = f->map->edges + f->f->first_edge;
	const struct map_edge *b = m->edges + g->first_edge;

	if (f->f->nblocks != g->nblocks || f->f->nedges != g->nedges ||
	    f->f->npaths != g->npaths || f->f->ncuts != g->ncuts ||
	    (g->ncuts &&
	     memcmp(f->map->cuts + f->f->first_cut, m->cuts + g->first_cut,
	            g->ncuts * sizeof(*m->cuts))))
		return false;
	for (uint32_t i = 0; i < g->nedges; i++)
		if (a[i].src != b[i].src || a[i].dst != b[i].dst ||
		    a[i].kind != b[i].kind)
			return false;
	return true;
}

/* How a function of the catalog compares with a key. */
static int compare(const struct catalog_function *f, const struct key *key)
{
	struct key own = key_of(f->map, f->f);

	return key_compare(&own, key);
}

static uint32_t find_function(const struct catalog *c, const struct place *at)
{
	const struct map *m = c->profile->modules[at->module].map;
	const struct map_function *g = &m->functions[at->index];
	struct key key = key_of(m, g);
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare(&c->functions[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < c->n && !compare(&c->functions[lo], &key); lo++)
		if (has_same_shape(&c->functions[lo], m, g))
			return (uint32_t)lo;
	return NONE;
}

/* --- records ------------------------------------------------------------ */

static void add_places(struct places *p, const struct catalog *c,
                       uint32_t module)
{
	const struct map *m = c->profile->modules[module].map;

	for (uint32_t i = 0; i < m->nfunctions; i++) {
		const struct map_function *f = &m->functions[i];
		struct place at = {module, f->counters, i, NONE};

		if (!f->ncounters || f->paths == CAIRN_PATHS_NONE ||
		    f->paths == CAIRN_PATHS_DIRECT)
			continue;
		at.function = find_function(c, &at);
		VEC_RESERVE(p->items, p->n, p->cap);
		p->items[p->n++] = at;
	}
}

size_t first_paths(const struct catalog *c, struct first_path **out)
{
	const struct profile_order *o = &c->profile->order;
	struct places places = {0};
	size_t n = 0;

	*out = xcalloc(o->n + 1, sizeof(**out));
	for (uint32_t i = 0; i < c->profile->nmodules; i++)
		if (is_residual(c->profile->modules[i].map))
			add_places(&places, c, i);
	if (places.n)
		qsort(places.items, places.n, sizeof(*places.items), by_owner);
	for (size_t i = 0; places.n && i < o->n; i++) {
		const struct profile_first *f = &o->items[i];
		const struct place key = {f->module, f->owner, 0, 0};
		const struct place *at =
		        bsearch(&key, places.items, places.n,
		                sizeof(*places.items), by_owner);

		if (at && at->function != NONE)
			(*out)[n++] =
			        (struct first_path){at->function, f->key - 1};
	}
	free(places.items);
	return n;
}
