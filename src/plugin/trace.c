/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks that write traces.
 *
 * graph/codes.c says what to do where: the way of an activation is shifted into
 * a register, its history, which is written before calls, at the end, and when
 * it is full.  Here that becomes code:
 *
 *     shift  lea  v(,%h,2), %h
 *     add    add  $v, %h
 *     end    cmp  most(%rip), %h;  jae full
 *     write  mov  $1, %eax;  xadd %rax, %fs:at;  cmp %fs:limit, %rax;  jae room
 *            mov  %hl, (%rax)
 *
 * The place in the stream is taken by one instruction, so that a signal handler
 * may come in between any two: what it writes stands behind.  (xadd without
 * lock; load, store and increment take 1.8 ns in a loop of nothing else, this
 * takes 2.1.)  A history of more than six bits has a length before it; one of
 * more than 31 is written by the runtime.
 *
 * With trace,witness there is no history: where graph/witness.c has put one, a
 * constant is written.
 *
 * A function that others than known calls may enter says so first:
 *
 *     enter  mov  $5, %eax;  xadd ...;  lea here(%rip), %rcx
 *            movb $ENTER, (%rax);  mov %ecx, 1(%rax)
 *
 * A flight recorder (trace,last=SIZE) has to know the history of the innermost
 * frame at any moment.  Its paths end at every branch, and there the history is
 * also stored in the head of the buffer, in the mapped file.  When it is
 * written that is nothing again:
 *
 *     keep   mov  %fs:head, %rax;  mov %h, HISTORY(%rax)
 *     drop   mov  %fs:at, %rcx;  mov %fs:head, %rax
 *            movq $0, HISTORY(%rax);  mov %rcx, AT(%rax)
 *
 * If it is killed before `drop`, AT says that it was written already.  A
 * function that marks its entry looks there first: if there is a history it was
 * called by a signal, and the runtime writes the history that is interrupted.
 * Behind calls of the runtime a long nop says what place this is, so that a
 * part can begin there.
 *
 * Invariant: operations at one place run in the order of the edges; between the
 * write before a call and the call there is nothing that another may write in.
 * Cost: linear in blocks, edges and operations.
 */
#include "abi/trace.h"

#include "abi/map.h"
#include "abi/rt.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "graph/codes.h"
#include "graph/weight.h"
#include "graph/witness.h"
#include "ir/flow.h"
#include "plugin/path_writer.h"
#include "plugin/shim.h"

#include <assert.h>
#include <llvm-c/Comdat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANNOUNCED "cairn-announced"
#define TAILS "cairn-tails"

/* What stands at a place: an operation on the history, or a witness. */
struct trace_op {
	enum increment_place place;
	uint32_t where; /* edge or block */
	const struct codes_op *op;
	uint32_t witness; /* if there is no op */
};

/* It has codes or a witness; the other one is {0}. */
struct function_trace {
	bool has_witness;
	struct codes codes;
	struct codes_ops codes_ops;
	struct witness witness;
	struct trace_op *ops;
	uint32_t nops;
	const struct trace_op **on_edge; /* per edge, or NULL */
};

/* --- which functions ----------------------------------------------------- */

