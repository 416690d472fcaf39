/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_SLOTS_H
#define CAIRN_GRAPH_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/cfg.h"
#include "graph/dag.h"

struct cairn_err;

/*
 * Where a function can write a witness: on CFG edge e, which is slot e, before
 * the call if the edge makes one; or at the head of block b, slot nedges + b.
 */
#define SLOTS_NONE UINT32_MAX

struct slots_arc {
	uint32_t src, dst; /* vertices */
	uint32_t slot;     /* SLOTS_NONE: no witness fits here */
	edge_id of;        /* the CFG edge that is taken, or CFG_NONE */
};

/*
 * A function between its calls, as a graph.  Vertices: block b behind its head,
 * 0 .. nblocks - 1, of which 0 is the entry; b before its head, nblocks + b, of
 * which the one of block 0 is the exit; then one for each edge that calls.
 */
struct slots {
	const struct cfg *g; /* borrowed */
	uint32_t nvertices, narcs;
	struct slots_arc *arcs; /* by source, then in order of the CFG */
	/* arcs out of v: out_at[v] .. out_at[v + 1] - 1 */
	uint32_t *out_at, *in_at; /* nvertices + 1 */
	uint32_t *in;             /* arcs into v */
	uint32_t *arc_of;         /* per slot: its arc, or CFG_NONE */
	/* per vertex: others may write from here on: a call, the exit, a block
	 * without edges out */
	bool *is_sink;
	/* per vertex: must not come to a sink without a witness */
	bool *is_watcher;
};

/* What is known of a function; each may be NULL. */
struct slots_options {
	/* per CFG edge: INDIRECT has no room for a witness, its target's head
	 * has; IGNORED is never taken; all others are alike */
	const enum dag_how *asked;
	/* per CFG edge: others may write there; only looked at between blocks,
	 * since others may write where the function is left, anyhow */
	const bool *is_call;
	/* per block: what begins there is heard before the next call, and
	 * before the exit */
	const bool *loud;
	/* per block: it is a call that comes back in several ways, and nothing
	 * else: its head is before the call, so a witness of what comes back
	 * fits only on its edges out.  No indirect edge leads to or from it. */
	const bool *is_call_block;
};

/*
 * Makes the graph.  Indirect edges between the same blocks are one, the first.
 *
 * Requires: cfg_link(g) done, g outlives s.
 * Fails:    CAIRN_E_CORRUPT if an indirect edge leads in or out, or to or from
 *           a block that is a call.
 * Memory:   O(V+E), until slots_release.
 */
int slots_init(struct slots *s, const struct cfg *g,
               const struct slots_options *options, struct cairn_err *err);
void slots_release(struct slots *s);

/* The vertex in front of a block's head; the exit for CFG_OUTSIDE. */
static inline uint32_t slots_before(const struct slots *s, block_id b)
{
	return s->g->nblocks + b;
}

static inline bool slots_is_call(const struct slots *s, uint32_t v)
{
	return v >= 2 * s->g->nblocks;
}

/* Can more than one arc be taken? */
static inline bool slots_is_predicate(const struct slots *s, uint32_t v)
{
	return s->out_at[v + 1] - s->out_at[v] > 1;
}

/* Number of names for slots. */
static inline uint32_t slots_count(const struct slots *s)
{
	return s->g->nedges + s->g->nblocks;
}

/* What a slot costs: weight[] has one value per CFG edge, or is NULL. */
uint64_t slots_weight(const struct cfg *g, const uint64_t *weight,
                      uint32_t slot);

#endif /* CAIRN_GRAPH_SLOTS_H */
