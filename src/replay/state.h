/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_STATE_H
#define CAIRN_REPLAY_STATE_H

#include <stdint.h>

/*
 * What replay code (replay/rewrite.c) and the engine share: this struct, at an
 * address below 2 GiB, and the functions below.  Cells are words below 2 GiB,
 * too: a cell is named by its address there, and never by anything else.
 */
#define REPLAY_PRESERVE_MOST 14 /* a calling convention of LLVM */
#define REPLAY_NARGS 32
/* Entries for what FIND has found: that of an address is its bits from SHIFT
 * on.  No entry is wrong; an empty one says that address 0 has no body. */
#define REPLAY_NFOUND 1024
#define REPLAY_FOUND_SHIFT 4

struct replay_state {
	uint64_t left;      /* ticks to the next event; not above 0: ARM */
	uint64_t next_cell; /* of the input that is next, now; else 0 */
	uint64_t unwinding; /* the cell where frames end that are being left;
	                       0: none are */
	uint64_t frame;     /* and which activation, if it calls setjmp */
	uint64_t record[8]; /* stands for CAIRN_RT_RECORD */
	uint32_t *step, *steps_end; /* where the next word goes: steps.h */
	uint32_t line; /* of what was last done that may raise a signal */
	/* if they are to be shown: what a call of foreign code calls, and with
	 * which arguments, as far as they are numbers and fit */
	uint64_t callee, nargs;
	uint64_t args[REPLAY_NARGS];
	/* if stores are to be shown: where */
	uint64_t watched, nwatched;
	/* a function has returned that ends in a tail call of foreign code: the
	 * cell and the site of that call; else 0 */
	uint64_t handed, handed_site;
	/* sealed but while FIND adds one: nobody else changes where calls go */
	_Alignas(4096) struct replay_found {
		uint64_t address;
		void *body;
	} found[REPLAY_NFOUND];
};

/* Symbols of replay code: functions of the unit and their entries for foreign
 * code, by their number among those that the unit defines; their cells; and
 * the addresses that things had, by their place in the unit's table.  No other
 * name begins like these. */
#define REPLAY_BODY ":f"
#define REPLAY_ENTRY ":e"
#define REPLAY_CELLS ":c"
#define REPLAY_ADDRESS ":a"
#define REPLAY_NOWHERE                                                        \
	1                 /* address of what the linker dropped or never had, \
	                     and instead of its nodes */
#define REPLAY_NODES ":n" /* number of the first node of a function, less 1 */
#define REPLAY_STATE ":state"

/*
 * These change no general register but r11 (replay/stubs.S):
 * ARM(cell 0 of the function, line | flags): a tick was reached that has an
 * event, or where somebody attends; CAN_SAVE: frames can be written there.
 * IN(cell, p): the next event is an input of this cell, for memory at p.
 * STEPS(): the buffer of steps is full.
 */
#define REPLAY_ARM ":arm"
#define REPLAY_CAN_SAVE ((uint64_t)1 << 32)
#define REPLAY_IN ":in"
void replay_stub_arm(void);
void replay_stub_in(void);
#define REPLAY_STEP ":step" /* of steps.c alone, as this is */
#define REPLAY_LINE ":line"
#define REPLAY_STEPS ":steps"
void replay_stub_steps(void);

/* void *FIND(uint64_t address): the body of the function that was there, or
 * NULL: it is foreign. */
#define REPLAY_FIND ":find"
/* void FOREIGN(cell, site << SHIFT | n): does what a foreign call did; then its
 * n cells have its result, unless it unwinds.  The site is an index in the
 * function of the cell, which is that of the function if there is no result. */
#define REPLAY_FOREIGN ":foreign"
#define REPLAY_SITE_SHIFT 32
/* void HANDED(cell, site << SHIFT | n): the same for a tail call of foreign
 * code by what was called at this site, whose n cells get the result. Requires:
 * state->handed, which is then 0. */
#define REPLAY_HANDED ":handed"
/* void COPY(cell, dst, src, n), void SET(dst, c, n) */
#define REPLAY_COPY ":copy"
#define REPLAY_SET ":set"
/* uint64_t READ(cell, which, a, b, n): see abi/record.h */
#define REPLAY_READ ":read"
/* void ENV(cell): something may have changed how arithmetic rounds. */
#define REPLAY_ENV ":env"
/* void FAULT(): if the program got a signal here and jumped away,
 * leaves frames. */
#define REPLAY_FAULT ":fault"
/* void LAND(cell), void AGAIN(cell, frame): frames are left no more. */
#define REPLAY_LAND ":land"
#define REPLAY_AGAIN ":again"
/* void RESUME(cell 0): leaves frames again. */
#define REPLAY_RESUME ":resume"
/* void STOP(cell 0, line): the program cannot have come here, or ended here.
 * Returns only to leave frames. */
#define REPLAY_STOP ":stop"

/* void WROTE(cell 0, site << SHIFT | how, p, n): n bytes at p were stored to,
 * some of them where somebody watches, unless it is a copy; if stores are
 * shown. */
#define REPLAY_WROTE ":wrote"
enum replay_wrote {
	REPLAY_WROTE_STORE,
	REPLAY_WROTE_MAYBE, /* only if they changed: a cmpxchg */
	REPLAY_WROTE_COPY,  /* or set */
};

/* void TELL(id): somebody asked what is in args, and what the tick is; the id
 * is theirs. */
#define REPLAY_TELL ":tell"

/*
 * Frames, for checkpoints (points.h).  While `unwinding` is SAVING all are
 * left, and write what they have:
 * void *SAVE(cell 0, point, n): where n bytes of a frame go; the number of the
 * point is in the first word.  NULL: frames are left for another reason.
 * void LOST(): a frame is left that has nothing to say.
 */
#define REPLAY_SAVING 1u
#define REPLAY_SAVE ":save"
#define REPLAY_LOST ":lost"
/*
 * And when they are made again:
 * void *TAKE(cell 0): the frame.
 * void *NEXT(): the code that makes the next one, which this one called; NULL:
 * it called foreign code, and that the next.
 * void BACK(cell, site << SHIFT | n): the same as FOREIGN, from there on.
 */
#define REPLAY_TAKE ":take"
#define REPLAY_NEXT ":next"
#define REPLAY_BACK ":back"
/* Of the rewriter alone. */
#define REPLAY_MARK ":mark"
/* The function that makes frames, and the one for foreign callers. */
#define REPLAY_AGAIN_BODY ":r"
#define REPLAY_AGAIN_ENTRY ":q"

#endif /* CAIRN_REPLAY_STATE_H */
