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

/* What JUMP_ENTER leaves on the stack of a function that jumps. */
struct jump_frame {
	uint64_t saved[UNWIND_NSAVED]; /* of the caller */
	uintptr_t pc;                  /* where it would go on */
	unsigned char stack[];         /* as it is when the call returns */
};

/*
 * The body of a naked function of (env, value) that jumps: calls operand 0, a
 * function that does not return, with a struct jump_frame as third argument.
 * C cannot say what callee-saved registers its caller had.
 */
#define JUMP_ENTER                                             \
	"pushq %%r15\n\t.cfi_def_cfa_offset 16\n\t"            \
	"pushq %%r14\n\t.cfi_def_cfa_offset 24\n\t"            \
	"pushq %%r13\n\t.cfi_def_cfa_offset 32\n\t"            \
	"pushq %%r12\n\t.cfi_def_cfa_offset 40\n\t"            \
	"pushq %%rbp\n\t.cfi_def_cfa_offset 48\n\t"            \
	"pushq %%rbx\n\t.cfi_def_cfa_offset 56\n\t"            \
	".cfi_offset %%r15, -16\n\t.cfi_offset %%r14, -24\n\t" \
	".cfi_offset %%r13, -32\n\t.cfi_offset %%r12, -40\n\t" \
	".cfi_offset %%rbp, -48\n\t.cfi_offset %%rbx, -56\n\t" \
	"movq %%rsp, %%rdx\n\t"                                \
	"subq $8, %%rsp\n\t.cfi_def_cfa_offset 64\n\t"         \
	"call %P0\n\t"                                         \
	"ud2"

/*
 * The same as jump_plan, from that caller on, if all frames on the way are well
 * known: walk_near.c.  False if they are not; then nothing is planned.
 */
bool jump_plan_near(struct jump *j, struct thread *t,
                    const struct jump_frame *from, uintptr_t sp, uintptr_t pc);

/* Plans the jump from the caller of f to (sp, pc), if this thread counts, and
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
