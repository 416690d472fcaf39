/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the IR is code: asked by all modes, of the IR that the optimizer has
 * left and that nothing of ours has changed.
 */
#include "ir/code.h"

#include <string.h>

/* Intrinsics that only say something: of variables, memory or values. */
static bool is_remark(LLVMValueRef instruction)
{
	static const char *const names[] = {
	        "llvm.annotation",
	        "llvm.assume",
	        "llvm.dbg.",
	        "llvm.donothing",
	        "llvm.experimental.noalias",
	        "llvm.invariant.",
	        "llvm.launder.invariant",
	        "llvm.lifetime.",
	        "llvm.pseudoprobe",
	        "llvm.ptr.annotation",
	        "llvm.sideeffect",
	        "llvm.strip.invariant",
	        "llvm.var.annotation",
	};
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

/* It has its place in the frame: its size is known, and it is in the entry. */
static bool is_fixed_variable(LLVMValueRef instruction)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
	LLVMValueRef f = LLVMGetBasicBlockParent(block);

	return LLVMIsAAllocaInst(instruction) &&
	       LLVMIsAConstantInt(LLVMGetOperand(instruction, 0)) &&
	       LLVMGetEntryBasicBlock(f) == block;
}

bool ir_is_code(LLVMValueRef instruction)
{
	return !LLVMIsAPHINode(instruction) &&
	       !LLVMIsAUnreachableInst(instruction) &&
	       !LLVMIsAFreezeInst(instruction) &&
	       !is_fixed_variable(instruction) && !is_remark(instruction);
}
