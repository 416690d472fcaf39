/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_PATHS_H
#define CAIRN_GRAPH_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/cfg.h"
#include "graph/dag.h"

struct cairn_err;

/* A function with this many paths or more is cut. */
#define PATHS_LIMIT ((uint64_t)1 << 60)

struct paths_options {
	const enum dag_how *asked; /* per CFG edge, or NULL: see dag_init */
	const uint64_t *weight;    /* per CFG edge, or NULL: all alike */
	const bool *keep;          /* per CFG edge, or NULL: never cut these */
	uint64_t limit;            /* 0: PATHS_LIMIT */
	/* edges to cut to begin with: those of an earlier paths_init, for the
	 * same numbers without its weights.  They differ from edges that are
	 * asked for in that they open no cycle. */
	const edge_id *cuts;
	uint32_t ncuts;
};

/* The paths of a function and their numbers, 0 .. n - 1. */
struct paths {
	struct dag dag;
	uint64_t n;
	uint64_t *npaths; /* per vertex: paths from there to the end */
	uint64_t *value; /* per DAG edge: along a path they sum to its number */
	uint32_t ncuts;
	edge_id *cuts; /* those given, then those cut for the limit */
};

/*
 * Numbers the paths of g.  If there are `limit` or more, cuts edges until
 * there are fewer: see cuts.h.
 *
 * Requires: cfg_link(g) done, g outlives p; limit is 0 or at least 2.
 * Ensures:  0 < n < limit if g has a way in, and else n = 0; every path has a
 *           number of its own.  With indirect branches, numbers that pair a
 *           branch with a target of another one are unused.  The result is a
 *           function of g, asked and p->cuts alone.
 * Fails:    CAIRN_E_CORRUPT if asked breaks the rules of dag_init, or cuts are
 *           no edges that can be cut; CAIRN_E_LIMIT if what may be cut does not
 *           suffice.  p is then released.
 * Memory:   until paths_release.
 */
int paths_init(struct paths *p, const struct cfg *g,
               const struct paths_options *options, struct cairn_err *err);
void paths_release(struct paths *p);

enum path_end {
	PATH_LEAVES,    /* its last edge leads to the outside */
	PATH_ENDED,     /* its last edge is ended: dag_how says why */
	PATH_STOPS,     /* in a block without edges out */
	PATH_UNFINISHED /* a prefix: the frame died in its last block */
};

/* A path, or a prefix of one, in terms of the CFG. */
struct path {
	/* edges[0] comes from the outside; otherwise the path begins in
	 * `first`, where an ended edge has led, and edges[0] leads out of it */
	bool enters;
	block_id first;
	enum path_end end;
	uint32_t nedges, edges_cap;
	edge_id *edges; /* the ended edge or the way out included */
};

void path_release(struct path *path);
/* The block after the first i edges; CFG_OUTSIDE behind a way out. */
block_id path_block(const struct path *path, const struct cfg *g, uint32_t i);

/*
 * The path with this number; *path is overwritten and must be {0} or one that
 * was written before.
 *
 * Fails: CAIRN_E_CORRUPT if there is no such path.
 */
int paths_decode(const struct paths *p, uint64_t number, struct path *path,
                 struct cairn_err *err);

/*
 * The number of a path; its `end` is not looked at, unless UNFINISHED: then
 * the result is the value of the prefix, for paths_decode_prefix.
 *
 * Fails: CAIRN_E_MISMATCH if it is no path of this graph.
 */
int paths_encode(const struct paths *p, const struct path *path,
                 uint64_t *number, struct cairn_err *err);

/*
 * The path prefix of a frame that died in `block`, from the sum of the values
 * up to there (increments_prefix gives it from a register).
 *
 * The prefix is unique because path numbers are: two prefixes to one block
 * with one sum, continued alike, would be two paths with one number.  That
 * needs the block as well as the sum, values by paths_init (those of prefer.h
 * alias), and a block whose path had not been counted yet: a frame in a block
 * that STOPs counted its path before the call that did not return, and is no
 * unfinished one.
 *
 * Fails: CAIRN_E_CORRUPT if no prefix to the block has this sum.
 */
int paths_decode_prefix(const struct paths *p, uint64_t sum, block_id block,
                        struct path *path, struct cairn_err *err);

/*
 * Adds `count` to edge[e] of every CFG edge e on the path.  Over all finished
 * paths and all prefixes of frames that died, that gives the counts of all
 * edges; a frame that began in the middle (the child of a fork) is its prefix
 * with the count -1.  Modulo 2^64.  Edges of an indirect branch with the same
 * target are counted by the first of them.
 *
 * Fails: as paths_decode and paths_decode_prefix; edge[] is then unchanged.
 */
int paths_count(const struct paths *p, uint64_t number, uint64_t count,
                uint64_t *edge, struct cairn_err *err);
int paths_count_prefix(const struct paths *p, uint64_t sum, block_id block,
                       uint64_t count, uint64_t *edge, struct cairn_err *err);

/*
 * The DAG edges of a path, for those who work on the graph.
 *
 * Requires: number < p->n.
 * Memory:   route[] has room for dag.nvertices edges.
 * Returns their number.
 */
uint32_t paths_route(const struct paths *p, uint64_t number, uint32_t *route);

/*
 * The DAG edges from a vertex on of the path whose values sum up to `rest` from
 * there, up to vertex `to` or, if it does not come by, to the end.
 *
 * Requires: from is DAG_START or a block; rest < p->npaths[from].
 * Memory:   route[] has room for dag.nvertices edges.
 * Returns their number; *left is what remains of rest at `to`, UINT64_MAX if
 * that is not on the way.
 */
uint32_t paths_route_from(const struct paths *p, uint32_t from, uint64_t rest,
                          uint32_t to, uint32_t *route, uint64_t *left);

#endif /* CAIRN_GRAPH_PATHS_H */
