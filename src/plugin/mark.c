/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks: the code that counts.
 *
 * A function's counters are one array, a symbol in a section that is only a
 * layout (abi/rt.h); the memory a thread counts in is symbol + delta.  In an
 * executable the delta is the base of %gs, so that a mark is one instruction
 * that needs no register and nothing before it:
 *
 *     incq %gs:counters+8*k(%rip)
 *
 * A function that others than instrumented code of this module may call looks
 * first whether its thread has a delta; `slow` makes one:
 *
 *     cmpq $0, %fs:delta; je slow
 *
 * (Tried before: base = counters + delta in the prologue, `add` to base + 8*k.
 * Three instructions in every function, and a register that often has to be
 * saved: Lua 1.148 times the plain build's instructions.)
 *
 * In a shared object, where one value of %gs cannot serve all modules, the
 * delta comes from a table and marks are relative to a base in a register.
 *
 * Functions that run while the program is loaded (ifunc resolvers, the memcpy
 * of a static program) find neither segment nor table: their marks are relative
 * to a base that all threads share, and locked.
 *
 * Either way a signal handler on the same thread cannot tear a mark.
 */
#include "plugin/marker.h"

#include "abi/rt.h"
#include "base/alloc.h"
#include "ir/flow.h"
#include "plugin/shim.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static LLVMValueRef hidden_global(struct marker *m, const char *name,
                                  LLVMTypeRef type)
{
	LLVMValueRef g = LLVMGetNamedGlobal(m->module, name);

	if (!g) {
		g = LLVMAddGlobal(m->module, type, name);
		LLVMSetVisibility(g, LLVMHiddenVisibility);
	}
	return g;
}

LLVMValueRef marker_ours(LLVMValueRef instruction)
{
	shim_no_sanitize(instruction);
	return instruction;
}

static LLVMValueRef load(struct marker *m, LLVMTypeRef type, LLVMValueRef from,
                         const char *name)
{
	return marker_ours(LLVMBuildLoad2(m->builder, type, from, name));
}

/* In an executable: one word, its place known to the linker. */
static LLVMValueRef load_delta_local(struct marker *m)
{
	LLVMValueRef word = hidden_global(m, CAIRN_RT_DELTA, m->i64);

	LLVMSetThreadLocalMode(word, LLVMLocalExecTLSModel);
	return load(m, m->i64, word, "cairn.delta");
}

/* In a shared object: a table shared by all modules of the process. */
static LLVMValueRef load_delta_shared(struct marker *m)
{
	LLVMValueRef thread = hidden_global(m, CAIRN_RT_THREAD, m->ptr);
	LLVMValueRef offset = hidden_global(m, CAIRN_RT_MODULE_OFFSET, m->i64);
	LLVMValueRef table, at;

	LLVMSetVisibility(thread, LLVMDefaultVisibility);
	LLVMSetThreadLocalMode(thread, LLVMInitialExecTLSModel);
	table = load(m, m->ptr, thread, "cairn.thread");
	at = load(m, m->i64, offset, "cairn.offset");
	at = LLVMBuildGEP2(m->builder, LLVMInt8TypeInContext(m->context), table,
	                   &at, 1, "");
	return load(m, m->i64, at, "cairn.delta");
}

LLVMValueRef marker_thread_word(struct marker *m, uint64_t offset)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(m->context);
	LLVMValueRef g = LLVMGetNamedGlobal(m->module, CAIRN_RT_THREAD);
	LLVMValueRef at = LLVMConstInt(m->i64, offset, false);

	if (!g) {
		g = LLVMAddGlobal(m->module,
		                  LLVMArrayType2(m->i64, CAIRN_THREAD_WORDS),
		                  CAIRN_RT_THREAD);
		LLVMSetThreadLocalMode(g, m->by_segment
		                                  ? LLVMLocalExecTLSModel
		                                  : LLVMInitialExecTLSModel);
	}
	return LLVMConstInBoundsGEP2(i8, g, &at, 1);
}

/* The same for all threads; it changes once, when the runtime comes up. */
static LLVMValueRef load_delta_common(struct marker *m)
{
	return load(m, m->i64, hidden_global(m, CAIRN_RT_COMMON, m->i64),
	            "cairn.common");
}

LLVMValueRef marker_load_delta(struct marker *m)
{
	if (m->in_common)
		return load_delta_common(m);
	return m->by_segment ? load_delta_local(m) : load_delta_shared(m);
}

