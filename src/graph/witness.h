/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_WITNESS_H
#define CAIRN_GRAPH_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/cfg.h"
#include "graph/dag.h"
#include "graph/paths.h"
#include "graph/slots.h"

struct cairn_err;

/*
 * A code is an item of the stream as a history is (abi/trace.h): a byte up to
 * LAST, or a byte that says so and four.
 */
#define WITNESS_FIRST 0x01u
#define WITNESS_LAST 0x7fu
#define WITNESS_LAST_WIDE 0x7fffffffu
#define WITNESS_NONE UINT32_MAX /* no witness here */
/* What is_alone reads behind the last witness; nobody writes it. */
#define WITNESS_EOF (UINT32_MAX - 1)

struct witness_options {
	struct slots_options slots;
	const uint64_t *weight; /* per CFG edge, or NULL: all alike */
	/* The function runs once and is all that writes (section 4.1 of the
	 * paper): the end of the stream is a witness of its exit. */
	bool is_alone;
	/* place them here, where an earlier witness_init did */
	bool is_placed;
	const uint32_t *places; /* slots, ascending */
	uint32_t nplaces;
};

/* A witness that a vertex sees, and the arc that leads to it. */
struct witness_way {
	uint32_t code;
	uint32_t arc;
};

/*
 * Which edges of a function write witnesses, and which codes.
 */
struct witness {
	struct slots graph;
	unsigned width;    /* bytes of the widest code: 1 or 4 */
	uint32_t nslots;   /* that write */
	uint32_t *slots;   /* ascending */
	uint32_t *on_edge; /* per CFG edge: a code, or WITNESS_NONE */
	uint32_t *at_head; /* per block: likewise */
	/* per vertex v: what it sees, by code; ways[ways_at[v]] and nways[v] */
	struct witness_way *ways;
	uint32_t *ways_at, *nways;
};

/*
 * Places witnesses.
 *
 * Requires: cfg_link(g) done, g outlives w.
 * Ensures:  witness_check() passes.  The result is a function of g, slots,
 *           is_alone and w->slots alone.
 * Fails:    as slots_init; CAIRN_E_CORRUPT if places are none or do not
 *           suffice.  w is then released.
 * Memory:   until witness_release.
 */
int witness_init(struct witness *w, const struct cfg *g,
                 const struct witness_options *options, struct cairn_err *err);
void witness_release(struct witness *w);

/* The sum of the weights of all that writes; saturates. */
uint64_t witness_cost(const struct witness *w, const uint64_t *weight);

/*
 * A place is where a frame can be: a vertex of slots.h that is no call.  One
 * that enters the function is in CFG_OUTSIDE, one that comes to block b, by an
 * edge or by a jump, in witness_at(w, b).
 */
typedef uint32_t witness_place_id;

static inline witness_place_id witness_at(const struct witness *w, block_id b)
{
	return slots_before(&w->graph, b);
}

/* Does a frame that is there come to a call, the exit or its last block without
 * writing?  Then there is only one way. */
static inline bool witness_is_silent(const struct witness *w,
                                     witness_place_id at)
{
	return w->nways[at] == 0;
}

/*
 * Which of the witnesses that can come next at a place has a code, in order of
 * codes; nways[at] if none has.
 */
uint32_t witness_find(const struct witness *w, witness_place_id at,
                      uint32_t code);

/*
 * The way from a place to the witness with this code, or, if it is silent, to
 * the end, with WITNESS_NONE.  A path that ends with an edge that writes or
 * calls is PATH_ENDED; so is one that a witness at the head of a block ends,
 * which may be there at once and then has no edges.  *next is where the frame
 * goes on, behind the call if it makes one; if the path LEAVES or STOPS it is
 * not set.  *path is overwritten and must be {0} or one that was written
 * before.
 *
 * Requires: at is a place.
 * Fails:    CAIRN_E_CORRUPT if nothing with this code can be written there.
 */
int witness_decode(const struct witness *w, witness_place_id at, uint32_t code,
                   struct path *path, witness_place_id *next,
                   struct cairn_err *err);

/*
 * The witness set of an edge: the slots that write first on ways that begin
 * with it, ascending, and after them WITNESS_EOF if there is one without.
 *
 * Memory: set[] has room for nslots + 1.
 * Returns their number.
 */
uint32_t witness_set(const struct witness *w, edge_id e, uint32_t *set);

#endif /* CAIRN_GRAPH_WITNESS_H */
