/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ABI_RECORD_H
#define CAIRN_ABI_RECORD_H

#include <stdint.h>

/*
 * What the marks of a recording, the runtime and the replayer agree on.
 *
 * Each context (a thread, a signal handler) has a shadow: the shadow of address
 * p is at %gs:p.  It holds what the context has stored or seen at p.  Cells are
 * words in CAIRN_COUNTERS_SECTION, which is only a layout: every function has
 * some, word 0 for itself, then for its arguments, then for its sites.  Nobody
 * touches them; their shadows hold the last value of inputs that are not
 * memory.
 */

/* Thread-local, initial-exec, one for all modules. */
#define CAIRN_RT_RECORD "__cairn_record"
#define CAIRN_RECORD_TICK 0
#define CAIRN_RECORD_EXPECT                                                    \
	8                     /* the function that an unknown call calls, also \
	                         by a tail call: then the caller of the caller \
	                         looks at it */
#define CAIRN_RECORD_STACK 16 /* top of the second stack */
#define CAIRN_RECORD_SELF 24  /* the runtime's: the context, 0: none yet */
#define CAIRN_RECORD_FRAME 32 /* ... of the innermost handler of a signal */
#define CAIRN_RECORD_WRONG 40 /* ... not 0: see record_log.c */
#define CAIRN_RECORD_BUSY 48  /* ... a hook that says what goes out runs */
#define CAIRN_RECORD_WORDS 8
/* Of EXPECT: foreign code runs below all frames with marks.  0: code with marks
 * runs. */
#define CAIRN_RECORD_BASE 1

/*
 * A replay has what is at p at p - CAIRN_REPLAY_DISTANCE, and notes so far
 * below that whether it was seen: far from where it is itself, whatever the
 * limit of the stack is, but not far, since Linux puts mappings anywhere from
 * 20 TiB on if that is large (ulimit -s).  So no recording has memory below
 * CAIRN_REPLAY_LOWEST, nor at two addresses CAIRN_REPLAY_SEEN apart.
 */
#define CAIRN_REPLAY_DISTANCE UINT64_C(0x40000001540)
#define CAIRN_REPLAY_SEEN UINT64_C(0x40000000000)
#define CAIRN_REPLAY_LOWEST UINT64_C(0x80040000000)

/*
 * Called by inline assembly, which steps over the red zone; no register is
 * changed but the flags and what is said here.  Hidden: one per module.
 *
 * IN: the n bytes whose shadow was just corrected are an input of the site of
 *     the cell.  Their address is pushed; cell and n stand behind the call:
 *         nopl cell - .(%rax)     0f 1f 80, then i32
 *         nopl n(%rax)            the same; n may have CAIRN_IN_ATOMIC
 * ENTER(rax: cell 0 of the function) -> rax: what was expected: foreign code
 *     calls the function.  Makes the context if there is none; nothing is
 *     expected any more.
 * LEAVE(rax: what ENTER returned): it returns there.
 * LAND(rax: cell): a landing pad was reached.
 * ENV: something may have changed how floating-point arithmetic rounds.
 * AGAIN(rax: cell, rdx: the frame's address on the second stack): a call
 *     returned once more.
 *
 * Around what is atomic, while CAIRN_RT_RECORD_TURNS is not 0:
 * TURN(rax: address): others that come here for this address wait.
 * TURNED: they go on.
 * NOTE(rax: cell, rdx: not 0: it found or left something new): so it goes into
 *     the log.  TURNED, if nobody said so.
 */
#define CAIRN_RT_RECORD_IN "__cairn_record_in"
#define CAIRN_RT_RECORD_ENTER "__cairn_record_enter"
#define CAIRN_RT_RECORD_LEAVE "__cairn_record_leave"
#define CAIRN_RT_RECORD_LAND "__cairn_record_land"
#define CAIRN_RT_RECORD_ENV "__cairn_record_env"
#define CAIRN_RT_RECORD_AGAIN "__cairn_record_again"
#define CAIRN_RT_RECORD_TURN "__cairn_record_turn"
#define CAIRN_RT_RECORD_TURNED "__cairn_record_turned"
#define CAIRN_RT_RECORD_NOTE "__cairn_record_note"
/* The input is of something atomic, whose NOTE follows. */
#define CAIRN_IN_ATOMIC (UINT32_C(1) << 30)
/* A word, hidden, one per module: 0 while the process has one thread. */
#define CAIRN_RT_RECORD_TURNS "__cairn_record_turns"

/*
 * Ordinary functions.
 * void COPY(void *cell, void *dst, const void *src, size_t n): memmove, of
 *     memory and shadow, with src as an input.
 * void SET(void *dst, int c, size_t n): memset, of both.
 */
#define CAIRN_RT_RECORD_COPY "__cairn_record_copy"
#define CAIRN_RT_RECORD_SET "__cairn_record_set"

