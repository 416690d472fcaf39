/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overlapping paths: the halves of pairs, and their degrees.
 *
 * S. Tallam, X. Zhang and R. Gupta, "Extending path profiling across loop
 * backedges and procedure boundaries", CGO 2004.  A pair i!j is two parts of
 * paths, one behind the other.  An overlapping path of degree k has all of i
 * and goes on to the (k + 1)-th predicate of j, or to its end: k decisions are
 * known.  Those with the same i and the same k decisions are one, its *class*.
 *
 * A vertex of the DAG is a predicate if it has more than one way on.  Within a
 * loop all ways that leave it or end the path are one way, since j has none of
 * them: that j ends in a block that could go on in the loop is a decision, that
 * it ends where it cannot is none.  For calls j is a path, and each edge
 * counts.
 *
 * Invariant: the first k decisions of j tell its class, and a class that is
 * whole has one member: between decisions there is only one way.
 * Cost: the length of a path per question; overlap_degree is O(V+E).
 */
#include "graph/overlap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/dfs.h"
#include "graph/paths.h"

void overlap_graph_init(struct overlap_graph *g, const struct paths *p)
{
	struct dfs d;

	*g = (struct overlap_graph){.paths = p};
	dfs_init(&d, p->dag.g);
	loops_init(&g->loops, p->dag.g, &d);
	dfs_release(&d);
	g->route = xcalloc(p->dag.nvertices, sizeof(*g->route));
	g->is_cut = xcalloc((size_t)p->dag.g->nedges + 1, sizeof(*g->is_cut));
	g->is_behind_cut =
	        xcalloc(p->dag.g->nblocks, sizeof(*g->is_behind_cut));
	for (uint32_t i = 0; i < p->ncuts; i++) {
		g->is_cut[p->cuts[i]] = true;
		g->is_behind_cut[p->dag.g->edges[p->cuts[i]].dst] = true;
	}
}

void overlap_graph_release(struct overlap_graph *g)
{
	if (g->paths)
		loops_release(&g->loops);
	free(g->route);
	free(g->is_cut);
	free(g->is_behind_cut);
	*g = (struct overlap_graph){0};
}

/* --- regions ---------------------------------------------------------------
 */

/* What a second half is in. */
struct region {
	const struct overlap_graph *g;
	bool is_path;  /* a path, to its end */
	uint32_t loop; /* or this loop; CFG_NONE: all blocks */
};

static bool region_has(const struct region *r, uint32_t v)
{
	if (r->is_path)
		return true;
	if (v == DAG_START || v >= r->g->paths->dag.g->nblocks)
		return false;
	return r->loop == CFG_NONE || loops_contains(&r->g->loops, r->loop, v);
}

/* Does an edge go on within the region? */
static bool region_goes_on(const struct region *r, uint32_t e)
{
	const struct dag_edge *edge = &r->g->paths->dag.edges[e];

	return r->is_path ||
	       (edge->kind == DAG_STEP && region_has(r, edge->dst));
}

/* Is there more than one way on?  What leaves the region is one way. */
static bool region_is_predicate(const struct region *r, uint32_t v)
{
	const struct dag *d = &r->g->paths->dag;
	uint32_t nways = 0;
	bool leaves = false;

	if (v == DAG_START)
		return false;
	for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++) {
		bool goes_on = region_goes_on(r, e);

		nways += goes_on;
		leaves |= !goes_on;
	}
	return nways + leaves > 1;
}

static struct region region_of(const struct overlap_graph *g,
                               enum overlap_kind kind, block_id from)
{
	return (struct region){
	        .g = g,
	        .is_path = kind != OVERLAP_LOOP,
	        .loop = kind == OVERLAP_LOOP ? g->loops.of[from] : CFG_NONE,
	};
}

/* --- first halves ------------------------------------------------------------
 */

static const struct dag_edge *edge_of(const struct overlap_graph *g, uint32_t i)
{
	return &g->paths->dag.edges[g->route[i]];
}

block_id overlap_begins(const struct overlap_graph *g, uint64_t number)
{
	uint64_t left;

	if (!paths_route_from(g->paths, DAG_START, number,
	                      dag_end(&g->paths->dag), g->route, &left) ||
	    edge_of(g, 0)->kind != DAG_BEGIN)
		return CFG_OUTSIDE;
	return edge_of(g, 0)->of;
}

block_id overlap_goes_to(const struct overlap_graph *g, uint64_t number)
{
	uint32_t n = paths_route(g->paths, number, g->route);
	const struct dag_edge *last = edge_of(g, n - 1);

	if (last->kind == DAG_END)
		return g->paths->dag.g->edges[last->of].dst;
	return last->kind == DAG_SCATTER ? last->of : CFG_NONE;
}

/* Do paths end at the i-th edge of the route because somebody asked for it? */
static bool is_tear(const struct overlap_graph *g, uint32_t i)
{
	const struct dag_edge *e = edge_of(g, i);

	return e->kind == DAG_END && g->paths->dag.how[e->of] == DAG_CUT;
}

bool overlap_turns(const struct overlap_graph *g, uint64_t number)
{
	return overlap_goes_to(g, number) != CFG_NONE &&
	       !is_tear(g, paths_route(g->paths, number, g->route) - 1);
}

bool overlap_begins_torn(const struct overlap_graph *g, uint64_t number)
{
	block_id begins = overlap_begins(g, number);

	return begins != CFG_OUTSIDE && g->is_behind_cut[begins];
}

