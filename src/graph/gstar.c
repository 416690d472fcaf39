/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The class G*: where the best placement for edges is the best for blocks.
 *
 * T. Ball and J. Larus, "Optimally profiling and tracing programs", TOPLAS
 * 16(4), 1994, section 3.3.  A simple cycle, directions ignored, is a directed
 * cycle if its edges never change direction along it and a diamond if they do
 * so twice; call it bad if they do so four times or more.  A graph has
 * exponentially many cycles, so it is taken apart first:
 *
 *   1. A cycle lies in one biconnected component.
 *   2. In a component, series and parallel parts shrink to links that remember
 *      the turns of their paths (gcore.c).
 *   3. Where two nodes u and v separate a part from the rest, a cycle lies in
 *      the part, or outside it, or consists of a path u to v on either side.
 *      The cycles of the part are looked at, its paths from u to v become one
 *      link, and 2 goes on.  Small parts go first, as large ones may contain
 *      them.  (This is the decomposition of J. Hopcroft and R. Tarjan,
 *      "Dividing a graph into triconnected components", SIAM J. Comput. 2(3),
 *      1973, found by looking for cut nodes without u, for every u.)
 *   4. Cycles of what remains are looked at one by one, within the budget.
 *
 * Why parallel edges are bad: the theorem behind G* needs two executions that
 * differ in the count of a block.
 *
 * Invariant: that of gcore.c.  Every answer but UNKNOWN is proved by it.
 * Cost: O(V (V+E) log V) per component for 3; 1, 2 almost linear; 4, and the
 * paths in 3, exponential in the size of parts that do not come apart.
 */
#include "graph/gstar.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/biconnected.h"
#include "graph/cfg.h"
#include "graph/gcore.h"

/* One step of a search: at `node`, reached by link `by`, on paths `turns`. */
struct gstar_step {
	uint32_t node, by, half;
	turns_set turns;
	bool over;
};

struct gstar {
	struct gcore core;
	bool *allowed; /* per node: may the search pass? */
	bool *on_path; /* per node */
	struct gstar_step *path;
	/* the walk without u: per node, and nodes in preorder */
	uint32_t *number, *low, *size, *parent, *half, *order;
	uint32_t norder;
};

static void gstar_push(struct gstar *s, uint32_t *depth, struct gstar_step step)
{
	step.half = s->core.first[step.node];
	s->path[(*depth)++] = step;
	s->on_path[step.node] = true;
}

/*
 * Looks at every simple path from `from` over allowed nodes to `to`, or at
 * every simple cycle through it if they are equal, without link `without`.
 * Gathers their turns in *found; sets bad if one has more than two.  False if
 * the budget ends first.
 */
static bool gstar_search(struct gstar *s, uint32_t from, uint32_t to,
                         uint32_t without, turns_set *found)
{
	struct gcore *c = &s->core;
	uint32_t depth = 0;
	bool in_time = true;

	gstar_push(s, &depth, (struct gstar_step){from, GCORE_NONE, 0, 0, 0});
	while (depth > 0 && in_time && !c->bad) {
		struct gstar_step *at = &s->path[depth - 1], step = {0};
		uint32_t half = at->half;

		if (half == GCORE_NONE) {
			s->on_path[at->node] = false;
			depth--;
			continue;
		}
		in_time = gcore_spend(c, 1);
		at->half = c->next[half];
		step.node = gcore_to(c, half);
		step.by = half >> 1;
		step.over = at->over;
		if (step.by == at->by || step.by == without ||
		    (step.node != to &&
		     (!s->allowed[step.node] || s->on_path[step.node])))
			continue;
		step.turns = gcore_turns(c, half) & TURNS_ALL;
		if (depth > 1)
			step.turns =
			        turns_join(at->turns, step.turns, &step.over);
		if (step.node != to) {
			gstar_push(s, &depth, step);
			continue;
		}
		*found |= step.turns;
		c->bad = step.over;
	}
	while (depth > 0)
		s->on_path[s->path[--depth].node] = false;
	return in_time;
}

/* Looks at all cycles through the given nodes.  Disallows these. */
static bool gstar_cycles(struct gstar *s, const uint32_t *nodes, uint32_t n,
                         uint32_t without)
{
	turns_set ignored = 0;

	for (uint32_t i = 0; i < n && !s->core.bad; i++) {
		if (!gstar_search(s, nodes[i], nodes[i], without, &ignored))
			return false;
		s->allowed[nodes[i]] = false;
	}
	return true;
}

