/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Path numbering: one integer per acyclic path through a function.
 *
 * T. Ball and J. Larus, "Efficient path profiling", MICRO-29, 1996, section
 * 3.2; figure 3.1 of the thesis of 2007.  npaths[v] is the number of paths from
 * v to the end.  Walking vertices backwards, an edge out of v gets the sum of
 * npaths over the targets of the edges before it.
 *
 * Invariant: once v is done, the sums over its paths to the end are exactly
 * 0 .. npaths[v] - 1, each once: an edge covers the interval that starts at its
 * value and is npaths[dst] long, and the intervals abut.  Decoding relies on
 * it: take the last edge whose value does not exceed what remains.  The first
 * edge out of a vertex has value 0, so the sum of a prefix is the number of
 * the path that goes on along first edges: decoding that number and stopping
 * at the right block gives the prefix back.
 * Sums saturate at 2^64 - 1, above any limit, so no wrapped sum looks small.
 *
 * Oracle: proof_paths lists all paths by depth-first search on the CFG.
 * Cost: O(V+E) to number (per round of cuts, see cuts.c); O(length * log of
 * the out-degree) to decode.
 */
#include "graph/paths.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/err.h"
#include "graph/cuts.h"

static uint64_t paths_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void paths_number(struct paths *p)
{
	const struct dag *d = &p->dag;

	for (uint32_t i = d->norder; i-- > 0;) {
		uint32_t v = d->order[i];
		uint64_t n = v == dag_end(d);

		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++) {
			p->value[e] = n;
			n = paths_sum(n, p->npaths[d->edges[e].dst]);
		}
		p->npaths[v] = n;
	}
	p->n = p->npaths[DAG_START];
}

static bool paths_is_inside(const struct cfg *g, edge_id e)
{
	return g->edges[e].src != CFG_OUTSIDE && g->edges[e].dst != CFG_OUTSIDE;
}

/* The rules of dag_init. */
static int paths_check_asked(const struct cfg *g, const enum dag_how *asked,
                             struct cairn_err *err)
{
	bool *from = xcalloc(g->nblocks, sizeof(*from));
	bool *to = xcalloc(g->nblocks, sizeof(*to));
	edge_id bad = CFG_NONE;

	for (edge_id e = 0; e < g->nedges; e++)
		if (asked[e] == DAG_INDIRECT) {
			from[g->edges[e].src] = true;
			to[g->edges[e].dst] = true;
		}
	for (edge_id e = 0; e < g->nedges; e++) {
		bool indirect = asked[e] == DAG_INDIRECT;

		if (from[g->edges[e].src] != indirect ||
		    to[g->edges[e].dst] != indirect ||
		    (indirect && !paths_is_inside(g, e)) ||
		    (asked[e] == DAG_IGNORED && g->edges[e].dst != CFG_OUTSIDE))
			bad = e;
	}
	free(from);
	free(to);
	if (bad == CFG_NONE)
		return 0;
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "edge %" PRIu32 " mixes indirect and other branches, "
	                  "or is left out and no way out",
	                  bad);
}

/* Makes the cuts that are given. */
static int paths_take_cuts(struct paths *p, const struct paths_options *o,
                           struct cairn_err *err)
{
	const struct cfg *g = p->dag.g;
	bool *given = xcalloc((size_t)g->nedges + 1, sizeof(*given));
	edge_id bad = CFG_NONE;
	uint32_t cap = 0;

	for (uint32_t i = 0; i < o->ncuts; i++) {
		edge_id e = o->cuts[i];

		if (e >= g->nedges || given[e] ||
		    p->dag.how[e] != DAG_THROUGH || !paths_is_inside(g, e)) {
			bad = e;
			break;
		}
		given[e] = true;
		VEC_RESERVE(p->cuts, p->ncuts, cap);
		p->cuts[p->ncuts++] = e;
	}
	free(given);
	if (p->ncuts < o->ncuts)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "edge %" PRIu32 " cannot be cut", bad);
	dag_cut(&p->dag, p->cuts, p->ncuts);
	return 0;
}

/* Cuts for the limit, once. */
static int paths_cut(struct paths *p, const struct paths_options *o,
                     uint64_t limit, struct cairn_err *err)
{
	uint32_t n;

	p->cuts = xrealloc(p->cuts, (size_t)p->ncuts + p->dag.g->nedges,
	                   sizeof(*p->cuts));
	n = cuts_choose(&p->dag, o->weight, o->keep, limit, p->cuts + p->ncuts);
	if (n == 0)
		return cairn_fail(err, CAIRN_E_LIMIT,
		                  "more than %" PRIu64 " paths remain when all "
		                  "edges that may be cut are cut",
		                  limit - 1);
	dag_cut(&p->dag, p->cuts + p->ncuts, n);
	p->ncuts += n;
	return 0;
}

static int paths_number_and_cut(struct paths *p, const struct paths_options *o,
                                struct cairn_err *err)
{
	uint64_t limit = o->limit ? o->limit : PATHS_LIMIT;

