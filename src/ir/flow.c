/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How control flows through a function, as the map has it: which calls end it,
 * and, for recordings, the nodes that recorder and replayer number alike.
 */
#include "ir/flow.h"

#include "base/alloc.h"
#include "base/ptrmap.h"

#include <llvm-c/DebugInfo.h>
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

/* A block of nothing but phis and a return. */
static bool is_bare_return(LLVMBasicBlockRef block)
{
	LLVMValueRef i = LLVMGetFirstInstruction(block);

	while (i && (LLVMIsAPHINode(i) || is_noise(i)))
		i = LLVMGetNextInstruction(i);
	return i && LLVMIsAReturnInst(i);
}

/* What a block whose end is known returns; NULL: nothing. */
static LLVMValueRef returned_by(LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block), value;

	if (LLVMIsABranchInst(end))
		end = LLVMGetBasicBlockTerminator(LLVMGetSuccessor(end, 0));
	value = LLVMGetNumOperands(end) ? LLVMGetOperand(end, 0) : NULL;
	if (!value || !LLVMIsAPHINode(value) ||
	    LLVMGetInstructionParent(value) == block)
		return value;
	for (unsigned k = 0; k < LLVMCountIncoming(value); k++)
		if (LLVMGetIncomingBlock(value, k) == block)
			return LLVMGetIncomingValue(value, k);
	return value;
}

static bool is_vector(LLVMValueRef value)
{
	return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
}

/* Has an argument of a call this attribute, there or where it is called? */
static bool argument_is(LLVMValueRef call, unsigned k, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	LLVMValueRef callee = LLVMGetCalledValue(call);

	return LLVMGetCallSiteEnumAttribute(call, k + 1, kind) ||
	       (LLVMIsAFunction(callee) &&
	        LLVMGetEnumAttributeAtIndex(callee, k + 1, kind));
}

/* Is the value nothing that anyone has to compute once the call is back? */
static bool is_result(LLVMValueRef value, LLVMValueRef call)
{
	if (!value || LLVMIsUndef(value) || value == call)
		return true;
	if (LLVMIsABitCastInst(value))
		return LLVMGetOperand(value, 0) == call && is_vector(value) &&
		       is_vector(call);
	if (LLVMTypeOf(value) != LLVMTypeOf(call))
		return false;
	for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++)
		if (LLVMGetOperand(call, k) == value &&
		    argument_is(call, k, "returned"))
			return true;
	return false;
}

/* Does it hand on structures in memory?  Those of its caller's frame then. */
static bool hands_on_memory(LLVMValueRef call)
{
	for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++)
		if (argument_is(call, k, "byval"))
			return true;
	return false;
}

#define KEPT "cairn-tail"

static bool is_kept(LLVMValueRef call)
{
	return LLVMGetCallSiteStringAttribute(
	        call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, KEPT,
	        sizeof(KEPT) - 1);
}

void ir_keep_frame(LLVMValueRef call)
{
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(
	        LLVMGetBasicBlockParent(LLVMGetInstructionParent(call))));

	LLVMSetTailCallKind(call, LLVMTailCallKindNone);
	LLVMAddCallSiteAttribute(
	        call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
	        LLVMCreateStringAttribute(context, KEPT, sizeof(KEPT) - 1, "",
	                                  0));
}

/* -fno-optimize-sibling-calls: then only those that the language wants. */
static bool may_be_tail(LLVMValueRef call)
{
	static const char name[] = "disable-tail-calls";
	LLVMValueRef f =
	        LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
	LLVMAttributeRef off = LLVMGetStringAttributeAtIndex(
	        f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name,
	        sizeof(name) - 1);
	unsigned n;

	if (LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail)
		return true;
	return (LLVMGetTailCallKind(call) == LLVMTailCallKindTail ||
	        is_kept(call)) &&
	       !hands_on_memory(call) &&
	       !(off &&
	         !strncmp(LLVMGetStringAttributeValue(off, &n), "true", 4));
}

/* The tail call of a block, whether it returns or jumps to a bare return. */
static LLVMValueRef find_tail_call(LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
	LLVMValueRef i;

	if (!LLVMIsAReturnInst(end) &&
	    !(LLVMIsABranchInst(end) && LLVMGetNumSuccessors(end) == 1 &&
	      is_bare_return(LLVMGetSuccessor(end, 0))))
		return NULL;
	i = LLVMGetPreviousInstruction(end);
	while (i && is_noise(i))
		i = LLVMGetPreviousInstruction(i);
	/* a cast of the result between call and return changes nothing */
	if (i && LLVMIsABitCastInst(i))
		i = LLVMGetPreviousInstruction(i);
	if (!i || !LLVMIsACallInst(i) || !ir_is_call(i) || !may_be_tail(i) ||
	    !is_result(returned_by(block), i))
		return NULL;
	return i;
}

LLVMValueRef ir_last_call(LLVMBasicBlockRef block)
{
	if (!LLVMIsAReturnInst(LLVMGetBasicBlockTerminator(block)))
		return NULL;
	return find_tail_call(block);
}

LLVMValueRef ir_tail_call(LLVMBasicBlockRef block)
{
	LLVMValueRef call = ir_last_call(block);

	return call && !is_kept(call) ? call : NULL;
}

/* The block of a phi no longer comes from `from`. */
static void drop_incoming(LLVMBuilderRef b, LLVMValueRef phi,
                          LLVMBasicBlockRef from)
{
	LLVMValueRef less;

	LLVMPositionBuilderBefore(b, phi);
	less = LLVMBuildPhi(b, LLVMTypeOf(phi), "");
	for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
		LLVMValueRef value = LLVMGetIncomingValue(phi, k);
		LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, k);

		if (block != from)
			LLVMAddIncoming(less, &value, &block, 1);
	}
	LLVMReplaceAllUsesWith(phi, less);
	LLVMInstructionEraseFromParent(phi);
}

/* A block that jumps to a bare return returns itself. */
static void return_here(LLVMBuilderRef b, LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block), i, next, own;
	LLVMBasicBlockRef to = LLVMGetSuccessor(end, 0);
	LLVMValueRef value = returned_by(block);

	LLVMInstructionEraseFromParent(end);
	LLVMPositionBuilderAtEnd(b, block);
	own = value ? LLVMBuildRet(b, value) : LLVMBuildRetVoid(b);
	LLVMInstructionSetDebugLoc(
	        own,
	        LLVMInstructionGetDebugLoc(LLVMGetBasicBlockTerminator(to)));
	if (!LLVMGetFirstUse(LLVMBasicBlockAsValue(to))) {
		LLVMDeleteBasicBlock(to);
		return;
	}
	for (i = LLVMGetFirstInstruction(to); LLVMIsAPHINode(i); i = next) {
		next = LLVMGetNextInstruction(i);
		drop_incoming(b, i, block);
	}
}

bool ir_own_returns(LLVMValueRef f)
{
	LLVMBuilderRef b = LLVMCreateBuilderInContext(
	        LLVMGetModuleContext(LLVMGetGlobalParent(f)));
	bool has_changed = false;

	for (LLVMBasicBlockRef i = LLVMGetFirstBasicBlock(f); i;
	     i = LLVMGetNextBasicBlock(i)) {
		if (ir_last_call(i) || !find_tail_call(i))
			continue;
		return_here(b, i);
		has_changed = true;
	}
	LLVMDisposeBuilder(b);
	return has_changed;
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
