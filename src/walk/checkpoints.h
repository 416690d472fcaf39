/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_WALK_CHECKPOINTS_H
#define CAIRN_WALK_CHECKPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "walk/walk.h"

struct cairn_err;

#define CHECKPOINTS_NOBODY UINT32_MAX

/* A frame of a stack; stacks share those that they have in common. */
struct checkpoint_frame {
	uint32_t below; /* the frame that called it, or NOBODY */
	uint32_t function;
	block_id next;
	uint32_t nsilent;
	uint64_t read;
	uint32_t depth; /* frames up to this one */
	uint32_t nahead;
	uint8_t state; /* enum walk_state */
	bool is_inside;
};

/* A moment of a walk: all that it goes on from. */
struct checkpoint {
	uint64_t nblocks, nevents;
	uint64_t nparts, before, at, nread;
	uint64_t word;
	uint64_t sync, ns;
	uint32_t top; /* the innermost frame, or NOBODY */
	uint32_t nframes;
	uint32_t calls, nsilent, nidle;
	uint32_t nbits;
	bool has_history, is_full, is_leaving, is_lost;
};

/* Moments of one walk, in order. */
struct checkpoints {
	uint64_t interval; /* blocks from one to the next, at least */
	uint64_t due;      /* the next one */
	size_t bound;      /* bytes; then every second one is dropped */
	struct checkpoint *items;
	uint32_t n, cap;
	struct checkpoint_frame *frames;
	uint32_t nframes, frames_cap;
	/* of the last one's stack: the frames here, outermost first */
	uint32_t *stack;
	size_t nstack, stack_cap;
};

void checkpoints_init(struct checkpoints *c, uint64_t interval, size_t bound);
void checkpoints_release(struct checkpoints *c);
/* Forgets all but the first n. */
void checkpoints_cut(struct checkpoints *c, uint32_t n);

/*
 * Adds where w is now.
 *
 * Requires: w is the walk that the others are of, behind the last of them, and
 *           was not restored in between; it is not at its end.
 */
void checkpoints_add(struct checkpoints *c, struct walk *w);
/* The same if it is time for one. */
void checkpoints_offer(struct checkpoints *c, struct walk *w);

/* The last one that is not behind so many blocks, or events, or NOBODY. */
uint32_t checkpoints_at_block(const struct checkpoints *c, uint64_t nblocks);
uint32_t checkpoints_at_event(const struct checkpoints *c, uint64_t nevents);

/*
 * Takes w back, or ahead, to a moment.
 *
 * Requires: its source can seek.
 * Fails:    as the source; CAIRN_E_CORRUPT if the moment is not in it.  w must
 *           then be restored before it is used.
 */
int checkpoints_restore(const struct checkpoints *c, uint32_t i, struct walk *w,
                        struct cairn_err *err);

#endif /* CAIRN_WALK_CHECKPOINTS_H */