	CAIRN_TRY(paths_take_cuts(p, o, err));
	paths_number(p);
	while (p->n >= limit) {
		CAIRN_TRY(paths_cut(p, o, limit, err));
		paths_number(p);
	}
	return 0;
}

int paths_init(struct paths *p, const struct cfg *g,
               const struct paths_options *options, struct cairn_err *err)
{
	size_t nedges = (size_t)g->nedges + 3 * (size_t)g->nblocks;
	int result;

	*p = (struct paths){0};
	if (options->asked)
		CAIRN_TRY(paths_check_asked(g, options->asked, err));
	dag_init(&p->dag, g, options->asked);
	p->npaths = xcalloc(p->dag.nvertices, sizeof(*p->npaths));
	p->value = xcalloc(nedges, sizeof(*p->value));
	result = paths_number_and_cut(p, options, err);
	if (result < 0)
		paths_release(p);
	return result;
}

void paths_release(struct paths *p)
{
	dag_release(&p->dag);
	free(p->npaths);
	free(p->value);
	free(p->cuts);
	*p = (struct paths){0};
}

/* --- from numbers to paths ---------------------------------------------- */

/* The last edge out of v whose value does not exceed `rest`. */
static uint32_t paths_next(const struct paths *p, uint32_t v, uint64_t rest)
{
	uint32_t low = p->dag.out_at[v], high = p->dag.out_at[v + 1];

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (p->value[middle] <= rest)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint32_t paths_route_from(const struct paths *p, uint32_t from, uint64_t rest,
                          uint32_t to, uint32_t *route, uint64_t *left)
{
	uint32_t n = 0, v = from;

	while (v != to && v != dag_end(&p->dag)) {
		uint32_t e = paths_next(p, v, rest);

		rest -= p->value[e];
		route[n++] = e;
		v = p->dag.edges[e].dst;
	}
	*left = v == to ? rest : UINT64_MAX;
	return n;
}

uint32_t paths_route(const struct paths *p, uint64_t number, uint32_t *route)
{
	uint64_t rest;

	assert(number < p->n);
	return paths_route_from(p, DAG_START, number, dag_end(&p->dag), route,
	                        &rest);
}

/*
 * The CFG edge that the i-th edge of a route stands for; CFG_NONE if none, or
 * none of its own.  GATHER and SCATTER stand for one edge together.
 */
static edge_id paths_edge(const struct paths *p, const uint32_t *route,
                          uint32_t i)
{
	const struct dag_edge *edge = &p->dag.edges[route[i]];

	if (edge->kind == DAG_STEP || edge->kind == DAG_END)
		return edge->of;
	if (edge->kind == DAG_SCATTER)
		return dag_indirect(&p->dag, p->dag.edges[route[i - 1]].of,
		                    edge->of);
	return CFG_NONE;
}

/* Does the route pair an indirect branch with a target that it lacks? */
static bool paths_is_unused(const struct paths *p, const uint32_t *route,
                            uint32_t n)
{
	return n > 0 && p->dag.edges[route[n - 1]].kind == DAG_SCATTER &&
	       paths_edge(p, route, n - 1) == CFG_NONE;
}

static enum path_end paths_end_of(const struct paths *p, uint32_t last)
{
	switch (p->dag.edges[last].kind) {
	case DAG_END:
	case DAG_SCATTER:
		return PATH_ENDED;
	case DAG_STOP:
		return PATH_STOPS;
	case DAG_STEP:
	case DAG_BEGIN:
	case DAG_GATHER:
		break;
	}
	return PATH_LEAVES;
}

static void path_from_route(struct path *path, const struct paths *p,
                            const uint32_t *route, uint32_t n)
{
	const struct dag_edge *first = &p->dag.edges[route[0]];

	path->enters = first->kind == DAG_STEP;
	path->first = first->dst == dag_end(&p->dag) ? CFG_OUTSIDE : first->dst;
	path->nedges = 0;
	for (uint32_t i = 0; i < n; i++) {
		edge_id e = paths_edge(p, route, i);

		if (e == CFG_NONE)
			continue;
		VEC_RESERVE(path->edges, path->nedges, path->edges_cap);
		path->edges[path->nedges++] = e;
	}
}

static int paths_route_whole(const struct paths *p, uint64_t number,
                             uint32_t *route, uint32_t *n,
                             struct cairn_err *err)
{
	if (number >= p->n)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "path %" PRIu64
		                  " of a function with %" PRIu64,
		                  number, p->n);
	*n = paths_route(p, number, route);
	if (paths_is_unused(p, route, *n))
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "path %" PRIu64 " takes an indirect branch "
		                  "where it cannot go",
		                  number);
	return 0;
}

static int paths_route_prefix(const struct paths *p, uint64_t sum,
                              block_id block, uint32_t *route, uint32_t *n,
                              struct cairn_err *err)
{
	uint64_t rest = UINT64_MAX;

