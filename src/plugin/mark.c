/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks: the code that counts.
 *
 * A function's counters are one array, a symbol in a section that is only a
 * layout (abi/rt.h); the memory a thread counts in is symbol + delta.  The
 * prologue fetches the delta once:
 *
 *     base = counters + thread-local delta; if (base < 0) base = ... slow()
 *
 * and a mark is one `add` to memory at base + constant, which a signal handler
 * on the same thread cannot tear.  Functions that only instrumented code of
 * this module calls skip the test: their caller made it.
 */
#include "plugin/function.h"

#include "abi/rt.h"
#include "base/alloc.h"
#include "plugin/shim.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct marker {
	struct function *fn;
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMBuilderRef builder;
	LLVMTypeRef i64, ptr;
	LLVMValueRef base; /* counters + delta; NULL: leave placeholders */
	bool keeps_base;   /* over calls, in a register */
	bool is_far;       /* the place in hand is behind a call */
};

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

static LLVMValueRef ours(LLVMValueRef instruction)
{
	shim_no_sanitize(instruction);
	return instruction;
}

static LLVMValueRef load(struct marker *m, LLVMTypeRef type, LLVMValueRef from,
                         const char *name)
{
	return ours(LLVMBuildLoad2(m->builder, type, from, name));
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

static LLVMValueRef address_of_counters(struct marker *m)
{
	return LLVMConstPtrToInt(m->fn->counters, m->i64);
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

	return ours(LLVMBuildCall2(m->builder, type, code, NULL, 0, ""));
}

/*
 * Branches to a block of its own that makes the slow call if `test` holds.
 * Returns `value` joined with what the slow call gave: a delta, or if `value`
 * is a sum, counters + delta.  That address is made from the sum, not afresh,
 * which would keep it in a register on the common path.
 */
static LLVMValueRef checked(struct marker *m, LLVMValueRef test,
                            LLVMValueRef value, LLVMValueRef place, bool is_sum)
{
	LLVMBasicBlockRef entry = LLVMGetInstructionParent(place);
	LLVMBasicBlockRef body = shim_split_before(place);
	LLVMBasicBlockRef slow =
	        LLVMInsertBasicBlockInContext(m->context, body, "cairn.slow");
	LLVMValueRef values[2] = {value}, phi;
	LLVMBasicBlockRef blocks[2] = {entry, slow};

	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(entry));
	LLVMPositionBuilderAtEnd(m->builder, entry);
	shim_set_unlikely(LLVMBuildCondBr(m->builder, test, slow, body));

	LLVMPositionBuilderAtEnd(m->builder, slow);
	values[1] = slow_call(m);
	if (is_sum) {
		LLVMValueRef none = LLVMConstInt(
		        m->i64, (uint64_t)CAIRN_RT_NO_DELTA, false);
		LLVMValueRef counters =
		        LLVMBuildXor(m->builder, value, none, "");

		values[1] = LLVMBuildAdd(m->builder, counters, values[1], "");
	}
	LLVMBuildBr(m->builder, body);

	LLVMPositionBuilderBefore(m->builder, LLVMGetFirstInstruction(body));
	phi = LLVMBuildPhi(m->builder, m->i64, "cairn.delta");
	LLVMAddIncoming(phi, values, blocks, 2);
	LLVMPositionBuilderBefore(m->builder, place);
	for (block_id i = 1; i < m->fn->g.nblocks; i++)
		if (m->fn->nodes[i].block == entry)
			m->fn->nodes[i].block = body; /* all its parts */
	return phi;
}

/* In an executable the sum is an address, or negative: no shard yet. */
static LLVMValueRef sum_in_executable(struct marker *m, LLVMValueRef place)
{
	LLVMValueRef sum = LLVMBuildAdd(m->builder, address_of_counters(m),
	                                load_delta_local(m), "cairn.sum");
	LLVMValueRef test;

	if (!shim_has_outside_callers(m->fn->f))
		return sum;
	test = LLVMBuildICmp(m->builder, LLVMIntSLT, sum,
	                     LLVMConstInt(m->i64, 0, false), "");
	return checked(m, test, sum, place, true);
}

