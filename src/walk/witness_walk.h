/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_WALK_WITNESS_WALK_H
#define CAIRN_WALK_WITNESS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/cfg.h"
#include "graph/witness.h"
#include "walk/walk.h"

struct cairn_err;
struct witness_known;

struct witness_function {
	const struct witness *witness;
	/* per CFG edge: as in struct walk_function */
	const uint32_t *callee;
	const bool *is_final;
	struct witness_known **known; /* what the walks know; NULL at first */
};

/* As struct walk_program, for functions that write witnesses. */
struct witness_program {
	struct witness_function *functions;
	uint32_t nfunctions;
	void *context;
	uint32_t (*function_at)(void *context, uint32_t address);
	uint32_t (*site_at)(void *context, uint32_t address, block_id *block);
};

/* Requires: no walk over it is used any more. */
void witness_program_release(struct witness_program *p);

struct witness_frame {
	uint32_t function;
	witness_place_id at; /* where its next path begins */
	enum walk_state state;
	/* frames that called it in a row, itself included, without anything
	 * being read; since `read` */
	uint32_t nsilent;
	uint64_t read;
};

/* The walk over the stream of one thread that writes witnesses. */
struct witness_walk {
	struct witness_program *program;
	struct walk_source source;
	const uint8_t *bytes; /* borrowed */
	size_t nbytes, pos;
	uint64_t before; /* bytes of the stream before these */
	uint64_t nread;  /* items */
	bool is_over;
	struct witness_frame *frames; /* innermost last */
	size_t nframes, frames_cap;
	uint32_t calls;   /* what it enters next, or WALK_NOTHING */
	uint32_t nsilent; /* of the frame that calls */
	bool is_leaving;  /* the innermost frame's last path left it */
	struct path path; /* for what is not known yet */
};

/* Requires: program outlives w.  Memory: until witness_walk_release. */
void witness_walk_init(struct witness_walk *w, struct witness_program *program,
                       struct walk_source source);
/* The same over bytes in memory. */
void witness_walk_init_bytes(struct witness_walk *w,
                             struct witness_program *program,
                             const uint8_t *bytes, size_t nbytes);
void witness_walk_release(struct witness_walk *w);

/*
 * The next event.  A path ends with the edge that writes, calls or leaves, or
 * in a block without edges out; the path after one that writes begins where
 * that led.  So it is never longer than the function has blocks.
 *
 * Returns 1, or 0 at the end of the stream: frames are then those that were
 *         open.
 * Fails:  CAIRN_E_CORRUPT for what no program writes; what the source fails
 *         with.
 */
int witness_walk_next(struct witness_walk *w, struct walk_event *event,
                      struct cairn_err *err);

#endif /* CAIRN_WALK_WITNESS_WALK_H */
