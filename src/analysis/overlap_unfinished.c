/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls whose callee died in its first path.
 *
 * A build counts the pair of a call where the callee's first path ends.  If the
 * callee dies before, nobody has counted anything, but the file has the prefix
 * of the path that it was on, and that prefix begins at the entry.  Who called
 * it follows from how often calls were made (callgraph.c):
 *
 *   - a call by name that was made more often than it is in pairs has entered
 *     its callee each time, so that the difference is so many of these;
 *   - a call through a pointer may have been one of a function without marks.
 *     What died there did not come back to the site: so many calls, at most,
 *     are of callees that are still without a caller;
 *   - who is left was entered by no known call.
 *
 * Invariant: pairs of calls, unfinished calls and functions that no known call
 * entered are all entries.
 * Breaks when: a call through a pointer is of a function without marks and does
 * not come back, and somebody whom no known call entered died in his first
 * path: then this may be taken for the callee.  Only who begins the program is
 * known not to be.
 * Oracle: tests/overlap/run.py, a trace of the same run.
 * Cost: that of callgraph_new, O(calls * sites of a function).
 */
#include "analysis/overlap_unfinished.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/callgraph.h"
#include "analysis/counts.h"
#include "analysis/overlap_counts.h"
#include "analysis/reach.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/pairs.h"

