/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_WALK_WALK_H
#define CAIRN_WALK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/cfg.h"
#include "graph/codes.h"

struct cairn_err;
struct witness;

/* What an edge of a function's graph calls; it ends histories if it calls. */
#define WALK_NOTHING UINT32_MAX
#define WALK_ANYTHING (UINT32_MAX - 1) /* functions here or none, in turn */

struct walk_ways;

struct walk_function {
	/* how it writes down which way it goes: one of them is NULL */
	const struct codes *codes;
	const struct witness *witness;
	/* per CFG edge: one of the above, or the function that it calls, which
	 * nobody else may enter without a mark; NOTHING if it leads outside */
	const uint32_t *callee;
	/* per CFG edge to the outside: does the frame stay, in a call that does
	 * not come back? */
	const bool *is_final;
	/* per CFG edge to the outside: does an exception go on there, so that
	 * the caller is still in its call?  NULL: none */
	const bool *is_resumed;
	/* per CFG edge: could its block have gone elsewhere?  NULL: nobody
	 * asks */
	const bool *is_branch;
	/* Another function may take its place, with a mark: whoever calls it is
	 * then in a call of anything, and writes what follows. */
	bool has_tails;
	struct walk_ways *ways; /* what the walks know already; NULL at first */
};

/* The functions of a process, and what addresses in its streams mean. */
struct walk_program {
	struct walk_function *functions;
	uint32_t nfunctions;
	/* Streams may say where frames were stopped between calls. */
	bool has_halts;
	/* It did not end by itself: where nothing is written down nobody knows
	 * what its last frames did, and the walk does not go on. */
	bool was_killed;
	void *context;
	/* The function that has this address, or WALK_NOTHING. */
	uint32_t (*function_at)(void *context, uint32_t address);
	/* The function that makes the call with this return address, or
	 * WALK_NOTHING, and where it goes on: in the middle of a block that is
	 * only this call, or at the beginning of the next one. */
	uint32_t (*site_at)(void *context, uint32_t address, block_id *block,
	                    bool *is_inside);
};

/* Requires: no walk over it is used any more. */
void walk_program_release(struct walk_program *p);

enum walk_kind {
	WALK_ENTER, /* a frame begins */
	WALK_PATH,  /* it took a path, from where it was */
	WALK_LEAVE, /* it returned, or another takes its place */
	WALK_DEATH, /* it was left by a throw or a jump */
	WALK_LAND,  /* it goes on elsewhere: behind a setjmp */
	WALK_FRAME, /* it was there when the stream began, before `block` */
	WALK_START, /* a thread begins: nothing is left of the one before */
	WALK_TIME,  /* `value` */
	WALK_SYNC,  /* `value` */
	/* `value` frames that were open are out of sight, and what they do from
	 * here on is missing: none is open */
	WALK_LOST
};

/* A path as the walk remembers it, until walk_program_release. */
struct walk_way {
	const block_id *blocks; /* that run, in order */
	const edge_id *edges;   /* that are taken, in order */
	uint32_t nblocks, nedges;
	uint32_t nbranches; /* edges that are branches */
	bool enters;        /* the first edge comes from outside */
	bool is_part;       /* of one that came to no end: a block more, and the
	                       edge to it if it did not begin there */
	/* the rest is for the walk */
	bool is_known, leaves, stops, resumes;
	bool is_plain; /* the same frame goes on with the next one */
	enum codes_end end;
	block_id next; /* where the next one begins: as in struct walk_frame */
	uint32_t callee;
};

/* Where a frame was left. */
enum walk_how {
	WALK_IN_CALL,
	WALK_BETWEEN, /* calls, nobody knows where */
	WALK_HALTED   /* ... in the block that its last path led to */
};

struct walk_event {
	enum walk_kind kind;
	uint32_t function;
	size_t depth;               /* frames below this one */
	const struct walk_way *way; /* of a PATH */
	/* of a PATH: its first block was entered before, 1, or not, 0 */
	unsigned nskipped;
	block_id block; /* of a LAND or FRAME */
	/* START: kernel id; TIME: ns; SYNC; LOST; DEATH, and LAND if it was not
	 * in a call: enum walk_how */
	uint64_t value;
};

