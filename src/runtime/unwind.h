/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_UNWIND_H
#define CAIRN_RUNTIME_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/sys.h"

struct thread;

/* One frame: its registers, by DWARF number.  Layout: capture.S. */
struct unwind {
	uint64_t reg[16];
	uint64_t pc;
	uint64_t cfa;    /* of the frame that unwind_step just left */
	bool is_async;   /* pc is where it was, not a return address */
	uint16_t module; /* of the frame just left, 0: not instrumented */
	uint32_t nswitches;
};

enum unwind_result {
	UNWIND_LOST = -1, /* no description of this code, or a broken stack */
	UNWIND_END = 0,   /* the frame was the outermost */
	UNWIND_OK = 1,
};

#define UNWIND_RBX 3
#define UNWIND_RSP 7

static inline void unwind_copy(struct unwind *to, const struct unwind *from)
{
	_Static_assert(sizeof(*to) % 8 == 0, "words");
	rt_copy_words(to, from, sizeof(*to));
}

/* The caller's frame, as it is when the call returns. */
void unwind_capture(struct unwind *u);

/* The frame that a signal interrupted; `context` is a ucontext_t. */
void unwind_from_signal(struct unwind *u, const void *context);

/*
 * Goes from a frame to its caller: sets cfa and module of the frame it leaves
 * and the rest to the caller's.  On UNWIND_END only cfa and module are set.
 * Threads: t is the calling thread, NULL allowed (slower).
 */
enum unwind_result unwind_step(struct unwind *u, struct thread *t);

/* First address of the function that contains pc, 0 if unknown. */
uintptr_t unwind_function(uintptr_t pc);

#endif /* CAIRN_RUNTIME_UNWIND_H */
