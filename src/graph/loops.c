/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops, reducible or not, and how they nest.
 *
 * P. Havlak, "Nesting of reducible and irreducible loops", TOPLAS 19(4), 1997,
 * with the change that makes it almost linear: G. Ramalingam, "Identifying
 * loops in almost linear time", TOPLAS 21(2), 1999.  Blocks are taken as heads
 * in reverse preorder, inner ones first.  The body of a head is what reaches
 * its retreating edges backwards without leaving the head's subtree; it is
 * then merged into the head (union-find).  An edge y -> x can be part of the
 * loops of common ancestors of x and y only, so it is put in at the nearest
 * one, between the loops that x and y have become by then.
 *
 * Nearest common ancestors: blocks are merged into their tree parent as they
 * finish, so when y finishes the root of a finished x is the lowest ancestor
 * of x that has not, which is an ancestor of y (Tarjan 1979).
 *
 * Invariant: at head w, find(b) is the head of the outermost loop around b
 * among heads greater than w, or b.  Every pending list is walked once.
 * Entries and exits are sums along the forest: an edge adds one from the loop
 * of its end to the outermost loop that it enters or leaves.
 * Cost: O((V+E) log V) time, O(V+E) memory.
 */
#include "graph/loops.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/dfs.h"
#include "graph/unionfind.h"

struct loopfind {
	const struct cfg *g;
	const struct dfs *d;
	block_id *up;   /* union-find */
	block_id *head; /* per block: head of the innermost loop around it */
	bool *is_head;  /* per block */
	block_id *mark; /* per block: in the body of this head */
	block_id *body; /* the body found so far */
	uint32_t nbody;
	edge_id *at_ancestor; /* per block: edges to put in there ... */
	edge_id *next;        /* ... chained */
	edge_id *into;        /* per block: edges put in, chained likewise */
};

/* Chains every edge that is not retreating at its nearest common ancestor. */
static void loopfind_ancestors(struct loopfind *f)
{
	const struct cfg *g = f->g;

	for (uint32_t i = 0; i < f->d->nreached; i++) {
		block_id y = f->d->postorder[i];
		block_id parent = dfs_parent(f->d, g, y);

		for (uint32_t k = g->out_at[y]; k < g->out_at[y + 1]; k++) {
			edge_id e = g->out[k];
			enum dfs_kind kind = dfs_edge_kind(f->d, g, e);
			block_id a;

			if (kind == DFS_OUT || kind == DFS_RETREATING)
				continue;
			a = kind == DFS_CROSS
			            ? unionfind_find(f->up, g->edges[e].dst)
			            : y;
			f->next[e] = f->at_ancestor[a];
			f->at_ancestor[a] = e;
		}
		if (parent != CFG_NONE)
			f->up[y] = parent;
	}
	for (block_id b = 0; b < g->nblocks; b++)
		f->up[b] = b;
}

/* Puts in the edges that wait for w. */
static void loopfind_put_edges(struct loopfind *f, block_id w)
{
	edge_id e = f->at_ancestor[w];

	while (e != CFG_NONE) {
		edge_id following = f->next[e];
		block_id x = unionfind_find(f->up, f->g->edges[e].dst);

		f->next[e] = f->into[x];
		f->into[x] = e;
		e = following;
	}
}

/* Adds the loop around b, or b, to the body of w; once. */
static void loopfind_add(struct loopfind *f, block_id w, block_id b)
{
	block_id x = unionfind_find(f->up, b);

	if (x == w || f->mark[x] == w)
		return;
	f->mark[x] = w;
	f->body[f->nbody++] = x;
}

static void loopfind_head(struct loopfind *f, block_id w)
{
	const struct cfg *g = f->g;

	loopfind_put_edges(f, w);
	f->nbody = 0;
	for (uint32_t i = g->in_at[w]; i < g->in_at[w + 1]; i++) {
		if (dfs_edge_kind(f->d, g, g->in[i]) != DFS_RETREATING)
			continue;
		f->is_head[w] = true;
		loopfind_add(f, w, g->edges[g->in[i]].src);
	}
	for (uint32_t i = 0; i < f->nbody; i++) {
		edge_id e = f->into[f->body[i]];

		for (; e != CFG_NONE; e = f->next[e])
			loopfind_add(f, w, g->edges[e].src);
	}
	for (uint32_t i = 0; i < f->nbody; i++) {
		f->head[f->body[i]] = w;
		f->up[f->body[i]] = w;
	}
}