/*
 * As inline assembly: a call would make every leaf function keep a frame, two
 * instructions more on the common path (measured: LLVM does not move the frame
 * into the cold block).
 */
static LLVMValueRef slow_call(struct marker *m)
{
	static const char text[] = "leaq -128(%rsp), %rsp\n\t"
	                           "call " CAIRN_RT_SLOW "\n\t"
	                           "leaq 128(%rsp), %rsp";
	static const char constraints[] =
	        "={rax},~{memory},~{dirflag},~{fpsr},~{flags}";
	LLVMTypeRef type = LLVMFunctionType(m->i64, NULL, 0, false);
	LLVMValueRef code =
	        LLVMGetInlineAsm(type, text, sizeof(text) - 1, constraints,
	                         sizeof(constraints) - 1, true, false,
	                         LLVMInlineAsmDialectATT, false);

	return marker_ours(LLVMBuildCall2(m->builder, type, code, NULL, 0, ""));
}

/*
 * Branches to a block of its own that makes the slow call if the delta is 0.
 * Returns the delta, joined with what the slow call gave.  `what` is for the
 * probes of that block and of what follows it.
 */
static LLVMValueRef checked(struct marker *m, LLVMValueRef delta,
                            LLVMValueRef place, uint32_t what)
{
	LLVMBasicBlockRef entry = LLVMGetInstructionParent(place);
	LLVMBasicBlockRef body = shim_split_before(place);
	LLVMBasicBlockRef slow =
	        LLVMInsertBasicBlockInContext(m->context, body, "cairn.slow");
	LLVMValueRef values[2] = {delta}, phi, test;
	LLVMBasicBlockRef blocks[2] = {entry, slow};

	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(entry));
	LLVMPositionBuilderAtEnd(m->builder, entry);
	test = LLVMBuildICmp(m->builder, LLVMIntEQ, delta,
	                     LLVMConstInt(m->i64, 0, false), "");
	shim_set_unlikely(LLVMBuildCondBr(m->builder, test, slow, body));

	LLVMPositionBuilderAtEnd(m->builder, slow);
	values[1] = slow_call(m);
	if (m->probes)
		shim_add_probe(values[1], what);
	LLVMBuildBr(m->builder, body);

	LLVMPositionBuilderBefore(m->builder, LLVMGetFirstInstruction(body));
	phi = LLVMBuildPhi(m->builder, m->i64, "cairn.delta");
	LLVMAddIncoming(phi, values, blocks, 2);
	if (m->probes && what != CFG_OUTSIDE)
		shim_add_probe(place, what);
	LLVMPositionBuilderBefore(m->builder, place);
	return phi;
}

LLVMValueRef opaque(LLVMBuilderRef b, LLVMValueRef v)
{
	LLVMTypeRef argument = LLVMTypeOf(v);
	LLVMTypeRef type = LLVMFunctionType(argument, &argument, 1, false);
	LLVMValueRef code =
	        LLVMGetInlineAsm(type, "", 0, "=r,0", 4, false, false,
	                         LLVMInlineAsmDialectATT, false);

	if (LLVMIsConstant(v))
		return v;
	return LLVMBuildCall2(b, type, code, &v, 1, "cairn.opaque");
}

/* At the top of the function: the thread's delta, made if there is none. */
LLVMValueRef marker_prologue(struct marker *m)
{
	LLVMValueRef place = shim_after_allocas(m->fn->f);
	LLVMBasicBlockRef entry;
	LLVMValueRef delta;

	m->is_first = !m->in_common && shim_has_outside_callers(m->fn->f);
	m->fn->nodes[1].first = place;
	LLVMPositionBuilderBefore(m->builder, place);
	if (m->in_common || (m->by_segment && !m->is_first))
		return NULL;
	delta = marker_load_delta(m);
	if (!m->is_first)
		return delta;
	entry = LLVMGetInstructionParent(place);
	delta = checked(m, delta, place, CFG_OUTSIDE);
	for (block_id i = 1; i < m->fn->g.nblocks; i++)
		if (m->fn->nodes[i].block == entry) /* all its parts */
			m->fn->nodes[i].block = LLVMGetInstructionParent(place);
	return delta;
}

static LLVMValueRef base_from(struct marker *m, LLVMValueRef delta)
{
	LLVMValueRef counters = LLVMConstPtrToInt(m->fn->counters, m->i64);
	LLVMValueRef sum =
	        LLVMBuildAdd(m->builder, counters, delta, "cairn.sum");

	return LLVMBuildIntToPtr(m->builder, sum, m->ptr, "cairn.base");
}

