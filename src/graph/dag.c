/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a control-flow graph to the acyclic graph of its paths.
 *
 * T. Ball and J. Larus, "Efficient path profiling", MICRO-29, 1996, section 3;
 * K. Vaswani, "Efficient online path profiling", thesis, 2007, section 3.2.2,
 * whose step 2 has the dummy edges reversed: a back edge v -> v' is replaced by
 * v -> end and start -> v'.  Ended edges into the same block share their
 * start -> v': where a path comes from is no part of it.  Each keeps an end of
 * its own, so that path counts give the counts of all edges.
 *
 * Edges to be ended in any case are taken out before the walk that looks for
 * cycles, so that the loop around a computed goto needs no second end.  What
 * retreats in the rest is ended as well; in an irreducible graph this depends
 * on the order of the walk, which is that of the edges.
 *
 * Invariant: an edge leads forward in order[], which is a postorder of the
 * walk, backwards, with hub and end behind it.  Cuts keep it valid.
 * Oracle: proof_paths takes the THROUGH edges and looks for a cycle by itself.
 * Cost: O(V+E) time and memory, also for dag_cut.
 */
#include "graph/dag.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/dfs.h"

/* how[] as far as it is asked for and not a matter of the walk. */
static void dag_take_asked(struct dag *d, const enum dag_how *asked)
{
	struct dfs reach;

	dfs_init(&reach, d->g);
	for (edge_id e = 0; e < d->g->nedges; e++) {
		const struct cfg_edge *edge = &d->g->edges[e];
		bool inside =
		        edge->src != CFG_OUTSIDE && edge->dst != CFG_OUTSIDE;

		assert(!asked || asked[e] != DAG_INDIRECT || inside);
		assert(!asked || asked[e] != DAG_IGNORED ||
		       edge->dst == CFG_OUTSIDE);
		if (!dfs_is_reached(&reach, edge->src) ||
		    (asked && asked[e] == DAG_IGNORED))
			d->how[e] = DAG_UNREACHED;
		else if (asked && inside &&
		         (asked[e] == DAG_CUT || asked[e] == DAG_INDIRECT))
			d->how[e] = asked[e];
		else
			d->how[e] = DAG_THROUGH;
	}
	dfs_release(&reach);
}

/*
 * The graph without the edges that how[] ends: each leads to the outside, and
 * another one from there to its target.  Edges keep their names.
 */
static void dag_opened(const struct dag *d, struct cfg *open)
{
	cfg_init(open, d->g->nblocks);
	for (edge_id e = 0; e < d->g->nedges; e++)
		cfg_add_edge(open, d->g->edges[e].src,
		             dag_is_ended(d, e) ? CFG_OUTSIDE
		                                : d->g->edges[e].dst);
	for (edge_id e = 0; e < d->g->nedges; e++)
		if (dag_is_ended(d, e))
			cfg_add_edge(open, CFG_OUTSIDE, d->g->edges[e].dst);
	cfg_link(open);
}

/* Finds the back edges and the order of the blocks. */
static void dag_walk(struct dag *d)
{
	struct cfg open;
	struct dfs walk;

	dag_opened(d, &open);
	dfs_init(&walk, &open);
	for (edge_id e = 0; e < d->g->nedges; e++)
		if (dfs_edge_kind(&walk, &open, e) == DFS_RETREATING)
			d->how[e] = DAG_BACK;
	d->norder = walk.nreached + 2;
	for (uint32_t i = 0; i < walk.nreached; i++)
		d->order[i] = walk.postorder[walk.nreached - 1 - i];
	d->order[walk.nreached] = dag_hub(d);
	d->order[walk.nreached + 1] = dag_end(d);
	dfs_release(&walk);
	cfg_release(&open);
}

static uint32_t dag_add(struct dag *d, uint32_t src, uint32_t dst,
                        enum dag_kind kind, uint32_t of)
{
	d->edges[d->nedges] = (struct dag_edge){src, dst, kind, of};
	return d->nedges++;
}

/* The block that an edge leads to, as a vertex. */
static uint32_t dag_target(const struct dag *d, edge_id e)
{
	block_id dst = d->g->edges[e].dst;

	return dst == CFG_OUTSIDE ? dag_end(d) : dst;
}

static void dag_add_out(struct dag *d, block_id b)
{
	uint32_t gather = CFG_NONE;
	const struct cfg *g = d->g;

	for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++) {
		edge_id e = g->out[i];

		switch (d->how[e]) {
		case DAG_THROUGH:
			d->edge_of[e] =
			        dag_add(d, b, dag_target(d, e), DAG_STEP, e);
			break;
		case DAG_BACK:
		case DAG_CUT:
			d->edge_of[e] = dag_add(d, b, dag_end(d), DAG_END, e);
			break;
		case DAG_INDIRECT:
			if (gather == CFG_NONE)
				gather = dag_add(d, b, dag_hub(d), DAG_GATHER,
				                 b);
			d->edge_of[e] = gather;
			break;
		case DAG_UNREACHED:
		case DAG_IGNORED:
			break;
		}
	}
	assert(gather == CFG_NONE || gather + 1 == d->nedges);
}

