/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks that write traces: the code of what trace.c has chosen.
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
#include "plugin/trace_function.h"

#include "abi/rt.h"
#include "abi/trace.h"
#include "base/alloc.h"
#include "plugin/path_writer.h"
#include "plugin/shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
		if (fn->trace->on_edge[e] && is_at_top(fn, e) == at_top)
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
	place_edges(t, true);
	place_at_blocks(t, INCREMENT_AT_HEAD);
	place_edges(t, false);
	place_at_blocks(t, INCREMENT_AT_END);
}

/* --- code ---------------------------------------------------------------- */

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
	LLVMValueRef word = marker_thread_word(&t->w.m, CAIRN_RT_TRACE_AT);
	LLVMValueRef args[2] = {word, LLVMConstInt(m->i64, n, false)};
	LLVMValueRef at, limit, values[2], phi;
	LLVMBasicBlockRef blocks[2];
	struct path_fork f;

	at = build_asm(
	        t, LLVMFunctionType(m->i64, types, 2, false), "xaddq $0, $1",
	        "=r,*m,0,~{memory},~{dirflag},~{fpsr},~{flags}", args, 2);
	shim_set_element_type(at, m->i64);
	limit = marker_ours(LLVMBuildLoad2(
	        b, m->i64, marker_thread_word(&t->w.m, CAIRN_RT_TRACE_LIMIT),
	        ""));
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
	LLVMValueRef word = marker_ours(
	        LLVMBuildLoad2(t->w.m.builder, t->w.m.i64,
	                       marker_thread_word(&t->w.m, offset), ""));

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

/* The operation that ends the history before a call, or NULL. */
static const struct codes_op *end_before(const struct function *fn,
                                         block_id call)
{
	for (uint32_t i = fn->g.in_at[call]; i < fn->g.in_at[call + 1]; i++) {
		const struct trace_op *op = fn->trace->on_edge[fn->g.in[i]];

		if (op && op->op && op->op->ends &&
		    op->op->end != CODES_GOES_ON)
			return op->op;
	}
	return NULL;
}

/*
 * Behind a call that comes back twice the history is as it was before it: a
 * handler may have jumped there from further on in this frame, which had a
 * longer one.  Before all else is placed there.
 */
static void begin_again(struct trace_writer *t)
{
	const struct function *fn = t->w.m.fn;

	for (uint32_t i = 0; t->h && i < fn->nsites; i++) {
		LLVMValueRef call = fn->sites[i].call;
		const struct codes_op *op;

		if (LLVMIsATerminatorInst(call) || !shim_returns_twice(call))
			continue;
		op = end_before(fn, fn->sites[i].block);
		if (!op)
			continue;
		LLVMPositionBuilderBefore(t->w.m.builder,
		                          LLVMGetNextInstruction(call));
		drop_history(t);
		pw_set(&t->w, t->h,
		       shifted(t, pw_constant(&t->w, 1), op->next_shift,
		               op->next_add));
	}
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
 * ours, with the function and the number of the block.
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

	if (!l.log)
		l.log = LLVMAddFunction(m->module, CAIRN_TRACE_LOG, l.type);
	for (block_id b = 1; b < m->fn->g.nblocks; b++)
		log_block(&l, b, marker_top_of(&m->fn->nodes[b]));
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
	marker_keep_last_calls(&t.w.m);
	write_enter(&t);
	if (mode->log)
		log_blocks(&t);
	begin_again(&t);
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
