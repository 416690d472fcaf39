/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Increments of the path register: few, and merged into the ends of paths.
 *
 * T. Ball, "Efficiently counting program events with support for on-line
 * queries", TOPLAS 16(5), 1994; T. Ball and J. Larus, "Efficient path
 * profiling", MICRO-29, 1996, sections 3.3 and 3.4.  The values of the edges
 * of a spanning tree, direction ignored, are moved onto its chords: with a
 * potential for every vertex, such that potential[dst] = potential[src] +
 * value along tree edges, an edge needs
 *
 *     increment = value + potential[src] - potential[dst],
 *
 * which is 0 on the tree.  Along a path the potentials cancel, down to those
 * of start and end, which are the same: the tree holds a link between them.
 *
 * At the ends of a path there is an operation anyway, so edges from the start
 * and to the end cost nothing as chords, and the tree is one of the greatest
 * cost among the others (forest.c).
 *
 * Where only one way leads to a block from the start, the register is known
 * there and is not kept; it is set on the way out of this region, or the path
 * is counted without it.  This is Ball and Larus' "r = v" for the first chord,
 * taken on to the last block where it holds.  Counts are not moved up from the
 * end of a path: a frame that died behind a count would be counted in full.
 *
 * Invariant: at a vertex v with is_known[v] the sum of the values from the
 * start is offset[v]; at any other it is r + potential[v], on every path; the
 * path number is r + increment at its end.
 * Oracle: proof_paths interprets the operations along random walks.
 * Cost: O(E log E) time, O(V+E) memory.
 */
#include "graph/increments.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/dag.h"
#include "graph/forest.h"

/* The work on one graph. */
struct placing {
	const struct dag *d;
	const uint64_t *value, *cost;
	bool *tree;          /* per DAG edge; the last is end - start */
	uint64_t *potential; /* per vertex */
	uint64_t *increment; /* per DAG edge */
	struct increments *out;
	uint32_t cap;
};

/* --- the tree ----------------------------------------------------------- */

static bool placing_is_free(const struct dag_edge *edge, const struct dag *d)
{
	return edge->src == DAG_START || edge->dst == dag_end(d);
}

static uint64_t placing_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* What an addition on a DAG edge would cost; free ones are below all others. */
static uint64_t placing_cost(const struct placing *p, uint32_t e)
{
	const struct dag_edge *edge = &p->d->edges[e];
	const struct cfg *g = p->d->g;
	uint64_t cost = 1;

	if (placing_is_free(edge, p->d))
		return 0;
	if (edge->kind != DAG_GATHER)
		return placing_sum(cost, p->cost[edge->of]);
	for (uint32_t i = g->out_at[edge->of]; i < g->out_at[edge->of + 1]; i++)
		cost = placing_sum(cost, p->cost[g->out[i]]);
	return cost;
}

static void placing_choose(struct placing *p)
{
	const struct dag *d = p->d;
	struct forest_link *links =
	        xcalloc((size_t)d->nedges + 1, sizeof(*links));

	for (uint32_t e = 0; e < d->nedges; e++)
		links[e] = (struct forest_link){
		        .a = d->edges[e].src,
		        .b = d->edges[e].dst,
		        .rank = 1,
		        .weight = placing_cost(p, e),
		        .id = e,
		};
	links[d->nedges] = (struct forest_link){
	        .a = dag_end(d), .b = DAG_START, .id = d->nedges};
	forest_choose(d->nvertices, links, d->nedges + 1, p->tree);
	free(links);
}

/* --- potentials --------------------------------------------------------- */

/* A walk over the tree. */
struct tree_walk {
	bool *seen;
	uint32_t *work;
	uint32_t nwork;
};

static void tree_walk_reach(struct tree_walk *w, struct placing *p, uint32_t v,
                            uint64_t potential)
{
	if (w->seen[v])
		return;
	w->seen[v] = true;
	p->potential[v] = potential;
	w->work[w->nwork++] = v;
}

/*
 * Makes no potential between start and end positive, so that the register is
 * never negative: who reads it off a dead frame adds 1, and 0 then says that it
 * could not be read.  Operations at ends of paths take the difference.
 */
static void placing_lower(struct placing *p, const bool *seen)
{
	const struct dag *d = p->d;
	int64_t most = 0;

	for (uint32_t v = 0; v < d->nvertices; v++)
		if (seen[v] && (int64_t)p->potential[v] > most)
			most = (int64_t)p->potential[v];
	for (uint32_t v = 0; v < d->nvertices; v++)
		if (v != DAG_START && v != dag_end(d))
			p->potential[v] -= (uint64_t)most;
}

static void placing_potentials(struct placing *p)
{
	const struct dag *d = p->d;
	struct tree_walk w = {
	        .seen = xcalloc(d->nvertices, sizeof(*w.seen)),
	        .work = xcalloc(d->nvertices, sizeof(*w.work)),
	};

	tree_walk_reach(&w, p, DAG_START, 0);
	tree_walk_reach(&w, p, dag_end(d), 0);
	while (w.nwork > 0) {
		uint32_t v = w.work[--w.nwork];
		uint64_t here = p->potential[v];

		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++)
			if (p->tree[e])
				tree_walk_reach(&w, p, d->edges[e].dst,
				                here + p->value[e]);
		for (uint32_t i = d->in_at[v]; i < d->in_at[v + 1]; i++)
			if (p->tree[d->in[i]])
				tree_walk_reach(&w, p, d->edges[d->in[i]].src,
				                here - p->value[d->in[i]]);
	}
	placing_lower(p, w.seen);
	for (uint32_t e = 0; e < d->nedges; e++)
		p->increment[e] = p->value[e] + p->potential[d->edges[e].src] -
		                  p->potential[d->edges[e].dst];
	free(w.seen);
	free(w.work);
}