enum walk_state {
	WALK_READY,   /* its next path is to come */
	WALK_WAITING, /* in a call of anything: a mark, or its next path */
	WALK_AWAY,    /* in a call that does not come back: a mark */
	/* its next history is not to be read: then it is at place `nsilent` of
	 * CAIRN_PLACE */
	WALK_RESUMES,
	WALK_STOPPING, /* it takes `read` more paths, silent ones or turns ...
	                */
	/* ... and was stopped in its block, in line `nsilent` of those that the
	 * map has for it, from 1 on; 0: not known */
	WALK_STOPPED
};

struct walk_frame {
	uint32_t function;
	/* where its next path begins; CFG_OUTSIDE: enters.  In a function with
	 * witnesses plus the number of blocks if it is behind the head of that
	 * block already: walk_nplaces */
	block_id next;
	bool is_inside; /* it is in the middle of that block */
	enum walk_state state;
	uint32_t nsilent; /* paths since something was read ... */
	uint64_t read;    /* ... then */
	/* bits of its next history that were taken already, when it was
	 * interrupted, or was open at the end */
	uint32_t nahead;
};

/* Where the bytes come from, part by part. */
struct walk_source {
	void *context;
	/* The next part, until the one after it: 1, or 0 if there is none, or
	 * negative. */
	int (*next)(void *context, const uint8_t **bytes, size_t *n,
	            struct cairn_err *err);
	/* Makes a part the next one; they are numbered from 0 on.  NULL if
	 * nobody wants to go back. */
	void (*seek)(void *context, uint64_t part);
};

/* The walk over the stream of one thread. */
struct walk {
	struct walk_program *program;
	struct walk_source source;
	const uint8_t *bytes; /* borrowed */
	size_t nbytes, at;
	uint64_t before;  /* bytes of the stream before these */
	uint64_t nparts;  /* of the source, that were taken */
	uint64_t nread;   /* items */
	uint64_t nevents; /* that it told ... */
	uint64_t nblocks; /* ... and blocks that these executed */
	bool is_over;
	struct walk_frame *frames; /* innermost last */
	size_t nframes, frames_cap;
	/* All but the last of so many frames are as they were when this was
	 * set to nframes, which is for others to do. */
	size_t nkept;
	uint64_t word;    /* the history in hand ... */
	unsigned nbits;   /* ... and how much of it is left */
	bool has_history; /* there is one */
	bool is_full;     /* its activation goes on with another */
	bool is_lost;     /* where the outermost frames are nobody knows */
	uint32_t calls;   /* what it enters next, or WALK_NOTHING */
	uint32_t nsilent; /* frames that began since something was read */
	uint32_t nidle;   /* paths since bits of the history were used */
	bool is_leaving;  /* the innermost frame's last path left it */
	/* What the last SYNC and TIME said; 0: there was none. */
	uint64_t sync, ns;
};

/* Was the innermost frame stopped where it is, so that it is known? */
bool walk_is_halted(const struct walk *w);

/* Frames of a function have `next` below this. */
uint32_t walk_nplaces(const struct walk_function *f);

/* Requires: program outlives w.  Memory: until walk_release. */
void walk_init(struct walk *w, struct walk_program *program,
               struct walk_source source);
/* The same over bytes in memory. */
void walk_init_bytes(struct walk *w, struct walk_program *program,
                     const uint8_t *bytes, size_t nbytes);
void walk_release(struct walk *w);

/*
 * The next event.
 *
 * Returns 1, or 0 at the end of the stream: frames are then those that were
 *         open.
 * Fails:  CAIRN_E_CORRUPT for what no program writes; what the source fails
 *         with.
 */
int walk_next(struct walk *w, struct walk_event *event, struct cairn_err *err);

/*
 * The next events, up to `cap` of them, at least one unless there is none; much
 * faster than one by one.  *n is how many there are, after a failure too: those
 * before it.  Returns and fails as walk_next; 0 may come with some events.
 */
int walk_run(struct walk *w, struct walk_event *events, size_t cap, size_t *n,
             struct cairn_err *err);

/* How many blocks an event executes: those of its way but for `nskipped`. */
static inline uint32_t walk_nblocks(const struct walk_event *event)
{
	return event->kind == WALK_PATH ? event->way->nblocks - event->nskipped
	                                : 0;
}

#endif /* CAIRN_WALK_WALK_H */