/*
 * The address behind a mark belongs to another probe, if it is known which.
 * (A probe of the IR would not do: LLVM moves those to the top of the block.)
 * And so may that of the mark itself: a block in which there is nothing else
 * has no probe, or LLVM drops it.
 */
static void note_mark(struct marker *m, LLVMValueRef instruction)
{
	if (m->probes)
		shim_set_around(instruction, m->before, m->behind);
}

/* One instruction even where nothing is optimized. */
static void count_by_asm(struct marker *m, LLVMValueRef at, bool in_segment,
                         LLVMValueRef by)
{
	LLVMTypeRef types[2] = {m->ptr, m->i64};
	LLVMValueRef args[2] = {at, by};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(m->context),
	                                    types, 2, 0);
	const char *text = m->in_common ? "lock addq $1, $0"
	                   : in_segment ? "addq $1, %gs:$0"
	                                : "addq $1, $0";
	LLVMValueRef call;
	static const char constraints[] =
	        "*m,er,~{memory},~{dirflag},~{fpsr},~{flags}";
	LLVMValueRef code = LLVMGetInlineAsm(
	        type, text, strlen(text), constraints, sizeof(constraints) - 1,
	        true, false, LLVMInlineAsmDialectATT, false);

	call = marker_ours(LLVMBuildCall2(m->builder, type, code, args, 2, ""));
	shim_set_element_type(call, m->i64);
	note_mark(m, call);
}

/* Before optimization: a call that stands for the mark. */
static void count_later(struct marker *m, uint32_t k, LLVMValueRef by)
{
	LLVMValueRef f = shim_placeholder(m->module);
	LLVMValueRef offset = LLVMConstInt(m->i64, 8ull * k, false);
	LLVMValueRef args[2] = {LLVMConstGEP2(LLVMInt8TypeInContext(m->context),
	                                      m->fn->counters, &offset, 1),
	                        by};

	LLVMBuildCall2(m->builder, LLVMGlobalGetValueType(f), f, args, 2, "");
}

/*
 * Adds `by` to the counter at an address, in one instruction.  Load, add of a
 * constant and store become one wherever LLVM selects instructions by pattern;
 * it does not do so in functions that are not optimized, it may take a sum of
 * variables apart, and it knows no unordered locked addition.
 */
void marker_add_to(struct marker *m, LLVMValueRef at, bool in_segment,
                   LLVMValueRef by)
{
	LLVMValueRef value;

	if (!LLVMIsConstant(by) || m->in_common ||
	    shim_is_not_optimized(m->fn->f)) {
		count_by_asm(m, at, in_segment, by);
		return;
	}
	if (in_segment &&
	    LLVMGetPointerAddressSpace(LLVMTypeOf(at)) != SEGMENT_SPACE)
		at = LLVMConstAddrSpaceCast(at, m->segment_ptr);
	value = load(m, m->i64, at, "");
	LLVMSetVolatile(value, true);
	value = LLVMBuildAdd(m->builder, value, by, "");
	value = marker_ours(LLVMBuildStore(m->builder, value, at));
	LLVMSetVolatile(value, true);
	note_mark(m, value);
}

/*
 * In a shared object: counters + delta, what the prologue found, or found
 * again.  A value that lives over a call costs a callee-saved register, which
 * the function has to save and restore; few marks behind calls are cheaper
 * without (choose_base).  A common delta may change at any time.
 */
static LLVMValueRef base_in_shared(struct marker *m)
{
	if (!m->in_common && (!m->is_far || m->keeps_base))
		return m->base;
	return base_from(m, marker_load_delta(m));
}

/*
 * Probes make no code: they tell at which address a block starts, for frames
 * that a signal interrupts, and which marks such a frame had still before it
 * (abi/map.h has the numbers).
 */
static uint32_t before_edge(const struct function *fn, edge_id e)
{
	return 2 * fn->g.nblocks + e;
}

/* The block on an edge: the one that is there, or a new one. */
static LLVMBasicBlockRef block_on_edge(struct function *fn, edge_id e)
{
	const struct cfg_edge *edge = &fn->g.edges[e];

	if (!fn->edges[e].block)
		fn->edges[e].block = shim_split_edge(
		        fn->nodes[edge->src].block, fn->nodes[edge->dst].block);
	return fn->edges[e].block;
}

