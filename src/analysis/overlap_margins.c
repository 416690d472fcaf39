/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From counts of paths to counts of halves of pairs.
 *
 * A path that ends with an ended edge is a first half, one that begins behind
 * one a second half, one that enters a function the second half of a call, and
 * so on; a path through a call has a first half of it, up to there, and a
 * second one, from there.  The same half comes from many paths: they are sorted
 * by name, and what has one name is added up.
 *
 * A second half is one of a path that was completed: the frame may have died
 * behind the loop, but no build knows of that (pairs are counted where paths
 * end).
 *
 * Paths that were not completed have first halves as well, up to where they
 * were.  Those that come by a site's block, in whichever of its calls they
 * ended, are counted for all of its sites: what follows from these counts is an
 * upper bound of the flow in any case.
 *
 * Invariant: what is joined at a place goes from first halves to second ones,
 * or is open: LOOP: the sum of the first is at most that of the second and the
 * open ones.
 * Cost: O(sum of the lengths of all paths + n log n).
 */
#include "analysis/overlap_margins.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/dag.h"
#include "graph/paths.h"

/* --- items -----------------------------------------------------------------
 */

static int by_name(const void *a, const void *b)
{
	const struct overlap_item *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->last != y->last)
		return x->last < y->last ? -1 : 1;
	return x->sum < y->sum ? -1 : x->sum > y->sum;
}

static void items_add(struct overlap_items *x, struct overlap_item item)
{
	VEC_RESERVE(x->items, x->n, x->cap);
	x->items[x->n++] = item;
}

static void items_sum(struct overlap_items *x)
{
	size_t kept = 0;

	if (x->n)
		qsort(x->items, x->n, sizeof(*x->items), by_name);
	for (size_t i = 0; i < x->n; i++) {
		if (kept && !by_name(&x->items[kept - 1], &x->items[i]))
			x->items[kept - 1].count += x->items[i].count;
		else
			x->items[kept++] = x->items[i];
	}
	x->n = kept;
}

size_t overlap_items_find(const struct overlap_items *x,
                          const struct overlap_item *item)
{
	const struct overlap_item *found = NULL;

	if (x->n)
		found = bsearch(item, x->items, x->n, sizeof(*item), by_name);
	return found ? (size_t)(found - x->items) : SIZE_MAX;
}

static size_t first_of(const struct overlap_items *x, uint64_t group)
{
	size_t low = 0, high = x->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x->items[middle].group < group)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct overlap_item *overlap_items_of(const struct overlap_items *x,
                                            uint32_t group, size_t *n)
{
	size_t at = first_of(x, group);

	*n = first_of(x, (uint64_t)group + 1) - at;
	return x->n ? x->items + at : NULL;
}

/* --- halves of paths -------------------------------------------------------
 */

static void add_second(struct overlap_margins *m, enum overlap_kind kind,
                       uint32_t group, const struct overlap_path *p,
                       struct overlap_item at)
{
	struct overlap_item item = {
	        .group = group,
	        .count = p->count,
	        .function = p->function,
	        .from = at.from,
	        .block = p->block,
	        .number = at.number,
	};
	struct overlap_behind b;

	if (item.block == CFG_NONE &&
	    overlap_behind(&m->profile->graphs[p->function], kind, item.from,
	                   item.number, CFG_NONE, OVERLAP_MAX, &b) &&
	    !b.part.is_torn) {
		item.first = b.part.first;
		item.last = b.part.last;
		item.sum = b.part.sum;
		items_add(&m->second[kind], item);
	} else {
		item.sum = item.number;
		item.last = item.block;
		items_add(&m->open[kind], item);
	}
}

/* The first half of a CALL or RETURN, which has all of a path up to there. */
static void add_from_beginning(struct overlap_margins *m,
                               enum overlap_kind kind,
                               const struct overlap_path *p,
                               struct overlap_item item)
{
	const struct overlap_graph *g = &m->profile->graphs[p->function];

	items_add(overlap_begins_torn(g, p->number) ? &m->torn[kind]
	                                            : &m->first[kind],
	          item);
}