const char *trace_why_not(LLVMValueRef f)
{
	if (shim_runs_while_loading(f))
		return "runs while the program is loaded";
	if (is_jumped_into(f))
		return "libc jumps into it unseen (pthread_cleanup_push, "
		       "getcontext)";
	if (shim_has_builtin_setjmp(f))
		return "uses __builtin_setjmp";
	return shim_why_not(f);
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

static bool has_tail_call(LLVMValueRef f)
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

/* --- where --------------------------------------------------------------- */

struct placed {
	LLVMValueRef at; /* keeps the place */
	const struct trace_op *op;
};

struct trace_writer {
	struct path_writer w;
	LLVMValueRef h; /* the history, in memory */
	LLVMValueRef n; /* turns of the loop that counts them, the same */
	bool is_last;   /* a flight recorder: keeps the history in the file */
	uint32_t here;  /* CAIRN_PLACE of the operation in hand */
	struct placed *placed;
	size_t nplaced, placed_cap;
};

static void place_before(struct trace_writer *t, LLVMValueRef at,
                         const struct trace_op *op)
{
	VEC_RESERVE(t->placed, t->nplaced, t->placed_cap);
	t->placed[t->nplaced++] = (struct placed){shim_place(at), op};
}

static bool is_at_top(const struct function *fn, edge_id e)
{
	enum edge_where where = fn->edges[e].where;

	return where == AT_ENTRY || where == AT_TOP || where == AT_FALL;
}

/* The edges at the tops of blocks, or the others. */
static void place_edges(struct trace_writer *t, bool at_top)
{
	const struct function *fn = t->w.m.fn;

	for (edge_id e = 0; e < fn->g.nedges; e++)
		if (fn->trace->on_edge[e] && is_at_top(fn, e) == at_top &&
		    fn->edges[e].where != AT_NOWHERE)
			place_before(t, marker_place_of_edge(&t->w.m, e),
			             fn->trace->on_edge[e]);
}

static void place_at_blocks(struct trace_writer *t, enum increment_place place)
{
	const struct function *fn = t->w.m.fn;
	const struct trace_op *ops = fn->trace->ops;

	for (uint32_t i = 0; i < fn->trace->nops; i++) {
		const struct node *node = &fn->nodes[ops[i].where];

		if (ops[i].place == place)
			place_before(t,
			             place == INCREMENT_AT_HEAD
			                     ? marker_top_of(node)
			                     : marker_end_of(node->block),
			             &ops[i]);
	}
}

static void place_all(struct trace_writer *t)
{
	const struct function *fn = t->w.m.fn;

	place_edges(t, true);
	place_at_blocks(t, INCREMENT_AT_HEAD);
	place_edges(t, false);
	place_at_blocks(t, INCREMENT_AT_END);
	/* from returns that must stay bare: on the ways into them */
	for (edge_id e = 0; e < fn->g.nedges; e++) {
		block_id b = fn->g.edges[e].src;

		if (fn->edges[e].where != AT_NOWHERE || !fn->trace->on_edge[e])
			continue;
		for (uint32_t k = fn->g.in_at[b]; k < fn->g.in_at[b + 1]; k++)
			place_before(t,
			             marker_place_of_edge(&t->w.m, fn->g.in[k]),
			             fn->trace->on_edge[e]);
	}
}

/* --- code ---------------------------------------------------------------- */

/* A word of CAIRN_RT_THREAD. */
static LLVMValueRef thread_word(struct trace_writer *t, uint64_t offset)
{
	struct marker *m = &t->w.m;
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

static LLVMValueRef build_asm(struct trace_writer *t, LLVMTypeRef type,
                              const char *text, const char *constraints,
                              LLVMValueRef *args, unsigned nargs)
{
	LLVMValueRef code = LLVMGetInlineAsm(
	        type, text, strlen(text), constraints, strlen(constraints),
	        true, false, LLVMInlineAsmDialectATT, false);

	return marker_ours(
	        LLVMBuildCall2(t->w.m.builder, type, code, args, nargs, ""));
}

#define STEP_OVER(name)             \
	"leaq -128(%rsp), %rsp\n\t" \
	"call " name "\n\t"         \
	"leaq 128(%rsp), %rsp"

/* A call of the runtime that changes no register but rax. */
static LLVMValueRef call_runtime(struct trace_writer *t, const char *name,
                                 LLVMValueRef rax)
{
	LLVMTypeRef i64 = t->w.m.i64;
	LLVMValueRef result;
	char place[48] = "", *text;

	if (t->is_last)
		snprintf(place, sizeof(place), "nopl %u(%%rax)\n\t",
		         CAIRN_PLACE_TAG | t->here);
	text = xasprintf("leaq -128(%%rsp), %%rsp\n\t"
	                 "call %s\n\t%s"
	                 "leaq 128(%%rsp), %%rsp",
	                 name, place);
	result = build_asm(t, LLVMFunctionType(i64, &i64, 1, false), text,
	                   "={rax},{rax},~{memory},~{dirflag},~{fpsr},~{flags}",
	                   &rax, 1);
	free(text);
	return result;
}

/* The address of n bytes that are ours.  The builder is at `place`, before and
 * after. */
static LLVMValueRef take_room(struct trace_writer *t, unsigned n,
                              LLVMValueRef place)
{
	struct marker *m = &t->w.m;
	LLVMBuilderRef b = m->builder;
	LLVMTypeRef types[2] = {m->ptr, m->i64};
	LLVMValueRef word = thread_word(t, CAIRN_RT_TRACE_AT);
	LLVMValueRef args[2] = {word, LLVMConstInt(m->i64, n, false)};
	LLVMValueRef at, limit, values[2], phi;
	LLVMBasicBlockRef blocks[2];
	struct path_fork f;

	at = build_asm(
	        t, LLVMFunctionType(m->i64, types, 2, false), "xaddq $0, $1",
	        "=r,*m,0,~{memory},~{dirflag},~{fpsr},~{flags}", args, 2);
	shim_set_element_type(at, m->i64);
	limit = marker_ours(LLVMBuildLoad2(
	        b, m->i64, thread_word(t, CAIRN_RT_TRACE_LIMIT), ""));
	LLVMSetVolatile(limit, true);
	f = pw_fork_before(&t->w, place);
	shim_set_unlikely(
	        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntUGE, at, limit, ""),
	                        f.rare, f.common));
	blocks[0] = f.common;
	blocks[1] = f.rare;
	values[0] = at;
	LLVMPositionBuilderAtEnd(b, f.common);
	LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderAtEnd(b, f.rare);
	values[1] = call_runtime(t, CAIRN_RT_TRACE_ROOM, at);
	LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(f.rest));
	phi = LLVMBuildPhi(b, m->i64, "cairn.at");
	LLVMAddIncoming(phi, values, blocks, 2);
	LLVMPositionBuilderBefore(b, place);
	return phi;
}

