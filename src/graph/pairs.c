/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for pairs of paths.
 *
 * S. Tallam, X. Zhang and R. Gupta, "Extending path profiling across loop
 * backedges and procedure boundaries", CGO 2004, section 2.3, number the paths
 * of a graph in which each edge back goes on into a copy of the loop, and keep
 * a second register that runs ahead in it.  Here the numbers of paths stay, and
 * a pair is row * columns + column.  The second register holds the row, in the
 * form of what has to be added to the first where a path ends:
 *
 *     path ends     count[o + r]++;  o = row(r)
 *
 * and is 0 in the path that begins at the entry: then the sum is the number of
 * that path alone.  So each path that ends is counted once, as without pairs,
 * with no test, and its count is the sum over what came before it.
 *
 * Paths that begin at the entry have the lowest numbers (dag.c has the edges
 * out of the start in the order of the CFG, and those from the outside come
 * first), so columns can begin behind them.
 *
 * Invariant: every pair of a path and one that begins where an edge was ended
 * has a number of its own, which is that of no path.
 * Oracle: proof_paths (tests/proof) counts pairs along random walks.
 * Cost: constant, but for the scan of the edges out of the start.
 */
#include "graph/pairs.h"

#include <assert.h>

#include "graph/dag.h"
#include "graph/paths.h"

uint64_t pairs_first(const struct paths *p)
{
	const struct dag *d = &p->dag;
	uint64_t first = p->n;

	for (uint32_t e = d->out_at[DAG_START]; e < d->out_at[DAG_START + 1];
	     e++)
		if (d->edges[e].kind == DAG_BEGIN && p->value[e] < first)
			first = p->value[e];
	return first;
}

void pairs_init(struct pairs *pairs, const struct paths *p)
{
	assert(p->n < PAIRS_LIMIT);
	*pairs = (struct pairs){.n = p->n, .first = pairs_first(p)};
	pairs->columns = p->n - pairs->first;
	pairs->total = p->n + p->n * pairs->columns;
}

void pairs_leave_out(struct pairs *pairs, const struct paths *p,
                     const bool *left_out)
{
	const struct dag *d = &p->dag;

	for (uint32_t e = d->out_at[DAG_START]; e < d->out_at[DAG_START + 1];
	     e++)
		if (d->edges[e].kind == DAG_BEGIN && !left_out[d->edges[e].of])
			return;
	pairs->columns = 0;
	pairs->total = pairs->n;
}

bool pairs_split(const struct pairs *pairs, uint64_t number, uint64_t *before,
                 uint64_t *path)
{
	*path = number;
	if (number < pairs->n)
		return false;
	*before = (number - pairs->n) / pairs->columns;
	*path = (number - pairs->n) % pairs->columns + pairs->first;
	return true;
}