/* What a path is to the loops that it is in, and to who called. */
static void take_ends(struct overlap_margins *m, const struct overlap_path *p)
{
	const struct overlap_graph *g = &m->profile->graphs[p->function];
	uint32_t base = m->base[p->function];
	block_id begins = overlap_begins(g, p->number), to = CFG_NONE;
	struct overlap_item at = {.number = p->number};
	struct overlap_part part;

	if (begins == CFG_OUTSIDE)
		add_second(m, OVERLAP_CALL, p->function, p, at);
	else if (!overlap_is_left_out(g, begins))
		add_second(m, OVERLAP_LOOP, base + begins, p, at);
	if (p->block != CFG_NONE)
		return;
	to = overlap_goes_to(g, p->number);
	if (to == CFG_NONE)
		add_from_beginning(m, OVERLAP_RETURN, p,
		                   (struct overlap_item){
		                           .group = p->function,
		                           .sum = p->number,
		                           .count = p->count,
		                   });
	else if (!overlap_is_left_out(g, to) &&
	         overlap_before(g, p->number, &part) && !part.is_torn)
		items_add(&m->first[OVERLAP_LOOP],
		          (struct overlap_item){.group = base + to,
		                                .first = part.first,
		                                .last = part.last,
		                                .sum = part.sum,
		                                .count = p->count,
		                                .number = p->number});
}

/* What a path has before and behind the calls that it comes by. */
static void take_sites(struct overlap_margins *m, const struct overlap_path *p,
                       struct overlap_step *steps)
{
	const struct overlap_graph *g = &m->profile->graphs[p->function];
	uint32_t base = m->base[p->function];
	uint32_t n = overlap_steps(g, DAG_START, p->number, p->block, steps);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = steps[i].vertex;

		if (v >= g->paths->dag.g->nblocks)
			break;
		for (uint32_t k = m->site_at[base + v];
		     k < m->site_at[base + v + 1]; k++) {
			struct overlap_item at = {
			        .from = v,
			        .number = p->number - steps[i].sum,
			};

			add_from_beginning(m, OVERLAP_CALL, p,
			                   (struct overlap_item){
			                           .group = m->sites[k],
			                           .sum = steps[i].sum,
			                           .count = p->count,
			                   });
			add_second(m, OVERLAP_RETURN, m->sites[k], p, at);
		}
	}
}

/* --- counts ------------------------------------------------------------------
 */

/* The halves of a count; false if it is none that interests. */
static bool join(const struct overlap_margins *m, const struct overlap_count *c,
                 struct overlap_joint *j)
{
	const struct overlap_profile *p = m->profile;
	const struct overlap_graph *g = &p->graphs[c->to.function];
	struct overlap_behind b;

	*j = (struct overlap_joint){.column = SIZE_MAX};
	j->to = (struct overlap_item){
	        .count = c->count,
	        .function = c->to.function,
	        .block = c->to.block,
	        .number = c->to.number,
	};
	if (c->kind == OVERLAP_LOOP) {
		block_id head = overlap_goes_to(g, c->from.number);
		struct overlap_part part;

		if (overlap_is_left_out(g, head) ||
		    !overlap_before(g, c->from.number, &part) || part.is_torn)
			return false;
		j->row.first = part.first;
		j->row.last = part.last;
		j->row.sum = part.sum;
		j->to.group = m->base[c->to.function] + head;
	} else if (c->kind == OVERLAP_CALL) {
		j->row.first = c->from.site;
		j->row.sum = c->from.number;
		j->to.group = c->to.function;
	} else {
		j->row.first = c->from.function;
		j->row.sum = c->from.number;
		j->to.group = c->to.site;
		j->to.from = p->sites[c->to.site].block;
	}
	j->row.group = j->to.group;
	if (c->kind != OVERLAP_LOOP &&
	    overlap_begins_torn(&p->graphs[c->from.function], c->from.number))
		return false;
	if (c->to.block == CFG_NONE &&
	    overlap_behind(g, c->kind, j->to.from, c->to.number, CFG_NONE,
	                   OVERLAP_MAX, &b)) {
		if (b.part.is_torn)
			return false;
		j->to.first = b.part.first;
		j->to.last = b.part.last;
		j->to.sum = b.part.sum;
		j->column = overlap_items_find(&m->second[c->kind], &j->to);
	} else {
		j->to.last = c->to.block;
		j->to.sum = c->to.number;
	}
	return true;
}