struct finder {
	struct overlap_counts *x;
	const struct counts *c;
	struct callgraph *graph;
	uint64_t *begun;   /* per function: first paths that were not completed,
	                      and whose caller is not known yet */
	uint64_t *counted; /* per site: calls in pairs */
	uint64_t nthrough; /* calls through pointers that may be of these */
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t rest_of(uint64_t all, uint64_t some)
{
	return all > some ? all - some : 0;
}

static uint64_t begun_paths(const struct path_counts *pc)
{
	uint64_t first = pairs_first(&pc->paths), n = 0;

	for (size_t k = 0; k < pc->nprefixes; k++) {
		const struct path_prefix *u = &pc->prefixes[k];

		if (u->is_pending && u->sum < first &&
		    (int64_t)(u->out - u->in) > 0)
			n += u->out - u->in;
	}
	return n;
}

/* The call of a function's map that ends a segment; NULL if it is no site. */
static const struct map_site *find_call(const struct map *map,
                                        const struct map_function *f,
                                        const struct map_outcall *o)
{
	for (uint32_t i = 0; i < f->ncalls; i++) {
		const struct map_site *s = &map->calls[f->first_call + i];

		if (s->block == o->block && s->segment == o->segment)
			return s;
	}
	return NULL;
}

/* Is a call the last one of its segment, which is the site? */
static bool is_last(const struct finder *d, size_t i)
{
	const struct call *k = &d->graph->items[i], *next = k + 1;
	const struct map *map = d->c->profile->modules[k->from.module].map;
	const struct map_outcall *o = &map->outcalls[k->outcall];

	return i + 1 == d->graph->n || next->from.module != k->from.module ||
	       next->from.function != k->from.function ||
	       map->outcalls[next->outcall].block != o->block ||
	       map->outcalls[next->outcall].segment != o->segment;
}

/* How often the call at the end of a segment did not come back; at most. */
static uint64_t never_back(const struct finder *d, const struct call *k)
{
	const struct counts_module *cm = &d->c->modules[k->from.module];
	const struct map *map = d->c->profile->modules[k->from.module].map;
	const struct map_function *f = &map->functions[k->from.function];
	const struct map_outcall *o = &map->outcalls[k->outcall];
	const struct map_block *b = &map->blocks[f->first_block + o->block];
	uint32_t next = b->first_segment + o->segment + 1;

	if (o->segment + 1 < b->nsegments)
		return cm->segment_known[next]
		               ? rest_of(k->count, cm->segment[next])
		               : k->count;
	for (uint32_t e = 0; e < f->nedges; e++) {
		uint32_t at = f->first_edge + e;

		if (map->edges[at].src == o->block &&
		    map->edges[at].kind == CAIRN_EDGE_NORMAL &&
		    cm->edge_known[at])
			return rest_of(k->count, cm->edge[at]);
	}
	return k->count;
}

static void note_unfinished(struct finder *d, uint64_t n)
{
	struct overlap_excluded *excluded = &d->x->profile.excluded;

	excluded->nunfinished[OVERLAP_CALL] += n;
	excluded->nunfinished[OVERLAP_RETURN] += n;
}

/* Calls of `callee` at a site that are in no pair. */
static void take_named(struct finder *d, uint32_t site, uint32_t callee,
                       uint64_t n)
{
	struct overlap_profile *to = &d->x->profile;

	n = least(n, d->begun[callee]);
	if (!n)
		return;
	d->begun[callee] -= n;
	note_unfinished(d, n);
	for (size_t i = 0; i < to->ncalls; i++)
		if (to->calls[i].site == site &&
		    to->calls[i].callee == callee) {
			to->calls[i].ncalls += n;
			return;
		}
	VEC_RESERVE(to->calls, to->ncalls, to->calls_cap);
	to->calls[to->ncalls++] = (struct overlap_calls){site, callee, n, 0};
}

static void take_call(struct finder *d, const struct call *k, uint32_t from,
                      const struct map_site *s)
{
	uint32_t site = d->x->functions[from].first_site + s->cell - 1;
	uint32_t callee = overlap_counts_find(d->x, k->to);
	uint64_t n = rest_of(k->count, d->counted[site]);

	if (callee != d->x->n)
		take_named(d, site, callee, n);
	else if (!k->name)
		d->nthrough += least(n, never_back(d, k));
}

static void take_calls(struct finder *d, struct overlap_made *made)
{
	const struct profile *p = d->c->profile;
	struct reach reach;

	reach_init(&reach, p);
	for (size_t i = 0; i < d->graph->n; i++) {
		const struct call *k = &d->graph->items[i];
		const struct map *map = p->modules[k->from.module].map;
		const struct map_function *f =
		        &map->functions[k->from.function];
		const struct map_outcall *o = &map->outcalls[k->outcall];
		uint32_t from = overlap_counts_find(d->x, k->from);
		const struct map_site *s;

		if (from == d->x->n || !k->known || !is_last(d, i) ||
		    !(s = find_call(map, f, o)))
			continue;
		if (s->left_out &&
		    reach_call(&reach, map, f, o->block, o->segment))
			made->nleft += k->count;
		if (!s->cell)
			continue;
		made->nmade += k->count;
		take_call(d, k, from, s);
	}
	reach_release(&reach);
}

/* Nobody with marks calls it but by its name. */
static bool begins_program(const struct finder *d, uint32_t i)
{
	const struct overlap_counted *f = &d->x->functions[i];
	const struct map *map = d->c->profile->modules[f->module].map;

	return !strcmp(map_string(map, map->functions[f->index].name), "main");
}

/* The rest: calls through pointers, as far as they go. */
static void take_others(struct finder *d, struct overlap_made *made)
{
	for (uint32_t i = 0; i < d->x->n; i++) {
		uint64_t n = begins_program(d, i)
		                     ? 0
		                     : least(d->begun[i], d->nthrough);

		d->nthrough -= n;
		note_unfinished(d, n);
		made->nentries += d->begun[i] - n;
	}
}

struct overlap_made overlap_unfinished_calls(struct overlap_counts *x,
                                             const struct counts *c)
{
	struct overlap_profile *to = &x->profile;
	struct overlap_made made = {0};
	struct finder d = {
	        .x = x,
	        .c = c,
	        .graph = callgraph_new(c),
	        .begun = xcalloc((size_t)x->n + 1, sizeof(*d.begun)),
	        .counted = xcalloc((size_t)to->nsites + 1, sizeof(*d.counted)),
	};

	for (uint32_t i = 0; i < x->n; i++)
		d.begun[i] = begun_paths(&x->functions[i].pc);
	for (size_t i = 0; i < to->ncalls; i++)
		d.counted[to->calls[i].site] += to->calls[i].ncalls;
	take_calls(&d, &made);
	take_others(&d, &made);
	callgraph_free(d.graph);
	free(d.begun);
	free(d.counted);
	return made;
}