static void gstar_enter(struct gstar *s, uint32_t x, uint32_t parent)
{
	s->number[x] = s->low[x] = s->norder;
	s->size[x] = 1;
	s->parent[x] = parent;
	s->half[x] = s->core.first[x];
	s->order[s->norder++] = x;
}

static void gstar_leave(struct gstar *s, uint32_t x)
{
	uint32_t p = s->parent[x];

	if (p == GCORE_NONE)
		return;
	s->size[p] += s->size[x];
	if (s->low[x] < s->low[p])
		s->low[p] = s->low[x];
}

/* Walks the graph without u, depth first: number, low, size, parent, order. */
static void gstar_walk_without(struct gstar *s, uint32_t u)
{
	const struct gcore *c = &s->core;
	uint32_t x = gcore_to(c, c->first[u]);

	for (uint32_t y = 0; y < c->nnodes; y++)
		s->number[y] = GCORE_NONE;
	s->norder = 0;
	gstar_enter(s, x, GCORE_NONE);
	while (x != GCORE_NONE) {
		uint32_t half = s->half[x], y;

		if (half == GCORE_NONE) {
			gstar_leave(s, x);
			x = s->parent[x];
			continue;
		}
		s->half[x] = c->next[half];
		y = gcore_to(c, half);
		if (y == u)
			continue;
		if (s->number[y] == GCORE_NONE) {
			gstar_enter(s, y, x);
			x = y;
		} else if (y != s->parent[x] && s->number[y] < s->low[x]) {
			s->low[x] = s->number[y];
		}
	}
}

/*
 * The smallest part, of at most `limit` nodes, that u and another node
 * separate from the rest: the root of its subtree, or GCORE_NONE.
 */
static uint32_t gstar_smallest_part(const struct gstar *s, uint32_t limit)
{
	uint32_t best = GCORE_NONE;

	for (uint32_t i = 1; i < s->norder; i++) {
		uint32_t x = s->order[i];

		if (s->low[x] < s->number[s->parent[x]] || s->size[x] > limit ||
		    s->size[x] + 2 >= s->core.nalive)
			continue;
		if (best == GCORE_NONE || s->size[x] < s->size[best])
			best = x;
	}
	return best;
}

/* Replaces the part whose subtree has this root by a link. */
static bool gstar_replace(struct gstar *s, uint32_t u, uint32_t root)
{
	struct gcore *c = &s->core;
	uint32_t v = s->parent[root], n = s->size[root];
	const uint32_t *nodes = &s->order[s->number[root]];
	uint32_t direct = gcore_find(c, u, v);
	turns_set paths = 0;
	bool in_time;

	for (uint32_t i = 0; i < n; i++)
		s->allowed[nodes[i]] = true;
	in_time = gstar_search(s, u, v, direct, &paths);
	s->allowed[u] = s->allowed[v] = true;
	in_time = in_time && gstar_cycles(s, nodes, n, direct);
	for (uint32_t i = 0; i < n; i++)
		s->allowed[nodes[i]] = false;
	s->allowed[u] = s->allowed[v] = false;
	if (!in_time || c->bad)
		return in_time;
	for (uint32_t i = 0; i < n; i++)
		while (c->first[nodes[i]] != GCORE_NONE)
			gcore_remove(c, c->first[nodes[i]] >> 1);
	c->nalive -= n;
	gcore_add(c, u, v, paths);
	gcore_reduce(c);
	return true;
}

/* Takes off all parts of at most `limit` nodes at u.  Counts them. */
static bool gstar_parts_at(struct gstar *s, uint32_t u, uint32_t limit,
                           uint32_t *nparts)
{
	struct gcore *c = &s->core;

	while (!c->bad && c->nalive > 4 && c->degree[u] > 0) {
		uint32_t root;

		if (!gcore_spend(c, (uint64_t)c->nnodes + c->nlinks))
			return false;
		gstar_walk_without(s, u);
		root = gstar_smallest_part(s, limit);
		if (root == GCORE_NONE)
			return true;
		++*nparts;
		if (!gstar_replace(s, u, root))
			return false;
	}
	return true;
}