/*
 * Made at the end of a block.  Behind a call the delta is looked at once more:
 * a fiber may have gone on in a thread that has none yet.
 */
static LLVMValueRef base_at_end_of(struct marker *m, LLVMBasicBlockRef block,
                                   uint32_t what)
{
	LLVMBuilderRef b = m->builder;
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block), delta, base;

	m->builder = LLVMCreateBuilderInContext(m->context);
	LLVMPositionBuilderBefore(m->builder, end);
	delta = marker_load_delta(m);
	if (m->by_segment && (m->is_far || !m->is_first))
		delta = checked(m, delta, end, what);
	base = opaque(m->builder, base_from(m, delta));
	LLVMDisposeBuilder(m->builder);
	m->builder = b;
	return base;
}

/* At the top of the block on an edge, unless there is one. */
static void probe_edge(struct marker *m, edge_id e, LLVMValueRef in,
                       uint32_t what)
{
	if (m->probes && !m->fn->edges[e].probe)
		m->fn->edges[e].probe = shim_add_probe(in, what);
}

/* The base of the loop that the place in hand is in. */
static LLVMValueRef base_of_loop(struct marker *m)
{
	struct function *fn = m->fn;
	struct loop_base *base = &fn->bases[m->loop - 1];
	edge_id e = base->enter;
	LLVMBasicBlockRef from = fn->nodes[fn->g.edges[e].src].block, block;
	bool is_only_way =
	        LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(from)) == 1;
	/* a mark that is on the edge already runs first */
	bool is_counted = fn->edges[e].counter &&
	                  (fn->edges[e].where == AT_END || fn->edges[e].block);
	uint32_t what =
	        is_counted ? marker_behind_edge(fn, e) : before_edge(fn, e);
	LLVMValueRef end;

	if (base->value)
		return base->value;
	block = block_on_edge(fn, e);
	end = LLVMGetBasicBlockTerminator(block);
	if (!is_only_way) /* else it becomes part of `from` */
		probe_edge(m, e, end, what);
	base->value = base_at_end_of(m, block, what);
	fn->edges[e].block = LLVMGetInstructionParent(end);
	return base->value;
}

static void count_from(struct marker *m, LLVMValueRef base, uint32_t k,
                       LLVMValueRef by)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(m->context);
	LLVMValueRef offset = LLVMConstInt(m->i64, 8ull * k, false);

	if (base)
		marker_add_to(
		        m, LLVMBuildGEP2(m->builder, i8, base, &offset, 1, ""),
		        false, by);
	else
		marker_add_to(m, LLVMConstGEP2(i8, m->fn->counters, &offset, 1),
		              true, by);
}

/* Adds `by` to counter k, at the builder's place. */
static void count_by(struct marker *m, uint32_t k, LLVMValueRef by)
{
	if (m->is_early)
		count_later(m, k, by);
	else if (!m->by_segment)
		count_from(m, base_in_shared(m), k, by);
	else
		count_from(m, m->loop ? base_of_loop(m) : NULL, k, by);
}

void marker_add(struct marker *m, LLVMBuilderRef b, uint32_t counter,
                LLVMValueRef by)
{
	LLVMBuilderRef mine = m->builder;

	m->builder = b;
	count_by(m, counter, by);
	m->builder = mine;
}

void marker_add_in_loop(struct marker *m, LLVMBasicBlockRef before,
                        LLVMBuilderRef b, uint32_t counter, LLVMValueRef by)
{
	LLVMBuilderRef mine = m->builder;

	m->builder = b;
	if (m->probes)
		shim_add_probe(LLVMGetBasicBlockTerminator(before), m->behind);
	count_from(m, base_at_end_of(m, before, m->behind), counter, by);
	m->builder = mine;
}

static void count(struct marker *m, uint32_t k)
{
	count_by(m, k, LLVMConstInt(m->i64, 1, false));
}

LLVMValueRef marker_top_of(const struct node *node)
{
	return node->first ? node->first : shim_insertion_point(node->block);
}

/* The last place of a block where its flow is still inside. */
LLVMValueRef marker_end_of(LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
	LLVMValueRef tail = ir_tail_call(block);

	if (!tail)
		tail = ir_final_call(block);
	return tail ? tail : end;
}

