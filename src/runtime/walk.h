/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_RUNTIME_WALK_H
#define CAIRN_RUNTIME_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/unwind.h"

/*
 * Steps out of the runtime: from here to the frame that called us and goes on
 * at return address `to`.  False if the way there is lost.
 */
bool walk_start(struct unwind *u, struct thread *t, uintptr_t to);

/* Records the death of every frame from *u on that
 * is not recorded yet, and remembers that in the thread. */
void walk_out(struct thread *t, const struct unwind *u);
/* Takes that back; `before` is what t->walked_to was. */
void walk_back(struct thread *t, const struct unwind *u, uintptr_t before);
/* Records every frame from *u on as one that begins in the middle. */
void walk_in(struct thread *t, const struct unwind *u);

/*
 * A jump out of frames: longjmp, or the end of a vfork child.  Plans it, then
 * does all of it or nothing, whatever signal comes in between.
 */
#define JUMP_ENTRIES 32

struct jump_entry {
	uint64_t *slot;
	int64_t n;
};

/* Layout: jump.S. */
struct jump {
	uint64_t done, n;
	int64_t sign; /* 1, or -1 to take one back */
	struct jump_entry entry[JUMP_ENTRIES];
	void (*then)(struct jump *j);
	uintptr_t target_cfa, target_pc;
	uint64_t mask;
	bool is_blocked; /* too many entries: some are counted already */
	void *env;
	int value;
};

/* The caller of a function, when the call returns. */
struct near {
	uintptr_t pc, rsp, rbp;
};

/*
 * The same as jump_plan, from that caller on, if all frames on the way are well
 * known: walk_near.c.  False if they are not; then nothing is planned.
 */
bool jump_plan_near(struct jump *j, struct thread *t, struct near at,
                    uintptr_t sp, uintptr_t pc);

/* The frame of a function that jumps, which keeps a frame pointer. */
struct jump_frame {
	uintptr_t rbp, pc; /* of the caller */
	char stack[];      /* as it is when the call returns */
};

/* Plans the jump from that caller to (sp, pc), if this thread counts, and
 * commits to it.  Requires: then, env and value are set. */
void jump_leave(struct jump *j, const struct jump_frame *f, uintptr_t sp,
                uintptr_t pc);

/* Everything from *u to the frame that goes on at (sp, pc).
 * Requires: j->sign is set. */
void jump_plan(struct jump *j, struct thread *t, const struct unwind *u,
               uintptr_t sp, uintptr_t pc);
/* Counts the entries and calls then(j). */
void jump_commit(struct jump *j);
/* What __builtin_longjmp does. */
_Noreturn void jump_builtin(void *env);
extern const unsigned char jump_commit_ready[], jump_commit_added[];
extern const unsigned char jump_commit_end[];

#endif /* CAIRN_RUNTIME_WALK_H */