/* Is the edge one at which paths were cut? */
static bool is_cut(const struct overlap_graph *g, uint32_t e)
{
	const struct dag_edge *edge = &g->paths->dag.edges[e];

	return edge->kind == DAG_END && g->is_cut[edge->of];
}

bool overlap_is_irreducible(const struct overlap_graph *g, block_id head)
{
	uint32_t loop = g->loops.of[head];

	return loop != CFG_NONE && g->loops.loop[loop].irreducible;
}

bool overlap_before(const struct overlap_graph *g, uint64_t number,
                    struct overlap_part *part)
{
	block_id head = overlap_goes_to(g, number);
	struct region r = region_of(g, OVERLAP_LOOP, head);
	uint32_t n = paths_route(g->paths, number, g->route);

	/* the last edge, or the two of an indirect branch, is no part of it */
	n -= edge_of(g, n - 1)->kind == DAG_SCATTER ? 2 : 1;
	*part = (struct overlap_part){edge_of(g, n)->src, edge_of(g, n)->src, 0,
	                              false};
	if (!region_has(&r, part->last) || is_tear(g, n))
		return false;
	while (n-- > 0 && part->first != head) {
		if (!region_has(&r, edge_of(g, n)->src)) {
			part->is_torn = edge_of(g, n)->kind == DAG_BEGIN &&
			                g->is_behind_cut[part->first];
			break;
		}
		part->first = edge_of(g, n)->src;
		part->sum += g->paths->value[g->route[n]];
	}
	return true;
}

/* --- second halves -----------------------------------------------------------
 */

/* The route of a path, or of what is known of it. */
static uint32_t route_of(const struct overlap_graph *g, uint32_t from,
                         uint64_t number, block_id block)
{
	uint32_t end = dag_end(&g->paths->dag);
	uint64_t left;

	return paths_route_from(g->paths, from, number,
	                        block == CFG_NONE ? end : block, g->route,
	                        &left);
}

/* Would what ends with the i-th edge of the route go on in the region? */
static bool is_torn(const struct region *r, uint32_t i)
{
	const struct overlap_graph *g = r->g;
	const struct dag_edge *e = edge_of(g, i);

	return is_cut(g, g->route[i]) &&
	       region_has(r, g->paths->dag.g->edges[e->of].dst);
}

bool overlap_behind(const struct overlap_graph *g, enum overlap_kind kind,
                    block_id from, uint64_t number, block_id block, uint32_t k,
                    struct overlap_behind *out)
{
	uint32_t start = kind == OVERLAP_RETURN ? from : DAG_START, i = 0;
	uint32_t n = route_of(g, start, number, block);
	struct region r;

	*out = (struct overlap_behind){.part = {.first = start}};
	if (kind == OVERLAP_LOOP) /* that edge begins the path */
		out->part.first = edge_of(g, i++)->dst;
	r = region_of(g, kind, out->part.first);
	out->part.last = out->part.first;
	for (;;) {
		bool is_decision = region_is_predicate(&r, out->part.last);

		if (is_decision && out->degree == k)
			return true;
		if (i == n && out->part.last != dag_end(&g->paths->dag))
			return false; /* the prefix has no more */
		out->degree += is_decision;
		out->is_whole = i == n || !region_goes_on(&r, g->route[i]);
		if (out->is_whole) {
			out->part.is_torn = is_torn(&r, i == n ? i - 1 : i);
			return true;
		}
		out->part.sum += g->paths->value[g->route[i]];
		out->part.last = edge_of(g, i++)->dst;
	}
}

uint32_t overlap_degree(const struct overlap_graph *g, enum overlap_kind kind,
                        block_id from)
{
	const struct dag *d = &g->paths->dag;
	struct region r = region_of(g, kind, from);
	uint32_t *degree = xcalloc(d->nvertices, sizeof(*degree)), result;

	for (uint32_t i = d->norder; i-- > 0;) {
		uint32_t v = d->order[i], most = 0;

		if (!region_has(&r, v))
			continue;
		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++)
			if (region_goes_on(&r, e) &&
			    degree[d->edges[e].dst] > most)
				most = degree[d->edges[e].dst];
		degree[v] = most + region_is_predicate(&r, v);
	}
	result = degree[from];
	if (kind ==
	    OVERLAP_CALL) { /* paths that enter; START has others, too */
		result = 0;
		for (uint32_t e = d->out_at[DAG_START];
		     e < d->out_at[DAG_START + 1]; e++)
			if (d->edges[e].kind == DAG_STEP &&
			    degree[d->edges[e].dst] > result)
				result = degree[d->edges[e].dst];
	}
	free(degree);
	return result;
}

/* --- for readers -------------------------------------------------------------
 */

bool overlap_is_number(const struct overlap_graph *g, uint64_t number,
                       block_id block)
{
	uint64_t left;

	if (number >= g->paths->n || block == CFG_OUTSIDE)
		return false;
	if (block == CFG_NONE)
		return true;
	if (block >= g->paths->dag.g->nblocks)
		return false;
	paths_route_from(g->paths, DAG_START, number, block, g->route, &left);
	return left == 0;
}

uint32_t overlap_steps(const struct overlap_graph *g, uint32_t from,
                       uint64_t number, block_id block,
                       struct overlap_step *steps)
{
	uint32_t n = route_of(g, from, number, block), nsteps = 0;
	uint64_t sum = 0;

	if (from != DAG_START)
		steps[nsteps++] = (struct overlap_step){from, 0};
	for (uint32_t i = 0; i < n; i++) {
		sum += g->paths->value[g->route[i]];
		steps[nsteps++] =
		        (struct overlap_step){edge_of(g, i)->dst, sum};
	}
	return nsteps;
}