static void count_if_goes_to(struct marker *m, LLVMBasicBlockRef from,
                             LLVMBasicBlockRef to, uint32_t k)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
	LLVMValueRef goes;

	LLVMPositionBuilderBefore(m->builder, end);
	goes = LLVMBuildICmp(m->builder, LLVMIntEQ, LLVMGetOperand(end, 0),
	                     LLVMBlockAddress(m->fn->f, to), "");
	count_by(m, k, LLVMBuildZExt(m->builder, goes, m->i64, ""));
}

static bool is_far_edge(const struct function *fn, edge_id e)
{
	const struct node *src = &fn->nodes[fn->g.edges[e].src];
	const struct node *dst = &fn->nodes[fn->g.edges[e].dst];

	switch (fn->edges[e].where) {
	case AT_ENTRY:
		return false;
	case AT_TOP:
		return dst->is_behind_call;
	default:
		return src->is_behind_call || src->has_call;
	}
}

/* The loop in which the mark of an edge stands. */
static uint32_t loop_of_edge(const struct function *fn, edge_id e)
{
	uint32_t src = fn->nodes[fn->g.edges[e].src].base;
	uint32_t dst = fn->nodes[fn->g.edges[e].dst].base;

	switch (fn->edges[e].where) {
	case AT_TOP:
		return dst;
	case AT_END:
	case AT_COMPARE:
		return src;
	case AT_SPLIT:
		return src == dst ? src : 0;
	default:
		return 0;
	}
}

/*
 * Instructions that finding the base again takes; and that keeping it takes:
 * in a callee-saved register (save, restore, often a stack slot to align) or,
 * where calls are rare, spilled around each.
 */
#define COST_AGAIN 5
#define COST_KEEP 3
#define COST_SPILL 2

/*
 * Keeps the base over calls if marks behind calls run often enough; never over
 * __builtin_setjmp: the code generator does not know from where that comes
 * back, and may by then have used the base's place on the stack for another.
 */
static void choose_base(struct marker *m)
{
	const struct function *fn = m->fn;
	double far = 0, entry = 0, calls = 0, keep;

	for (edge_id e = 0; e < fn->g.nedges; e++) {
		double weight = (double)fn->edges[e].weight;
		block_id dst = fn->g.edges[e].dst;

		if (fn->g.edges[e].src == CFG_OUTSIDE)
			entry += weight;
		if (fn->edges[e].counter && is_far_edge(fn, e))
			far += weight;
		if (fn->nodes[dst].counter && fn->nodes[dst].is_behind_call)
			far += weight;
		if (fn->nodes[dst].has_call)
			calls += weight;
	}
	keep = entry * COST_KEEP;
	if (keep > calls * COST_SPILL)
		keep = calls * COST_SPILL;
	m->keeps_base =
	        !shim_has_builtin_setjmp(fn->f) &&
	        (far * COST_AGAIN > keep || shim_is_not_optimized(fn->f));
}

/* On the way into a block, all edges counted. */
static uint32_t before_block(const struct function *fn, block_id b)
{
	return fn->nodes[b].counter ? fn->g.nblocks + b : b;
}

uint32_t marker_behind_edge(const struct function *fn, edge_id e)
{
	block_id dst = fn->g.edges[e].dst;

	switch (fn->edges[e].where) {
	case AT_ENTRY:
	case AT_TOP:
	case AT_END:
	case AT_SPLIT:
	case AT_TRIP: /* one of the ways out */
		return before_block(fn, dst);
	default:
		return SHIM_NOTHING;
	}
}

/* Nothing if what comes before in its block says so already. */
static uint32_t before_mark(const struct function *fn, edge_id e)
{
	const struct cfg_edge *edge = &fn->g.edges[e];

	switch (fn->edges[e].where) {
	case AT_TOP:
	case AT_SPLIT:
		return before_edge(fn, e);
	case AT_END:
		if (!LLVMIsATerminatorInst(
		            marker_top_of(&fn->nodes[edge->src])))
			return SHIM_NOTHING;
		return edge->dst == CFG_OUTSIDE ? edge->src
		                                : before_edge(fn, e);
	default:
		return SHIM_NOTHING;
	}
}

void marker_set_behind(struct marker *m, uint32_t what)
{
	m->before = SHIM_NOTHING;
	m->behind = what;
}

/*
 * What to say at the top of a block, where its marks are still to come. Nothing
 * for the first one: what is before its marks is before the first probe.
 */