/* Finds where the register is known. */
static void placing_know(struct placing *p)
{
	const struct dag *d = p->d;
	bool *known = p->out->is_known;
	uint64_t *offset = p->out->offset;

	for (uint32_t v = 0; v < d->nvertices; v++)
		offset[v] = p->potential[v];
	known[DAG_START] = true;
	for (uint32_t i = 1; i + 1 < d->norder; i++) {
		uint32_t v = d->order[i], e;

		if (d->in_at[v + 1] - d->in_at[v] != 1)
			continue;
		e = d->in[d->in_at[v]];
		if (!known[d->edges[e].src])
			continue;
		known[v] = true;
		offset[v] = offset[d->edges[e].src] + p->value[e];
	}
}

/* --- operations --------------------------------------------------------- */

static struct increment *placing_add(struct placing *p,
                                     enum increment_place place, uint32_t where,
                                     enum increment_kind kind, uint64_t value)
{
	struct increments *out = p->out;

	VEC_RESERVE(out->ops, out->n, p->cap);
	out->ops[out->n] = (struct increment){
	        .place = place, .where = where, .kind = kind, .value = value};
	return &out->ops[out->n++];
}

/* The register behind an edge from a vertex where it is known. */
static uint64_t placing_known_behind(const struct placing *p, uint32_t e)
{
	const struct dag_edge *edge = &p->d->edges[e];

	return p->out->offset[edge->src] + p->value[e] -
	       p->potential[edge->dst];
}

/* Keeps the register over an edge within a path. */
static void placing_keep(struct placing *p, uint32_t e,
                         enum increment_place place)
{
	const struct dag_edge *edge = &p->d->edges[e];

	if (p->out->is_known[edge->dst])
		return;
	if (p->out->is_known[edge->src])
		placing_add(p, place, edge->of, INCREMENT_SET,
		            placing_known_behind(p, e));
	else if (p->increment[e] != 0)
		placing_add(p, place, edge->of, INCREMENT_ADD, p->increment[e]);
}

/* Counts the path that ends with e; `next` is the block where the next one
 * begins, or CFG_OUTSIDE. */
static void placing_count(struct placing *p, uint32_t e,
                          enum increment_place place, block_id next)
{
	const struct dag_edge *edge = &p->d->edges[e];
	bool known = p->out->is_known[edge->src];
	struct increment *op = placing_add(
	        p, place, edge->of,
	        known ? INCREMENT_COUNT_AT : INCREMENT_COUNT,
	        known ? placing_known_behind(p, e) : p->increment[e]);

	if (next == CFG_OUTSIDE || p->out->is_known[next])
		return;
	op->then_set = true;
	op->set = placing_known_behind(p, p->d->begin_of[next]);
}

static void placing_operate(struct placing *p, uint32_t e)
{
	const struct dag_edge *edge = &p->d->edges[e];

	switch (edge->kind) {
	case DAG_STEP:
		if (edge->dst == dag_end(p->d))
			placing_count(p, e, INCREMENT_ON_EDGE, CFG_OUTSIDE);
		else
			placing_keep(p, e, INCREMENT_ON_EDGE);
		break;
	case DAG_END:
		placing_count(p, e, INCREMENT_ON_EDGE,
		              p->d->g->edges[edge->of].dst);
		break;
	case DAG_STOP:
		placing_count(p, e, INCREMENT_AT_END, CFG_OUTSIDE);
		break;
	case DAG_GATHER:
		placing_keep(p, e, INCREMENT_AT_END);
		break;
	case DAG_SCATTER:
		placing_count(p, e, INCREMENT_AT_HEAD, edge->of);
		break;
	case DAG_BEGIN:
		break; /* with the ends that precede it */
	}
}

void increments_init(struct increments *inc, const struct dag *d,
                     const uint64_t *value, const uint64_t *cost)
{
	struct placing p = {
	        .d = d,
	        .value = value,
	        .cost = cost,
	        .tree = xcalloc((size_t)d->nedges + 1, sizeof(*p.tree)),
	        .potential = xcalloc(d->nvertices, sizeof(*p.potential)),
	        .increment =
	                xcalloc((size_t)d->nedges + 1, sizeof(*p.increment)),
	        .out = inc,
	};

	*inc = (struct increments){
	        .nvertices = d->nvertices,
	        .is_known = xcalloc(d->nvertices, sizeof(*inc->is_known)),
	        .offset = xcalloc(d->nvertices, sizeof(*inc->offset)),
	};
	placing_choose(&p);
	placing_potentials(&p);
	placing_know(&p);
	for (uint32_t e = 0; e < d->nedges; e++)
		placing_operate(&p, e);
	free(p.tree);
	free(p.potential);
	free(p.increment);
}

void increments_release(struct increments *inc)
{
	free(inc->ops);
	free(inc->is_known);
	free(inc->offset);
	*inc = (struct increments){0};
}

uint64_t increments_prefix(const struct increments *inc, block_id block,
                           uint64_t r)
{
	assert(block < inc->nvertices);
	return inc->is_known[block] ? inc->offset[block]
	                            : r + inc->offset[block];
}
