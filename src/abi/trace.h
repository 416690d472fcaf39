/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ABI_TRACE_H
#define CAIRN_ABI_TRACE_H

/*
 * The stream of a thread: what generated code and the runtime write, and the
 * walk reads.  docs/FORMAT.md is the specification.
 *
 * It is a sequence of histories (graph/codes.h) and marks.  A history is a
 * number whose highest set bit only says how long it is.  If that fits, it is a
 * byte from 1 to 127.  Else a byte says how many bytes follow, lowest first.
 *
 *     0x00          nothing was written here
 *     0x01..0x7f    a history
 *     0x80 + n      a history of n bytes, which end here
 *     0x90 + n      the same, but it was written because it was full: that of
 *                   the same activation goes on with the next one
 *     0xe0..        a mark, with as many bytes behind it as it needs
 */
#include <stdint.h>

#define CAIRN_TRACE_SMALL 0x7fu
#define CAIRN_TRACE_WORD 0x80u
#define CAIRN_TRACE_FULL 0x90u
#define CAIRN_TRACE_MARK 0xe0u

/* Addresses are the low 32 bits of what they were in the process. */
#define CAIRN_TRACE_ENTER 0xf0u /* u32: an address in the function's code */
/* u32: return address of the call in which the innermost frame died */
#define CAIRN_TRACE_DEATH 0xf1u
/* u32: return address of the call behind which the innermost frame goes on */
#define CAIRN_TRACE_LAND 0xf2u
/* u32: the same of a frame that was there when the stream began; the outermost
 * first */
#define CAIRN_TRACE_FRAME 0xf3u
#define CAIRN_TRACE_TIME 0xf4u  /* u64: ns since the process started */
#define CAIRN_TRACE_START 0xf5u /* u32: a thread begins; its kernel id */
/*
 * u64: behind something that made the thread wait for another, or its start: 1
 * + twice the number of that among all of the process.  An event has the
 * greatest number before it in its stream; sorted by these no pair is inverted
 * of which one happened before the other.
 */
#define CAIRN_TRACE_SYNC 0xf6u
#define CAIRN_TRACE_PAD 0xf7u /* nothing */
/* u32: an address: the frame that was interrupted there died */
#define CAIRN_TRACE_CUT 0xf8u
/* u32: the same of a frame that was there when the stream began, but was
 * interrupted at this address: nobody knows where on a path it is, nor which
 * frames outside of it come back when.  What follows when those inside are gone
 * cannot be read, until a mark says where a frame is.  0: some frame. */
#define CAIRN_TRACE_LOST 0xf9u

/* u64: how many turns a loop made, of which the history before it, which is
 * full, says that they were too many for it */
#define CAIRN_TRACE_COUNT 0xfau

/*
 * Of a flight recorder (trace,last=SIZE), which forgets its oldest parts:
 *
 * PART  u32: so many bytes follow that say where the thread is: a START, marks
 *       of frames, RESUME.  Who has read the part before skips them.
 * RESUME  u32: an address in the innermost function, u32: a place in it (see
 *       CAIRN_PLACE).  A history follows that began before this part and is not
 *       to be read; behind it the function goes on from there.
 * HELD  u64: a history that is not complete yet, of the innermost frame, which
 *       is interrupted there; u32: so many bytes back it was begun, and if one
 *       was written since then, this is it, and HELD says nothing.
 * STACK u32: as FRAME, but one without a place where it goes on is in a call
 *       that does not come back, or has left (walk.c).
 * HEAD  63 bytes: what a part begins with, the words below.
 */
#define CAIRN_TRACE_PART 0xfbu
#define CAIRN_TRACE_HEAD 0xfcu
#define CAIRN_TRACE_HELD 0xfdu
#define CAIRN_TRACE_RESUME 0xfeu
#define CAIRN_TRACE_STACK 0xffu

/*
 * Of the walk over a recording: where a frame was stopped between calls.
 *
 * HALT  u32: how many frames there are, the innermost being stopped; u64: its
 *       history, of all paths that it has taken since one was written; u64: how
 *       many it took then that no history tells, which have no bits or are
 *       turns of a loop that counts them.  It is in the block where its next
 *       path begins, if it is in its function already.
 * STEP  u32: the innermost frame, stopped, came on by this edge, to the block
 *       that it leads to.
 * LINE  u32: of the lines that the map has for that block, the one where it is,
 *       from 1 on.
 */
#define CAIRN_TRACE_HALT 0xe0u
#define CAIRN_TRACE_STEP 0xe1u
#define CAIRN_TRACE_LINE 0xe2u
/* There, or further on: nobody knows how far. */
#define CAIRN_LINE_SOMEWHERE UINT32_MAX
#define CAIRN_HALT_SIZE 20u /* behind the first byte */