static uint32_t at_top(const struct function *fn, block_id b)
{
	const struct cfg *g = &fn->g;

	if (b == 1 && fn->nodes[b].counter)
		return CFG_OUTSIDE;
	for (uint32_t i = g->in_at[b]; i < g->in_at[b + 1]; i++) {
		edge_id e = g->in[i];

		if (!fn->edges[e].counter)
			continue;
		if (fn->edges[e].where == AT_ENTRY)
			return CFG_OUTSIDE;
		if (fn->edges[e].where == AT_TOP)
			return before_edge(fn, e);
	}
	return before_block(fn, b);
}

LLVMValueRef marker_place_of_edge(struct marker *m, edge_id e)
{
	struct function *fn = m->fn;
	const struct node *src = &fn->nodes[fn->g.edges[e].src];
	const struct node *dst = &fn->nodes[fn->g.edges[e].dst];
	LLVMValueRef at;

	switch (fn->edges[e].where) {
	case AT_ENTRY:
	case AT_TOP:
		return marker_top_of(dst);
	case AT_END:
		return marker_end_of(src->block);
	case AT_SPLIT:
		at = LLVMGetBasicBlockTerminator(block_on_edge(fn, e));
		probe_edge(m, e, at, before_edge(fn, e));
		return at;
	case AT_PAD:
		return LLVMGetBasicBlockTerminator(shim_split_pad(src->block));
	case AT_FALL:
		return LLVMGetNextInstruction(src->last_call);
	case AT_CALL:
		return dst->first;
	case AT_BEFORE:
		return src->last_call;
	case AT_COMPARE:
	case AT_TRIP:
	case AT_NOWHERE:
	case AT_SHARED:
		break;
	}
	assert(fn->edges[e].where == AT_ENTRY); /* no such place */
	return NULL;
}

/* Before and behind are in m. */
static void mark_on_edge(struct marker *m, edge_id e, uint32_t counter)
{
	struct function *fn = m->fn;
	const struct cfg_edge *edge = &fn->g.edges[e];

	m->is_far = is_far_edge(fn, e);
	m->loop = loop_of_edge(fn, e);
	if (fn->edges[e].where == AT_TRIP) /* mark_trips */
		return;
	if (fn->edges[e].where == AT_COMPARE) {
		count_if_goes_to(m, fn->nodes[edge->src].block,
		                 fn->nodes[edge->dst].block, counter);
		return;
	}
	LLVMPositionBuilderBefore(m->builder, marker_place_of_edge(m, e));
	count(m, counter);
}

static void mark_edge(struct marker *m, edge_id e)
{
	m->before = before_mark(m->fn, e);
	m->behind = m->fn->edges[e].where == AT_CALL
	                    ? before_block(m->fn, m->fn->g.edges[e].dst)
	                    : marker_behind_edge(m->fn, e);
	mark_on_edge(m, e, m->fn->edges[e].counter - 1);
}

/*
 * The array of counters.  Its definition is written with the map
 * (sections.cpp), in the function's group: here it is only declared.  Nobody
 * outside the group refers to it, so its name need not leave the file.
 */
LLVMValueRef marker_declare_counters(struct marker *m, uint32_t n)
{
	unsigned serial =
	        LLVMGetNamedMetadataNumOperands(m->module, PLUGIN_FUNCTIONS);
	LLVMTypeRef type = LLVMArrayType2(m->i64, n);
	LLVMValueRef g;
	char name[64];

	/* a name that no other file has: modules may be linked as bitcode */
	snprintf(name, sizeof(name), "\1.Lcairn_cnt%u.%08x", serial,
	         (unsigned)m->key);
	g = LLVMAddGlobal(m->module, type, name);
	LLVMSetVisibility(g, LLVMHiddenVisibility);
	LLVMSetAlignment(g, 8);
	return g;
}

static void mark_block(struct marker *m, block_id b)
{
	struct function *fn = m->fn;

	m->is_far = fn->nodes[b].is_behind_call;
	m->loop = fn->nodes[b].base;
	m->before = before_block(fn, b);
	m->behind = b;
	LLVMPositionBuilderBefore(m->builder, marker_top_of(&fn->nodes[b]));
	count(m, fn->nodes[b].counter - 1);
}

/*
 * A block that has nothing in it but a jump gets no probe: it may have no code
 * at all, which is best.
 */
LLVMValueRef marker_add_probe(LLVMValueRef top, uint32_t what)
{
	if (!LLVMIsABranchInst(top) || LLVMIsConditional(top) ||
	    shim_insertion_point(LLVMGetInstructionParent(top)) != top)
		return shim_add_probe(top, what);
	shim_note_jump(top, SHIM_AT_TOP, what);
	return NULL;
}

