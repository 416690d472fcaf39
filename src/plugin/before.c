/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of a module before it is made definite (canonical.cpp), which
 * removes instructions, replaces them, and adds others.
 *
 * Lines and instructions of a recording are those that other modes have: of the
 * program.  But a block is described in parts, which end with calls.  So
 * instructions are kept block by block, and whoever describes a block takes
 * those up to the next call whenever it comes to a call.
 *
 * Invariant: canonical.cpp keeps every block that can be reached, and as many
 * calls in it as there were, in their order: where it makes a call of something
 * else, that is taken for a call here.  (Blocks that it adds have no code.)
 */
#include "plugin/before.h"

#include "base/alloc.h"
#include "ir/code.h"
#include "ir/flow.h"
#include "ir/sites.h"
#include "ir/unwinding.h"

#include <stdlib.h>
#include <string.h>

/* Will it be a call?  __builtin_setjmp, __builtin_longjmp and asm goto will. */
static bool becomes_call(LLVMValueRef i)
{
	static const char name[] = "llvm.eh.sjlj.";
	const char *callee;
	size_t n;

	if (LLVMIsACallBrInst(i) || ir_is_call(i))
		return true;
	if (!LLVMIsAIntrinsicInst(i))
		return false;
	callee = LLVMGetValueName2(LLVMGetCalledValue(i), &n);
	return !strncmp(callee, name, sizeof(name) - 1);
}

/* unwinds: as in ir/unwinding.h, at the top of the block. */
static void note_block(struct before *b, LLVMBasicBlockRef block, bool unwinds)
{
	LLVMValueRef last = ir_last_call(block);
	LLVMValueRef end = last ? LLVMGetNextInstruction(last) : NULL;

	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && i != end;
	     i = LLVMGetNextInstruction(i)) {
		struct place_key key = place_key_of(i);

		key.unwinds = unwinds = ir_unwinds(i, unwinds);
		if (!ir_is_code(i))
			continue;
		VEC_RESERVE(b->items, b->nitems, b->items_cap);
		b->items[b->nitems++] = (struct before_item){
		        .key = key,
		        .is_call = becomes_call(i),
		};
	}
	ptrmap_set(&b->of_block, block, (uint32_t)b->nends);
	VEC_RESERVE(b->ends, b->nends, b->ends_cap);
	b->ends[b->nends++] = (uint32_t)b->nitems;
}

static void note_function(struct before *b, LLVMValueRef f)
{
	struct ptrmap reachable = {0}, unwinding = {0};

	ir_reach(f, &reachable);
	ir_find_unwinding(f, &unwinding);
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
	     block = LLVMGetNextBasicBlock(block))
		if (ptrmap_get(&reachable, block) != PTRMAP_NONE)
			note_block(b, block,
			           ptrmap_get(&unwinding, block) !=
			                   PTRMAP_NONE);
	ptrmap_release(&reachable);
	ptrmap_release(&unwinding);
}

void before_init(struct before *b, LLVMModuleRef module)
{
	*b = (struct before){0};
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
	     f = LLVMGetNextFunction(f))
		if (ir_has_marks(f))
			note_function(b, f);
}

void before_release(struct before *b)
{
	free(b->items);
	free(b->ends);
	ptrmap_release(&b->of_block);
	*b = (struct before){0};
}

struct before_cursor before_at(const struct before *b, LLVMBasicBlockRef block)
{
	uint32_t n = ptrmap_get(&b->of_block, block);

	if (n == PTRMAP_NONE)
		return (struct before_cursor){0};
	return (struct before_cursor){
	        .next = b->items + (n ? b->ends[n - 1] : 0),
	        .end = b->items + b->ends[n],
	};
}

const struct before_item *before_next(struct before_cursor *c, bool takes_calls)
{
	if (c->next == c->end || (c->next->is_call && !takes_calls))
		return NULL;
	return c->next++;
}