/*
 * uint64_t READ(void *cell, enum cairn_read, const void *a, uint64_t b,
 *     uint64_t n): what the function of this name returns for the arguments
 *     that it has; what a and b point at are inputs of the cell and the next.
 */
#define CAIRN_RT_RECORD_READ "__cairn_record_read"

enum cairn_read {
	CAIRN_READ_STRCMP = 0,
	CAIRN_READ_STRNCMP = 1,
	CAIRN_READ_MEMCMP = 2, /* and bcmp */
	CAIRN_READ_STRLEN = 3,
	CAIRN_READ_STRCHR = 4,
	CAIRN_READ_MEMCHR = 5,
	CAIRN_NREADS
};

/*
 * The log of a context.  An event is
 *     uv  (tick - that of the event before) << CAIRN_EVENT_BITS | kind
 * and then, where id is (module << CAIRN_CELL_BITS | index of the word in its
 * section), less that of the event before:
 *     IN        sv id, uv length << 1 | has an offset, [uv offset], bytes
 *     CALLBACK  sv id of cell 0; INs of its arguments follow
 *     BACK      sv id, uv frame: LAND (0) or AGAIN
 *     OTHER     uv enum cairn_other, [sv id], and what that says
 */
#define CAIRN_EVENT_BITS 2
#define CAIRN_CELL_BITS 32

enum cairn_event {
	CAIRN_EVENT_IN = 0,
	CAIRN_EVENT_CALLBACK = 1,
	CAIRN_EVENT_BACK = 2,
	CAIRN_EVENT_OTHER = 3,
};

/*
 * A log begins with BEGIN and STACK.  END and STOP say how far the context came
 * and mean something only if nothing follows: an exec can fail.  A log without
 * either was cut off, by SIGKILL or for want of room.
 */
enum cairn_other {
	CAIRN_OTHER_END = 0,   /* the context ended as it should */
	CAIRN_OTHER_STACK = 1, /* uv: top of the second stack */
	CAIRN_OTHER_SYNC = 2,  /* uv: place in the order of all contexts */
	/* uv: enum cairn_context, uv: number of the context of its thread, its
	 * own if it is one, uv: the kernel's number of the thread */
	CAIRN_OTHER_BEGIN = 3,
	/* the process ended while the context was in the middle of something:
	 * it had come to this tick, and not to the next */
	CAIRN_OTHER_STOP = 4,
	/* uv: the parent's pid, uv: number of a context in its file, uv: bytes
	 * of the log of that: what follows goes on from there */
	CAIRN_OTHER_FORK = 5,
	/* all memory that the context knows is zeros from here on: a handler
	 * of a signal has left it in the middle of something, by a jump whose
	 * BACK follows */
	CAIRN_OTHER_FORGET = 6,
	/* uv: address, uv: bytes: these are zeros to the context from here on;
	 * foreign code runs */
	CAIRN_OTHER_ZERO = 7,
	/* uv: CAIRN_ENV_*: how floating-point arithmetic rounds from here on */
	CAIRN_OTHER_ENV = 8,
	/* uv: length << CAIRN_OUT_BITS | enum cairn_out, [uv: pending], [uv:
	 * address], [bytes]: the program wrote to stdout or stderr */
	CAIRN_OTHER_OUT = 9,
	/* the same, of bytes that the context has in memory, and at its end
	 * four bytes more: the hash of them */
	CAIRN_OTHER_HASHED = 10,
	/* sv: id, uv: place in the order of all contexts, as that of SYNC, uv:
	 * how far before it is that of the store itself, if it is one: before
	 * the site of the cell goes on */
	CAIRN_OTHER_TURN = 11,
	/* uv: number of a context, uv: its tick << 1 | foreign code ran, uv:
	 * bytes of its log: there it was interrupted by a handler, which is
	 * what follows; a SYNC does */
	CAIRN_OTHER_CAME = 12,
	/* uv: WRITES, if it did, | signal << 1 | foreign code ran, uv: its
	 * address: as STOP, but it is known where: in foreign code, or where
	 * the context itself raised the signal; 0: none */
	CAIRN_OTHER_HALT = 13,
	/* the same values: a handler is about to jump away from there; FORGET
	 * follows */
	CAIRN_OTHER_LEFT = 14,
	CAIRN_NOTHERS
};

#define CAIRN_HALT_WRITES 256u /* an access to memory was one to write */
#define CAIRN_HALT_SIGNAL(word) ((int)((word) >> 1 & 127))

/* Rounding, flush to zero and denormals are zeros of MXCSR; rounding and
 * precision of the x87 control word, above.  A context begins with DEFAULT. */
#define CAIRN_ENV_MXCSR 0xe040u
#define CAIRN_ENV_X87 0x0f00u
#define CAIRN_ENV_X87_SHIFT 16
#define CAIRN_ENV_DEFAULT (0x0300u << CAIRN_ENV_X87_SHIFT)