/* In a shared object the delta is tested before it is added. */
static LLVMValueRef sum_in_shared(struct marker *m, LLVMValueRef place)
{
	LLVMValueRef delta = load_delta_shared(m);

	if (shim_has_outside_callers(m->fn->f)) {
		LLVMValueRef test =
		        LLVMBuildICmp(m->builder, LLVMIntEQ, delta,
		                      LLVMConstInt(m->i64, 0, false), "");

		delta = checked(m, test, delta, place, false);
	}
	return LLVMBuildAdd(m->builder, address_of_counters(m), delta,
	                    "cairn.sum");
}

static void write_prologue(struct marker *m)
{
	LLVMValueRef place = shim_after_allocas(m->fn->f);
	LLVMValueRef sum;

	LLVMPositionBuilderBefore(m->builder, place);
	sum = shim_is_executable_only(m->module) ? sum_in_executable(m, place)
	                                         : sum_in_shared(m, place);
	m->base = LLVMBuildIntToPtr(m->builder, sum, m->ptr, "cairn.base");
	m->fn->nodes[1].first = place;
}

/* One instruction even where nothing is optimized. */
static void count_by_asm(struct marker *m, LLVMValueRef at, LLVMValueRef by)
{
	LLVMTypeRef types[2] = {m->ptr, m->i64};
	LLVMValueRef args[2] = {at, by};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(m->context),
	                                    types, 2, 0);
	static const char text[] = "addq $1, $0";
	static const char constraints[] =
	        "*m,er,~{memory},~{dirflag},~{fpsr},~{flags}";
	LLVMValueRef code =
	        LLVMGetInlineAsm(type, text, sizeof(text) - 1, constraints,
	                         sizeof(constraints) - 1, true, false,
	                         LLVMInlineAsmDialectATT, false);

	shim_set_element_type(
	        ours(LLVMBuildCall2(m->builder, type, code, args, 2, "")),
	        m->i64);
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
 * it does not do so in functions that are not optimized, and it may take a sum
 * of variables apart.
 */
static void add_to(struct marker *m, LLVMValueRef at, LLVMValueRef by)
{
	LLVMValueRef value;

	if (!LLVMIsConstant(by) || shim_is_not_optimized(m->fn->f)) {
		count_by_asm(m, at, by);
		return;
	}
	value = load(m, m->i64, at, "");
	value = LLVMBuildAdd(m->builder, value, by, "");
	ours(LLVMBuildStore(m->builder, value, at));
}

/*
 * counters + delta: what the prologue found, or found again.  A value that
 * lives over a call costs a callee-saved register, which the function has to
 * save and restore; few marks behind calls are cheaper without (choose_base).
 */
static LLVMValueRef base_here(struct marker *m)
{
	LLVMValueRef delta;

	if (!m->is_far || m->keeps_base)
		return m->base;
	delta = shim_is_executable_only(m->module) ? load_delta_local(m)
	                                           : load_delta_shared(m);
	return LLVMBuildIntToPtr(
	        m->builder,
	        LLVMBuildAdd(m->builder, address_of_counters(m), delta, ""),
	        m->ptr, "");
}

/* Adds `by` to counter k, at the builder's place. */
static void count_by(struct marker *m, uint32_t k, LLVMValueRef by)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(m->context);
	LLVMValueRef offset = LLVMConstInt(m->i64, 8ull * k, false);

	if (m->base)
		add_to(m,
		       LLVMBuildGEP2(m->builder, i8, base_here(m), &offset, 1,
		                     ""),
		       by);
	else
		count_later(m, k, by);
}

void marker_add(struct marker *m, LLVMBuilderRef b, uint32_t counter,
                LLVMValueRef by)
{
	LLVMBuilderRef mine = m->builder;

	m->builder = b;
	count_by(m, counter, by);
	m->builder = mine;
}

static void count(struct marker *m, uint32_t k)
{
	count_by(m, k, LLVMConstInt(m->i64, 1, false));
}

static LLVMValueRef top_of(const struct node *node)
{
	return node->first ? node->first : shim_insertion_point(node->block);
}