static bool gstar_take_apart(struct gstar *s)
{
	struct gcore *c = &s->core;
	uint32_t limit = 2, nparts = 0;

	do {
		nparts = 0;
		for (uint32_t u = 0; u < c->nnodes; u++)
			if (!gstar_parts_at(s, u, limit, &nparts))
				return false;
		if (limit <= c->nnodes)
			limit *= 2;
	} while (!c->bad && (nparts > 0 || limit <= c->nalive));
	return true;
}

static bool gstar_rest(struct gstar *s)
{
	uint32_t n = 0;

	if (s->core.bad || s->core.nalive < 3)
		return true;
	for (uint32_t x = 0; x < s->core.nnodes; x++) {
		s->allowed[x] = s->core.degree[x] > 0;
		if (s->allowed[x])
			s->order[n++] = x;
	}
	return gstar_cycles(s, s->order, n, GCORE_NONE);
}

static void gstar_init(struct gstar *s, uint32_t nnodes, uint32_t nlinks,
                       uint64_t budget)
{
	size_t n = (size_t)nnodes + 1;

	*s = (struct gstar){
	        .allowed = xcalloc(n, sizeof(*s->allowed)),
	        .on_path = xcalloc(n, sizeof(*s->on_path)),
	        .path = xcalloc(n, sizeof(*s->path)),
	        .number = xcalloc(n, sizeof(*s->number)),
	        .low = xcalloc(n, sizeof(*s->low)),
	        .size = xcalloc(n, sizeof(*s->size)),
	        .parent = xcalloc(n, sizeof(*s->parent)),
	        .half = xcalloc(n, sizeof(*s->half)),
	        .order = xcalloc(n, sizeof(*s->order)),
	};
	gcore_init(&s->core, nnodes, nlinks, budget);
}

static void gstar_release(struct gstar *s)
{
	gcore_release(&s->core);
	free(s->allowed);
	free(s->on_path);
	free(s->path);
	free(s->number);
	free(s->low);
	free(s->size);
	free(s->parent);
	free(s->half);
	free(s->order);
}

/* Names the blocks of a component 0, 1, ...; returns their number. */
static uint32_t gstar_name_nodes(const struct cfg *g, const edge_id *edges,
                                 uint32_t n, uint32_t *node_of)
{
	uint32_t nnodes = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct cfg_edge *e = &g->edges[edges[i]];

		node_of[e->src] = node_of[e->dst] = GCORE_NONE;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct cfg_edge *e = &g->edges[edges[i]];

		if (node_of[e->src] == GCORE_NONE)
			node_of[e->src] = nnodes++;
		if (node_of[e->dst] == GCORE_NONE)
			node_of[e->dst] = nnodes++;
	}
	return nnodes;
}

static enum gstar_answer gstar_component(const struct cfg *g,
                                         const edge_id *edges, uint32_t n,
                                         uint32_t *node_of, uint64_t *budget)
{
	uint32_t nnodes = gstar_name_nodes(g, edges, n, node_of);
	struct gstar s;
	enum gstar_answer answer = GSTAR_UNKNOWN;

	gstar_init(&s, nnodes, n, *budget);
	for (uint32_t i = 0; i < n; i++) {
		const struct cfg_edge *e = &g->edges[edges[i]];

		gcore_add(&s.core, node_of[e->src], node_of[e->dst],
		          TURNS_WITH | TURNS_EDGE_WITH);
	}
	gcore_reduce(&s.core);
	if (gstar_take_apart(&s) && gstar_rest(&s))
		answer = GSTAR_YES;
	if (s.core.bad)
		answer = GSTAR_NO;
	*budget = s.core.budget;
	gstar_release(&s);
	return answer;
}

enum gstar_answer gstar_test(const struct cfg *g, uint64_t budget)
{
	uint32_t *node_of = xcalloc(g->nblocks, sizeof(*node_of));
	struct biconnected c;
	enum gstar_answer answer = GSTAR_YES;

	biconnected_init(&c, g);
	for (uint32_t i = 0; i < c.n && answer != GSTAR_NO; i++) {
		enum gstar_answer part = gstar_component(g, &c.edges[c.at[i]],
		                                         c.at[i + 1] - c.at[i],
		                                         node_of, &budget);

		if (part != GSTAR_YES)
			answer = part;
	}
	biconnected_release(&c);
	free(node_of);
	return answer;
}
