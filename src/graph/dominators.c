/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dominators.
 *
 * T. Lengauer and R. Tarjan, "A fast algorithm for finding dominators in a
 * flowgraph", TOPLAS 1(1), 1979, the simple version (path compression without
 * balancing).  Blocks are named by their preorder number.  The semidominator
 * of w is the smallest v with a path v -> w whose inner blocks are all greater
 * than w; it is found from w's predecessors and the forest of the blocks done
 * so far.  The immediate dominator is the semidominator, or that of the block
 * with the smallest semidominator on the way to it.  Compression walks with a
 * stack of its own.
 *
 * Invariant: blocks greater than w are linked into the forest; best(v) has the
 * smallest semidominator between v and the root of its tree, root excluded.
 * Cost: O(E log V) time, O(V) memory.
 */
#include "graph/dominators.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/dfs.h"

/* Everything by preorder number. */
struct domforest {
	uint32_t *semi, *best, *ancestor, *idom;
	uint32_t *bucket, *bucket_next; /* w by semidominator */
	uint32_t *stack;
};

/* Hangs v, and all above it, right under the root of its tree. */
static void domforest_compress(struct domforest *f, uint32_t v)
{
	uint32_t depth = 0;

	while (f->ancestor[f->ancestor[v]] != CFG_NONE) {
		f->stack[depth++] = v;
		v = f->ancestor[v];
	}
	while (depth > 0) {
		uint32_t a;

		v = f->stack[--depth];
		a = f->ancestor[v];
		if (f->semi[f->best[a]] < f->semi[f->best[v]])
			f->best[v] = f->best[a];
		f->ancestor[v] = f->ancestor[a];
	}
}

static uint32_t domforest_eval(struct domforest *f, uint32_t v)
{
	if (f->ancestor[v] == CFG_NONE)
		return v;
	domforest_compress(f, v);
	return f->best[v];
}

static void domforest_semi(struct domforest *f, const struct cfg *g,
                           const struct dfs *d, uint32_t w)
{
	block_id b = d->preorder[w];

	for (uint32_t i = g->in_at[b]; i < g->in_at[b + 1]; i++) {
		block_id from = g->edges[g->in[i]].src;
		uint32_t u;

		if (!dfs_is_reached(d, from))
			continue;
		u = domforest_eval(f, d->pre[from]);
		if (f->semi[u] < f->semi[w])
			f->semi[w] = f->semi[u];
	}
	f->bucket_next[w] = f->bucket[f->semi[w]];
	f->bucket[f->semi[w]] = w;
}

/* Settles, or defers, the blocks whose semidominator is p. */
static void domforest_empty_bucket(struct domforest *f, uint32_t p)
{
	for (uint32_t v = f->bucket[p]; v != CFG_NONE; v = f->bucket_next[v]) {
		uint32_t u = domforest_eval(f, v);

		f->idom[v] = f->semi[u] < f->semi[v] ? u : p;
	}
	f->bucket[p] = CFG_NONE;
}

static void domforest_run(struct domforest *f, const struct cfg *g,
                          const struct dfs *d)
{
	for (uint32_t w = d->nreached - 1; w > 0; w--) {
		uint32_t parent = d->pre[dfs_parent(d, g, d->preorder[w])];

		domforest_semi(f, g, d, w);
		f->ancestor[w] = parent;
		domforest_empty_bucket(f, parent);
	}
	for (uint32_t w = 1; w < d->nreached; w++)
		if (f->idom[w] != f->semi[w])
			f->idom[w] = f->idom[f->idom[w]];
}

static void domforest_init(struct domforest *f, uint32_t n)
{
	uint32_t **words[] = {&f->semi, &f->best,   &f->ancestor,
	                      &f->idom, &f->bucket, &f->bucket_next,
	                      &f->stack};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		*words[i] = xcalloc(n, sizeof(**words[i]));
	for (uint32_t w = 0; w < n; w++) {
		f->semi[w] = f->best[w] = w;
		f->ancestor[w] = f->bucket[w] = f->bucket_next[w] = CFG_NONE;
	}
}

static void domforest_release(struct domforest *f)
{
	free(f->semi);
	free(f->best);
	free(f->ancestor);
	free(f->idom);
	free(f->bucket);
	free(f->bucket_next);
	free(f->stack);
}

/*
 * Numbers the tree so that subtrees are intervals.  An immediate dominator
 * comes before its blocks in preorder, so sizes add up backwards and places
 * are handed out forwards.
 */
static void dominators_number(struct dominators *dom, const struct dfs *d)
{
	uint32_t *size = xcalloc(d->nreached, sizeof(*size));
	uint32_t *used = xcalloc(d->nreached, sizeof(*used));

	for (uint32_t w = d->nreached; w-- > 0;) {
		block_id up = dom->idom[d->preorder[w]];

		size[w]++;
		if (up != CFG_NONE)
			size[d->pre[up]] += size[w];
	}
	for (uint32_t w = 0; w < d->nreached; w++) {
		block_id b = d->preorder[w], up = dom->idom[b];

		dom->in[b] = 0;
		if (up != CFG_NONE) {
			dom->in[b] = dom->in[up] + 1 + used[d->pre[up]];
			used[d->pre[up]] += size[w];
		}
		dom->out[b] = dom->in[b] + size[w] - 1;
	}
	free(size);
	free(used);
}

void dominators_init(struct dominators *dom, const struct cfg *g,
                     const struct dfs *d)
{
	struct domforest f;

	*dom = (struct dominators){
	        .nblocks = g->nblocks,
	        .idom = xcalloc(g->nblocks, sizeof(*dom->idom)),
	        .in = xcalloc(g->nblocks, sizeof(*dom->in)),
	        .out = xcalloc(g->nblocks, sizeof(*dom->out)),
	};
	for (block_id b = 0; b < g->nblocks; b++)
		dom->idom[b] = dom->in[b] = dom->out[b] = CFG_NONE;
	domforest_init(&f, d->nreached);
	domforest_run(&f, g, d);
	for (uint32_t w = 1; w < d->nreached; w++)
		dom->idom[d->preorder[w]] = d->preorder[f.idom[w]];
	domforest_release(&f);
	dominators_number(dom, d);
}

void dominators_release(struct dominators *dom)
{
	free(dom->idom);
	free(dom->in);
	free(dom->out);
	*dom = (struct dominators){0};
}

bool dominators_dominates(const struct dominators *dom, block_id a, block_id b)
{
	if (dom->in[a] == CFG_NONE || dom->in[b] == CFG_NONE)
		return false;
	return dom->in[a] <= dom->in[b] && dom->in[b] <= dom->out[a];
}
