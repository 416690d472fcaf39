/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depth-first order: the ground for dominators, loops and weights.
 *
 * R. Tarjan, "Depth-first search and linear graph algorithms", SIAM J.
 * Comput. 1(2), 1972.  The walk keeps its own stack, so that a chain of any
 * length cannot overflow the C stack.  A block is on the stack once, with the
 * position of the out-edge to take next.
 *
 * Invariant: the stack is a path of tree edges from the outside; a subtree is
 * the interval pre[b] .. last[b], so ancestry is two comparisons.
 * Cost: O(V+E) time, O(V) memory.
 */
#include "graph/dfs.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static uint32_t *dfs_words(size_t n)
{
	uint32_t *p = xcalloc(n, sizeof(*p));

	memset(p, 0xff, n * sizeof(*p)); /* all CFG_NONE */
	return p;
}

static void dfs_enter(struct dfs *d, block_id b, edge_id tree)
{
	d->pre[b] = d->nreached;
	d->tree[b] = tree;
	d->preorder[d->nreached++] = b;
}

/* Walks on from b: enters the next new block, or returns CFG_NONE. */
static block_id dfs_step(struct dfs *d, const struct cfg *g, block_id b,
                         uint32_t *next)
{
	while (next[b] < g->out_at[b + 1]) {
		edge_id e = g->out[next[b]++];
		block_id to = g->edges[e].dst;

		if (d->pre[to] == CFG_NONE) {
			dfs_enter(d, to, e);
			return to;
		}
	}
	return CFG_NONE;
}

static void dfs_walk(struct dfs *d, const struct cfg *g, block_id *stack,
                     uint32_t *next)
{
	uint32_t depth = 0, nposted = 0;

	dfs_enter(d, CFG_OUTSIDE, CFG_NONE);
	stack[depth++] = CFG_OUTSIDE;
	while (depth > 0) {
		block_id b = stack[depth - 1];
		block_id to = dfs_step(d, g, b, next);

		if (to != CFG_NONE) {
			stack[depth++] = to;
			continue;
		}
		d->last[b] = d->nreached - 1;
		d->post[b] = nposted;
		d->postorder[nposted++] = b;
		depth--;
	}
}

void dfs_init(struct dfs *d, const struct cfg *g)
{
	size_t n = g->nblocks;
	block_id *stack = xcalloc(n, sizeof(*stack));
	uint32_t *next = xcalloc(n, sizeof(*next));

	*d = (struct dfs){
	        .preorder = dfs_words(n),
	        .postorder = dfs_words(n),
	        .pre = dfs_words(n),
	        .post = dfs_words(n),
	        .last = dfs_words(n),
	        .tree = dfs_words(n),
	};
	memcpy(next, g->out_at, n * sizeof(*next));
	dfs_walk(d, g, stack, next);
	free(stack);
	free(next);
}

void dfs_release(struct dfs *d)
{
	free(d->preorder);
	free(d->postorder);
	free(d->pre);
	free(d->post);
	free(d->last);
	free(d->tree);
	*d = (struct dfs){0};
}

bool dfs_is_reached(const struct dfs *d, block_id b)
{
	return d->pre[b] != CFG_NONE;
}

bool dfs_is_ancestor(const struct dfs *d, block_id a, block_id b)
{
	return d->pre[a] <= d->pre[b] && d->pre[b] <= d->last[a];
}

enum dfs_kind dfs_edge_kind(const struct dfs *d, const struct cfg *g, edge_id e)
{
	block_id src = g->edges[e].src, dst = g->edges[e].dst;

	if (!dfs_is_reached(d, src))
		return DFS_UNREACHED;
	if (dst == CFG_OUTSIDE)
		return DFS_OUT;
	if (d->tree[dst] == e)
		return DFS_TREE;
	if (dfs_is_ancestor(d, dst, src))
		return DFS_RETREATING;
	if (dfs_is_ancestor(d, src, dst))
		return DFS_FORWARD;
	return DFS_CROSS;
}

block_id dfs_parent(const struct dfs *d, const struct cfg *g, block_id b)
{
	if (d->tree[b] == CFG_NONE)
		return CFG_NONE;
	return g->edges[d->tree[b]].src;
}
