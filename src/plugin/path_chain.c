/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks that count paths: call chains.
 *
 * The chain of an activation is the calls that led to it, the last D of them,
 * each with its site and the sum of the caller's path up to there.  It is a
 * node of the thread's forest (abi/rt.h, runtime/forest_steps.c), which is the
 * state of the frame: a value that never changes, so that jumps and throws need
 * nothing.  It is handed over in words of the thread, with the address of the
 * callee, as those of pairs are (path_calls.c):
 *
 *     before a call    target = callee;  handed = node behind (state, call)
 *     entry            state = target == me ? handed : nobody;  target = 0
 *     path ends        count (state, path)
 *
 * Code without marks neither sets nor clears the words.  Whoever it calls does
 * not find itself in `target`, and a new chain begins there.  Tail calls and
 * calls that never return are calls like others: who made one stays in the
 * chain, also when its frame is gone.
 *
 * Invariant: what the chains of a function say of a path is its count, less
 * what found no room, and one for each frame that a signal took away right
 * behind the count: never more.
 * Breaks when: a handler that the runtime does not stand behind (path_calls.c)
 * interrupts a function between the first word before a call and the entry of
 * the callee, and makes calls: a new chain begins with the callee.
 * Cost: 24 instructions per path that ends, 28 per call if the thread's cache
 * has it, 4 at the entry; no code but calls of the runtime, so that no block is
 * split.
 */
#include "plugin/path_writer.h"

#include "abi/file.h"
#include "abi/rt.h"
#include "base/alloc.h"
#include "plugin/path.h"
#include "plugin/shim.h"

#include <stdio.h>
#include <string.h>

bool counts_chains(const struct function_paths *p)
{
	return p->deepest != 0;
}

/* --- which calls ---------------------------------------------------------- */

static void add_link(struct path_writer *w, LLVMValueRef call, block_id b,
                     uint32_t number)
{
	VEC_RESERVE(w->links, w->nlinks, w->links_cap);
	w->links[w->nlinks++] = (struct path_link){call, b, number};
}

/* Numbers as in abi/file.h. */
void path_chain_find(struct path_writer *w)
{
	const struct function *fn = w->m.fn;
	uint32_t site = 0;

	if (!counts_chains(fn->paths))
		return;
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		const struct node *node = &fn->nodes[b];

		for (LLVMValueRef i = node_first(node); i && i != node->end;
		     i = LLVMGetNextInstruction(i)) {
			bool is_site =
			        site < fn->nsites && fn->sites[site].call == i;

			if (shim_is_call(i) && shim_may_call_marked(i))
				add_link(w, i, b,
				         is_site ? site : fn->nsites + b);
			site += is_site;
		}
	}
}

/* --- code ----------------------------------------------------------------- */

static LLVMValueRef call_runtime(struct path_writer *w, const char *name,
                                 LLVMValueRef owner, LLVMValueRef id)
{
	static const char constraints[] =
	        "={rax},{rdi},{rsi},{rdx},{rcx},~{r8},~{r9},~{memory},"
	        "~{dirflag},~{fpsr},~{flags}";
	uint32_t how = CAIRN_CHAINS + w->m.fn->paths->deepest;
	LLVMTypeRef types[4] = {w->m.i64, w->m.i64, w->m.i64, w->m.i64};
	LLVMTypeRef type = LLVMFunctionType(w->m.i64, types, 4, false);
	LLVMValueRef args[4], code;
	char text[128];

	snprintf(text, sizeof(text),
	         "leaq -128(%%rsp), %%rsp\n\tcall %s\n\t"
	         "leaq 128(%%rsp), %%rsp",
	         name);
	args[0] = pw_get(w, w->state);
	args[1] = owner;
	args[2] = id;
	args[3] = pw_constant(w, how);
	code = LLVMGetInlineAsm(type, text, strlen(text), constraints,
	                        strlen(constraints), true, false,
	                        LLVMInlineAsmDialectATT, false);
	return marker_ours(
	        LLVMBuildCall2(w->m.builder, type, code, args, 4, ""));
}

void path_chain_enter(struct path_writer *w)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef test;

	if (!counts_chains(w->m.fn->paths))
		return;
	test = LLVMBuildICmp(b, LLVMIntEQ, pw_get_word(w, CAIRN_CHAIN_TARGET),
	                     pw_own_address(w), "");
	pw_set_word(w, CAIRN_CHAIN_TARGET, pw_constant(w, 0));
	pw_set(w, w->state,
	       LLVMBuildSelect(b, test, pw_get_word(w, CAIRN_CHAIN_STATE),
	                       pw_constant(w, 0), ""));
}

/* The state of the callee. */
static LLVMValueRef state_behind(struct path_writer *w,
                                 const struct path_link *l)
{
	uint64_t link = (uint64_t)l->number + 1;

	if (link > CAIRN_LINKS_MAX) /* nobody knows how it got there */
		return pw_constant(w, CAIRN_CHAIN_UNKNOWN);
	return call_runtime(w, CAIRN_RT_CHAIN_CALL,
	                    pw_sum(w, pw_symbol(w, 0),
	                           pw_constant(w, link << CAIRN_LINK_SHIFT)),
	                    pw_id(w, pw_sum_in(w, l->block)));
}

/* Is this placed for an edge out of the block, or at its end? */
static bool is_behind(const struct path_writer *w, block_id b,
                      const struct path_deed *p)
{
	const struct increment *op = p->op ? p->op : p->slot_op;

	if (p->edge != CFG_NONE)
		return w->m.fn->g.edges[p->edge].src == b;
	return op->place == INCREMENT_AT_END && op->where == b;
}

/* Where the sum is still that of the block: what belongs to the edges out of it
 * may have its place before a call which is the last one. */
static LLVMValueRef place_of(const struct path_writer *w,
                             const struct path_link *l)
{
	LLVMValueRef at = l->call, i = l->call;

	while ((i = LLVMGetPreviousInstruction(i)) && shim_is_place(i))
		for (size_t k = 0; k < w->nplaced; k++)
			if (w->placed[k].at == i &&
			    is_behind(w, l->block, &w->placed[k]))
				at = i;
	return at;
}

void path_chain_calls(struct path_writer *w)
{
	LLVMBuilderRef b = w->m.builder;

	for (size_t i = 0; i < w->nlinks; i++) {
		const struct path_link *l = &w->links[i];
		LLVMValueRef state;

		LLVMPositionBuilderBefore(b, place_of(w, l));
		state = state_behind(w, l);
		pw_set_word(w, CAIRN_CHAIN_TARGET,
		            LLVMBuildPtrToInt(b, LLVMGetCalledValue(l->call),
		                              w->m.i64, ""));
		pw_set_word(w, CAIRN_CHAIN_STATE, state);
	}
}

void path_chain_end(struct path_writer *w, LLVMValueRef r)
{
	if (counts_chains(w->m.fn->paths))
		call_runtime(w, CAIRN_RT_CHAIN_PATH, pw_symbol(w, 0),
		             pw_id(w, r));
}
