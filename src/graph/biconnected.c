/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Biconnected components.
 *
 * J. Hopcroft and R. Tarjan, "Algorithm 447: efficient algorithms for graph
 * manipulation", CACM 16(6), 1973.  A depth-first walk, directions ignored,
 * puts every edge on a stack when it is first seen; when a subtree has no edge
 * above its parent, the edges pushed since the walk entered it are a
 * component.  Parallel edges are told apart by name, so two of them are a
 * component of their own right.
 *
 * Invariant: low[b] is the smallest number that b's subtree reaches by one edge
 * that is not a tree edge.
 * Cost: O(V+E) time and memory, no recursion.
 */
#include "graph/biconnected.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/dfs.h"

struct bicwalk {
	const struct cfg *g;
	struct dfs dfs;
	uint32_t *number, *low; /* number 0: not seen */
	uint32_t *next;         /* position in out[], then in in[] */
	edge_id *tree;          /* per block: the edge the walk came by */
	bool *seen;             /* per edge */
	block_id *path;
	uint32_t depth, nseen;
	edge_id *stack;
	uint32_t nstack;
};

/* The next edge at b that was not seen yet, or CFG_NONE. */
static edge_id bicwalk_next(struct bicwalk *w, block_id b)
{
	const struct cfg *g = w->g;
	uint32_t nout = g->out_at[b + 1] - g->out_at[b];
	uint32_t nin = g->in_at[b + 1] - g->in_at[b];

	while (w->next[b] < nout + nin) {
		uint32_t k = w->next[b]++;
		edge_id e = k < nout ? g->out[g->out_at[b] + k]
		                     : g->in[g->in_at[b] + k - nout];
		const struct cfg_edge *edge = &g->edges[e];

		if (!w->seen[e] && edge->src != edge->dst &&
		    dfs_is_reached(&w->dfs, edge->src))
			return e;
	}
	return CFG_NONE;
}

static void bicwalk_enter(struct bicwalk *w, block_id b, edge_id by)
{
	w->tree[b] = by;
	w->number[b] = w->low[b] = ++w->nseen;
	w->path[w->depth++] = b;
}

/* Takes the edges down to `first` off the stack: a component. */
static void bicwalk_emit(struct bicwalk *w, edge_id first,
                         struct biconnected *c)
{
	uint32_t end = c->at[c->n];
	edge_id e;

	do {
		e = w->stack[--w->nstack];
		c->edges[end++] = e;
	} while (e != first);
	c->at[++c->n] = end;
}

static void bicwalk_leave(struct bicwalk *w, block_id b, struct biconnected *c)
{
	block_id parent;

	if (--w->depth == 0)
		return;
	parent = w->path[w->depth - 1];
	if (w->low[b] < w->low[parent])
		w->low[parent] = w->low[b];
	if (w->low[b] >= w->number[parent])
		bicwalk_emit(w, w->tree[b], c);
}

static void bicwalk_run(struct bicwalk *w, struct biconnected *c)
{
	bicwalk_enter(w, CFG_OUTSIDE, CFG_NONE);
	while (w->depth > 0) {
		block_id b = w->path[w->depth - 1], to;
		edge_id e = bicwalk_next(w, b);

		if (e == CFG_NONE) {
			bicwalk_leave(w, b, c);
			continue;
		}
		to = w->g->edges[e].src ^ w->g->edges[e].dst ^ b;
		w->seen[e] = true;
		w->stack[w->nstack++] = e;
		if (w->number[to] == 0)
			bicwalk_enter(w, to, e);
		else if (w->number[to] < w->low[b])
			w->low[b] = w->number[to];
	}
}

void biconnected_init(struct biconnected *c, const struct cfg *g)
{
	size_t nblocks = g->nblocks, nedges = (size_t)g->nedges + 1;
	struct bicwalk w = {
	        .g = g,
	        .number = xcalloc(nblocks, sizeof(*w.number)),
	        .low = xcalloc(nblocks, sizeof(*w.low)),
	        .next = xcalloc(nblocks, sizeof(*w.next)),
	        .tree = xcalloc(nblocks, sizeof(*w.tree)),
	        .path = xcalloc(nblocks, sizeof(*w.path)),
	        .seen = xcalloc(nedges, sizeof(*w.seen)),
	        .stack = xcalloc(nedges, sizeof(*w.stack)),
	};

	*c = (struct biconnected){
	        .at = xcalloc(nedges + 1, sizeof(*c->at)),
	        .edges = xcalloc(nedges, sizeof(*c->edges)),
	};
	dfs_init(&w.dfs, g);
	bicwalk_run(&w, c);
	dfs_release(&w.dfs);
	free(w.number);
	free(w.low);
	free(w.next);
	free(w.tree);
	free(w.path);
	free(w.seen);
	free(w.stack);
}

void biconnected_release(struct biconnected *c)
{
	free(c->at);
	free(c->edges);
	*c = (struct biconnected){0};
}
