/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where pairs of paths are joined, and how many (S. Tallam, X. Zhang and R.
 * Gupta, "Extending path profiling across loop backedges and procedure
 * boundaries", CGO 2004), from an earlier run, for a build that counts only
 * where there are many.
 *
 * A place is a block that edges lead to which end paths: as many pairs are
 * joined there as these edges are taken.  Or it is a call, which joins two: a
 * profile with pairs has their number, from another one it is twice that of the
 * calls, if they may be of a function with marks.
 *
 * All places of the program are sorted by the number of their pairs, and the
 * first that make the share are chosen.  So one number says whether a place is:
 * the least of the chosen ones, and the compiler can ask for places that this
 * profile has cut in another way.
 *
 * Invariant: entries are sorted by key, each there once; sites by block and
 * segment.
 * Cost: O(n log n) to open, O(log n) a look-up.
 */
#include "analysis/pair_flow.h"

#include "analysis/counts.h"
#include "analysis/key.h"
#include "analysis/path_counts.h"
#include "analysis/reach.h"
#include "analysis/tagged_calls.h"
#include "base/alloc.h"
#include "base/err.h"
#include "format/calls.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/dag.h"

#include <stdlib.h>

#define MILLION 1000000u

/* A call, by the segment that it ends. */
struct call_flow {
	uint32_t block, segment;
	uint64_t n; /* pairs */
};

struct pair_flow_function {
	const struct pair_flow *of;
	const uint64_t *edges; /* in our counts */
	uint32_t nedges;
	struct call_flow *calls;
	uint32_t ncalls, calls_cap;
};

struct entry {
	struct key key;
	struct pair_flow_function f;
	const struct map *map;
	const struct map_function *function;
};

struct pair_flow {
	struct profile *profile;
	struct counts *counts;
	struct entry *entries;
	size_t n, cap;
	uint64_t enough; /* pairs of a chosen place, at least */
};

/* --- calls ----------------------------------------------------------------
 */

static int by_segment(const void *a, const void *b)
{
	const struct call_flow *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->segment < y->segment ? -1 : x->segment > y->segment;
}

static void add_call(struct pair_flow_function *f, uint32_t block,
                     uint32_t segment, uint64_t n)
{
	VEC_RESERVE(f->calls, f->ncalls, f->calls_cap);
	f->calls[f->ncalls++] = (struct call_flow){block, segment, n};
}

/* Calls of one segment, and of the same function in other modules. */
static void sum_calls(struct pair_flow_function *f)
{
	uint32_t kept = 0;

	if (f->ncalls)
		qsort(f->calls, f->ncalls, sizeof(*f->calls), by_segment);
	for (uint32_t i = 0; i < f->ncalls; i++) {
		if (kept && !by_segment(&f->calls[kept - 1], &f->calls[i]))
			f->calls[kept - 1].n += f->calls[i].n;
		else
			f->calls[kept++] = f->calls[i];
	}
	f->ncalls = kept;
}

/* The pairs of all calls that are counted at a cell. */
static uint64_t *pairs_by_cell(const struct tagged_calls *calls,
                               uint32_t module, const struct map_function *f)
{
	uint64_t *n = xcalloc((size_t)f->ncells + 1, sizeof(*n));

	for (size_t i = 0; i < calls->n && f->ncells; i++) {
		const struct profile_call *c = &calls->items[i];
		uint64_t cell = calls_cell(f, c->site);

		if (c->site_module == module && c->site >= f->counters &&
		    cell < f->ncells)
			n[cell] += c->count;
	}
	return n;
}

/* Twice how often the call of a segment was made, if it may be of a function
 * with marks. */
static uint64_t pairs_of_calls(const struct counts_module *cm,
                               const struct reach *reach, const struct entry *e,
                               uint32_t block, uint32_t segment)
{
	const struct map_function *f = e->function;
	uint32_t at =
	        e->map->blocks[f->first_block + block].first_segment + segment;

	return cm->segment_known[at] &&
	                       reach_call(reach, e->map, f, block, segment)
	               ? 2 * cm->segment[at]
	               : 0;
}

/* Sites that count pairs, and those that were left out. */
static void take_sites(const struct pair_flow *x, uint32_t module,
                       const struct reach *reach,
                       const struct tagged_calls *calls, struct entry *e)
{
	const struct map_function *f = e->function;
	uint64_t *n = pairs_by_cell(calls, module, f);

	for (uint32_t i = 0; i < f->ncalls; i++) {
		const struct map_site *s = &e->map->calls[f->first_call + i];

		add_call(&e->f, s->block, s->segment,
		         s->cell       ? n[s->cell - 1]
		         : s->left_out ? pairs_of_calls(
		                                 &x->counts->modules[module],
		                                 reach, e, s->block, s->segment)
		                       : 0);
	}
	free(n);
}

/* The same without pairs. */
static void take_outcalls(const struct pair_flow *x, uint32_t module,
                          const struct reach *reach, struct entry *e)
{
	const struct map_function *f = e->function;

	for (uint32_t i = 0; i < f->noutcalls; i++) {
		const struct map_outcall *o =
		        &e->map->outcalls[f->first_outcall + i];

		/* one of them ends the segment */
		if (i && o[-1].block == o->block && o[-1].segment == o->segment)
			continue;
		add_call(&e->f, o->block, o->segment,
		         pairs_of_calls(&x->counts->modules[module], reach, e,
		                        o->block, o->segment));
	}
}

/* --- functions -------------------------------------------------------------
 */

static bool is_usable(const struct counts_module *cm,
                      const struct counts_function *r,
                      const struct map_function *f)
{
	if (!r->covered || counts_is_inconsistent(r->doubt))
		return false;
	for (uint32_t i = 0; i < f->nedges; i++)
		if (!cm->edge_known[f->first_edge + i])
			return false;
	return true;
}

static void add_module(struct pair_flow *x, uint32_t module,
                       const struct reach *reach,
                       const struct tagged_calls *calls)
{
	const struct map *m = x->profile->modules[module].map;
	const struct counts_module *cm = &x->counts->modules[module];

	for (uint32_t i = 0; m && i < m->nfunctions; i++) {
		const struct map_function *f = &m->functions[i];
		struct entry *e;

		if (!is_usable(cm, &cm->functions[i], f))
			continue;
		VEC_RESERVE(x->entries, x->n, x->cap);
		e = &x->entries[x->n++];
		*e = (struct entry){.key = key_of(m, f),
		                    .f.of = x,
		                    .f.edges = cm->edge + f->first_edge,
		                    .f.nedges = f->nedges,
		                    .map = m,
		                    .function = f};
		if (f->pairs)
			take_sites(x, module, reach, calls, e);
		else
			take_outcalls(x, module, reach, e);
	}
}

/* Adds b, the same function in another module, to a. */
static void join(struct entry *a, struct entry *b)
{
	uint64_t *sum = (uint64_t *)(uintptr_t)a->f.edges; /* our counts */

	for (uint32_t i = 0; i < a->f.nedges && i < b->f.nedges; i++)
		sum[i] += b->f.edges[i];
	for (uint32_t i = 0; i < b->f.ncalls; i++)
		add_call(&a->f, b->f.calls[i].block, b->f.calls[i].segment,
		         b->f.calls[i].n);
	free(b->f.calls);
}

static void join_entries(struct pair_flow *x)
{
	size_t kept = 0;

	if (x->n)
		qsort(x->entries, x->n, sizeof(*x->entries), key_compare);
	for (size_t i = 0; i < x->n; i++) {
		if (kept && !key_compare(&x->entries[kept - 1], &x->entries[i]))
			join(&x->entries[kept - 1], &x->entries[i]);
		else
			x->entries[kept++] = x->entries[i];
	}
	x->n = kept;
	for (size_t i = 0; i < x->n; i++)
		sum_calls(&x->entries[i].f);
}

/* --- choosing --------------------------------------------------------------
 */

struct places {
	uint64_t *n;
	size_t count, cap;
};

static void add_place(struct places *all, uint64_t n)
{
	if (!n)
		return;
	VEC_RESERVE(all->n, all->count, all->cap);
	all->n[all->count++] = n;
}

static void add_places(struct places *all, const struct entry *e)
{
	const struct map_function *f = e->function;
	uint64_t *into = xcalloc(f->nblocks, sizeof(*into));
	enum dag_how *asked;
	struct cfg g;
	struct dag d;

	path_counts_graph(&g, &asked, e->map, f);
	dag_init(&d, &g, asked);
	if (f->ncuts)
		dag_cut(&d, e->map->cuts + f->first_cut, f->ncuts);
	for (uint32_t i = 0; i < f->nedges; i++)
		if (dag_is_ended(&d, i))
			into[g.edges[i].dst] += e->f.edges[i];
	for (uint32_t b = 1; b < f->nblocks; b++)
		add_place(all, into[b]);
	for (uint32_t i = 0; i < e->f.ncalls; i++)
		add_place(all, e->f.calls[i].n);
	dag_release(&d);
	cfg_release(&g);
	free(asked);
	free(into);
}

/* The most first. */
static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

static void choose(struct pair_flow *x, uint32_t share)
{
	struct places all = {0};
	uint64_t flow = 0, sum = 0, want;

	for (size_t i = 0; i < x->n; i++)
		add_places(&all, &x->entries[i]);
	if (all.count)
		qsort(all.n, all.count, sizeof(*all.n), by_number);
	for (size_t i = 0; i < all.count; i++)
		flow += all.n[i];
	/* flow times share, in whole pairs, rounded up */
	want = flow / MILLION * share +
	       (flow % MILLION * share + MILLION - 1) / MILLION;
	x->enough = 1;
	for (size_t i = 0; i < all.count && sum < want; i++) {
		sum += all.n[i];
		x->enough = all.n[i];
	}
	free(all.n);
}

/* --- the interface ---------------------------------------------------------
 */

int pair_flow_open(const char *path, uint32_t share, struct pair_flow **out,
                   struct cairn_err *err)
{
	struct pair_flow *x;
	struct tagged_calls calls;
	struct reach reach;
	struct profile *p;

	*out = NULL;
	CAIRN_TRY(profile_open(&p, &path, 1, NULL, err));
	x = xcalloc(1, sizeof(*x));
	x->profile = p;
	x->counts = counts_new(p);
	tagged_calls_init(&calls, p);
	reach_init(&reach, p);
	for (uint32_t i = 0; i < p->nmodules; i++)
		add_module(x, i, &reach, &calls);
	reach_release(&reach);
	tagged_calls_release(&calls);
	if (!x->n) {
		pair_flow_free(x);
		return cairn_fail(err, CAIRN_E_MISMATCH,
		                  "prefer: %s: says of no function how often "
		                  "its edges were taken; use a profile of a "
		                  "build with --cairn=paths,overlap, paths or "
		                  "edges",
		                  path);
	}
	join_entries(x);
	choose(x, share);
	*out = x;
	return 0;
}

void pair_flow_free(struct pair_flow *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->n; i++)
		free(x->entries[i].f.calls);
	free(x->entries);
	counts_free(x->counts);
	profile_free(x->profile);
	free(x);
}

const struct pair_flow_function *pair_flow_find(const struct pair_flow *x,
                                                const char *name,
                                                const char *file, uint64_t hash)
{
	const struct entry *e = key_find(x->entries, x->n, sizeof(*x->entries),
	                                 name, file, hash);

	return e ? &e->f : NULL;
}

uint64_t pair_flow_edge(const struct pair_flow_function *f, uint32_t edge)
{
	return edge < f->nedges ? f->edges[edge] : 0;
}

bool pair_flow_is_enough(const struct pair_flow_function *f, uint64_t n)
{
	return n >= f->of->enough;
}

bool pair_flow_has_site(const struct pair_flow_function *f, uint32_t block,
                        uint32_t segment)
{
	const struct call_flow key = {block, segment, 0};
	const struct call_flow *c = NULL;

	if (f->ncalls)
		c = bsearch(&key, f->calls, f->ncalls, sizeof(key), by_segment);
	return !c || pair_flow_is_enough(f, c->n);
}
