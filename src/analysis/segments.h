/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_SEGMENTS_H
#define CAIRN_ANALYSIS_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/cfg.h"

#define SEGMENTS_NONE UINT32_MAX
#define SEGMENTS_DEPTH_MAX 16u

/* An edge of a function, as traces have it: parts of blocks are blocks. */
struct segments_edge {
	block_id src, dst;
	bool is_call; /* a call is made there: a subpath ends */
	bool is_part; /* dst is nothing but that call */
	bool ends;    /* a back edge, or a computed goto: the same */
};

struct segments_graph {
	const struct segments_edge *edges; /* borrowed */
	uint32_t nedges;
};

/*
 * A function where a segment has it: as its root, or as what is called at a
 * site of another one.  A site is the block that ends in the call.
 */
struct segments_copy {
	uint32_t function;
	uint32_t root;   /* function */
	uint32_t parent; /* copy; SEGMENTS_NONE: it is the root */
	block_id site;
	uint32_t depth;
	bool has_cuts;
};

enum segments_end {
	SEGMENTS_LEAVES, /* its root returns, or ends the program */
	SEGMENTS_CALLS,  /* a call that it does not go into */
	SEGMENTS_BACK /* a back edge or a computed goto, to `copy`, `block` */
};

struct segments_step {
	uint32_t copy;
	block_id block;
};

/* Segments are cut between these, since there are too many of them. */
struct segments_cut {
	struct segments_step from, to;
};

/* A segment that was executed; the steps are valid until the next one. */
struct segments_one {
	const struct segments_step *steps;
	uint32_t nsteps;
	enum segments_end end;
	struct segments_step to; /* BACK */
	uint64_t count;
	uint32_t depth; /* of calls, that of its deepest copy */
};

struct segments_frame;
struct segments_view;

struct segments {
	const struct segments_graph *graphs; /* borrowed */
	uint32_t nfunctions;
	uint32_t depth;
	bool is_planned; /* copies are those that were added, no others */
	struct segments_copy *copies; /* those of functions first */
	uint32_t ncopies, copies_cap;
	struct segments_frame *frames; /* of the thread */
	struct segments_view *views;   /* of these, one after the other */
	size_t nframes, frames_cap, nviews, views_cap;
	/* a tree of all prefixes: node 0 is the empty one */
	struct segments_node {
		uint64_t token, count;
		uint32_t parent;
	} * nodes;
	uint32_t nnodes, nodes_cap;
	uint32_t *table; /* of nodes by parent and token; 0: free */
	size_t table_size;
	uint32_t *copy_table;
	size_t copy_table_size;
	struct segments_cut *cuts;
	uint32_t ncuts, cuts_cap;
	struct segments_step *steps; /* of the one that was asked for */
	size_t steps_cap;
};

/*
 * Every activation is the root of segments of its own, that go into calls up
 * to `depth` deep (section 3.4.2 of the thesis of 2007).
 *
 * Requires: graphs outlive s; depth <= SEGMENTS_DEPTH_MAX.
 */
void segments_init(struct segments *s, const struct segments_graph *graphs,
                   uint32_t nfunctions, uint32_t depth);
/*
 * Only calls that segments_add_copy names are gone into, as a build does that
 * has inlined them: such an activation is part of its caller's segments, and
 * has none of its own.
 */
void segments_init_planned(struct segments *s,
                           const struct segments_graph *graphs,
                           uint32_t nfunctions);
/* The same copy for the same arguments.  Requires: depth is not exceeded. */
uint32_t segments_add_copy(struct segments *s, uint32_t parent, block_id site,
                           uint32_t function);
/* Planned only: what comes behind `from` there begins a new segment. */
void segments_add_cut(struct segments *s, struct segments_cut cut);
void segments_release(struct segments *s);

/* What a thread does, in order. */
void segments_begin_thread(struct segments *s);
/* `depth` frames are below the new one. */
void segments_enter(struct segments *s, uint32_t function, size_t depth);
/* It was there when the thread began: nobody knows how it got there. */
void segments_find_frame(struct segments *s, uint32_t function, size_t depth);
void segments_take(struct segments *s, const edge_id *edges, uint32_t nedges);
void segments_leave(struct segments *s);
void segments_die(struct segments *s);
/* It goes on at a block that is nothing but a call, which came back again. */
void segments_land(struct segments *s, block_id block);
void segments_end_thread(struct segments *s);

/* Adds executions of a segment that others have counted: those of `one`. */
void segments_count(struct segments *s, const struct segments_one *one);
/* Was this one executed? */
bool segments_has(struct segments *s, const struct segments_one *one);

/* The next executed segment behind *at, 0 at first; false if there is none. */
bool segments_next(struct segments *s, uint32_t *at, struct segments_one *one);

#endif /* CAIRN_ANALYSIS_SEGMENTS_H */
