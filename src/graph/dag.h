/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_DAG_H
#define CAIRN_GRAPH_DAG_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/cfg.h"

/* What becomes of an edge of the control-flow graph. */
enum dag_how {
	DAG_THROUGH,   /* paths run through it */
	DAG_BACK,      /* retreating: ends a path and begins the next */
	DAG_CUT,       /* the same, because somebody asked for it */
	DAG_INDIRECT,  /* the same, of an indirect branch: no code fits on it */
	DAG_UNREACHED, /* its source cannot be reached, or it was IGNORED */
	DAG_IGNORED    /* asked for: a way out that is no part of any path */
};

enum dag_kind {
	DAG_STEP,    /* an edge that paths run through; `of` names it */
	DAG_END,     /* the first half of a BACK or CUT edge; `of` names it */
	DAG_BEGIN,   /* the second half of every ended edge into block `of` */
	DAG_STOP,    /* the end of block `of`, which has no edge out */
	DAG_GATHER,  /* the indirect branch at the end of block `of` */
	DAG_SCATTER, /* an indirect branch has come to block `of` */
};

struct dag_edge {
	uint32_t src, dst; /* vertices */
	enum dag_kind kind;
	uint32_t of;
};

/*
 * The acyclic graph whose paths from start to end are the paths of a function.
 * Its vertices are the blocks; the outside is the start as the source and a
 * vertex of its own, the end, as the target; one more, the hub, lies between
 * all indirect branches and their targets.
 *
 * An indirect branch can carry no code on its edges, only in its own block
 * (GATHER) and in its targets (SCATTER).  The hub makes the path number tell
 * which branch and which target it was, though neither mark knows the other.
 */
struct dag {
	const struct cfg *g; /* borrowed */
	uint32_t nvertices;
	uint32_t nedges;
	struct dag_edge *edges; /* by source, then in order of the CFG */
	/* edges out of v: out_at[v] .. out_at[v + 1] - 1 */
	uint32_t *out_at, *in_at; /* nvertices + 1 */
	uint32_t *in;             /* edges into v, as in struct cfg */
	uint32_t norder;
	uint32_t *order;      /* reached vertices: start first, end last */
	enum dag_how *how;    /* per CFG edge */
	uint32_t *edge_of;    /* per CFG edge: its STEP, END or GATHER edge */
	uint32_t *begin_of;   /* per block: its BEGIN edge, or CFG_NONE */
	uint32_t *scatter_of; /* per block: its SCATTER edge, or CFG_NONE */
};

#define DAG_START ((uint32_t)0)

static inline uint32_t dag_end(const struct dag *d)
{
	return d->g->nblocks;
}

static inline uint32_t dag_hub(const struct dag *d)
{
	return d->g->nblocks + 1;
}

/*
 * Makes the graph.  asked[] has one entry per CFG edge, or is NULL: DAG_CUT
 * and DAG_INDIRECT end paths at the edge, anything else leaves the decision to
 * the walk.  A cut of a way in or out changes nothing.  DAG_IGNORED is for ways
 * out that nothing is known of until they are taken (a call that does not come
 * back): who needs their counts has them from the flow.
 *
 * Requires: cfg_link(g) done, g outlives d.  Indirect edges run between blocks;
 *           a block with one out has no other edges out, a block with one in
 *           has no other edges in (the caller gives its targets landing
 *           blocks).
 * Ensures:  every reached vertex lies on a path from start to end; an edge is
 *           BACK only if it retreats in a graph without the asked ones.
 * Memory:   O(V+E), until dag_release.
 */
void dag_init(struct dag *d, const struct cfg *g, const enum dag_how *asked);
void dag_release(struct dag *d);

/*
 * Cuts more edges: how[] of each becomes DAG_CUT, that of the others stays,
 * whatever cycles a cut has opened.  DAG edges get new names.
 *
 * Requires: the edges are THROUGH, between blocks.
 */
void dag_cut(struct dag *d, const edge_id *edges, uint32_t nedges);

/*
 * The CFG edge of an indirect branch from block src to block dst: the first,
 * if there are several; CFG_NONE if there is none.
 */
edge_id dag_indirect(const struct dag *d, block_id src, block_id dst);

/* Does a CFG edge end the path that takes it, and begin another? */
static inline bool dag_is_ended(const struct dag *d, edge_id e)
{
	return d->how[e] != DAG_THROUGH && d->how[e] != DAG_UNREACHED;
}

#endif /* CAIRN_GRAPH_DAG_H */
