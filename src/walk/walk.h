/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_WALK_WALK_H
#define CAIRN_WALK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/cfg.h"
#include "graph/codes.h"
#include "graph/paths.h"

struct cairn_err;

/* What an edge of a function's graph calls; it ends paths if it calls. */
#define WALK_NOTHING UINT32_MAX
#define WALK_ANYTHING (UINT32_MAX - 1) /* functions here or none, in turn */

struct walk_function {
	const struct codes *codes;
	/* per CFG edge: one of the above, or the function that it calls, which
	 * nobody else may enter without a mark */
	const uint32_t *callee;
};

/* What follows a CODES_MARK: a byte, and what it says. */
enum walk_mark {
	WALK_MARK_ENTER, /* a function was called: its index, 4 bytes */
	WALK_MARK_DEATH, /* the innermost frame died: its function, 4 bytes */
	WALK_MARK_LAND,  /* the innermost frame goes on in a block: 4 bytes */
	WALK_NMARKS
};

enum walk_kind {
	WALK_ENTER, /* a frame begins */
	WALK_PATH,  /* it took a path, from where it was */
	WALK_LEAVE, /* it returned */
	WALK_DEATH, /* it was left by a throw or a jump */
	WALK_LAND   /* it goes on elsewhere: a landing pad, a setjmp */
};

struct walk_event {
	enum walk_kind kind;
	uint32_t function;
	size_t depth;            /* frames below this one */
	const struct path *path; /* of a PATH; until the next event */
	block_id block;          /* of a LAND */
};

enum walk_state {
	WALK_READY,   /* its next path is to come */
	WALK_WAITING, /* in a call of anything: a mark, or its next path */
	WALK_AWAY     /* in a call that does not come back: a mark */
};

struct walk_frame {
	uint32_t function;
	block_id next; /* where its next path begins; CFG_OUTSIDE: enters */
	enum walk_state state;
	size_t at;        /* where the stream was when it took ... */
	uint32_t nsilent; /* ... its last silent paths */
};

/* The walk over the stream of one thread. */
struct walk {
	const struct walk_function *functions;
	uint32_t nfunctions;
	const uint8_t *bytes; /* borrowed */
	size_t nbytes, at;
	struct walk_frame *frames; /* innermost last */
	size_t nframes, frames_cap;
	uint32_t calls;   /* what it enters next, or WALK_NOTHING */
	uint32_t nsilent; /* frames that began since something was read */
	bool is_leaving;  /* the innermost frame's last path left it */
	struct path path;
};

/* Requires: functions and bytes outlive w.  Memory: until walk_release. */
void walk_init(struct walk *w, const struct walk_function *functions,
               uint32_t nfunctions, const uint8_t *bytes, size_t nbytes);
void walk_release(struct walk *w);

/*
 * The next event.
 *
 * Returns 1, or 0 at the end of the stream: frames are then those that were
 *         open.
 * Fails:  CAIRN_E_CORRUPT for what no program writes.
 */
int walk_next(struct walk *w, struct walk_event *event, struct cairn_err *err);

#endif /* CAIRN_WALK_WALK_H */
