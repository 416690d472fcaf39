/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of paths from a profile of plain paths.
 *
 * Nothing of a pair is counted there, but bounds need no more than paths, and
 * how often each site called each function (overlap_bounds.c).  A call whose
 * callee is known by name was made as often as its block ran (callgraph.c), and
 * all of them have come back if the callee returned as often as it was entered.
 * Calls through pointers, and of functions that were left in another way or not
 * at all, are told as left out: their numbers are not known.
 *
 * If more calls of a function were made by name than it was entered the name
 * means another one, and it is left out, too.
 *
 * A function can have millions of pairs, and most have a lower bound of 0.
 * Those of the most frequent halves of each place are what is looked at.
 *
 * Invariant: real frequencies are within the bounds.
 * Oracle: a trace of the same run (tests/overlap/run.py).
 * Cost: that of overlap_margins_init, and WIDTH^2 pairs per loop and site.
 */
#include "analysis/overlap_plain.h"

#include <stdlib.h>

#include "analysis/callgraph.h"
#include "analysis/counts.h"
#include "analysis/overlap_counts.h"
#include "analysis/overlap_margins.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/dag.h"

/* Halves of a place that are looked at. */
#define WIDTH 32

/* --- calls ------------------------------------------------------------------
 */

/* What is known of all activations of a function. */
struct activity {
	uint64_t nentries, nreturns, ncalls;
	bool is_dead; /* some were not finished */
};

static bool is_return(const struct map *map, const struct map_function *f,
                      const struct overlap_graph *g, uint64_t number)
{
	const struct dag_edge *last;
	uint32_t n = paths_route(g->paths, number, g->route);

	last = &g->paths->dag.edges[g->route[n - 1]];
	return last->kind == DAG_STEP &&
	       map->edges[f->first_edge + last->of].kind == CAIRN_EDGE_RETURN;
}

static struct activity activity_of(struct overlap_counts *x,
                                   const struct profile *p, uint32_t i)
{
	const struct path_counts *pc = &x->functions[i].pc;
	const struct map *map = p->modules[x->functions[i].module].map;
	const struct map_function *f = &map->functions[x->functions[i].index];
	struct activity a = {
	        .is_dead = pc->nunknown,
	};

	for (size_t k = 0; k < pc->n; k++) {
		const struct path_count *c = &pc->items[k];
		bool goes_on =
		        overlap_goes_to(&x->graphs[i], c->number) != CFG_NONE;

		if (goes_on)
			x->profile.nin_loops += c->count;
		if (overlap_begins(&x->graphs[i], c->number) == CFG_OUTSIDE)
			a.nentries += c->count;
		else if (!goes_on)
			x->profile.nin_loops += c->count;
		if (is_return(map, f, &x->graphs[i], c->number))
			a.nreturns += c->count;
	}
	for (size_t k = 0; k < pc->nprefixes; k++)
		a.is_dead |= pc->prefixes[k].in || pc->prefixes[k].out;
	return a;
}

static void add_call(struct overlap_profile *to, uint32_t from, block_id block,
                     uint32_t callee, uint64_t n)
{
	VEC_RESERVE(to->calls, to->ncalls, to->calls_cap);
	to->calls[to->ncalls++] =
	        (struct overlap_calls){to->nsites, callee, n, n};
	VEC_RESERVE(to->sites, to->nsites, to->sites_cap);
	to->sites[to->nsites++] = (struct overlap_site){from, block};
}

static void add_calls(struct overlap_counts *x, const struct counts *c)
{
	const struct profile *p = c->profile;
	struct overlap_profile *to = &x->profile;
	struct callgraph *graph = callgraph_new(c);
	struct activity *a = xcalloc((size_t)x->n + 1, sizeof(*a));
	uint64_t nentries = 0, nknown = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		a[i] = activity_of(x, p, i);
		nentries += a[i].nentries;
	}
	/* the last one is for those that are not in x */
	for (size_t i = 0; i < graph->n; i++)
		a[overlap_counts_find(x, graph->items[i].to)].ncalls +=
		        graph->items[i].count;
	for (size_t i = 0; i < graph->n; i++) {
		const struct call *k = &graph->items[i];
		const struct map *map = p->modules[k->from.module].map;
		uint32_t from = overlap_counts_find(x, k->from);
		uint32_t callee = overlap_counts_find(x, k->to);

		if (!k->count || from == x->n)
			continue;
		if (callee == x->n || a[callee].is_dead ||
		    a[callee].nentries != a[callee].nreturns ||
		    a[callee].nentries < a[callee].ncalls) {
			to->excluded.nunmarked += k->count;
			continue;
		}
		nknown += k->count;
		add_call(to, from, map->outcalls[k->outcall].block, callee,
		         k->count);
	}
	to->excluded.nentered = nentries - nknown;
	free(a);
	callgraph_free(graph);
}

