/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps are put as calls of REPLAY_STEP, which nothing else in the rewriter
 * looks at, and in the end become code:
 *
 *     p = state->step;  *p = word;  state->step = p + 1
 *     if p + 1 == state->steps_end: STEPS()
 *
 * So are lines, as calls of REPLAY_LINE, before what may raise a signal:
 *
 *     state->line = line
 *
 * Invariant: on every way through a function the words are: the entry, other
 * nodes in the order in which they begin, and RETURN or OUT in the end.
 * Cost: three instructions with memory for each node.
 */
#include "replay/steps.h"

#include "base/alloc.h"
#include "ir/flow.h"
#include "replay/shim.h"
#include "replay/state.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct place {
	LLVMValueRef at;
	uint32_t node;
};

struct places {
	struct place *items;
	size_t n, cap;
};

static void add_place(void *context, LLVMValueRef at, uint32_t node)
{
	struct places *p = context;

	VEC_RESERVE(p->items, p->n, p->cap);
	p->items[p->n++] = (struct place){at, node};
}

static LLVMTypeRef step_type(LLVMModuleRef m)
{
	LLVMContextRef c = LLVMGetModuleContext(m);
	LLVMTypeRef word = LLVMInt32TypeInContext(c);

	return LLVMFunctionType(LLVMVoidTypeInContext(c), &word, 1, 0);
}

static LLVMValueRef step_function(LLVMModuleRef m, const char *name)
{
	LLVMValueRef f = LLVMGetNamedFunction(m, name);

	return f ? f : LLVMAddFunction(m, name, step_type(m));
}

static void put_word(LLVMBuilderRef b, LLVMModuleRef m, LLVMValueRef word)
{
	LLVMBuildCall2(b, step_type(m), step_function(m, REPLAY_STEP), &word, 1,
	               "");
}

void steps_put(LLVMBuilderRef b, LLVMModuleRef m, enum step step)
{
	LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(m));

	put_word(b, m, LLVMConstInt(i32, step, 0));
}

static LLVMValueRef node_word(LLVMModuleRef m, LLVMValueRef base, uint32_t node)
{
	LLVMContextRef c = LLVMGetModuleContext(m);
	LLVMValueRef index = LLVMConstInt(LLVMInt64TypeInContext(c), node, 0);

	return LLVMConstPtrToInt(
	        LLVMConstGEP2(LLVMInt8TypeInContext(c), base, &index, 1),
	        LLVMInt32TypeInContext(c));
}

static LLVMValueRef declare_nodes(LLVMModuleRef m, unsigned number)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(LLVMGetModuleContext(m));
	LLVMValueRef v;
	char name[32];

	snprintf(name, sizeof(name), REPLAY_NODES "%u", number);
	v = LLVMAddGlobal(m, i8, name);
	LLVMSetVisibility(v, LLVMHiddenVisibility);
	return v;
}

/* What may raise a signal in a replay, too. */
static bool may_fault(LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
	case LLVMStore:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
	case LLVMUDiv:
	case LLVMSDiv:
	case LLVMURem:
	case LLVMSRem:
		return true;
	case LLVMCall:
	case LLVMInvoke:
		return !LLVMIsADbgInfoIntrinsic(i);
	default:
		return false;
	}
}

/* In each block, where that has another line than what was before. */
static void place_lines(LLVMModuleRef m, LLVMValueRef f, LLVMBuilderRef b)
{
	LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(m));
	LLVMValueRef line_function = step_function(m, REPLAY_LINE);

	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
	     block = LLVMGetNextBasicBlock(block)) {
		LLVMValueRef i = LLVMGetFirstInstruction(block);
		unsigned last = UINT_MAX;

		for (; i; i = LLVMGetNextInstruction(i)) {
			LLVMValueRef line;

			if (!may_fault(i) || replay_shim_line(i) == last)
				continue;
			last = (unsigned)replay_shim_line(i);
			line = LLVMConstInt(i32, last, 0);
			LLVMPositionBuilderBefore(b, i);
			LLVMBuildCall2(b, step_type(m), line_function, &line, 1,
			               "");
		}
	}
}

static bool is_return_step(LLVMValueRef i)
{
	LLVMModuleRef m = LLVMGetGlobalParent(
	        LLVMGetBasicBlockParent(LLVMGetInstructionParent(i)));

	return LLVMIsACallInst(i) &&
	       LLVMGetCalledValue(i) == LLVMGetNamedFunction(m, REPLAY_STEP) &&
	       LLVMIsAConstantInt(LLVMGetOperand(i, 0)) &&
	       LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0)) == STEP_RETURN;
}

/* Has the rewriter said that the frame ends, before a tail call that precedes
 * the return, or instead of one of foreign code? */
static bool is_said(LLVMValueRef end)
{
	LLVMValueRef i = LLVMGetPreviousInstruction(end);

	if (i && is_return_step(i))
		return true;
	i = i ? LLVMGetPreviousInstruction(i) : NULL;
	return i && is_return_step(i);
}