/* Numbers the loops by the preorder of their heads, parents first. */
static void loops_build(struct loops *l, const struct loopfind *f)
{
	for (uint32_t i = 0; i < f->d->nreached; i++)
		l->n += f->is_head[f->d->preorder[i]];
	l->loop = xcalloc((size_t)l->n + 1, sizeof(*l->loop));
	l->n = 0;
	for (uint32_t i = 0; i < f->d->nreached; i++) {
		block_id b = f->d->preorder[i];
		uint32_t around = CFG_NONE;

		if (f->head[b] != CFG_NONE)
			around = l->of[f->head[b]];
		l->of[b] = around;
		if (!f->is_head[b])
			continue;
		l->of[b] = l->n;
		l->loop[l->n++] = (struct loop){
		        .head = b,
		        .parent = around,
		        .depth = around == CFG_NONE ? 1
		                                    : l->loop[around].depth + 1,
		};
	}
}

/* Intervals: sizes add up from the children, places go out from the parents. */
static void loops_number(struct loops *l)
{
	uint32_t *size = xcalloc((size_t)l->n + 1, sizeof(*size));
	uint32_t *used = xcalloc((size_t)l->n + 1, sizeof(*used));

	for (uint32_t i = l->n; i-- > 0;) {
		uint32_t p = l->loop[i].parent;

		size[i]++;
		size[p == CFG_NONE ? l->n : p] += size[i];
	}
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t p = l->loop[i].parent;
		uint32_t *taken = &used[p == CFG_NONE ? l->n : p];

		l->loop[i].in = *taken;
		if (p != CFG_NONE)
			l->loop[i].in += l->loop[p].in + 1;
		l->loop[i].out = l->loop[i].in + size[i] - 1;
		*taken += size[i];
	}
	free(size);
	free(used);
}

/*
 * Jump pointers in the manner of E. Myers, "An applicative random-access
 * stack", IPL 17, 1983: one per loop, and any loop around is found in a number
 * of steps logarithmic in the depth.  The outermost loops jump to themselves.
 */
static void loops_set_jumps(struct loops *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t p = l->loop[i].parent, k, kk;

		l->loop[i].jump = i;
		if (p == CFG_NONE)
			continue;
		k = l->loop[p].jump;
		kk = l->loop[k].jump;
		if (k != kk && l->loop[p].depth - l->loop[k].depth ==
		                       l->loop[k].depth - l->loop[kk].depth)
			l->loop[i].jump = kk;
		else
			l->loop[i].jump = p;
	}
}

uint32_t loops_left(const struct loops *l, block_id from, block_id to)
{
	uint32_t i = l->of[from];

	if (i == CFG_NONE || loops_contains(l, i, to))
		return CFG_NONE;
	for (;;) {
		const struct loop *loop = &l->loop[i];

		if (loop->parent == CFG_NONE ||
		    loops_contains(l, loop->parent, to))
			return i;
		i = loops_contains(l, loop->jump, to) ? loop->parent
		                                      : loop->jump;
	}
}

/*
 * Sums per loop, as differences: the value of a loop is the sum over itself
 * and all loops inside it.  One more element takes what leaves the forest.
 */
struct loopsums {
	int64_t *nexits, *nentries, *nwrong;
};

/* Adds one to the value of every loop from `inner` out to `outer`. */
static void loopsums_add(const struct loops *l, int64_t *sum, uint32_t inner,
                         uint32_t outer)
{
	uint32_t beyond = l->loop[outer].parent;

	sum[inner]++;
	sum[beyond == CFG_NONE ? l->n : beyond]--;
}

static void loops_count_edge(const struct loops *l, struct loopsums *sums,
                             const struct cfg_edge *edge)
{
	uint32_t left = loops_left(l, edge->src, edge->dst);
	uint32_t entered = loops_left(l, edge->dst, edge->src);
	uint32_t inner = l->of[edge->dst];

	if (left != CFG_NONE)
		loopsums_add(l, sums->nexits, l->of[edge->src], left);
	if (entered == CFG_NONE)
		return;
	loopsums_add(l, sums->nentries, inner, entered);
	/* only the innermost loop can have its head there */
	if (l->loop[inner].head != edge->dst)
		loopsums_add(l, sums->nwrong, inner, entered);
	else if (inner != entered)
		loopsums_add(l, sums->nwrong, l->loop[inner].parent, entered);
}

