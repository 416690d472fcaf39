/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces: which functions have marks, what these have to do (graph/codes.c, or
 * graph/witness.c for trace,witness), and what the map says about it.  What
 * code that becomes is in trace_code.c.
 *
 * Cost: linear in blocks, edges and operations.
 */
#include "plugin/trace_function.h"

#include "abi/map.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "graph/weight.h"
#include "ir/flow.h"
#include "plugin/marker.h"
#include "plugin/shim.h"

#include <assert.h>
#include <llvm-c/Comdat.h>
#include <stdlib.h>
#include <string.h>

#define ANNOUNCED "cairn-announced"
#define TAILS "cairn-tails"

/* --- which functions ----------------------------------------------------- */

const char *follow_why_not(LLVMValueRef f)
{
	if (shim_runs_while_loading(f))
		return "runs while the program is loaded";
	if (shim_has_builtin_setjmp(f))
		return "uses __builtin_setjmp";
	if (LLVMGetFunctionCallConv(f) == LLVMX86INTRCallConv)
		return "the processor calls it (interrupt)";
	if (!shim_why_not(f) && shim_leaves_in_assembly(f))
		return "its inline assembly calls functions or jumps away "
		       "unseen; put the assembly alone into a noinline "
		       "function";
	return shim_why_not(f);
}

const char *trace_why_not(LLVMValueRef f)
{
	if (is_jumped_into(f))
		return "libc jumps into it unseen (pthread_cleanup_push, "
		       "getcontext)";
	if (shim_has_calls_without_sites(f))
		return "LLVM cannot note where its calls return, which are "
		       "checked or hardened (kcfi, nocf_check, retpolines, "
		       "speculative loads)";
	return follow_why_not(f);
}

/* Is a call one whose end another function does not see? */
static bool is_last_call(LLVMValueRef call)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(call);

	return ir_tail_call(block) == call || ir_final_call(block) == call;
}

static bool must_announce(LLVMValueRef f)
{
	size_t n;

	if (shim_body_of(f, &n)) /* others have an entry of their own */
		return false;
	if (shim_has_outside_callers(f))
		return true;
	for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);

		if (is_last_call(user) ||
		    trace_why_not(LLVMGetBasicBlockParent(
		            LLVMGetInstructionParent(user))))
			return true;
	}
	return false;
}

bool has_tail_call(LLVMValueRef f)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
	     b = LLVMGetNextBasicBlock(b))
		if (ir_tail_call(b))
			return true;
	return false;
}

static void note(LLVMValueRef f, const char *what)
{
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(f));

	LLVMAddAttributeAtIndex(
	        f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
	        LLVMCreateStringAttribute(context, what, (unsigned)strlen(what),
	                                  "", 0));
}

static bool is_noted(LLVMValueRef f, const char *what)
{
	return LLVMGetStringAttributeAtIndex(
	        f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, what,
	        (unsigned)strlen(what));
}

static bool is_left_out(LLVMValueRef f)
{
	return trace_why_not(f) != NULL;
}

void trace_split(LLVMModuleRef module)
{
	const struct shim_entries e = {is_left_out, is_last_call};

	shim_split_entries(module, &e);
}

void trace_announce(LLVMModuleRef module)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
	     f = LLVMGetNextFunction(f)) {
		if (LLVMIsDeclaration(f))
			continue;
		if (must_announce(f))
			note(f, ANNOUNCED);
		if (has_tail_call(f))
			note(f, TAILS);
	}
}

bool trace_is_announced(LLVMValueRef f)
{
	return is_noted(f, ANNOUNCED);
}

bool trace_has_tails(LLVMValueRef f)
{
	return is_noted(f, TAILS);
}

/* --- what to do ---------------------------------------------------------- */

static enum dag_how asked_for(const struct edge_info *e)
{
	if (e->kind == CAIRN_EDGE_INDIRECT)
		return DAG_INDIRECT;
	return e->is_call ? DAG_CUT : DAG_THROUGH;
}

/* What is known of a function, for codes and for witnesses. */
struct known {
	enum dag_how *asked;
	bool *is_call, *loud, *is_call_block;
};