static int by_halves(const void *a, const void *b)
{
	const struct overlap_joint *x = a, *y = b;
	int order = by_name(&x->row, &y->row);

	if (!order)
		order = by_name(&x->to, &y->to);
	if (!order && x->column != y->column)
		order = x->column < y->column ? -1 : 1;
	return order;
}

/* Adds up what was counted of the same pair. */
static size_t sum_joints(struct overlap_joint *joints, size_t n)
{
	size_t kept = 0;

	qsort(joints, n, sizeof(*joints), by_halves);
	for (size_t i = 0; i < n; i++) {
		if (kept && !by_halves(&joints[kept - 1], &joints[i]))
			joints[kept - 1].to.count += joints[i].to.count;
		else
			joints[kept++] = joints[i];
	}
	return kept;
}

static void take_counts(struct overlap_margins *m)
{
	const struct overlap_profile *p = m->profile;

	for (int k = 0; k < OVERLAP_NKINDS; k++)
		m->joints[k] = xcalloc(p->ncounts + 1, sizeof(**m->joints));
	for (size_t i = 0; i < p->ncounts; i++) {
		enum overlap_kind kind = p->counts[i].kind;
		struct overlap_joint *j = &m->joints[kind][m->njoints[kind]];

		m->njoints[kind] += join(m, &p->counts[i], j);
		j->sample = i;
	}
	for (int k = 0; k < OVERLAP_NKINDS; k++)
		m->njoints[k] = sum_joints(m->joints[k], m->njoints[k]);
}

/* --- all of it ---------------------------------------------------------------
 */

/* Sites by block. */
static void index_sites(struct overlap_margins *m, uint32_t nblocks)
{
	const struct overlap_profile *p = m->profile;

	m->site_at = xcalloc((size_t)nblocks + 2, sizeof(*m->site_at));
	m->sites = xcalloc((size_t)p->nsites + 1, sizeof(*m->sites));
	for (uint32_t i = 0; i < p->nsites; i++)
		m->site_at[m->base[p->sites[i].function] + p->sites[i].block +
		           2]++;
	for (uint32_t b = 2; b < nblocks + 2; b++)
		m->site_at[b] += m->site_at[b - 1];
	for (uint32_t i = 0; i < p->nsites; i++)
		m->sites[m->site_at[m->base[p->sites[i].function] +
		                    p->sites[i].block + 1]++] = i;
}

void overlap_margins_init(struct overlap_margins *m,
                          const struct overlap_profile *p)
{
	uint32_t nblocks = 0, most = 0;
	struct overlap_step *steps;

	*m = (struct overlap_margins){.profile = p};
	m->base = xcalloc((size_t)p->nfunctions + 1, sizeof(*m->base));
	for (uint32_t i = 0; i < p->nfunctions; i++) {
		const struct dag *d = &p->graphs[i].paths->dag;

		m->base[i] = nblocks;
		nblocks += d->g->nblocks;
		most = d->nvertices > most ? d->nvertices : most;
	}
	index_sites(m, nblocks);
	steps = xcalloc((size_t)most + 1, sizeof(*steps));
	for (size_t i = 0; i < p->npaths; i++) {
		take_ends(m, &p->paths[i]);
		take_sites(m, &p->paths[i], steps);
	}
	free(steps);
	for (int k = 0; k < OVERLAP_NKINDS; k++) {
		items_sum(&m->first[k]);
		items_sum(&m->second[k]);
		items_sum(&m->open[k]);
		items_sum(&m->torn[k]);
	}
	take_counts(m);
}

void overlap_margins_release(struct overlap_margins *m)
{
	for (int k = 0; k < OVERLAP_NKINDS; k++) {
		free(m->first[k].items);
		free(m->second[k].items);
		free(m->open[k].items);
		free(m->torn[k].items);
		free(m->joints[k]);
	}
	free(m->base);
	free(m->site_at);
	free(m->sites);
	*m = (struct overlap_margins){0};
}
