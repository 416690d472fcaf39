/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How control flows through a function, as the map has it: which calls end it,
 * and, for recordings, the nodes that recorder and replayer number alike.
 */
#include "ir/flow.h"

#include "base/alloc.h"
#include "base/ptrmap.h"

#include <stdlib.h>
#include <string.h>

bool ir_is_call(LLVMValueRef i)
{
	return (LLVMIsACallInst(i) || LLVMIsAInvokeInst(i)) &&
	       !LLVMIsAInlineAsm(LLVMGetCalledValue(i)) &&
	       !LLVMIsAIntrinsicInst(i);
}

/* Intrinsics that make no code. */
static bool is_noise(LLVMValueRef instruction)
{
	static const char *const names[] = {"llvm.dbg.", "llvm.lifetime.end",
	                                    "llvm.assume",
	                                    "llvm.experimental.noalias"};
	const char *name;
	size_t n;

	if (!LLVMIsAIntrinsicInst(instruction))
		return false;
	name = LLVMGetValueName2(LLVMGetCalledValue(instruction), &n);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

bool ir_is_bare_return(LLVMBasicBlockRef block)
{
	LLVMValueRef i = LLVMGetFirstInstruction(block);

	while (i && (LLVMIsAPHINode(i) || is_noise(i)))
		i = LLVMGetNextInstruction(i);
	return i && LLVMIsAReturnInst(i);
}

LLVMValueRef ir_tail_call(LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
	LLVMValueRef i;

	if (!LLVMIsAReturnInst(end) &&
	    !(LLVMIsABranchInst(end) && LLVMGetNumSuccessors(end) == 1 &&
	      ir_is_bare_return(LLVMGetSuccessor(end, 0))))
		return NULL;
	i = LLVMGetPreviousInstruction(end);
	while (i && is_noise(i))
		i = LLVMGetPreviousInstruction(i);
	/* a cast of the result between call and return changes nothing */
	if (i && LLVMIsABitCastInst(i))
		i = LLVMGetPreviousInstruction(i);
	if (!i || !LLVMIsACallInst(i) || !LLVMIsTailCall(i) || !ir_is_call(i) ||
	    LLVMIsAIntrinsicInst(i))
		return NULL;
	return i;
}

LLVMValueRef ir_final_call(LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
	LLVMValueRef i;

	if (!LLVMIsAUnreachableInst(end))
		return NULL;
	i = LLVMGetPreviousInstruction(end);
	while (i && is_noise(i))
		i = LLVMGetPreviousInstruction(i);
	return i && ir_is_call(i) ? i : NULL;
}

void ir_reach(LLVMValueRef f, struct ptrmap *seen)
{
	unsigned n = LLVMCountBasicBlocks(f);
	LLVMBasicBlockRef *stack = xcalloc(n, sizeof(LLVMBasicBlockRef));
	unsigned depth = 0;

	stack[depth++] = LLVMGetEntryBasicBlock(f);
	ptrmap_set(seen, stack[0], 1);
	while (depth) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(stack[--depth]);
		unsigned nsuccessors = LLVMGetNumSuccessors(end);

		for (unsigned k = 0; k < nsuccessors; k++) {
			LLVMBasicBlockRef to = LLVMGetSuccessor(end, k);

			if (ptrmap_get(seen, to) != PTRMAP_NONE)
				continue;
			ptrmap_set(seen, to, 1);
			stack[depth++] = to;
		}
	}
	free(stack);
}

bool ir_is_part(LLVMValueRef call)
{
	static const char name[] = "returns_twice";
	unsigned twice =
	        LLVMGetEnumAttributeKindForName(name, sizeof(name) - 1);
	LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
	LLVMValueRef f = LLVMGetCalledValue(call);

	return LLVMIsATerminatorInst(call) ||
	       LLVMGetCallSiteEnumAttribute(call, at, twice) ||
	       (LLVMIsAFunction(f) &&
	        LLVMGetEnumAttributeAtIndex(f, at, twice));
}

/* Where code may stand that is before everything else in a block. */
static LLVMValueRef top_of(LLVMBasicBlockRef block)
{
	LLVMValueRef i = LLVMGetFirstInstruction(block);

	while (LLVMIsAPHINode(i) || LLVMIsALandingPadInst(i))
		i = LLVMGetNextInstruction(i);
	return i;
}

static uint32_t flow_block(LLVMBasicBlockRef block, uint32_t n,
                           ir_flow_visit visit, void *context)
{
	LLVMValueRef tail = ir_tail_call(block), final = ir_final_call(block);

	visit(context, top_of(block), n++);
	for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i;
	     i = next) {
		next = LLVMGetNextInstruction(i);
		if (i == tail || i == final)
			visit(context, i, IR_LEAVES);
		if (!ir_ends_part(i, tail, final))
			continue;
		if (ir_is_part(i))
			visit(context, i, n++);
		if (next)
			visit(context, next, n++);
	}
	return n;
}

uint32_t ir_flow(LLVMValueRef f, ir_flow_visit visit, void *context)
{
	struct ptrmap reachable = {0};
	uint32_t n = 1;

	ir_reach(f, &reachable);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
	     b = LLVMGetNextBasicBlock(b))
		if (ptrmap_get(&reachable, b) != PTRMAP_NONE)
			n = flow_block(b, n, visit, context);
	ptrmap_release(&reachable);
	return n;
}