static void know(struct known *k, const struct function *fn)
{
	k->asked = xcalloc(fn->g.nedges, sizeof(*k->asked));
	k->is_call = xcalloc(fn->g.nedges, sizeof(*k->is_call));
	k->loud = xcalloc(fn->g.nblocks, sizeof(*k->loud));
	k->is_call_block = xcalloc(fn->g.nblocks, sizeof(*k->is_call_block));
	for (edge_id e = 0; e < fn->g.nedges; e++) {
		k->asked[e] = asked_for(&fn->edges[e]);
		k->is_call[e] = fn->edges[e].is_call;
		k->loud[fn->g.edges[e].dst] |=
		        k->is_call[e] &&
		        (!fn->edges[e].callee || fn->edges[e].is_maybe ||
		         trace_has_tails(fn->edges[e].callee));
		k->is_call_block[fn->g.edges[e].dst] |=
		        fn->edges[e].kind == CAIRN_EDGE_CALL;
	}
}

static void forget(struct known *k)
{
	free(k->asked);
	free(k->is_call);
	free(k->loud);
	free(k->is_call_block);
}

static void add_op(struct function_trace *t, struct trace_op op)
{
	t->ops[t->nops++] = op;
}

/* Operations of codes, with as little work as possible on the way. */
static void place_codes(struct function *fn, const uint64_t *weight)
{
	struct function_trace *t = fn->trace;
	uint64_t *cost = xcalloc(fn->g.nedges, sizeof(*cost));
	bool *needs_block = xcalloc(fn->g.nedges, sizeof(*needs_block));

	for (edge_id e = 0; e < fn->g.nedges; e++) {
		enum edge_where where = fn->edges[e].where;

		cost[e] = weight[e];
		needs_block[e] = where == AT_SPLIT || where == AT_PAD;
	}
	weight_add_jumps(&fn->g, needs_block, cost);
	codes_place(&t->codes, cost, &t->codes_ops);
	t->ops = xcalloc((size_t)t->codes_ops.n + 1, sizeof(*t->ops));
	for (uint32_t i = 0; i < t->codes_ops.n; i++) {
		const struct codes_op *op = &t->codes_ops.ops[i];

		add_op(t, (struct trace_op){op->place, op->where, op, 0});
	}
	free(cost);
	free(needs_block);
}

static void choose_codes(struct function *fn, const struct known *k,
                         const struct mode *mode, const uint64_t *weight)
{
	struct codes_options options = {
	        .asked = k->asked,
	        .weight = weight,
	        .is_call = k->is_call,
	        .loud = k->loud,
	        .one_by_one = mode->path_ids,
	        .branches = mode->last != 0,
	};
	struct cairn_err err = {0};
	int result = codes_init(&fn->trace->codes, &fn->g, &options, &err);

	/* every edge may be cut, indirect branches have landing blocks */
	assert(result == CAIRN_OK);
	(void)result;
	place_codes(fn, weight);
}

static void choose_witness(struct function *fn, const struct known *k,
                           const uint64_t *weight)
{
	struct function_trace *t = fn->trace;
	struct witness *w = &t->witness;
	struct witness_options options = {
	        .slots = {.asked = k->asked,
	                  .is_call = k->is_call,
	                  .loud = k->loud,
	                  .is_call_block = k->is_call_block},
	        .weight = weight,
	};
	struct cairn_err err = {0};
	int result = witness_init(w, &fn->g, &options, &err);

	/* indirect branches have landing blocks, which call nothing */
	assert(result == CAIRN_OK);
	(void)result;
	t->has_witness = true;
	t->ops = xcalloc((size_t)w->nslots + 1, sizeof(*t->ops));
	for (uint32_t i = 0; i < w->nslots; i++) {
		uint32_t slot = w->slots[i], b = slot - fn->g.nedges;

		if (slot < fn->g.nedges)
			add_op(t, (struct trace_op){INCREMENT_ON_EDGE, slot,
			                            NULL, w->on_edge[slot]});
		else
			add_op(t, (struct trace_op){INCREMENT_AT_HEAD, b, NULL,
			                            w->at_head[b]});
	}
}

