/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codes for traces: which way a function goes, for one who follows it.
 *
 * A trace that wrote the number of every path could do with less.  One who
 * reads it from the beginning knows in which block the next path begins: where
 * the last one ended.  So a path is written as its number among those that
 * begin in the same block, its code, and where there is only one, as nothing at
 * all.  The numbers are those of paths.c (Ball and Larus 1996), from which the
 * value of the edge that begins the path is left out.
 *
 * Codes have one byte.  Where more than 255 paths begin in one block (the last
 * value is a mark, for what is no path), edges are cut: the path ends there and
 * the next begins, and each is written by itself.  That is what a code of two
 * bytes would be, but only for those who come by.  Blocks are visited
 * backwards; one with too many paths to the end has the edges cut that cost
 * least for what they take away.  Only a block with more than 255 ways out, or
 * an indirect branch with more targets, makes the codes of its function wider.
 *
 * Writer and reader must agree on when nothing is written.  The writer knows
 * where a path ends, the reader where it begins: an end is silent if each of
 * the blocks that paths to it begin in has only this one path, and none of them
 * is loud.  A reader that comes to such a block knows the path, and its end.
 *
 * Invariant: codes of paths from one block differ; one silent path from a block
 * means that all are.
 * Oracle: proof_trace runs random programs and regenerates them.
 * Cost: O(V+E), and a sort of the edges out of each block that has too many
 * paths.
 */
#include "graph/codes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/err.h"

/* Paths from a block that a code of so many bytes tells apart. */
static uint64_t codes_max(unsigned width)
{
	return (uint64_t)CODES_MARK << 8 * (width - 1);
}

/* --- cuts ---------------------------------------------------------------- */

struct codes_way {
	edge_id e;
	uint64_t npaths; /* behind it */
	uint64_t weight;
};

/* Least weight for what a cut takes away first. */
static int codes_by_price(const void *a, const void *b)
{
	const struct codes_way *x = a, *y = b;
	double px = (double)x->weight / (double)(x->npaths - 1);
	double py = (double)y->weight / (double)(y->npaths - 1);

	if (px != py)
		return px < py ? -1 : 1;
	return x->e < y->e ? -1 : x->e > y->e;
}

struct codes_cutter {
	const struct dag *d;
	const uint64_t *weight;
	uint64_t *npaths; /* per vertex, with the cuts */
	uint64_t max;
	struct codes_way *ways; /* room for the edges out of a block */
	edge_id *cuts;
	uint32_t ncuts;
};

/* Is the DAG edge a CFG edge that may be cut? */
static bool codes_can_cut(const struct dag *d, uint32_t e)
{
	return d->edges[e].kind == DAG_STEP && d->edges[e].src != DAG_START &&
	       d->edges[e].dst != dag_end(d);
}

/* Cuts edges out of v until it has few enough paths, or there are no more. */
static void codes_cut_at(struct codes_cutter *c, uint32_t v)
{
	const struct dag *d = c->d;
	uint32_t n = 0;

	for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++) {
		edge_id of = d->edges[e].of;

		if (codes_can_cut(d, e) && c->npaths[d->edges[e].dst] > 1)
			c->ways[n++] = (struct codes_way){
			        .e = of,
			        .npaths = c->npaths[d->edges[e].dst],
			        .weight = c->weight ? c->weight[of] : 1,
			};
	}
	qsort(c->ways, n, sizeof(*c->ways), codes_by_price);
	for (uint32_t i = 0; i < n && c->npaths[v] > c->max; i++) {
		c->npaths[v] -= c->ways[i].npaths - 1;
		c->cuts[c->ncuts++] = c->ways[i].e;
	}
}

static void codes_cut(struct codes_cutter *c)
{
	const struct dag *d = c->d;

	for (uint32_t i = d->norder; i-- > 1;) { /* all but the start */
		uint32_t v = d->order[i];

		c->npaths[v] = v == dag_end(d);
		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++)
			c->npaths[v] += c->npaths[d->edges[e].dst];
		if (c->npaths[v] > c->max)
			codes_cut_at(c, v);
	}
}

/* The edges to cut; the caller frees them. */
static edge_id *codes_choose(const struct cfg *g,
                             const struct codes_options *options, uint32_t *n)
{
	struct dag d;
	struct codes_cutter c = {
	        .d = &d,
	        .weight = options->weight,
	        .npaths = xcalloc((size_t)g->nblocks + 2, sizeof(*c.npaths)),
	        .max = codes_max(1),
	        .ways = xcalloc((size_t)g->nedges + 1, sizeof(*c.ways)),
	        .cuts = xcalloc((size_t)g->nedges + 1, sizeof(*c.cuts)),
	};

	dag_init(&d, g, options->asked);
	codes_cut(&c);
	dag_release(&d);
	free(c.npaths);
	free(c.ways);
	*n = c.ncuts;
	return c.cuts;
}