static void store(struct trace_writer *t, LLVMTypeRef type, LLVMValueRef value,
                  LLVMValueRef at, unsigned offset)
{
	struct marker *m = &t->w.m;
	LLVMBuilderRef b = m->builder;
	LLVMValueRef s;

	at = LLVMBuildAdd(b, at, LLVMConstInt(m->i64, offset, false), "");
	s = marker_ours(LLVMBuildStore(b, LLVMBuildTrunc(b, value, type, ""),
	                               LLVMBuildIntToPtr(b, at, m->ptr, "")));
	LLVMSetVolatile(s, true);
	LLVMSetAlignment(s, 1);
}

/* --- what a flight recorder keeps ----------------------------------------- */

static LLVMValueRef load_word(struct trace_writer *t, uint64_t offset)
{
	LLVMValueRef word = marker_ours(LLVMBuildLoad2(
	        t->w.m.builder, t->w.m.i64, thread_word(t, offset), ""));

	LLVMSetVolatile(word, true);
	return word;
}

/* The history so far, in the file. */
static void keep_history(struct trace_writer *t, LLVMValueRef h)
{
	if (t->is_last)
		store(t, t->w.m.i64, h, load_word(t, CAIRN_RT_TRACE_HEAD),
		      CAIRN_HEAD_HISTORY);
}

/* It was written. */
static void drop_history(struct trace_writer *t)
{
	LLVMValueRef at, head;

	if (!t->is_last)
		return;
	at = load_word(t, CAIRN_RT_TRACE_AT);
	head = load_word(t, CAIRN_RT_TRACE_HEAD);
	store(t, t->w.m.i64, pw_constant(&t->w, 0), head, CAIRN_HEAD_HISTORY);
	store(t, t->w.m.i64, at, head, CAIRN_HEAD_AT);
}

/* Before the mark of an entry: has a signal come in the middle of a history?
 * A thread that has written nothing yet has no head. */
