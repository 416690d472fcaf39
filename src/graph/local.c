/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for the turns of an innermost loop.
 *
 * A function may have 2^50 paths, and still most paths that it executes are
 * turns of a few inner loops: they begin at a loop's head and end with its edge
 * back, and there are few of those (measured on bzip2: 97 % of all executed
 * path ends are in functions with more than 16384 paths, and 80 % of them are
 * such turns; fann 59 % and 82 %).  So the loop is numbered as if it were a
 * function of its own, and its turns can have counters of their own; sum[] says
 * what a turn adds to the number of a path of the function, for the turns that
 * come from before the loop or go on behind it.
 *
 * The idea is our own; the numbering is that of paths.c (Ball and Larus 1996),
 * on the graph of the loop.
 *
 * Invariant: for a path of the function that goes through the loop, in one turn
 * since paths end at edges back, number = (sum of values up to the head) +
 * sum[turn] + (sum of values behind the turn).
 * Oracle: proof_paths encodes the same paths by paths.c alone.
 * Cost: O(V+E), and O(turns * length) for sum[].
 */
#include "graph/local.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

/* --- the blocks ---------------------------------------------------------- */

/* Marks what reaches an edge back to the head without passing it. */
static uint32_t local_mark(const struct dag *d, block_id head, bool *inside)
{
	const struct cfg *g = d->g;
	block_id *work = xcalloc((size_t)g->nblocks + 1, sizeof(*work));
	uint32_t nwork = 0;

	inside[head] = true;
	work[nwork++] = head;
	for (uint32_t i = 0; i < nwork; i++) {
		block_id b = work[i];

		for (uint32_t k = g->in_at[b]; k < g->in_at[b + 1]; k++) {
			block_id from = g->edges[g->in[k]].src;

			if (from == CFG_OUTSIDE || inside[from] ||
			    (b == head && d->how[g->in[k]] != DAG_BACK))
				continue;
			inside[from] = true;
			work[nwork++] = from;
		}
	}
	free(work);
	return nwork;
}

/* Is the edge one that such a loop may have at its blocks? */
static bool local_allows(const struct dag *d, block_id head, const bool *inside,
                         edge_id e)
{
	const struct cfg_edge *edge = &d->g->edges[e];
	bool from = inside[edge->src], to = inside[edge->dst];

	if (!from && !to)
		return true;
	if (d->how[e] == DAG_INDIRECT || d->how[e] == DAG_UNREACHED)
		return false;
	if (!from) /* a way in, whatever ends there */
		return edge->dst == head;
	if (!to) /* a way out */
		return true;
	return edge->dst == head ? d->how[e] == DAG_BACK
	                         : d->how[e] == DAG_THROUGH;
}

static bool local_is_fit(const struct dag *d, block_id head, const bool *inside)
{
	bool has_back = false;

	for (edge_id e = 0; e < d->g->nedges; e++) {
		if (!local_allows(d, head, inside, e))
			return false;
		has_back |= inside[d->g->edges[e].src] &&
		            d->g->edges[e].dst == head;
	}
	return has_back;
}

/* --- the graph ----------------------------------------------------------- */

static void local_build(struct local *l, const struct dag *d,
                        const bool *inside, uint32_t nblocks)
{
	block_id *name = xcalloc(d->g->nblocks, sizeof(*name));
	block_id n = 1;

	cfg_init(&l->g, nblocks + 1);
	l->block = xcalloc((size_t)nblocks + 1, sizeof(*l->block));
	l->edge = xcalloc((size_t)d->g->nedges + 1, sizeof(*l->edge));
	for (block_id b = 1; b < d->g->nblocks; b++)
		if (inside[b]) {
			l->block[n] = b;
			name[b] = n++;
		}
	assert(n == nblocks + 1);
	l->edge[cfg_add_edge(&l->g, CFG_OUTSIDE, name[l->head])] = CFG_NONE;
	for (edge_id e = 0; e < d->g->nedges; e++) {
		const struct cfg_edge *edge = &d->g->edges[e];

		if (inside[edge->src])
			l->edge[cfg_add_edge(&l->g, name[edge->src],
			                     edge->dst == l->head
			                             ? CFG_OUTSIDE
			                             : name[edge->dst])] = e;
	}
	cfg_link(&l->g);
	free(name);
}

/* --- the sums ------------------------------------------------------------ */

void local_sum(const struct local *l, const struct paths *p,
               const uint64_t *value, uint64_t *sum)
{
	const struct dag *own = &l->paths.dag;
	uint32_t *route = xcalloc(own->nvertices, sizeof(*route));

	for (uint64_t turn = 0; turn < l->paths.n; turn++) {
		uint32_t n = paths_route(&l->paths, turn, route);

		sum[turn] = 0;
		for (uint32_t i = 1; i < n; i++) {
			edge_id e = l->edge[own->edges[route[i]].of];

			sum[turn] += value[p->dag.edge_of[e]];
		}
	}
	free(route);
}

bool local_init(struct local *l, const struct paths *p, block_id head,
                uint64_t max)
{
	bool *inside = xcalloc(p->dag.g->nblocks, sizeof(*inside));
	uint32_t nblocks = local_mark(&p->dag, head, inside);
	const struct paths_options options = {0};
	struct cairn_err err = {0};
	bool fits = p->dag.begin_of[head] != CFG_NONE &&
	            local_is_fit(&p->dag, head, inside);

	*l = (struct local){.head = head};
	if (fits) {
		local_build(l, &p->dag, inside, nblocks);
		fits = paths_init(&l->paths, &l->g, &options, &err) == 0 &&
		       l->paths.ncuts == 0 && l->paths.n <= max;
	}
	free(inside);
	if (!fits) {
		local_release(l);
		return false;
	}
	l->sum = xcalloc(l->paths.n, sizeof(*l->sum));
	local_sum(l, p, p->value, l->sum);
	return true;
}

void local_release(struct local *l)
{
	paths_release(&l->paths);
	cfg_release(&l->g);
	free(l->block);
	free(l->edge);
	free(l->sum);
	*l = (struct local){0};
}

block_id local_block(const struct local *l, block_id b)
{
	block_id lo = 1, hi = l->g.nblocks;

	while (lo < hi) {
		block_id middle = lo + (hi - lo) / 2;

		if (l->block[middle] < b)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo < l->g.nblocks && l->block[lo] == b ? lo : CFG_NONE;
}

bool local_path(const struct local *l, const struct paths *p, uint64_t turn,
                uint64_t *number)
{
	uint32_t *route = xcalloc(l->paths.dag.nvertices, sizeof(*route));
	uint32_t n = paths_route(&l->paths, turn, route);
	edge_id last = l->edge[l->paths.dag.edges[route[n - 1]].of];

	free(route);
	*number = p->value[p->dag.begin_of[l->head]] + l->sum[turn];
	return p->dag.g->edges[last].dst == l->head;
}