/*
 * What goes out is said behind the call that wrote it, in pieces.  If it has an
 * address it is what the context has in memory there, with BYTES from now on.
 * Without both there is no more than how many bytes are pending: the process
 * ended before they were written, anywhere, if no other OUT of the context to
 * the same descriptor follows.
 */
enum cairn_out {
	CAIRN_OUT_STDERR = 1,
	CAIRN_OUT_BYTES = 2,
	CAIRN_OUT_AT = 4,
	CAIRN_OUT_PENDING = 8, /* it went out before that many bytes, which are
	                          the last of those that libc had to write */
	CAIRN_OUT_LINE = 16,   /* a newline follows it */
	CAIRN_OUT_LATE = 32,   /* it was found in libc's buffer: somebody had
	                          put it there, some time since the last OUT */
};

/*
 * A hash of what goes out by its address: begins with the number of bytes, and
 * takes eight at a time, the last ones with zeros behind them.  It is never 0.
 */
static inline uint64_t cairn_out_step(uint64_t h, uint64_t word)
{
	h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

static inline uint32_t cairn_out_hash(uint64_t h)
{
	return (uint32_t)h ? (uint32_t)h : 1;
}

#define CAIRN_OUT_BITS 6
#define CAIRN_OUT_MAX 4096u /* bytes of a piece */

enum cairn_context {
	CAIRN_CONTEXT_THREAD = 0,
	CAIRN_CONTEXT_SIGNAL = 1, /* handlers of signals in a thread */
	CAIRN_NCONTEXTS
};

/* The IR, in a section that is not loaded: one of these per unit of
 * translation, 8-aligned, then a zstd frame of bitcode. */
#define CAIRN_IR_SECTION ".cairn.ir"
#define CAIRN_IR_MAGIC "CAIRNIR6" /* the last one grows with the marks */
#define CAIRN_IR_OLDEST '6'       /* ... that can be replayed */
#define CAIRN_IR_ID 8             /* the first bytes of its SHA-256 */
#define CAIRN_IR_RAW 24           /* u64: bytes of bitcode */
#define CAIRN_IR_PACKED 32        /* u64: bytes that follow */
#define CAIRN_IR_HEAD 40u
#define CAIRN_UNIT_ID 16u

/* A third kind of map record: where the linker put what a unit defines:
 * variables, then functions, then aliases, in the order of the module. */
#define CAIRN_UNIT_MAGIC 0x31555443u /* "CTU1" */
#define CAIRN_UNIT_SIZE 4            /* u32: whole record */
#define CAIRN_UNIT_AT_ID 8
#define CAIRN_UNIT_N 24 /* u32: how many */
#define CAIRN_UNIT_NLINKED                                \
	28 /* u32: of these, the last so many are entries \
	      of functions that LINKED calls go to */
#define CAIRN_UNIT_HEAD 32u

/*
 * Symbols of a function that others call by name, for other files of the same
 * link: its body, and its entry.  Both are hidden, and weak where they are only
 * declared: 0 if the definition has no marks, or is not in this link.  After a
 * call of the body the caller looks at EXPECT, since the body may end in a tail
 * call of anything.  (Older objects do not look, and call it by another name.)
 */
#define CAIRN_LINK_BODY "__cairn_inner_"
#define CAIRN_LINK_ENTRY "__cairn_entry_"

/* Names in the embedded IR. */
#define CAIRN_IR_EXTERNS "cairn.externs"
#define CAIRN_IR_LEFT_OUT "cairn-left-out" /* attribute: has no marks */
#define CAIRN_IR_FINAL "cairn-final"       /* no other can take its place */
/* attribute of a declaration of CAIRN_LINK_BODY: which one of EXTERNS it is */
#define CAIRN_IR_LINKED "cairn-linked"
/* attribute: it may end in a tail call of anything, whose result is then the
 * caller's input */
#define CAIRN_IR_HANDS_ON "cairn-hands-on"
#define CAIRN_IR_TAIL \
	"cairn.tail" /* metadata of a call: the frame ends there */
/* attribute of a call: the function that it calls may change how arithmetic
 * rounds, although its name is not seen any more */
#define CAIRN_IR_ROUNDS "cairn-rounds"
#define CAIRN_IR_SEEN "cairn.seen" /* metadata of a load: it needs no check */
#define CAIRN_IR_GOTO "cairn.goto" /* ... of a switch: a computed goto */
#define CAIRN_IR_TURN "cairn.turn" /* ... of an atomic store: it has a cell */
/* ... of a call: the tick goes on when it has returned */
#define CAIRN_IR_AFTER "cairn.after"

/* const uint64_t: how many bytes of the log are kept, 0: all; const char[]: the
 * program that sees to that. */
#define CAIRN_RT_RECORD_LAST "__cairn_record_last"
#define CAIRN_RT_RECORD_TOOL "__cairn_record_tool"

#endif /* CAIRN_ABI_RECORD_H */