/* The last place of a block where its flow is still inside. */
static LLVMValueRef end_of(LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
	LLVMValueRef tail = tail_call_of(block);

	if (!tail)
		tail = final_call_of(block);
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

/*
 * Instructions that finding the base again takes; and that keeping it takes:
 * in a callee-saved register (save, restore, often a stack slot to align) or,
 * where calls are rare, spilled around each.
 */
#define COST_AGAIN_EXECUTABLE 2
#define COST_AGAIN_SHARED 5
#define COST_KEEP 3
#define COST_SPILL 2

/* Keeps the base over calls if marks behind calls run often enough. */
static void choose_base(struct marker *m)
{
	const struct function *fn = m->fn;
	unsigned again = shim_is_executable_only(m->module)
	                         ? COST_AGAIN_EXECUTABLE
	                         : COST_AGAIN_SHARED;
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
	m->keeps_base = far * again > keep || shim_is_not_optimized(fn->f);
}

static void mark_edge(struct marker *m, edge_id e, uint32_t counter)
{
	struct function *fn = m->fn;
	const struct edge_info *info = &fn->edges[e];
	const struct node *src = &fn->nodes[fn->g.edges[e].src];
	const struct node *dst = &fn->nodes[fn->g.edges[e].dst];
	LLVMValueRef at = NULL;

	m->is_far = is_far_edge(fn, e);
	switch (info->where) {
	case AT_ENTRY:
	case AT_TOP:
		at = top_of(dst);
		break;
	case AT_END:
		at = end_of(src->block);
		break;
	case AT_SPLIT:
		at = LLVMGetBasicBlockTerminator(
		        shim_split_edge(src->block, dst->block));
		break;
	case AT_PAD:
		at = LLVMGetBasicBlockTerminator(shim_split_pad(src->block));
		break;
	case AT_FALL:
		at = LLVMGetNextInstruction(src->last_call);
		break;
	case AT_COMPARE:
		count_if_goes_to(m, src->block, dst->block, counter);
		return;
	case AT_TRIP: /* mark_trips */
		return;
	case AT_NOWHERE:
		assert(info->where != AT_NOWHERE);
		return;
	}
	LLVMPositionBuilderBefore(m->builder, at);
	count(m, counter);
}

/*
 * The array of counters.  Its definition is written with the map
 * (sections.cpp), in the function's group: here it is only declared.  Nobody
 * outside the group refers to it, so its name need not leave the file.
 */
static LLVMValueRef declare_counters(struct marker *m)
{
	unsigned serial =
	        LLVMGetNamedMetadataNumOperands(m->module, PLUGIN_FUNCTIONS);
	LLVMTypeRef type = LLVMArrayType2(m->i64, m->fn->ncounters);
	LLVMValueRef g;
	char name[64];

	snprintf(name, sizeof(name), "\1.Lcairn_cnt%u", serial);
	g = LLVMAddGlobal(m->module, type, name);
	LLVMSetVisibility(g, LLVMHiddenVisibility);
	LLVMSetAlignment(g, 8);
	return g;
}

/* Slow: a block that no mark may stand in is counted where it is entered. */
static void mark_ways_into(struct marker *m, block_id b)
{
	const struct cfg *g = &m->fn->g;

	for (uint32_t i = g->in_at[b]; i < g->in_at[b + 1]; i++)
		mark_edge(m, g->in[i], m->fn->nodes[b].counter - 1);
}

static void mark_blocks(struct marker *m)
{
	struct function *fn = m->fn;

	for (block_id b = 1; b < fn->g.nblocks; b++) {
		if (!fn->nodes[b].counter)
			continue;
		if (fn->nodes[b].is_bare_return) {
			mark_ways_into(m, b);
			continue;
		}
		m->is_far = fn->nodes[b].is_behind_call;
		LLVMPositionBuilderBefore(m->builder, top_of(&fn->nodes[b]));
		count(m, fn->nodes[b].counter - 1);
	}
}

/*
 * A probe makes no code: it tells at which address a block starts, for frames
 * that a signal interrupts.  It stands behind the marks at the block's top.
 */
static void add_probes(struct function *fn)
{
	for (block_id b = 1; b < fn->g.nblocks; b++)
		if (fn->nodes[b].probe_at)
			shim_add_probe(fn->nodes[b].probe_at, b);
}

static void choose_probes(struct function *fn)
{
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		LLVMValueRef at = top_of(&fn->nodes[b]);

		if (!LLVMIsATerminatorInst(at))
			fn->nodes[b].probe_at = at;
	}
}