static void hold_history(struct trace_writer *t, LLVMValueRef place)
{
	LLVMBuilderRef b = t->w.m.builder;
	LLVMValueRef head = load_word(t, CAIRN_RT_TRACE_HEAD), word, end;
	struct path_fork f = pw_fork_before(&t->w, place), g;

	shim_set_unlikely(LLVMBuildCondBr(
	        b, LLVMBuildICmp(b, LLVMIntEQ, head, pw_constant(&t->w, 0), ""),
	        f.rare, f.common));
	LLVMPositionBuilderAtEnd(b, f.rare);
	LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderAtEnd(b, f.common);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	word = marker_ours(LLVMBuildLoad2(
	        b, t->w.m.i64,
	        LLVMBuildIntToPtr(
	                b,
	                LLVMBuildAdd(b, head,
	                             pw_constant(&t->w, CAIRN_HEAD_HISTORY),
	                             ""),
	                t->w.m.ptr, ""),
	        ""));
	LLVMSetVolatile(word, true);
	g = pw_fork_before(&t->w, end);
	shim_set_unlikely(LLVMBuildCondBr(
	        b,
	        LLVMBuildICmp(b, LLVMIntUGT, word, pw_constant(&t->w, 1), ""),
	        g.rare, g.common));
	LLVMPositionBuilderAtEnd(b, g.common);
	LLVMBuildBr(b, g.rest);
	LLVMPositionBuilderAtEnd(b, g.rare);
	call_runtime(t, CAIRN_RT_TRACE_ROOM,
	             pw_constant(&t->w, CAIRN_TRACE_HOLD));
	LLVMBuildBr(b, g.rest);
	LLVMPositionBuilderBefore(b, place);
}

/* --- histories ----------------------------------------------------------- */

/* Writes a history of at most six bits. */
static void write_byte(struct trace_writer *t, LLVMValueRef h,
                       LLVMValueRef place)
{
	LLVMValueRef at = take_room(t, 1, place);

	store(t, LLVMInt8TypeInContext(t->w.m.context), h, at, 0);
}

/* Writes one of at most 31 bits, with its length before it. */
static void write_four(struct trace_writer *t, LLVMValueRef h,
                       LLVMValueRef place)
{
	LLVMContextRef context = t->w.m.context;
	LLVMValueRef at = take_room(t, 5, place);

	store(t, LLVMInt8TypeInContext(context),
	      pw_constant(&t->w, CAIRN_TRACE_WORD + 4), at, 0);
	store(t, LLVMInt32TypeInContext(context), h, at, 1);
}

/* One of two ways, by the greatest history that the first one can write. */
static void write_either(struct trace_writer *t, LLVMValueRef h, uint64_t most,
                         void (*small)(struct trace_writer *t, LLVMValueRef h,
                                       LLVMValueRef place),
                         void (*great)(struct trace_writer *t, LLVMValueRef h,
                                       LLVMValueRef place),
                         LLVMValueRef place)
{
	LLVMBuilderRef b = t->w.m.builder;
	struct path_fork f = pw_fork_before(&t->w, place);
	LLVMValueRef end;

	LLVMBuildCondBr(
	        b,
	        LLVMBuildICmp(b, LLVMIntUGT, h, pw_constant(&t->w, most), ""),
	        f.rare, f.common);
	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	great(t, h, end);
	LLVMPositionBuilderAtEnd(b, f.common);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	small(t, h, end);
	LLVMPositionBuilderBefore(b, place);
}

static void write_eight(struct trace_writer *t, LLVMValueRef h,
                        LLVMValueRef place)
{
	(void)place;
	call_runtime(t, CAIRN_RT_TRACE_WORD, h);
}

static void write_great(struct trace_writer *t, LLVMValueRef h,
                        LLVMValueRef place)
{
	write_either(t, h, UINT32_MAX, write_four, write_eight, place);
}

/* Writes one of at most so many bits. */
static void write_word(struct trace_writer *t, LLVMValueRef h, unsigned most,
                       LLVMValueRef place)
{
	if (most <= 6)
		write_byte(t, h, place);
	else
		write_either(t, h, CAIRN_TRACE_SMALL, write_byte,
		             most <= 31 ? write_four : write_great, place);
}

/*
 * What a history must be below not to be full.  In memory: no instruction has
 * so great a constant in it, and no register is to spare.
 */