/* --- silence ------------------------------------------------------------- */

/* Does an edge out of the start begin paths that must be written? */
static bool codes_is_loud(const struct codes *c, const bool *loud, uint32_t e)
{
	const struct dag_edge *edge = &c->paths.dag.edges[e];

	return c->paths.npaths[edge->dst] > 1 ||
	       (loud && edge->kind == DAG_BEGIN && loud[edge->of]);
}

static void codes_find_silence(struct codes *c, const bool *loud)
{
	const struct dag *d = &c->paths.dag;
	bool *is_heard = xcalloc(d->nvertices, sizeof(*is_heard));

	for (uint32_t i = 0; i < d->norder; i++) {
		uint32_t v = d->order[i];

		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++) {
			uint32_t to = d->edges[e].dst;

			if (v == DAG_START ? codes_is_loud(c, loud, e)
			                   : is_heard[v])
				is_heard[to] = true;
			c->is_silent[e] = to == dag_end(d) && !is_heard[v];
		}
	}
	/* an edge from the outside to the outside is a path of its own */
	for (uint32_t e = d->out_at[DAG_START]; e < d->out_at[DAG_START + 1];
	     e++)
		c->is_silent[e] = d->edges[e].dst == dag_end(d) &&
		                  !codes_is_loud(c, loud, e);
	free(is_heard);
}

/* --- the codes ----------------------------------------------------------- */

static int codes_measure(struct codes *c, struct cairn_err *err)
{
	const struct dag *d = &c->paths.dag;
	uint64_t most = 0;

	for (uint32_t e = d->out_at[DAG_START]; e < d->out_at[DAG_START + 1];
	     e++)
		if (c->paths.npaths[d->edges[e].dst] > most)
			most = c->paths.npaths[d->edges[e].dst];
	c->width = most <= codes_max(1) ? 1 : most <= codes_max(2) ? 2 : 4;
	if (most <= codes_max(4))
		return 0;
	return cairn_fail(err, CAIRN_E_LIMIT,
	                  "%" PRIu64 " paths begin in one block", most);
}

int codes_init(struct codes *c, const struct cfg *g,
               const struct codes_options *options, struct cairn_err *err)
{
	struct paths_options how = {
	        .asked = options->asked,
	        .weight = options->weight,
	        .cuts = options->cuts,
	        .ncuts = options->ncuts,
	};
	edge_id *cuts = NULL;
	int result;

	*c = (struct codes){0};
	if (!options->is_cut)
		how.cuts = cuts = codes_choose(g, options, &how.ncuts);
	result = paths_init(&c->paths, g, &how, err);
	free(cuts);
	if (result < 0)
		return result;
	if (codes_measure(c, err) < 0) {
		codes_release(c);
		return CAIRN_E_LIMIT;
	}
	c->value = xcalloc((size_t)c->paths.dag.nedges + 1, sizeof(*c->value));
	c->is_silent =
	        xcalloc((size_t)c->paths.dag.nedges + 1, sizeof(*c->is_silent));
	for (uint32_t e = c->paths.dag.out_at[DAG_START + 1];
	     e < c->paths.dag.nedges; e++)
		c->value[e] = c->paths.value[e];
	codes_find_silence(c, options->loud);
	return 0;
}

void codes_release(struct codes *c)
{
	paths_release(&c->paths);
	free(c->value);
	free(c->is_silent);
	*c = (struct codes){0};
}

/* The edge out of the start that begins paths in a block, or CFG_NONE. */
static uint32_t codes_begin(const struct codes *c, block_id first)
{
	const struct dag *d = &c->paths.dag;

	if (first >= d->g->nblocks)
		return CFG_NONE;
	if (first != CFG_OUTSIDE)
		return d->begin_of[first];
	return d->edges[d->out_at[DAG_START]].kind == DAG_STEP
	               ? d->out_at[DAG_START]
	               : CFG_NONE;
}

bool codes_is_silent(const struct codes *c, block_id first)
{
	const struct dag *d = &c->paths.dag;
	uint32_t e = codes_begin(c, first);

	if (e == CFG_NONE)
		return false;
	while (d->edges[e].dst != dag_end(d)) {
		uint32_t v = d->edges[e].dst;

		if (d->out_at[v] + 1 != d->out_at[v + 1])
			return false;
		e = d->out_at[v];
	}
	return c->is_silent[e];
}

int codes_decode(const struct codes *c, block_id first, uint64_t code,
                 struct path *path, struct cairn_err *err)
{
	uint32_t e = codes_begin(c, first);

	if (e == CFG_NONE)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "no path begins in block %" PRIu32, first);
	if (code >= c->paths.npaths[c->paths.dag.edges[e].dst])
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "no path from block %" PRIu32
		                  " has the code %" PRIu64,
		                  first, code);
	return paths_decode(&c->paths, c->paths.value[e] + code, path, err);
}