/* --- pairs to look at -------------------------------------------------------
 */

static int by_count(const void *a, const void *b)
{
	const struct overlap_item *const *x = a, *const *y = b;

	if ((*x)->count != (*y)->count)
		return (*x)->count > (*y)->count ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* The most frequent halves of a place. */
struct widest {
	const struct overlap_item **items;
	size_t n, cap;
};

static void widest_take(struct widest *w, const struct overlap_items *from,
                        uint32_t group)
{
	size_t n;
	const struct overlap_item *items = overlap_items_of(from, group, &n);

	if (n > w->cap) {
		w->cap = 2 * n;
		w->items = xrealloc(w->items, w->cap, sizeof(*w->items));
	}
	for (size_t i = 0; i < n; i++)
		w->items[i] = &items[i];
	if (n)
		qsort(w->items, n, sizeof(*w->items), by_count);
	w->n = n < WIDTH ? n : WIDTH;
}

struct looker {
	struct overlap_margins m; /* of paths and calls */
	struct overlap_profile *to;
	struct widest rows, columns;
};

static void look_add(struct looker *l, enum overlap_kind kind,
                     struct overlap_end from, struct overlap_end to)
{
	VEC_RESERVE(l->to->counts, l->to->ncounts, l->to->counts_cap);
	l->to->counts[l->to->ncounts++] =
	        (struct overlap_count){kind, from, to, 0};
}

/* Any row with any column. */
static void look_at(struct looker *l, enum overlap_kind kind,
                    const struct overlap_calls *call)
{
	for (size_t i = 0; i < l->rows.n; i++)
		for (size_t k = 0; k < l->columns.n; k++) {
			const struct overlap_item *r = l->rows.items[i];
			const struct overlap_item *c = l->columns.items[k];
			struct overlap_end from = {c->function, CFG_NONE,
			                           r->number, CFG_NONE};
			struct overlap_end to = {c->function, CFG_NONE,
			                         c->number, CFG_NONE};

			if (kind == OVERLAP_CALL)
				from = (struct overlap_end){
				        l->to->sites[call->site].function,
				        call->site, r->sum,
				        l->to->sites[call->site].block};
			if (kind == OVERLAP_RETURN) {
				from = (struct overlap_end){call->callee,
				                            CFG_NONE, r->sum,
				                            CFG_NONE};
				to.site = call->site;
			}
			look_add(l, kind, from, to);
		}
}

static void look(struct looker *l, enum overlap_kind kind, uint32_t before,
                 uint32_t behind, const struct overlap_calls *call)
{
	widest_take(&l->rows, &l->m.first[kind], before);
	widest_take(&l->columns, &l->m.second[kind], behind);
	look_at(l, kind, call);
}

static void add_pairs(struct overlap_counts *x)
{
	struct looker l = {.to = &x->profile};
	const struct overlap_items *loops = &l.m.first[OVERLAP_LOOP];

	overlap_margins_init(&l.m, &x->profile);
	for (size_t i = 0, n; i < loops->n; i += n) {
		uint32_t group = loops->items[i].group;

		overlap_items_of(loops, group, &n);
		look(&l, OVERLAP_LOOP, group, group, NULL);
	}
	for (size_t i = 0; i < x->profile.ncalls; i++) {
		const struct overlap_calls *c = &x->profile.calls[i];

		look(&l, OVERLAP_CALL, c->site, c->callee, c);
		look(&l, OVERLAP_RETURN, c->callee, c->site, c);
	}
	free(l.rows.items);
	free(l.columns.items);
	overlap_margins_release(&l.m);
}

void overlap_plain_fill(struct overlap_counts *x, const struct counts *c)
{
	add_calls(x, c);
	add_pairs(x);
}