	if (sum < p->n && block != CFG_OUTSIDE && block < p->dag.g->nblocks)
		*n = paths_route_from(p, DAG_START, sum, block, route, &rest);
	if (rest != 0)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "no path to block %" PRIu32
		                  " has the sum %" PRIu64,
		                  block, sum);
	return 0;
}

int paths_decode(const struct paths *p, uint64_t number, struct path *path,
                 struct cairn_err *err)
{
	uint32_t *route = xcalloc(p->dag.nvertices, sizeof(*route)), n = 0;
	int result = paths_route_whole(p, number, route, &n, err);

	if (result == 0) {
		path_from_route(path, p, route, n);
		path->end = paths_end_of(p, route[n - 1]);
	}
	free(route);
	return result;
}

int paths_decode_prefix(const struct paths *p, uint64_t sum, block_id block,
                        struct path *path, struct cairn_err *err)
{
	uint32_t *route = xcalloc(p->dag.nvertices, sizeof(*route)), n = 0;
	int result = paths_route_prefix(p, sum, block, route, &n, err);

	if (result == 0) {
		path_from_route(path, p, route, n);
		path->end = PATH_UNFINISHED;
	}
	free(route);
	return result;
}

static void paths_count_route(const struct paths *p, const uint32_t *route,
                              uint32_t n, uint64_t count, uint64_t *edge)
{
	for (uint32_t i = 0; i < n; i++) {
		edge_id e = paths_edge(p, route, i);

		if (e != CFG_NONE)
			edge[e] += count;
	}
}

int paths_count(const struct paths *p, uint64_t number, uint64_t count,
                uint64_t *edge, struct cairn_err *err)
{
	uint32_t *route = xcalloc(p->dag.nvertices, sizeof(*route)), n = 0;
	int result = paths_route_whole(p, number, route, &n, err);

	if (result == 0)
		paths_count_route(p, route, n, count, edge);
	free(route);
	return result;
}

int paths_count_prefix(const struct paths *p, uint64_t sum, block_id block,
                       uint64_t count, uint64_t *edge, struct cairn_err *err)
{
	uint32_t *route = xcalloc(p->dag.nvertices, sizeof(*route)), n = 0;
	int result = paths_route_prefix(p, sum, block, route, &n, err);

	if (result == 0)
		paths_count_route(p, route, n, count, edge);
	free(route);
	return result;
}

/* --- from paths to numbers ---------------------------------------------- */

void path_release(struct path *path)
{
	free(path->edges);
	*path = (struct path){0};
}

block_id path_block(const struct path *path, const struct cfg *g, uint32_t i)
{
	assert(i <= path->nedges);
	if (i == 0)
		return path->enters ? CFG_OUTSIDE : path->first;
	return g->edges[path->edges[i - 1]].dst;
}

/* A walk over the edges of a path that sums their values. */
struct path_walk {
	const struct paths *p;
	uint32_t at; /* vertex */
	uint64_t sum;
};

static bool path_walk_take(struct path_walk *w, uint32_t e)
{
	if (e == CFG_NONE || w->p->dag.edges[e].src != w->at)
		return false;
	w->sum += w->p->value[e];
	w->at = w->p->dag.edges[e].dst;
	return true;
}

static bool path_walk_edge(struct path_walk *w, edge_id e)
{
	const struct dag *d = &w->p->dag;

	if (e >= d->g->nedges || !path_walk_take(w, d->edge_of[e]))
		return false;
	return d->how[e] != DAG_INDIRECT ||
	       path_walk_take(w, d->scatter_of[d->g->edges[e].dst]);
}

/* The last block has no way out: goes to the end. */
static bool path_walk_stop(struct path_walk *w)
{
	uint32_t e = w->p->dag.out_at[w->at];

	return e < w->p->dag.out_at[w->at + 1] &&
	       w->p->dag.edges[e].kind == DAG_STOP && path_walk_take(w, e);
}

int paths_encode(const struct paths *p, const struct path *path,
                 uint64_t *number, struct cairn_err *err)
{
	struct path_walk w = {.p = p, .at = DAG_START};
	const struct dag *d = &p->dag;
	bool ok = true;

	if (!path->enters)
		ok = path->first < d->g->nblocks &&
		     path_walk_take(&w, d->begin_of[path->first]);
	for (uint32_t i = 0; ok && i < path->nedges; i++)
		ok = path_walk_edge(&w, path->edges[i]);
	if (path->end == PATH_UNFINISHED)
		ok = ok && w.at != dag_end(d) && w.at != DAG_START;
	else if (ok && w.at != dag_end(d))
		ok = path_walk_stop(&w);
	if (!ok)
		return cairn_fail(err, CAIRN_E_MISMATCH,
		                  "%" PRIu32 " edges from block %" PRIu32
		                  " on are no path of this function",
		                  path->nedges, path->first);
	*number = w.sum;
	return 0;
}
