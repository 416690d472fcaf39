/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_POINTS_H
#define CAIRN_REPLAY_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "ir/sites.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Places in a function where its frame can be written into a checkpoint, and
 * where one can be made of it again: the ticks at its entry and at heads of
 * loops, if it is the innermost, and calls of code that had marks.  They are
 * numbered, and what of a frame is kept there follows, from canonical IR alone:
 * it is the same in replay code that answers any question.
 */
struct points;

#define POINTS_NONE UINT32_MAX
#define POINTS_ENTRY 0u

static inline uint32_t points_head(uint32_t head)
{
	return 1 + head;
}

/* The call that a site is. */
static inline uint32_t points_in(const struct ir_function *ir, uint32_t site)
{
	return 1 + ir->nheads + site;
}

/* Before anything is changed, in this order: what is live where, ... */
struct points *points_find(const struct ir_function *ir);
void points_free(struct points *p);
bool points_has(const struct points *p, uint32_t point);
/* ... and behind questions: what the rewriter must keep track of. */
void points_place(struct points *p, const struct ir_function *ir);

/*
 * Where the tick of the entry or a head is put, a point: behind what is put
 * into memory there, arguments and phis that longjmp brings back; anywhere, at
 * `usual`, if the function calls no setjmp, or p is NULL.
 */
LLVMValueRef points_behind(const struct points *p, uint32_t point,
                           LLVMValueRef usual);

/* What else a frame has: a variable of the rewriter. */
void points_add_variable(struct points *p, LLVMValueRef alloca);

/*
 * A point is left at `leave`, the end of a block, if `check` says so, the first
 * of the instructions that look.
 */
void points_leave(struct points *p, uint32_t point, LLVMValueRef check,
                  LLVMValueRef leave);
/* The result of the call at a point, if somebody needs it. */
void points_result(struct points *p, uint32_t point, LLVMValueRef v);

/* Code that writes a frame, wherever it is left. */
void points_write(struct points *p, LLVMValueRef save, LLVMValueRef cell);

/* The function becomes one that begins at one of n points: where TAKE says that
 * its frame is. */
void points_begin_again(struct points *p, LLVMValueRef take, LLVMValueRef cell,
                        const uint32_t *numbers, uint32_t n);
/* The end of the block that makes the frame anew: for the call. */
LLVMValueRef points_again(struct points *p, uint32_t point);
/* What that returns; NULL: nothing. */
void points_returned(struct points *p, uint32_t point, LLVMValueRef v);

/* When nothing else is to be changed. */
void points_finish(struct points *p);

/* A call like another one, of something that needs no arguments. */
LLVMValueRef points_call(LLVMValueRef like, LLVMValueRef callee,
                         LLVMValueRef before);
/* The function is another one from now on, by this name; who used it uses a
 * declaration of the old one. */
void points_part(LLVMValueRef f, const char *name);
/* Leaves no more of a function than its declaration. */
void points_declare(LLVMValueRef f);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_REPLAY_POINTS_H */
