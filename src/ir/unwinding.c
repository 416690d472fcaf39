/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an exception is on its way: the greatest solution of "all ways here
 * come from a landing pad, and none from a catch", found by taking blocks out.
 *
 * Cost: linear in instructions and edges.
 */
#include "ir/unwinding.h"

#include "base/alloc.h"
#include "base/ptrmap.h"
#include "ir/flow.h"

#include <stdlib.h>
#include <string.h>

/* Traces call it by a name with a prefix. */
static bool catches(LLVMValueRef i)
{
	static const char begin[] = "__cxa_begin_catch";
	const size_t nbegin = sizeof(begin) - 1;
	LLVMValueRef callee;
	const char *name;
	size_t n;

	if (!LLVMIsACallInst(i) && !LLVMIsAInvokeInst(i))
		return false;
	callee = LLVMGetCalledValue(i);
	if (!LLVMIsAFunction(callee))
		return false;
	name = LLVMGetValueName2(callee, &n);
	return n >= nbegin && !memcmp(name + n - nbegin, begin, nbegin);
}

bool ir_unwinds(LLVMValueRef instruction, bool before)
{
	return LLVMIsALandingPadInst(instruction) ||
	       (before && !catches(instruction));
}

static bool unwinds_at_end(LLVMBasicBlockRef block, bool at_top)
{
	bool unwinds = at_top;

	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
	     i = LLVMGetNextInstruction(i))
		unwinds = ir_unwinds(i, unwinds);
	return unwinds;
}

/* Blocks that are taken out, and have to be looked at. */
struct taken {
	struct ptrmap set;
	LLVMBasicBlockRef *stack;
	unsigned depth;
};

static void take(struct taken *t, LLVMBasicBlockRef block)
{
	if (ptrmap_get(&t->set, block) != PTRMAP_NONE)
		return;
	ptrmap_set(&t->set, block, 1);
	t->stack[t->depth++] = block;
}

static void take_successors(struct taken *t, LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

	for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++)
		take(t, LLVMGetSuccessor(end, k));
}

void ir_find_unwinding(LLVMValueRef f, struct ptrmap *blocks)
{
	struct taken t = {.stack = xcalloc(LLVMCountBasicBlocks(f),
	                                   sizeof(LLVMBasicBlockRef))};
	struct ptrmap reachable = {0};

	if (!LLVMHasPersonalityFn(f)) {
		free(t.stack);
		return;
	}
	ir_reach(f, &reachable);
	take(&t, LLVMGetEntryBasicBlock(f));
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
	     b = LLVMGetNextBasicBlock(b))
		if (ptrmap_get(&reachable, b) != PTRMAP_NONE &&
		    !unwinds_at_end(b, true))
			take_successors(&t, b);
	while (t.depth) {
		LLVMBasicBlockRef b = t.stack[--t.depth];

		if (!unwinds_at_end(b, false))
			take_successors(&t, b);
	}
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
	     b = LLVMGetNextBasicBlock(b))
		if (ptrmap_get(&reachable, b) != PTRMAP_NONE &&
		    ptrmap_get(&t.set, b) == PTRMAP_NONE)
			ptrmap_set(blocks, b, 1);
	ptrmap_release(&reachable);
	ptrmap_release(&t.set);
	free(t.stack);
}