void trace_choose(struct function *fn, const struct mode *mode,
                  const uint64_t *weight)
{
	struct function_trace *t = xcalloc(1, sizeof(*t));
	struct known k;

	fn->trace = t;
	know(&k, fn);
	if (mode->witness)
		choose_witness(fn, &k, weight);
	else
		choose_codes(fn, &k, mode, weight);
	forget(&k);
	t->on_edge = xcalloc((size_t)fn->g.nedges + 1, sizeof(*t->on_edge));
	for (uint32_t i = 0; i < t->nops; i++)
		if (t->ops[i].place == INCREMENT_ON_EDGE)
			t->on_edge[t->ops[i].where] = &t->ops[i];
}

void trace_release_of(struct function *fn)
{
	if (!fn->trace)
		return;
	codes_ops_release(&fn->trace->codes_ops);
	codes_release(&fn->trace->codes);
	witness_release(&fn->trace->witness);
	free(fn->trace->ops);
	free(fn->trace->on_edge);
	free(fn->trace);
	fn->trace = NULL;
}

static void describe_witness(const struct function *fn, struct bytes *b)
{
	const struct witness *w = &fn->trace->witness;

	bytes_put_uv(b, w->nslots);
	for (uint32_t i = 0; i < w->nslots; i++)
		bytes_put_uv(b, w->slots[i] - (i ? w->slots[i - 1] : 0));
}

static void describe_codes(const struct function *fn, struct bytes *b)
{
	const struct paths *p = &fn->trace->codes.paths;

	bytes_put_uv(b, p->n);
	bytes_put_uv(b, p->ncuts);
	for (uint32_t i = 0; i < p->ncuts; i++)
		bytes_put_uv(b, p->cuts[i]);
	bytes_put_uv(b, fn->trace->codes.nloops);
	for (uint32_t i = 0; i < fn->trace->codes.nloops; i++)
		bytes_put_uv(b, fn->trace->codes.loops[i].head);
	for (uint32_t i = 0; i < fn->nsites; i++)
		bytes_put_uv(b, CAIRN_PENDING_NOTHING);
}

static enum cairn_paths kind_of(const struct function *fn)
{
	if (fn->trace->has_witness)
		return CAIRN_PATHS_WITNESS;
	return fn->trace->codes.one_by_one ? CAIRN_PATHS_TRACE_PATHS
	                                   : CAIRN_PATHS_TRACE;
}

void describe_trace(const struct function *fn, struct bytes *b)
{
	bytes_put_uv(b, kind_of(fn));
	describe_ways(fn, b);
}

void describe_ways(const struct function *fn, struct bytes *b)
{
	uint32_t ncalls = 0;

	if (fn->trace->has_witness)
		describe_witness(fn, b);
	else
		describe_codes(fn, b);
	for (edge_id e = 0; e < fn->g.nedges; e++)
		ncalls += fn->edges[e].is_call;
	bytes_put_uv(b, ncalls);
	for (edge_id e = 0; e < fn->g.nedges; e++) {
		if (!fn->edges[e].is_call)
			continue;
		bytes_put_uv(b, e);
		bytes_put_uv(b, !fn->edges[e].callee    ? CAIRN_CALLS_ANYTHING
		                : fn->edges[e].is_maybe ? CAIRN_CALLS_MAYBE
		                                        : CAIRN_CALLS_KNOWN);
	}
}

/* Every object that asks for it has this constant, in a group of which the
 * linker takes one: it is stronger than the runtime's own. */
void trace_say(LLVMModuleRef module, const char *name, uint64_t value)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetModuleContext(module));
	LLVMValueRef g;

	if (LLVMGetNamedGlobal(module, name))
		return;
	g = LLVMAddGlobal(module, i64, name);
	LLVMSetInitializer(g, LLVMConstInt(i64, value, false));
	LLVMSetGlobalConstant(g, true);
	LLVMSetVisibility(g, LLVMHiddenVisibility);
	LLVMSetComdat(g, LLVMGetOrInsertComdat(module, name));
}
