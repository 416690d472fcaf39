/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_FOREST_STEPS_H
#define CAIRN_RUNTIME_FOREST_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/file.h"

/*
 * Windows of a stream, and call chains, counted: see forest_steps.c.  No
 * process, no system calls: forest.c has those.
 */

/* Nodes, or slots, of one piece of memory. */
#define FOREST_PIECE 512u
#define FOREST_PIECES 32768u

/* abi/file.h: CAIRN_NODE_*. */
struct forest_node {
	uint64_t owner;
	uint32_t prev, id, hash;
	uint8_t len, is_anchored;
	uint16_t zero;
};

/* abi/file.h: CAIRN_SLOT_*. */
struct forest_slot {
	uint64_t key, owner, count;
	uint64_t next;  /* the node that comes next, times 2^32 */
	uint64_t succ;  /* a slot that came next: how far from here */
	uint64_t other; /* and another one; of both 0: none */
};

/* Numbers by what they are of, n of them; 0: nothing. */
struct forest_index {
	uint64_t mask, n;
	uint32_t number[];
};

enum forest_what { FOREST_SLOTS, FOREST_NODES, FOREST_INDEX };

struct forest {
	struct forest_index *windows, *states; /* NULL: not yet */
	uint32_t nslots, nnodes; /* with those that are not in use: 1 and 2 */
	/* a node that knows so many elements, or more, gets no more windows */
	unsigned refused;
	/* Puts zeros for n slots, nodes or numbers at *where, unless there is
	 * something; false if then more than so many sixteenths of the memory
	 * would be in use. */
	bool (*take)(struct forest *f, enum forest_what what, uint64_t n,
	             unsigned sixteenths, void **where);
	void *context;
	uint32_t tag;     /* of chains: in the upper bits of their nodes */
	uint64_t nmisses; /* steps that found no slot, and no room for one */
	struct forest_slot *slots[FOREST_PIECES];
	struct forest_node *nodes[FOREST_PIECES];
};

/* What forest_find returns instead of a state. */
#define FOREST_ABSENT (~(uint64_t)0)

void forest_init(struct forest *f);

/*
 * One step: element (owner, id) follows a state of abi/rt.h, of this owner.
 * Counts the window and returns the next state, of which at most k - 1 elements
 * are known.  forest_find makes nothing: it returns FOREST_ABSENT if there is
 * something that forest_make may have room for.
 *
 * Requires: 1 <= id < 2^31; 2 <= k <= CAIRN_FOREST_MAX.
 */
uint64_t forest_find(struct forest *f, uint64_t state, uint64_t owner,
                     uint32_t id);
uint64_t forest_make(struct forest *f, uint64_t state, uint64_t owner,
                     uint32_t id, unsigned k);

/* The state at the beginning of a stream of this owner, as a slot; NULL if it
 * has none yet, or there is no room for it. */
struct forest_slot *forest_find_start(const struct forest *f, uint64_t owner);
struct forest_slot *forest_make_start(struct forest *f, uint64_t owner);

/*
 * Chains: element (owner, id), a path or a call, behind a state, which is a
 * node times 2^32 (abi/rt.h).  Returns its slot, of which NEXT is the state
 * behind a call; NULL if there is no room for any.  At most `deepest` calls are
 * known.  The finder makes nothing: it returns FOREST_NO_SLOT if there is
 * something that the maker may have room for.
 *
 * Requires: 1 <= id < 2^31; deepest <= CAIRN_CHAINS_MAX.
 */
struct forest_slot *forest_find_link(const struct forest *f, uint64_t state,
                                     uint64_t owner, uint32_t id);
struct forest_slot *forest_make_link(struct forest *f, uint64_t state,
                                     uint64_t owner, uint32_t id,
                                     unsigned deepest);
#define FOREST_NO_SLOT ((struct forest_slot *)FOREST_ABSENT)

#endif /* CAIRN_RUNTIME_FOREST_STEPS_H */
