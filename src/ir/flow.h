/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_IR_FLOW_H
#define CAIRN_IR_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ptrmap;

/* A call or invoke of something that is code. */
bool ir_is_call(LLVMValueRef instruction);
/*
 * The tail call of a block, or NULL: a call that is marked as one, directly
 * before a return of nothing, or of exactly what the call returns; but for one
 * with structures in memory as arguments, unless the language wants it so.
 * There the activation ends before the call; the return after it is no code of
 * its own. If anything else is returned the frame is there when the call comes
 * back: it is a call as any.  ir_own_returns first.
 */
LLVMValueRef ir_tail_call(LLVMBasicBlockRef block);
/* A tail call becomes one from which its caller's frame comes back; what it is
 * for the program is not forgotten. */
void ir_keep_frame(LLVMValueRef call);
/* The tail call of a block, or one that ir_keep_frame has kept from being so;
 * or NULL. */
LLVMValueRef ir_last_call(LLVMBasicBlockRef block);
/* Gives blocks with a tail call that jump to a return, which others may jump
 * to as well, a return of their own; as the code generator does later.  False:
 * nothing has changed. */
bool ir_own_returns(LLVMValueRef f);
/* The call after which a block has nothing but `unreachable`, or NULL. */
LLVMValueRef ir_final_call(LLVMBasicBlockRef block);
/* Adds all blocks that can be reached from the entry. */
void ir_reach(LLVMValueRef f, struct ptrmap *seen);

/*
 * The nodes of a recorded function: blocks, in parts where they make calls.  A
 * part ends behind a call; an invoke, and a call that may come back twice, is a
 * part of its own.  Calls in tail position and those that do not come back end
 * nothing: whoever makes them has left.
 */
static inline bool ir_ends_part(LLVMValueRef i, LLVMValueRef tail,
                                LLVMValueRef last)
{
	return ir_is_call(i) && i != tail && i != last;
}

bool ir_is_part(LLVMValueRef call);

/* Where a node begins (before `at`, and before its phis' users: at the top of a
 * block where code can stand), or where a function leaves before a call of the
 * kinds that end nothing: node is then IR_LEAVES. */
#define IR_LEAVES UINT32_MAX
typedef void (*ir_flow_visit)(void *context, LLVMValueRef at, uint32_t node);

/* Visits all places, in order; nodes are numbered as in the map, from 1 on.
 * Returns how many there are, with the outside, node 0. */
uint32_t ir_flow(LLVMValueRef f, ir_flow_visit visit, void *context);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_IR_FLOW_H */