static LLVMValueRef full_at(struct trace_writer *t)
{
	struct marker *m = &t->w.m;
	uint64_t full = m->fn->trace->codes.full;
	LLVMValueRef g, word;

	if (full != CODES_FULL)
		return pw_constant(&t->w, full);
	g = LLVMGetNamedGlobal(m->module, CAIRN_RT_TRACE_MOST);
	if (!g) {
		g = LLVMAddGlobal(m->module, m->i64, CAIRN_RT_TRACE_MOST);
		LLVMSetVisibility(g, LLVMHiddenVisibility);
		LLVMSetGlobalConstant(g, true);
	}
	word = marker_ours(LLVMBuildLoad2(m->builder, m->i64, g, ""));
	LLVMSetVolatile(word, true);
	return word;
}

/* Writes a history if it is full.  Returns what it is then. */
static LLVMValueRef write_full(struct trace_writer *t, LLVMValueRef h,
                               LLVMValueRef place)
{
	LLVMBuilderRef b = t->w.m.builder;
	LLVMValueRef full = full_at(t);
	struct path_fork f = pw_fork_before(&t->w, place);
	LLVMValueRef values[2] = {h, pw_constant(&t->w, 1)}, phi;
	LLVMBasicBlockRef blocks[2] = {f.common, f.rare};

	shim_set_unlikely(
	        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntUGE, h, full, ""),
	                        f.rare, f.common));
	LLVMPositionBuilderAtEnd(b, f.rare);
	call_runtime(t, CAIRN_RT_TRACE_FULL, h);
	drop_history(t);
	LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderAtEnd(b, f.common);
	keep_history(t, h);
	LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(f.rest));
	phi = LLVMBuildPhi(b, t->w.m.i64, "cairn.history");
	LLVMAddIncoming(phi, values, blocks, 2);
	LLVMPositionBuilderBefore(b, place);
	return phi;
}

static LLVMValueRef shifted(struct trace_writer *t, LLVMValueRef h, unsigned by,
                            uint64_t add)
{
	LLVMBuilderRef b = t->w.m.builder;

	if (by)
		h = LLVMBuildShl(b, h, pw_constant(&t->w, by), "");
	return add ? pw_sum(&t->w, h, pw_constant(&t->w, add)) : h;
}

/* Writes a history, as if it were full, and how many turns a loop made. */
static void call_count(struct trace_writer *t, LLVMValueRef h, LLVMValueRef n)
{
	LLVMTypeRef types[2] = {t->w.m.i64, t->w.m.i64};
	LLVMValueRef args[2] = {h, n};

	build_asm(t,
	          LLVMFunctionType(LLVMVoidTypeInContext(t->w.m.context), types,
	                           2, false),
	          STEP_OVER(CAIRN_RT_TRACE_COUNT),
	          "{rax},{rdx},~{rax},~{memory},~{dirflag},~{fpsr},~{flags}",
	          args, 2);
}

/* The history behind a loop that has counted its turns. */
static LLVMValueRef leave_loop(struct trace_writer *t, const struct placed *p)
{
	const struct codes_op *op = p->op->op;
	const struct codes_loop *l =
	        &t->w.m.fn->trace->codes.loops[op->leaves_loop - 1];
	LLVMBuilderRef b = t->w.m.builder;
	LLVMValueRef h = shifted(t, pw_get(&t->w, t->h), op->shift, 0);
	LLVMValueRef n = pw_get(&t->w, t->n);
	LLVMValueRef most = pw_constant(&t->w, CODES_COUNT_MAX);
	struct path_fork f = pw_fork_before(&t->w, p->at);
	LLVMValueRef values[2], phi;
	LLVMBasicBlockRef blocks[2] = {f.common, f.rare};

	shim_set_unlikely(
	        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntUGE, n, most, ""),
	                        f.rare, f.common));
	LLVMPositionBuilderAtEnd(b, f.common);
	values[0] = pw_sum(&t->w, h, shifted(t, n, l->bits, op->add));
	LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderAtEnd(b, f.rare);
	call_count(t,
	           pw_sum(&t->w, h,
	                  pw_constant(&t->w,
	                              (CODES_COUNT_MAX << l->bits) + op->add)),
	           n);
	values[1] = pw_constant(&t->w, 1);
	LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(f.rest));
	phi = LLVMBuildPhi(b, t->w.m.i64, "cairn.history");
	LLVMAddIncoming(phi, values, blocks, 2);
	LLVMPositionBuilderBefore(b, p->at);
	return phi;
}