/*
 * Ends of blocks that are alike may become one, and then an address there tells
 * only where they all go to.  Behind the last mark and the last call that is as
 * good.
 */
static void note_end(struct function *fn, block_id b)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(fn->nodes[b].block);
	edge_id e = fn->g.out[fn->g.out_at[b]];
	block_id dst = fn->g.edges[e].dst;

	if (fn->nodes[b].end || fn->g.out_at[b] + 1 != fn->g.out_at[b + 1] ||
	    (fn->edges[e].counter && fn->edges[e].where != AT_END))
		return;
	if (dst == CFG_OUTSIDE
	            ? LLVMIsAReturnInst(end) != NULL
	            : LLVMIsABranchInst(end) && !LLVMIsConditional(end))
		shim_note_jump(end, SHIM_AT_END,
		               dst ? before_block(fn, dst) : CFG_OUTSIDE);
}

/* A part of an LLVM block has none, they move to its top: where it begins is
 * told by marks, and by the site of the call before it. */
static void add_probes(struct function *fn)
{
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		bool is_part = b > 1 && fn->nodes[b].first;

		if (!is_part && at_top(fn, b) != CFG_OUTSIDE)
			fn->nodes[b].probe = marker_add_probe(
			        marker_top_of(&fn->nodes[b]), at_top(fn, b));
		note_end(fn, b);
	}
}

void marker_init(struct marker *m, struct function *fn, const struct mode *mode)
{
	*m = (struct marker){.fn = fn};
	m->module = LLVMGetGlobalParent(fn->f);
	m->context = LLVMGetModuleContext(m->module);
	m->builder = LLVMCreateBuilderInContext(m->context);
	m->i64 = LLVMInt64TypeInContext(m->context);
	m->ptr = LLVMPointerTypeInContext(m->context, 0);
	m->segment_ptr = LLVMPointerTypeInContext(m->context, SEGMENT_SPACE);
	m->in_common = shim_runs_while_loading(fn->f);
	m->by_segment = mode->segment && !m->in_common;
	m->probes = mode->probes;
	m->key = mode->key;
}

/* Does its mark stand before a certain instruction?  What comes there later
 * stands behind it; at the top of an LLVM block, before it. */
static bool is_before_another(const struct function *fn, edge_id e)
{
	switch (fn->edges[e].where) {
	case AT_ENTRY:
	case AT_CALL:
		return true;
	case AT_TOP:
		return fn->nodes[fn->g.edges[e].dst].first != NULL;
	default:
		return false;
	}
}

/* So that the marks of edges into a block run before that of the block, and
 * those of a block before those of its parts. */
static void mark_all(struct marker *m)
{
	const struct function *fn = m->fn;

	for (block_id b = 1; b < fn->g.nblocks; b++) {
		for (uint32_t i = fn->g.in_at[b]; i < fn->g.in_at[b + 1]; i++) {
			edge_id e = fn->g.in[i];

			if (fn->edges[e].counter && is_before_another(fn, e))
				mark_edge(m, e);
		}
		if (fn->nodes[b].counter)
			mark_block(m, b);
	}
	for (edge_id e = 0; e < fn->g.nedges; e++)
		if (fn->edges[e].counter && !is_before_another(fn, e))
			mark_edge(m, e);
}

/* After all others and the probes: they expect the CFG as it was. */
static void mark_trips(struct marker *m)
{
	struct function *fn = m->fn;

	for (edge_id e = 0; e < fn->g.nedges; e++)
		if (fn->edges[e].counter && fn->edges[e].where == AT_TRIP)
			trip_prepare(fn, e);
	m->loop = 0;
	for (edge_id e = 0; e < fn->g.nedges; e++)
		if (fn->edges[e].counter && fn->edges[e].where == AT_TRIP) {
			m->is_far = is_far_edge(fn, e);
			trip_mark(fn, e, m);
		}
}

void marker_keep_last_calls(struct marker *m)
{
	const struct node *nodes = m->fn->nodes;

	for (block_id b = 1; b < m->fn->g.nblocks; b++) {
		LLVMValueRef tail = ir_tail_call(nodes[b].block);
		LLVMValueRef call = ir_final_call(nodes[b].block);

		if (nodes[b].is_elsewhere)
			continue;
		if (call)
			shim_keep_apart(call);
		if (m->probes && (tail || call))
			shim_note_last_call(tail ? tail : call);
	}
}