/* A HEAD, from its first byte on. */
#define CAIRN_HEAD_SIZE 64u
/* u64: the history of the innermost frame, not written yet; 0, 1: nothing */
#define CAIRN_HEAD_HISTORY 8
/* u64: where the stream was when that was begun ... */
#define CAIRN_HEAD_AT 16
#define CAIRN_HEAD_BASE 24   /* u64: ... if this is where the HEAD is */
#define CAIRN_HEAD_NUMBER 32 /* u64: of the part, from 1 on; 0: no part */
#define CAIRN_HEAD_THREAD 40 /* u32: its serial */

/* Where an operation of generated code stands, as RESUME has it, and, with
 * CAIRN_PLACE_TAG, the long nop behind calls of the runtime. */
#define CAIRN_PLACE_TAG 0x54000000u
#define CAIRN_PLACE_TAG_MASK 0xfc000000u
#define CAIRN_PLACE_KIND_SHIFT 24
#define CAIRN_PLACE_WHERE 0x00ffffffu
#define CAIRN_PLACE_EDGE 0u  /* on this CFG edge */
#define CAIRN_PLACE_END 1u   /* at the end of this block */
#define CAIRN_PLACE_TOP 2u   /* at its top, behind an indirect branch */
#define CAIRN_PLACE_ENTER 3u /* the function is about to be entered */

/* AUX0 of a STREAM chunk whose HEAD says what part it is. */
#define CAIRN_STREAM_HAS_HEAD 0xffffffffffffffffull

/* const uint64_t: how many bytes of streams are kept, 0: all. */
#define CAIRN_RT_TRACE_LAST "__cairn_trace_last"
/* const uint64_t: how many bytes all buffers take together, at most. */
#define CAIRN_RT_TRACE_MEMORY "__cairn_trace_memory"
/* What ROOM takes instead of a place: HELD is to be written. */
#define CAIRN_TRACE_HOLD 1

/* The most bytes that one of these takes, but for HEAD, and that are taken at a
 * time. */
#define CAIRN_TRACE_ITEM_MAX 13u
#define CAIRN_TRACE_ROOM_MAX 18u

/* In CAIRN_RT_THREAD (abi/rt.h): where the next byte goes, and where that may
 * no longer be.  Both are 0 at first. */
#define CAIRN_RT_TRACE_AT 16
#define CAIRN_RT_TRACE_LIMIT 24
/* With last=: the HEAD of the buffer; not 0 once there was a slow call. */
#define CAIRN_RT_TRACE_HEAD 40

/*
 * Calls of generated code, by inline assembly, as CAIRN_RT_SLOW: they change no
 * register but rax and the flags.
 *     ROOM  rax: a place at or behind the limit; returns one for as many bytes
 *     WORD  rax: a history, which is written; FULL: the same, it goes on
 */
#define CAIRN_RT_TRACE_ROOM "__cairn_trace_room"
#define CAIRN_RT_TRACE_WORD "__cairn_trace_word"
#define CAIRN_RT_TRACE_FULL "__cairn_trace_full"
/* rax: a history, rdx: a number: FULL, and a COUNT behind it. */
#define CAIRN_RT_TRACE_COUNT "__cairn_trace_count"
/* A constant: 2^51.  FULL is for histories that are not below it, or of
 * functions with wider codes than others. */
#define CAIRN_RT_TRACE_MOST "__cairn_trace_most"

/* Before the name of a function: its entry for known calls, which marks
 * nothing. */
#define CAIRN_TRACE_IN "__cairn_in_"

/* void LOG(const void *function, uint64_t block): with trace,log a program
 * calls it in every block; the tests have one. */
#define CAIRN_TRACE_LOG "cairn_log_block"

/* The bytes of an item behind its first, for all who go from item to
   item. */
static inline unsigned cairn_trace_behind(unsigned char first)
{
	if (first <= CAIRN_TRACE_SMALL || first == CAIRN_TRACE_PAD)
		return 0;
	if (first < CAIRN_TRACE_MARK)
		return first & 15u;
	switch (first) {
	case CAIRN_TRACE_TIME:
	case CAIRN_TRACE_SYNC:
	case CAIRN_TRACE_COUNT:
	case CAIRN_TRACE_RESUME:
		return 8;
	case CAIRN_TRACE_HELD:
		return 12;
	case CAIRN_TRACE_HALT:
		return CAIRN_HALT_SIZE;
	case CAIRN_TRACE_HEAD:
		return CAIRN_HEAD_SIZE - 1;
	default:
		return 4;
	}
}

/* Of the name of a function, in BINDINGS chunks: FNV-1a. */
static inline uint64_t cairn_name_hash(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	return h;
}

#endif /* CAIRN_ABI_TRACE_H */