/* Marks the targets of ended edges in begin_of[] and scatter_of[] with 0. */
static void dag_mark_begins(struct dag *d)
{
	size_t n = d->g->nblocks;

	memset(d->begin_of, 0xff, n * sizeof(*d->begin_of));
	memset(d->scatter_of, 0xff, n * sizeof(*d->scatter_of));
	for (edge_id e = 0; e < d->g->nedges; e++) {
		block_id dst = d->g->edges[e].dst;

		if (dag_is_ended(d, e))
			d->begin_of[dst] = 0;
		if (d->how[e] == DAG_INDIRECT)
			d->scatter_of[dst] = 0;
	}
}

static void dag_add_edges(struct dag *d, const bool *reached)
{
	block_id nblocks = d->g->nblocks;

	for (block_id b = 0; b < nblocks; b++) {
		d->out_at[b] = d->nedges;
		if (reached[b])
			dag_add_out(d, b);
		for (block_id to = 1; b == CFG_OUTSIDE && to < nblocks; to++)
			if (d->begin_of[to] != CFG_NONE)
				d->begin_of[to] = dag_add(d, DAG_START, to,
				                          DAG_BEGIN, to);
		if (b != CFG_OUTSIDE && reached[b] && d->out_at[b] == d->nedges)
			dag_add(d, b, dag_end(d), DAG_STOP, b);
	}
	d->out_at[dag_end(d)] = d->nedges;
	d->out_at[dag_hub(d)] = d->nedges;
	for (block_id to = 1; to < nblocks; to++)
		if (d->scatter_of[to] != CFG_NONE)
			d->scatter_of[to] = dag_add(d, dag_hub(d), dag_end(d),
			                            DAG_SCATTER, to);
	d->out_at[d->nvertices] = d->nedges;
}

static void dag_link_in(struct dag *d)
{
	uint32_t *next;
	size_t n = (size_t)d->nvertices + 1;

	memset(d->in_at, 0, n * sizeof(*d->in_at));
	for (uint32_t e = 0; e < d->nedges; e++)
		d->in_at[d->edges[e].dst + 1]++;
	for (uint32_t v = 0; v < d->nvertices; v++)
		d->in_at[v + 1] += d->in_at[v];
	next = xcalloc(n, sizeof(*next));
	memcpy(next, d->in_at, n * sizeof(*next));
	for (uint32_t e = 0; e < d->nedges; e++)
		d->in[next[d->edges[e].dst]++] = e;
	free(next);
}

/* Makes the edges from how[]. */
static void dag_build(struct dag *d)
{
	bool *reached = xcalloc(d->nvertices, sizeof(*reached));

	for (uint32_t i = 0; i < d->norder; i++)
		reached[d->order[i]] = true;
	d->nedges = 0;
	memset(d->edge_of, 0xff, (size_t)d->g->nedges * sizeof(*d->edge_of));
	dag_mark_begins(d);
	dag_add_edges(d, reached);
	dag_link_in(d);
	free(reached);
}

void dag_init(struct dag *d, const struct cfg *g, const enum dag_how *asked)
{
	size_t nvertices = (size_t)g->nblocks + 2;
	/* a CFG edge has one edge, a block BEGIN, STOP and SCATTER at most */
	size_t nedges = (size_t)g->nedges + 3 * (size_t)g->nblocks;

	*d = (struct dag){
	        .g = g,
	        .nvertices = (uint32_t)nvertices,
	        .edges = xcalloc(nedges, sizeof(*d->edges)),
	        .out_at = xcalloc(nvertices + 1, sizeof(*d->out_at)),
	        .in_at = xcalloc(nvertices + 1, sizeof(*d->in_at)),
	        .in = xcalloc(nedges, sizeof(*d->in)),
	        .order = xcalloc(nvertices, sizeof(*d->order)),
	        .how = xcalloc((size_t)g->nedges + 1, sizeof(*d->how)),
	        .edge_of = xcalloc((size_t)g->nedges + 1, sizeof(*d->edge_of)),
	        .begin_of = xcalloc(g->nblocks, sizeof(*d->begin_of)),
	        .scatter_of = xcalloc(g->nblocks, sizeof(*d->scatter_of)),
	};
	assert(nedges < CFG_NONE);
	dag_take_asked(d, asked);
	dag_walk(d);
	dag_build(d);
}

void dag_release(struct dag *d)
{
	free(d->edges);
	free(d->out_at);
	free(d->in_at);
	free(d->in);
	free(d->order);
	free(d->how);
	free(d->edge_of);
	free(d->begin_of);
	free(d->scatter_of);
	*d = (struct dag){0};
}

void dag_cut(struct dag *d, const edge_id *edges, uint32_t nedges)
{
	for (uint32_t i = 0; i < nedges; i++) {
		assert(d->how[edges[i]] == DAG_THROUGH &&
		       d->g->edges[edges[i]].src != CFG_OUTSIDE &&
		       d->g->edges[edges[i]].dst != CFG_OUTSIDE);
		d->how[edges[i]] = DAG_CUT;
	}
	dag_build(d);
}

edge_id dag_indirect(const struct dag *d, block_id src, block_id dst)
{
	const struct cfg *g = d->g;

	for (uint32_t i = g->out_at[src]; i < g->out_at[src + 1]; i++)
		if (d->how[g->out[i]] == DAG_INDIRECT &&
		    g->edges[g->out[i]].dst == dst)
			return g->out[i];
	return CFG_NONE;
}