void mark_function(struct function *fn, const struct mode *mode)
{
	struct marker m;
	LLVMValueRef delta;

	marker_init(&m, fn, mode);
	fn->counters = marker_declare_counters(&m, fn->ncounters);
	marker_keep_last_calls(&m);
	delta = marker_prologue(&m);
	if (m.by_segment && !shim_is_not_optimized(fn->f))
		bases_find(fn);
	if (!m.by_segment && !m.in_common) {
		choose_base(&m);
		m.base = base_from(&m, delta);
	}
	mark_all(&m);
	if (m.probes)
		add_probes(fn);
	mark_trips(&m);
	for (uint32_t i = 0; i < fn->nsites; i++)
		shim_add_site(fn->sites[i].call, i, NULL);
	shim_prepare_function(fn->f, !mode->strict);
	shim_pin(fn->f);
	LLVMDisposeBuilder(m.builder);
}

/*
 * At a call that never returns the flow of this function is complete, but not
 * that of a function that it is inlined into.
 */
static void note_final_calls(struct function *fn)
{
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		LLVMValueRef call = ir_final_call(fn->nodes[b].block);

		if (call)
			shim_add_early_site(call, fn->key, SHIM_NO_SITE);
	}
}

void mark_function_early(struct function *fn, const struct mode *mode)
{
	struct marker m;

	marker_init(&m, fn, mode);
	m.is_early = true;
	fn->key = shim_key(fn->f);
	fn->counters = shim_define_counters(fn->f, fn->ncounters, fn->key);
	mark_all(&m);
	for (uint32_t i = 0; i < fn->nsites; i++)
		shim_add_early_site(fn->sites[i].call, fn->key, i);
	if (!mode->strict)
		note_final_calls(fn);
	shim_prepare_function(fn->f, false);
	LLVMDisposeBuilder(m.builder);
}

/* --- the late step of early marks ------------------------------------------
 */

static bool is_placeholder(LLVMValueRef instruction, LLVMValueRef f)
{
	return LLVMIsACallInst(instruction) &&
	       LLVMGetCalledValue(instruction) == f;
}

/* The placeholders in a function, in order; the caller frees the array. */
static LLVMValueRef *find_placeholders(LLVMValueRef f, LLVMValueRef callee,
                                       size_t *n)
{
	LLVMValueRef *found = NULL;
	size_t cap = 0;

	*n = 0;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
	     b = LLVMGetNextBasicBlock(b)) {
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
		     i = LLVMGetNextInstruction(i)) {
			if (!is_placeholder(i, callee))
				continue;
			VEC_RESERVE(found, *n, cap);
			found[(*n)++] = i;
		}
	}
	return found;
}

/* In a shared object the delta is added at each use, to many arrays; as for a
 * base (choose_base), it does not live over __builtin_setjmp. */
static void replace_placeholder(struct marker *m, LLVMValueRef call,
                                LLVMValueRef delta)
{
	LLVMValueRef at = LLVMGetOperand(call, 0);

	LLVMPositionBuilderBefore(m->builder, call);
	if (!m->by_segment && !m->keeps_base)
		delta = marker_load_delta(m);
	if (!m->by_segment)
		at = LLVMBuildGEP2(m->builder,
		                   LLVMInt8TypeInContext(m->context), at,
		                   &delta, 1, "");
	marker_add_to(m, at, m->by_segment, LLVMGetOperand(call, 1));
	LLVMInstructionEraseFromParent(call);
}

void mark_placeholders(LLVMValueRef f, const struct mode *mode)
{
	LLVMValueRef callee = shim_placeholder(LLVMGetGlobalParent(f));
	struct node nodes[2] = {{0}, {.block = LLVMGetEntryBasicBlock(f)}};
	struct function fn = {.f = f, .nodes = nodes, .g.nblocks = 2};
	struct marker m;
	size_t n;
	LLVMValueRef *found = find_placeholders(f, callee, &n);

	if (n) {
		LLVMValueRef delta;

		marker_init(&m, &fn, mode);
		m.keeps_base = !m.in_common && !shim_has_builtin_setjmp(f);
		delta = marker_prologue(&m);
		for (size_t i = 0; i < n; i++)
			replace_placeholder(&m, found[i], delta);
		LLVMDisposeBuilder(m.builder);
	}
	shim_prepare_function(f, !mode->strict);
	shim_pin(f);
	free(found);
}
