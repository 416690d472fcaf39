/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pieces of paths do.
 *
 * The walk gives pieces of paths, which end at calls.  The paths of a function
 * as other builds have it (whole.c) run through them: a piece adds to the sum
 * of the path that its frame is on, and may end it, and others.  That is worked
 * out once for each piece: what it adds up to the first end, the paths that it
 * has whole, and the sum behind the last end.
 *
 * Invariant: an item is at most as far behind the place of its hash as there
 * are no free ones between.
 * Cost: O(1) expected, and the length of a piece when it is new.
 */
#include "analysis/trace_pieces.h"

#include <stdlib.h>

#include "analysis/traced.h"
#include "analysis/whole.h"
#include "base/alloc.h"
#include "format/map.h"

/* What the values along an edge sum up to, and whether it ends a path. */
static bool take_edge(const struct whole *w, edge_id e, uint64_t *sum)
{
	const struct dag *d = &w->paths.dag;

	if (d->edge_of[e] == CFG_NONE)
		return false;
	*sum += w->paths.value[d->edge_of[e]];
	if (d->how[e] == DAG_INDIRECT)
		*sum += w->paths.value[d->scatter_of[d->g->edges[e].dst]];
	return d->g->edges[e].dst == CFG_OUTSIDE || dag_is_ended(d, e);
}

/* The sum of a path that has just begun behind an edge. */
static uint64_t sum_behind(const struct whole *w, edge_id e)
{
	uint32_t begin = w->paths.dag.begin_of[w->g.edges[e].dst];

	return begin == CFG_NONE ? 0 : w->paths.value[begin];
}

/* Where a frame is behind the last edge of a piece. */
static void find_place(struct trace_piece *x, const struct whole *w,
                       const struct traced_function *f,
                       const struct walk_way *way)
{
	edge_id last = way->edges[way->nedges - 1];
	const struct map_edge *e = &f->map->edges[f->f->first_edge + last];

	x->part = x->behind = e->dst;
	x->has_left = e->dst == CFG_OUTSIDE;
	x->resumes = f->is_resumed[last];
	x->exit = w->block_of[e->src];
	x->before_exit = CFG_NONE;
	if (way->nedges > 1) {
		edge_id before = way->edges[way->nedges - 2];

		x->before_exit =
		        w->block_of[f->map->edges[f->f->first_edge + before]
		                            .src];
	}
	if (x->has_left && w->edge_of[last] != CFG_NONE)
		(void)take_edge(w, w->edge_of[last], &x->exit_value);
	x->is_in_call = f->callee[last] != WALK_NOTHING;
	if (!x->is_in_call)
		return;
	x->call = last;
	if (e->kind == CAIRN_EDGE_FALL)
		x->part = e->src;
}

static void work_out(struct trace_piece *x, const struct whole *w,
                     const struct traced_function *f,
                     const struct walk_way *way)
{
	uint64_t sum = 0;
	uint32_t cap = 0;

	*x = (struct trace_piece){.way = way, .call = CFG_NONE};
	for (uint32_t i = 0; i < way->nedges; i++) {
		edge_id e = w->edge_of[way->edges[i]];

		if (e == CFG_NONE || !take_edge(w, e, &sum))
			continue;
		if (!x->ends) {
			x->add = sum;
		} else {
			VEC_RESERVE(x->whole, x->nwhole, cap);
			x->whole[x->nwhole++] = sum;
		}
		x->ends = true;
		sum = sum_behind(w, e);
	}
	if (x->ends)
		x->next = sum;
	else
		x->add = sum;
	if (way->nedges)
		find_place(x, w, f, way);
	else if (way->is_part)
		x->part = x->behind = way->blocks[0];
	else
		x->has_left = true; /* in a block that has no way out */
}

static size_t hash(const struct walk_way *way)
{
	uint64_t h = (uint64_t)(uintptr_t)way * 0x9e3779b97f4a7c15u;

	return (size_t)(h >> 24);
}

static struct trace_piece *slot(const struct trace_pieces *p,
                                const struct walk_way *way)
{
	size_t i = hash(way) & (p->cap - 1);

	while (p->items[i].way && p->items[i].way != way)
		i = (i + 1) & (p->cap - 1);
	return &p->items[i];
}

static void grow(struct trace_pieces *p)
{
	struct trace_pieces old = *p;

	p->cap = old.cap ? 2 * old.cap : 1024;
	p->items = xcalloc(p->cap, sizeof(*p->items));
	for (size_t i = 0; i < old.cap; i++)
		if (old.items[i].way)
			*slot(p, old.items[i].way) = old.items[i];
	free(old.items);
}

void trace_pieces_release(struct trace_pieces *p)
{
	for (size_t i = 0; i < p->cap; i++)
		free(p->items[i].whole);
	free(p->items);
	*p = (struct trace_pieces){0};
}

const struct trace_piece *trace_pieces_find(struct trace_pieces *p,
                                            const struct whole *w,
                                            const struct traced_function *f,
                                            const struct walk_way *way)
{
	struct trace_piece *x;

	if (2 * p->n >= p->cap)
		grow(p);
	x = slot(p, way);
	if (!x->way) {
		p->n++;
		work_out(x, w, f, way);
	}
	return x;
}
