/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_STEPS_H
#define CAIRN_REPLAY_STEPS_H

#include <stdint.h>

#include <llvm-c/Core.h>

/*
 * Replay code that says which way it goes, for the walk (flow.h): words of 32
 * bits in a buffer of the state, of which the engine takes them.  Each is the
 * number of a node (REPLAY_NODES of its function plus its number there, see
 * ir/flow.h), or one of these.
 */
enum step {
	STEP_RETURN = 1, /* the frame returns */
	STEP_OUT = 2,    /* the frame is left by a throw or a jump */
	STEP_LEAVE = 3,  /* the frame makes a call from which it does not come
	                    back to itself */
	STEP_AGAIN = 4,  /* a call returns once more; its node follows */
	STEP_NODES = 16  /* the first number of a node */
};

/* Puts them into a function, before it is changed: `number` is the function's
 * in its unit.  Where it ends in a tail call RETURN is missing. */
void steps_place(LLVMModuleRef m, LLVMValueRef f, unsigned number);
/* RETURNs, when all that stands before a return is there: a tick may. */
void steps_place_returns(LLVMModuleRef m, LLVMValueRef f);
/* One more, at the place of a builder. */
void steps_put(LLVMBuilderRef b, LLVMModuleRef m, enum step step);
/* The node of a call that steps_place has seen; and AGAIN, for that. */
LLVMValueRef steps_node_of(LLVMValueRef call);
void steps_put_again(LLVMBuilderRef b, LLVMModuleRef m, LLVMValueRef node);
/* When nothing else is to be changed: makes code of what was put. */
void steps_expand(LLVMModuleRef m);

#endif /* CAIRN_REPLAY_STEPS_H */