void steps_place(LLVMModuleRef m, LLVMValueRef f, unsigned number)
{
	LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
	LLVMValueRef base = declare_nodes(m, number);
	struct places p = {0};

	ir_flow(f, add_place, &p);
	place_lines(m, f, b); /* calls have their node before them */
	for (size_t i = 0; i < p.n; i++) {
		const struct place *place = &p.items[i];

		LLVMPositionBuilderBefore(
		        b, place->node == 1 ? replay_shim_after_allocas(f)
		                            : place->at);
		if (place->node == IR_LEAVES)
			steps_put(b, m, STEP_LEAVE);
		else
			put_word(b, m, node_word(m, base, place->node));
	}
	free(p.items);
	LLVMDisposeBuilder(b);
}

void steps_place_returns(LLVMModuleRef m, LLVMValueRef f)
{
	LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));

	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
	     block = LLVMGetNextBasicBlock(block)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

		if (!end || !LLVMIsAReturnInst(end) || is_said(end))
			continue;
		LLVMPositionBuilderBefore(b, end);
		steps_put(b, m, STEP_RETURN);
	}
	LLVMDisposeBuilder(b);
}

LLVMValueRef steps_node_of(LLVMValueRef call)
{
	return LLVMGetOperand(LLVMGetPreviousInstruction(call), 0);
}

void steps_put_again(LLVMBuilderRef b, LLVMModuleRef m, LLVMValueRef node)
{
	steps_put(b, m, STEP_AGAIN);
	put_word(b, m, node);
}

/* --- code ---------------------------------------------------------------- */

struct maker {
	LLVMModuleRef m;
	LLVMBuilderRef b;
	LLVMTypeRef i8, i64, pointer;
	LLVMValueRef state, steps;
	LLVMTypeRef steps_type;
};

static LLVMValueRef add_bytes(struct maker *k, LLVMValueRef base, uint64_t n)
{
	LLVMValueRef index = LLVMConstInt(k->i64, n, 0);

	return LLVMBuildGEP2(k->b, k->i8, base, &index, 1, "");
}

static void expand(struct maker *k, LLVMValueRef call)
{
	LLVMValueRef word = LLVMGetOperand(call, 0), at, p, is_full;
	LLVMValueRef step, end;

	LLVMPositionBuilderBefore(k->b, call);
	step = add_bytes(k, k->state, offsetof(struct replay_state, step));
	end = add_bytes(k, k->state, offsetof(struct replay_state, steps_end));
	at = LLVMBuildLoad2(k->b, k->pointer, step, "");
	LLVMSetAlignment(LLVMBuildStore(k->b, word, at), 4);
	p = add_bytes(k, at, sizeof(uint32_t));
	LLVMBuildStore(k->b, p, step);
	is_full = LLVMBuildICmp(k->b, LLVMIntEQ, p,
	                        LLVMBuildLoad2(k->b, k->pointer, end, ""), "");
	LLVMPositionBuilderBefore(k->b, replay_shim_if(is_full, call, true));
	LLVMSetInstructionCallConv(
	        LLVMBuildCall2(k->b, k->steps_type, k->steps, NULL, 0, ""),
	        LLVMGetFunctionCallConv(k->steps));
	LLVMInstructionEraseFromParent(call);
}

static void expand_line(struct maker *k, LLVMValueRef call)
{
	LLVMValueRef at;

	LLVMPositionBuilderBefore(k->b, call);
	at = add_bytes(k, k->state, offsetof(struct replay_state, line));
	LLVMSetVolatile(LLVMBuildStore(k->b, LLVMGetOperand(call, 0), at), 1);
	LLVMInstructionEraseFromParent(call);
}

static void expand_all(struct maker *k, const char *name,
                       void (*how)(struct maker *k, LLVMValueRef call))
{
	LLVMValueRef f = LLVMGetNamedFunction(k->m, name);

	while (f && LLVMGetFirstUse(f))
		how(k, LLVMGetUser(LLVMGetFirstUse(f)));
	if (f)
		LLVMDeleteFunction(f);
}

void steps_expand(LLVMModuleRef m)
{
	LLVMContextRef c = LLVMGetModuleContext(m);
	struct maker k = {
	        .m = m,
	        .b = LLVMCreateBuilderInContext(c),
	        .i8 = LLVMInt8TypeInContext(c),
	        .i64 = LLVMInt64TypeInContext(c),
	        .pointer = LLVMPointerTypeInContext(c, 0),
	        .state = LLVMGetNamedGlobal(m, REPLAY_STATE),
	        .steps_type =
	                LLVMFunctionType(LLVMVoidTypeInContext(c), NULL, 0, 0),
	};

	k.steps = LLVMAddFunction(m, REPLAY_STEPS, k.steps_type);
	LLVMSetFunctionCallConv(k.steps, REPLAY_PRESERVE_MOST);
	expand_all(&k, REPLAY_STEP, expand);
	expand_all(&k, REPLAY_LINE, expand_line);
	LLVMDisposeBuilder(k.b);
}