static void marker_init(struct marker *m, struct function *fn)
{
	*m = (struct marker){.fn = fn};
	m->module = LLVMGetGlobalParent(fn->f);
	m->context = LLVMGetModuleContext(m->module);
	m->builder = LLVMCreateBuilderInContext(m->context);
	m->i64 = LLVMInt64TypeInContext(m->context);
	m->ptr = LLVMPointerTypeInContext(m->context, 0);
}

static void mark_all(struct marker *m)
{
	mark_blocks(m);
	for (edge_id e = 0; e < m->fn->g.nedges; e++)
		if (m->fn->edges[e].counter)
			mark_edge(m, e, m->fn->edges[e].counter - 1);
}

/* After all others and the probes: they expect the CFG as it was. */
static void mark_trips(struct marker *m)
{
	for (edge_id e = 0; e < m->fn->g.nedges; e++)
		if (m->fn->edges[e].counter &&
		    m->fn->edges[e].where == AT_TRIP) {
			m->is_far = is_far_edge(m->fn, e);
			trip_mark(m->fn, e, m);
		}
}

void mark_function(struct function *fn, const struct mode *mode)
{
	struct marker m;

	marker_init(&m, fn);
	fn->counters = declare_counters(&m);
	choose_base(&m);
	write_prologue(&m);
	if (mode->probes)
		choose_probes(fn);
	mark_all(&m);
	add_probes(fn);
	mark_trips(&m);
	for (uint32_t i = 0; i < fn->nsites; i++)
		shim_add_site(fn->sites[i].call, i);
	shim_prepare_function(fn->f, !mode->strict);
	LLVMDisposeBuilder(m.builder);
}

void mark_function_early(struct function *fn)
{
	struct marker m;

	marker_init(&m, fn);
	fn->key = shim_key(fn->f);
	fn->counters = shim_define_counters(fn->f, fn->ncounters, fn->key);
	mark_all(&m);
	for (uint32_t i = 0; i < fn->nsites; i++)
		shim_add_early_site(fn->sites[i].call, fn->key, i);
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

/* The delta, tested: here it is added at each use, to many arrays. */
static LLVMValueRef write_delta_prologue(struct marker *m)
{
	bool is_executable = shim_is_executable_only(m->module);
	LLVMValueRef place = shim_after_allocas(m->fn->f);
	LLVMValueRef delta, none, test;

	LLVMPositionBuilderBefore(m->builder, place);
	delta = is_executable ? load_delta_local(m) : load_delta_shared(m);
	if (!shim_has_outside_callers(m->fn->f))
		return delta;
	none = LLVMConstInt(
	        m->i64, is_executable ? (uint64_t)CAIRN_RT_NO_DELTA : 0, false);
	test = LLVMBuildICmp(m->builder, LLVMIntEQ, delta, none, "");
	return checked(m, test, delta, place, false);
}

static void replace_placeholder(struct marker *m, LLVMValueRef call,
                                LLVMValueRef delta)
{
	LLVMValueRef at;

	LLVMPositionBuilderBefore(m->builder, call);
	at = LLVMBuildGEP2(m->builder, LLVMInt8TypeInContext(m->context),
	                   LLVMGetOperand(call, 0), &delta, 1, "");
	add_to(m, at, LLVMGetOperand(call, 1));
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

		marker_init(&m, &fn);
		delta = write_delta_prologue(&m);
		for (size_t i = 0; i < n; i++)
			replace_placeholder(&m, found[i], delta);
		LLVMDisposeBuilder(m.builder);
	}
	shim_prepare_function(f, !mode->strict);
	free(found);
}