static void count_turn(struct trace_writer *t)
{
	pw_set(&t->w, t->n,
	       pw_sum(&t->w, pw_get(&t->w, t->n), pw_constant(&t->w, 1)));
}

static void write_witness(struct trace_writer *t, const struct placed *p)
{
	LLVMValueRef code = pw_constant(&t->w, p->op->witness);

	LLVMPositionBuilderBefore(t->w.m.builder, p->at);
	if (p->op->witness <= WITNESS_LAST)
		write_byte(t, code, p->at);
	else
		write_four(t, code, p->at);
	LLVMInstructionEraseFromParent(p->at);
}

/* What RESUME says of an operation.  One whose number is too great is nowhere:
 * an edge that there is not. */
static uint32_t place_of(const struct codes_op *op)
{
	uint32_t kind = op->place == INCREMENT_ON_EDGE   ? CAIRN_PLACE_EDGE
	                : op->place == INCREMENT_AT_HEAD ? CAIRN_PLACE_TOP
	                                                 : CAIRN_PLACE_END;

	if (op->where >= CAIRN_PLACE_WHERE)
		return CAIRN_PLACE_WHERE;
	return kind << CAIRN_PLACE_KIND_SHIFT | op->where;
}

static void write_op(struct trace_writer *t, const struct placed *p)
{
	const struct codes_op *op = p->op->op;
	LLVMValueRef h;

	if (!op) {
		write_witness(t, p);
		return;
	}
	LLVMPositionBuilderBefore(t->w.m.builder, p->at);
	t->here = place_of(op);
	if (op->turns_loop) {
		count_turn(t);
		LLVMInstructionEraseFromParent(p->at);
		return;
	}
	if (op->leaves_loop)
		h = leave_loop(t, p);
	else
		h = shifted(t, pw_get(&t->w, t->h), op->shift, op->add);
	if (op->enters_loop)
		pw_set(&t->w, t->n, pw_constant(&t->w, 0));
	if (op->ends && op->end == CODES_GOES_ON)
		h = write_full(t, h, p->at);
	else if (op->ends && op->end == CODES_WRITES)
		write_word(t, h, op->most, p->at);
	if (op->ends && op->end == CODES_WRITES)
		drop_history(t);
	if (op->ends && op->end != CODES_GOES_ON)
		h = pw_constant(&t->w, 1);
	pw_set(&t->w, t->h, shifted(t, h, op->next_shift, op->next_add));
	LLVMInstructionEraseFromParent(p->at);
}

/* Marks, at a place, that a function is entered. */
static void write_mark(struct trace_writer *t, LLVMValueRef place,
                       LLVMValueRef here)
{
	LLVMContextRef context = t->w.m.context;
	LLVMValueRef at;

	t->here = CAIRN_PLACE_ENTER << CAIRN_PLACE_KIND_SHIFT;
	if (t->is_last)
		hold_history(t, place);
	at = take_room(t, 5, place);
	store(t, LLVMInt8TypeInContext(context),
	      pw_constant(&t->w, CAIRN_TRACE_ENTER), at, 0);
	if (!here)
		here = build_asm(t,
		                 LLVMFunctionType(t->w.m.i64, NULL, 0, false),
		                 "leaq (%rip), $0", "=r", NULL, 0);
	store(t, LLVMInt32TypeInContext(context), here, at, 1);
}

/* At the top of the function. */
static void write_enter(struct trace_writer *t)
{
	struct marker *m = &t->w.m;
	LLVMValueRef place = shim_after_allocas(m->fn->f);
	LLVMBasicBlockRef entry = LLVMGetInstructionParent(place);

	LLVMPositionBuilderBefore(m->builder, place);
	if (!m->fn->trace->has_witness) {
		pw_set(&t->w, t->h, pw_constant(&t->w, 1));
		pw_set(&t->w, t->n, pw_constant(&t->w, 0));
	}
	m->fn->nodes[1].first = place;
	if (!trace_is_announced(m->fn->f))
		return;
	write_mark(t, place, NULL);
	for (block_id i = 1; i < m->fn->g.nblocks; i++)
		if (m->fn->nodes[i].block == entry) /* all its parts */
			m->fn->nodes[i].block = LLVMGetInstructionParent(place);
}