static void loops_count_edges(struct loops *l, const struct cfg *g,
                              const struct dfs *d)
{
	size_t n = (size_t)l->n + 1;
	struct loopsums sums = {
	        .nexits = xcalloc(n, sizeof(*sums.nexits)),
	        .nentries = xcalloc(n, sizeof(*sums.nentries)),
	        .nwrong = xcalloc(n, sizeof(*sums.nwrong)),
	};

	for (edge_id e = 0; e < g->nedges; e++)
		if (dfs_is_reached(d, g->edges[e].src))
			loops_count_edge(l, &sums, &g->edges[e]);
	for (uint32_t i = l->n; i-- > 0;) {
		struct loop *loop = &l->loop[i];
		uint32_t p = loop->parent == CFG_NONE ? l->n : loop->parent;

		loop->nexits = (uint32_t)sums.nexits[i];
		loop->nentries = (uint32_t)sums.nentries[i];
		loop->irreducible = sums.nwrong[i] > 0;
		sums.nexits[p] += sums.nexits[i];
		sums.nentries[p] += sums.nentries[i];
		sums.nwrong[p] += sums.nwrong[i];
	}
	free(sums.nexits);
	free(sums.nentries);
	free(sums.nwrong);
}

static void loops_count_blocks(struct loops *l, const struct dfs *d)
{
	for (uint32_t i = 0; i < d->nreached; i++) {
		uint32_t k = l->of[d->preorder[i]];

		if (k != CFG_NONE)
			l->loop[k].nblocks++;
	}
	for (uint32_t i = l->n; i-- > 0;)
		if (l->loop[i].parent != CFG_NONE)
			l->loop[l->loop[i].parent].nblocks +=
			        l->loop[i].nblocks;
}

static void loopfind_init(struct loopfind *f, const struct cfg *g,
                          const struct dfs *d)
{
	size_t n = g->nblocks;

	*f = (struct loopfind){
	        .g = g,
	        .d = d,
	        .up = unionfind_new(g->nblocks),
	        .head = xcalloc(n, sizeof(*f->head)),
	        .is_head = xcalloc(n, sizeof(*f->is_head)),
	        .mark = xcalloc(n, sizeof(*f->mark)),
	        .body = xcalloc(n, sizeof(*f->body)),
	        .at_ancestor = xcalloc(n, sizeof(*f->at_ancestor)),
	        .into = xcalloc(n, sizeof(*f->into)),
	        .next = xcalloc((size_t)g->nedges + 1, sizeof(*f->next)),
	};
	for (block_id b = 0; b < g->nblocks; b++) {
		f->head[b] = f->mark[b] = CFG_NONE;
		f->at_ancestor[b] = f->into[b] = CFG_NONE;
	}
}

static void loopfind_release(struct loopfind *f)
{
	free(f->up);
	free(f->head);
	free(f->is_head);
	free(f->mark);
	free(f->body);
	free(f->at_ancestor);
	free(f->into);
	free(f->next);
}

void loops_init(struct loops *l, const struct cfg *g, const struct dfs *d)
{
	struct loopfind f;

	*l = (struct loops){.of = xcalloc(g->nblocks, sizeof(*l->of))};
	for (block_id b = 0; b < g->nblocks; b++)
		l->of[b] = CFG_NONE;
	loopfind_init(&f, g, d);
	loopfind_ancestors(&f);
	for (uint32_t i = d->nreached; i-- > 0;)
		loopfind_head(&f, d->preorder[i]);
	loops_build(l, &f);
	loopfind_release(&f);
	loops_number(l);
	loops_set_jumps(l);
	loops_count_edges(l, g, d);
	loops_count_blocks(l, d);
}

void loops_release(struct loops *l)
{
	free(l->loop);
	free(l->of);
	*l = (struct loops){0};
}

bool loops_contains(const struct loops *l, uint32_t i, block_id b)
{
	uint32_t k = l->of[b];

	if (k == CFG_NONE)
		return false;
	return l->loop[i].in <= l->loop[k].in &&
	       l->loop[k].in <= l->loop[i].out;
}