/* What a block log is written with. */
struct block_log {
	struct marker *m;
	LLVMTypeRef type;
	LLVMValueRef log;
};

static void log_block(const struct block_log *l, block_id b,
                      LLVMValueRef before)
{
	LLVMValueRef args[2] = {l->m->fn->f, LLVMConstInt(l->m->i64, b, false)};

	LLVMPositionBuilderBefore(l->m->builder, before);
	LLVMBuildCall2(l->m->builder, l->type, l->log, args, 2, "");
}

/*
 * For proofs: a call in every block of CAIRN_TRACE_LOG, a function that is not
 * ours, with the function and the number of the block.  A return that is
 * nothing else is logged before the tail call that it follows: after the block
 * of that call, which may begin with it, and so is done before.
 */
static void log_blocks(struct trace_writer *t)
{
	struct marker *m = &t->w.m;
	LLVMTypeRef types[2] = {m->ptr, m->i64};
	struct block_log l = {
	        .m = m,
	        .type = LLVMFunctionType(LLVMVoidTypeInContext(m->context),
	                                 types, 2, false),
	        .log = LLVMGetNamedFunction(m->module, CAIRN_TRACE_LOG)};
	const struct cfg *g = &m->fn->g;

	if (!l.log)
		l.log = LLVMAddFunction(m->module, CAIRN_TRACE_LOG, l.type);
	for (block_id b = 1; b < g->nblocks; b++)
		if (!m->fn->nodes[b].is_bare_return)
			log_block(&l, b, marker_top_of(&m->fn->nodes[b]));
	for (block_id b = 1; b < g->nblocks; b++) {
		if (!m->fn->nodes[b].is_bare_return)
			continue;
		for (uint32_t i = g->in_at[b]; i < g->in_at[b + 1]; i++)
			log_block(&l, b, marker_place_of_edge(m, g->in[i]));
	}
}

void mark_entry(LLVMValueRef f, const struct mode *mode)
{
	struct function fn = {.f = f};
	struct trace_writer t = {0};
	LLVMValueRef call = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f));

	marker_init(&t.w.m, &fn, mode);
	t.is_last = mode->last != 0;
	LLVMPositionBuilderBefore(t.w.m.builder, call);
	write_mark(&t, call,
	           LLVMBuildPtrToInt(t.w.m.builder, shim_entry_of(f), t.w.m.i64,
	                             ""));
	LLVMDisposeBuilder(t.w.m.builder);
}

void mark_trace(struct function *fn, const struct mode *mode)
{
	struct trace_writer t = {0};

	marker_init(&t.w.m, fn, mode);
	t.is_last = mode->last != 0;
	t.w.m.probes = false;
	LLVMPositionBuilderBefore(
	        t.w.m.builder,
	        LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn->f)));
	if (!fn->trace->has_witness) {
		t.h = LLVMBuildAlloca(t.w.m.builder, t.w.m.i64,
		                      "cairn.history");
		t.n = LLVMBuildAlloca(t.w.m.builder, t.w.m.i64, "cairn.turns");
	}
	marker_keep_last_calls(fn);
	write_enter(&t);
	if (mode->log)
		log_blocks(&t);
	place_all(&t);
	for (uint32_t i = 0; i < fn->nsites; i++)
		shim_add_site(fn->sites[i].call, i, NULL);
	for (size_t i = 0; i < t.nplaced; i++)
		write_op(&t, &t.placed[i]);
	if (t.h && !shim_is_not_optimized(fn->f)) {
		shim_promote(t.h);
		shim_promote(t.n);
	}
	shim_prepare_function(fn->f, true);
	shim_pin(fn->f);
	LLVMDisposeBuilder(t.w.m.builder);
	free(t.placed);
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
