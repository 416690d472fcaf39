/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From canonical IR to replay code.
 *
 * Memory is that of the recorded program (replay/shadow.h): every load and
 * store goes to address space 256, after a look whether the next event is an
 * input of it.  A tick is a countdown to the next event.  Calls of functions
 * that had marks are calls; what foreign code did is in the log, and the engine
 * does it.
 *
 * Frames that are left by a throw or longjmp return one by one: behind every
 * call stands a test of `unwinding`, which names the cell of the landing pad or
 * setjmp that was reached.  A frame whose pad it is goes there; a frame that
 * called that setjmp, too: such functions have one block more, from which it
 * jumps behind each of its setjmps.  No value may then be in a register that
 * was assigned on another way: all are put into memory before, and back
 * afterwards.
 *
 * Everything else is left as it is, so that the code generator makes of it what
 * it made in the recorded program.
 *
 * Invariant: cells are those of ir/sites.c, which saw the IR before any change.
 * Cost: linear in instructions, but for functions that call setjmp.
 */
#include "replay/rewrite.h"

#include "abi/record.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/ptrmap.h"
#include "ir/sites.h"
#include "replay/points.h"
#include "replay/shadow.h"
#include "replay/shim.h"
#include "replay/state.h"
#include "replay/steps.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>

#define SHADOW_SPACE 256

struct helper {
	LLVMTypeRef type;
	LLVMValueRef f;
};

struct function {
	struct ir_function ir;
	LLVMValueRef f, cells;
	bool has_marks;
	unsigned number;
	LLVMValueRef *callees;     /* of each site of kind IR_KNOWN */
	int *which;                /* of each site of kind IR_READ, IR_LINKED */
	struct ptrmap pads;        /* landing pads to cells */
	LLVMValueRef first;        /* instruction that is no alloca */
	LLVMBasicBlockRef out;     /* where it leaves while unwinding */
	LLVMBasicBlockRef *behind; /* per site of kind IR_TWICE */
	LLVMValueRef *frames;      /* and the frame that called it */
	LLVMValueRef *nodes;       /* and its node, if steps are shown */
	struct points *points;     /* NULL: frames are not written */
	LLVMValueRef *calls;       /* per site: the call of code with marks */
};

struct rewriter {
	LLVMModuleRef m;
	LLVMContextRef context;
	LLVMBuilderRef b;
	LLVMTargetDataRef layout;
	LLVMTypeRef none, i8, i64, pointer, shadow;
	LLVMValueRef state;
	struct helper arm, in, find, foreign, handed, copy, set, read, env,
	        fault, land, again, resume, stop, tell, wrote, save, lost, take,
	        next, back;
	const char *name;
	const struct rewrite_options *options;
	const struct rewrite_again *only; /* NULL: all functions */
	struct cairn_err *err;
	LLVMValueRef *table; /* what the unit defines, and what it calls */
	uint32_t ntable;
	LLVMValueRef externs; /* the address of CAIRN_IR_EXTERNS, or NULL */
	struct function *functions;
	unsigned nfunctions;
};

/* The IR is what no compiler of ours should write. */
#define REMEDY                                                            \
	"build the program again with this version of Cairn, and report " \
	"it if that does not help"

static int refuse(struct rewriter *r, LLVMValueRef f, const char *what)
{
	size_t n;

	return cairn_fail(r->err, CAIRN_E_CORRUPT,
	                  "%s: %s %s, which cannot be replayed; " REMEDY,
	                  r->name, LLVMGetValueName2(f, &n), what);
}

/* --- pieces of code ------------------------------------------------------ */

static LLVMValueRef number(struct rewriter *r, uint64_t v)
{
	return LLVMConstInt(r->i64, v, 0);
}

static LLVMValueRef add_bytes(struct rewriter *r, LLVMValueRef base,
                              uint64_t offset)
{
	LLVMValueRef index = number(r, offset);

	return LLVMConstGEP2(r->i8, base, &index, 1);
}

static LLVMValueRef cell_pointer(struct rewriter *r, const struct function *fn,
                                 uint32_t cell)
{
	return add_bytes(r, fn->cells, 8 * (uint64_t)cell);
}

static LLVMValueRef cell_number(struct rewriter *r, const struct function *fn,
                                uint32_t cell)
{
	return LLVMConstPtrToInt(cell_pointer(r, fn, cell), r->i64);
}

static LLVMValueRef load_state(struct rewriter *r, size_t field)
{
	return LLVMBuildLoad2(r->b, r->i64, add_bytes(r, r->state, field), "");
}

#define FIELD(name) offsetof(struct replay_state, name)

static LLVMValueRef call_helper(struct rewriter *r, const struct helper *h,
                                LLVMValueRef *args, unsigned n)
{
	LLVMValueRef call = LLVMBuildCall2(r->b, h->type, h->f, args, n, "");

	LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(h->f));
	return call;
}

static LLVMValueRef line_of(struct rewriter *r, LLVMValueRef instruction)
{
	return number(r, replay_shim_line(instruction));
}

/* A tick, before an instruction.  Returns the end of the way on which the
 * engine was called. */
static LLVMValueRef put_bare_tick(struct rewriter *r, const struct function *fn,
                                  uint32_t by, uint64_t flags,
                                  LLVMValueRef before)
{
	uint64_t line = replay_shim_line(before) | flags;
	LLVMValueRef args[] = {cell_number(r, fn, 0), number(r, line)};
	LLVMValueRef left, end;

	LLVMPositionBuilderBefore(r->b, before);
	left = LLVMBuildSub(r->b, load_state(r, FIELD(left)), number(r, by),
	                    "");
	LLVMBuildStore(r->b, left, add_bytes(r, r->state, FIELD(left)));
	left = LLVMBuildICmp(r->b, LLVMIntSLE, left, number(r, 0), "");
	end = replay_shim_if(left, before, true);
	LLVMPositionBuilderBefore(r->b, end);
	call_helper(r, &r->arm, args, 2);
	return end;
}

/* Where a frame is left, it may be written. */
static void put_point(const struct function *fn, uint32_t point,
                      LLVMValueRef check, LLVMValueRef leave)
{
	if (fn->points && point != POINTS_NONE)
		points_leave(fn->points, point, check, leave);
}

/* Leaves, before an instruction, if frames are being left. */
static void put_leave(struct rewriter *r, const struct function *fn,
                      uint32_t point, LLVMValueRef before)
{
	LLVMValueRef check, u, end;

	LLVMPositionBuilderBefore(r->b, before);
	check = load_state(r, FIELD(unwinding));
	u = LLVMBuildICmp(r->b, LLVMIntNE, check, number(r, 0), "");
	end = replay_shim_if(u, before, true);
	LLVMPositionBuilderBefore(r->b, end);
	put_point(fn, point, check, LLVMBuildBr(r->b, fn->out));
	LLVMInstructionEraseFromParent(end);
}

/* A tick where frames are not being left, but may be from here on: if a handler
 * of a signal has jumped away. */
static void put_tick(struct rewriter *r, const struct function *fn, uint32_t by,
                     uint32_t point, LLVMValueRef before)
{
	uint64_t flags =
	        fn->points && point != POINTS_NONE ? REPLAY_CAN_SAVE : 0;

	put_leave(r, fn, point, put_bare_tick(r, fn, by, flags, before));
}

/* The same before a site. */
static void put_tick_before(struct rewriter *r, const struct function *fn,
                            const struct ir_site *s)
{
	if (ir_ticks_before(s->kind))
		put_tick(r, fn, ir_tick_before(&fn->ir, s), POINTS_NONE, s->at);
}

/* Of a structure or array. */
static unsigned count_parts(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMStructTypeKind
	               ? LLVMCountStructElementTypes(type)
	               : (unsigned)LLVMGetArrayLength2(type);
}

static LLVMTypeRef part_of(LLVMTypeRef type, unsigned i)
{
	return LLVMGetTypeKind(type) == LLVMStructTypeKind
	               ? LLVMStructGetTypeAtIndex(type, i)
	               : LLVMGetElementType(type);
}

/* Before an instruction: is the next event an input of this cell?  Then it
 * goes to memory at p, or to the cell itself, if p is NULL. */
static void put_input(struct rewriter *r, const struct function *fn,
                      uint32_t cell, LLVMValueRef p, LLVMValueRef before)
{
	LLVMValueRef args[] = {cell_number(r, fn, cell),
	                       p ? p : LLVMConstNull(r->pointer)};
	LLVMValueRef hit;

	LLVMPositionBuilderBefore(r->b, before);
	hit = LLVMBuildICmp(r->b, LLVMIntEQ, load_state(r, FIELD(next_cell)),
	                    args[0], "");
	LLVMPositionBuilderBefore(r->b, replay_shim_if(hit, before, true));
	call_helper(r, &r->in, args, 2);
}

/* The same for every scalar and vector in a value of a type, whose cells begin
 * at *cell. */
static void put_inputs(struct rewriter *r, const struct function *fn,
                       LLVMTypeRef type, uint32_t *cell, LLVMValueRef before)
{
	LLVMTypeKind kind = LLVMGetTypeKind(type);
	unsigned n;

	if (kind == LLVMVoidTypeKind)
		return;
	if (kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind) {
		put_input(r, fn, *cell, NULL, before);
		*cell += ir_ncells(type, r->layout);
		return;
	}
	n = count_parts(type);
	for (unsigned i = 0; i < n; i++)
		put_inputs(r, fn, part_of(type, i), cell, before);
}

/* The value in cells from *cell on, at the builder's place. */
static LLVMValueRef get_value(struct rewriter *r, const struct function *fn,
                              LLVMTypeRef type, uint32_t *cell)
{
	LLVMTypeKind kind = LLVMGetTypeKind(type);
	LLVMValueRef v;
	unsigned n;

	if (kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind) {
		v = LLVMBuildLoad2(r->b, type, cell_pointer(r, fn, *cell), "");
		LLVMSetAlignment(v, 8);
		*cell += ir_ncells(type, r->layout);
		return v;
	}
	v = LLVMGetPoison(type);
	n = count_parts(type);
	for (unsigned i = 0; i < n; i++)
		v = LLVMBuildInsertValue(
		        r->b, v, get_value(r, fn, part_of(type, i), cell), i,
		        "");
	return v;
}

/* Before `before`: what is in its cells, inputs first, takes the place of an
 * instruction. */
static void take_value(struct rewriter *r, const struct function *fn,
                       const struct ir_site *s, LLVMValueRef before)
{
	uint32_t cell = s->cell;

	put_inputs(r, fn, LLVMTypeOf(s->at), &cell, before);
	if (!LLVMGetFirstUse(s->at))
		return;
	cell = s->cell;
	LLVMPositionBuilderBefore(r->b, before);
	LLVMReplaceAllUsesWith(s->at,
	                       get_value(r, fn, LLVMTypeOf(s->at), &cell));
}

static LLVMValueRef to_shadow(struct rewriter *r, LLVMValueRef p)
{
	return LLVMBuildIntToPtr(r->b, LLVMBuildPtrToInt(r->b, p, r->i64, ""),
	                         r->shadow, "");
}

/* Before an access of n bytes at p: they are seen. */
static void put_seen(struct rewriter *r, LLVMValueRef p, unsigned n,
                     LLVMValueRef before)
{
	LLVMTypeRef type = n > 8 ? LLVMVectorType(r->i8, n)
	                         : LLVMIntTypeInContext(r->context, 8 * n);
	LLVMValueRef at, store;

	LLVMPositionBuilderBefore(r->b, before);
	at = LLVMBuildSub(r->b, LLVMBuildPtrToInt(r->b, p, r->i64, ""),
	                  number(r, SHADOW_SEEN), "");
	store = LLVMBuildStore(r->b, LLVMConstAllOnes(type),
	                       LLVMBuildIntToPtr(r->b, at, r->shadow, ""));
	LLVMSetAlignment(store, 1);
}

static void build_return(struct rewriter *r, const struct function *fn)
{
	LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(fn->f));

	if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
		LLVMBuildRetVoid(r->b);
	else
		LLVMBuildRet(r->b, LLVMConstNull(type));
}

/* --- calls --------------------------------------------------------------- */

static void put_tick_after(struct rewriter *r, const struct function *fn,
                           const struct ir_site *s, LLVMValueRef before)
{
	if (s->ticks_after)
		put_tick(r, fn, ir_tick_after(&fn->ir, s), POINTS_NONE, before);
}

/* The block on the way from one to another. */
static LLVMBasicBlockRef add_between(struct rewriter *r,
                                     const struct function *fn,
                                     LLVMBasicBlockRef from,
                                     LLVMBasicBlockRef to)
{
	LLVMBasicBlockRef b =
	        LLVMAppendBasicBlockInContext(r->context, fn->f, "");

	LLVMPositionBuilderAtEnd(r->b, b);
	LLVMBuildBr(r->b, to);
	replay_shim_phis_from(to, from, b);
	return b;
}

/* An invoke becomes a call and branches; returns the call. */
static LLVMValueRef lower_invoke(struct rewriter *r, const struct function *fn,
                                 const struct ir_site *s, uint32_t point)
{
	LLVMValueRef invoke = s->at;
	LLVMBasicBlockRef block = LLVMGetInstructionParent(invoke);
	LLVMBasicBlockRef normal = LLVMGetNormalDest(invoke);
	LLVMBasicBlockRef pad = LLVMGetUnwindDest(invoke);
	LLVMBasicBlockRef leaves =
	        LLVMAppendBasicBlockInContext(r->context, fn->f, "");
	uint32_t cell = ptrmap_get(&fn->pads, pad);
	LLVMValueRef call = replay_shim_invoke_to_call(invoke);
	LLVMValueRef end = LLVMGetNextInstruction(call), u, c;

	if (s->ticks_after)
		normal = add_between(r, fn, block, normal);
	LLVMPositionBuilderBefore(r->b, end);
	u = load_state(r, FIELD(unwinding));
	c = LLVMBuildICmp(r->b, LLVMIntNE, u, number(r, 0), "");
	LLVMBuildCondBr(r->b, c, leaves, normal);
	LLVMInstructionEraseFromParent(end);
	LLVMPositionBuilderAtEnd(r->b, leaves);
	c = LLVMBuildICmp(r->b, LLVMIntEQ, u, cell_number(r, fn, cell), "");
	put_point(fn, point, u, LLVMBuildCondBr(r->b, c, pad, fn->out));
	replay_shim_phis_from(pad, block, leaves);
	put_tick_after(r, fn, s, LLVMGetBasicBlockTerminator(normal));
	return call;
}

/* Makes a call of it, with a test behind. */
static LLVMValueRef lower_call(struct rewriter *r, const struct function *fn,
                               const struct ir_site *s)
{
	uint32_t point = points_in(&fn->ir, (uint32_t)(s - fn->ir.sites));
	LLVMValueRef next;

	if (LLVMIsAInvokeInst(s->at))
		return lower_invoke(r, fn, s, point);
	replay_shim_strip_call(s->at);
	next = LLVMGetNextInstruction(s->at);
	put_leave(r, fn, point, next);
	put_tick_after(r, fn, s, next);
	return s->at;
}

/* Who called it at a point, when frames are made again: the call, and what it
 * returns. */
static void note_call(struct function *fn, uint32_t site, LLVMValueRef call,
                      LLVMValueRef result)
{
	fn->calls[site] = call;
	if (fn->points && result)
		points_result(fn->points, points_in(&fn->ir, site), result);
}

/* By FOREIGN, HANDED or BACK. */
static void call_foreign(struct rewriter *r, const struct function *fn,
                         const struct helper *how, const struct ir_site *s,
                         uint32_t cell, uint32_t n)
{
	uint64_t site = (uint64_t)(s - fn->ir.sites);
	LLVMValueRef args[] = {cell_number(r, fn, cell),
	                       number(r, site << REPLAY_SITE_SHIFT | n)};

	call_helper(r, how, args, 2);
}

/* The first cell of the result of a call. */
static uint32_t result_cell(const struct ir_site *s)
{
	return s->cell + (s->kind == IR_LINKED);
}

/* Looks, before an instruction, whether foreign code is to run for what was
 * called at a site, by a tail call.  Returns the result: NULL if it is void. */
static LLVMValueRef put_look(struct rewriter *r, const struct function *fn,
                             const struct ir_site *s, LLVMValueRef call,
                             LLVMValueRef before)
{
	LLVMTypeRef type = LLVMTypeOf(call);
	uint32_t cell = result_cell(s);
	LLVMValueRef is_handed, end, phi, values[2];
	LLVMBasicBlockRef blocks[2];

	LLVMPositionBuilderBefore(r->b, before);
	is_handed = LLVMBuildICmp(r->b, LLVMIntNE, load_state(r, FIELD(handed)),
	                          number(r, 0), "");
	end = replay_shim_if(is_handed, before, true);
	LLVMPositionBuilderBefore(r->b, end);
	call_foreign(r, fn, &r->handed, s, cell, ir_ncells(type, r->layout));
	if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
		return NULL;
	values[1] = get_value(r, fn, type, &cell);
	LLVMPositionBuilderBefore(r->b, before);
	phi = LLVMBuildPhi(r->b, type, "");
	LLVMReplaceAllUsesWith(call, phi);
	values[0] = call;
	blocks[0] = LLVMGetInstructionParent(is_handed);
	blocks[1] = LLVMGetInstructionParent(end);
	LLVMAddIncoming(phi, values, blocks, 2);
	return phi;
}

/* The body of the function at an address, before an instruction. */
static LLVMValueRef find_body(struct rewriter *r, LLVMValueRef address,
                              LLVMValueRef before)
{
	LLVMValueRef at, values[2], phi, miss, end;
	LLVMBasicBlockRef blocks[2];

	LLVMPositionBuilderBefore(r->b, before);
	at = LLVMBuildLShr(r->b, address, number(r, REPLAY_FOUND_SHIFT), "");
	at = LLVMBuildAnd(r->b, at, number(r, REPLAY_NFOUND - 1), "");
	at = LLVMBuildMul(r->b, at, number(r, sizeof(struct replay_found)), "");
	at = LLVMBuildGEP2(r->b, r->i8, add_bytes(r, r->state, FIELD(found)),
	                   &at, 1, "");
	miss = LLVMBuildICmp(r->b, LLVMIntNE, address,
	                     LLVMBuildLoad2(r->b, r->i64, at, ""), "");
	phi = number(r, offsetof(struct replay_found, body));
	at = LLVMBuildGEP2(r->b, r->i8, at, &phi, 1, "");
	values[0] = LLVMBuildLoad2(r->b, r->pointer, at, "");
	end = replay_shim_if(miss, before, true);
	LLVMPositionBuilderBefore(r->b, end);
	values[1] = call_helper(r, &r->find, &address, 1);
	blocks[0] = LLVMGetInstructionParent(miss);
	blocks[1] = LLVMGetInstructionParent(end);
	LLVMPositionBuilderBefore(r->b, before);
	phi = LLVMBuildPhi(r->b, r->pointer, "");
	LLVMAddIncoming(phi, values, blocks, 2);
	return phi;
}

/* A number, a pointer or a float as 64 bits; NULL if it is something else. */
static LLVMValueRef as_word(struct rewriter *r, LLVMValueRef v)
{
	LLVMTypeRef type = LLVMTypeOf(v);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(r->context);

	switch (LLVMGetTypeKind(type)) {
	case LLVMPointerTypeKind:
		return LLVMBuildPtrToInt(r->b, v, r->i64, "");
	case LLVMIntegerTypeKind:
		return LLVMGetIntTypeWidth(type) <= 64
		               ? LLVMBuildIntCast2(r->b, v, r->i64, 0, "")
		               : NULL;
	case LLVMDoubleTypeKind:
		return LLVMBuildBitCast(r->b, v, r->i64, "");
	case LLVMFloatTypeKind:
		v = LLVMBuildBitCast(r->b, v, i32, "");
		return LLVMBuildZExt(r->b, v, r->i64, "");
	default:
		return NULL;
	}
}

/* What is called, and with what, at the builder's place. */
static void put_arguments(struct rewriter *r, LLVMValueRef call,
                          LLVMValueRef callee)
{
	unsigned k = 0, n = LLVMGetNumArgOperands(call);

	LLVMBuildStore(r->b, callee, add_bytes(r, r->state, FIELD(callee)));
	for (unsigned i = 0; i < n && k < REPLAY_NARGS; i++) {
		LLVMValueRef v = as_word(r, LLVMGetOperand(call, i));

		if (v)
			LLVMBuildStore(
			        r->b, v,
			        add_bytes(r, r->state,
			                  FIELD(args) + 8 * (size_t)k++));
	}
	LLVMBuildStore(r->b, number(r, k),
	               add_bytes(r, r->state, FIELD(nargs)));
}

/* A call of the function that was at an address, which had marks, or of foreign
 * code; its result is in the cells from `cell` on. */
static void call_address(struct rewriter *r, struct function *fn, uint32_t i,
                         LLVMValueRef call, LLVMValueRef callee)
{
	const struct ir_site *s = &fn->ir.sites[i];
	LLVMValueRef g, then, otherwise, known, values[2], phi = NULL;
	LLVMBasicBlockRef blocks[2];
	uint32_t n = ir_ncells(LLVMTypeOf(call), r->layout);
	uint32_t cell = result_cell(s);

	g = find_body(r, callee, call);
	replay_shim_if_else(LLVMBuildICmp(r->b, LLVMIntNE, g,
	                                  LLVMConstNull(r->pointer), ""),
	                    call, &then, &otherwise);
	known = replay_shim_call_like(call, g, then);
	values[0] = put_look(r, fn, s, known, then);
	LLVMPositionBuilderBefore(r->b, otherwise);
	if (r->options->shows_calls)
		put_arguments(r, call, callee);
	call_foreign(r, fn, &r->foreign, s, cell, n);
	if (LLVMGetFirstUse(call)) {
		values[1] = get_value(r, fn, LLVMTypeOf(call), &cell);
		blocks[0] = LLVMGetInstructionParent(then);
		blocks[1] = LLVMGetInstructionParent(otherwise);
		LLVMPositionBuilderBefore(r->b, call);
		phi = LLVMBuildPhi(r->b, LLVMTypeOf(call), "");
		LLVMAddIncoming(phi, values, blocks, 2);
		LLVMReplaceAllUsesWith(call, phi);
	}
	LLVMInstructionEraseFromParent(call);
	note_call(fn, i, known, phi);
}

/* The frame ends here, before the end of a block, which it is now. */
static void tail_body(struct rewriter *r, LLVMValueRef call,
                      LLVMValueRef callee, LLVMValueRef end)
{
	LLVMValueRef result;

	LLVMPositionBuilderBefore(r->b, end);
	if (r->options->shows_steps)
		steps_put(r->b, r->m, STEP_RETURN);
	result = replay_shim_tail_like(call, callee, end);
	LLVMPositionBuilderBefore(r->b, end);
	if (LLVMGetTypeKind(LLVMGetReturnType(LLVMGlobalGetValueType(
	            LLVMGetBasicBlockParent(LLVMGetInstructionParent(end))))) ==
	    LLVMVoidTypeKind)
		LLVMBuildRetVoid(r->b);
	else
		LLVMBuildRet(r->b, result);
	replay_shim_cut(end);
}

/* A tail call of foreign code: the caller of this function does what that did,
 * when it has returned. */
static void tail_foreign(struct rewriter *r, const struct function *fn,
                         uint32_t i, LLVMValueRef call, LLVMValueRef callee,
                         LLVMValueRef end)
{
	const struct ir_site *s = &fn->ir.sites[i];

	LLVMPositionBuilderBefore(r->b, end);
	if (r->options->shows_calls)
		put_arguments(r, call, callee);
	LLVMBuildStore(r->b, cell_number(r, fn, result_cell(s)),
	               add_bytes(r, r->state, FIELD(handed)));
	LLVMBuildStore(r->b, number(r, i),
	               add_bytes(r, r->state, FIELD(handed_site)));
	build_return(r, fn);
	replay_shim_cut(end);
}

/* The tail call of a function at an address. */
static void tail_address(struct rewriter *r, const struct function *fn,
                         uint32_t i, LLVMValueRef call, LLVMValueRef callee)
{
	LLVMValueRef g = find_body(r, callee, call), then, otherwise;

	replay_shim_if_else(LLVMBuildICmp(r->b, LLVMIntNE, g,
	                                  LLVMConstNull(r->pointer), ""),
	                    call, &then, &otherwise);
	tail_body(r, call, g, then);
	tail_foreign(r, fn, i, call, callee, otherwise);
	LLVMDeleteBasicBlock(LLVMGetInstructionParent(call));
}

static void rewrite_known(struct rewriter *r, struct function *fn, uint32_t i)
{
	const struct ir_site *s = &fn->ir.sites[i];
	LLVMValueRef call, result;

	if (s->is_tail) {
		tail_body(r, s->at, LLVMGetCalledValue(s->at), s->at);
		return;
	}
	result = call = lower_call(r, fn, s);
	if (s->looks)
		result = put_look(r, fn, s, call, LLVMGetNextInstruction(call));
	note_call(fn, i, call, result);
}

/* A call becomes one of an address. */
static void rewrite_address(struct rewriter *r, struct function *fn, uint32_t i,
                            LLVMValueRef call, LLVMValueRef callee)
{
	if (fn->ir.sites[i].is_tail)
		tail_address(r, fn, i, call, callee);
	else
		call_address(r, fn, i, call, callee);
}

/* Lowers it, unless it is a tail call. */
static LLVMValueRef begin_address(struct rewriter *r, const struct function *fn,
                                  uint32_t i)
{
	const struct ir_site *s = &fn->ir.sites[i];

	return s->is_tail ? s->at : lower_call(r, fn, s);
}

static void rewrite_call(struct rewriter *r, struct function *fn, uint32_t i)
{
	LLVMValueRef call, callee;

	put_tick_before(r, fn, &fn->ir.sites[i]);
	call = begin_address(r, fn, i);
	LLVMPositionBuilderBefore(r->b, call);
	callee = LLVMBuildPtrToInt(r->b, LLVMGetCalledValue(call), r->i64, "");
	rewrite_address(r, fn, i, call, callee);
}

/* What the table of globals of other files has for a call, before an
 * instruction. */
static LLVMValueRef load_callee(struct rewriter *r, const struct function *fn,
                                const struct ir_site *s, LLVMValueRef before)
{
	uint64_t which = (uint64_t)fn->which[s - fn->ir.sites];
	LLVMValueRef at = add_bytes(r, r->externs, 8 * which);

	put_input(r, fn, s->cell, at, before);
	if (r->options->notes_seen)
		put_seen(r, at, 8, before);
	LLVMPositionBuilderBefore(r->b, before);
	return LLVMBuildLoad2(r->b, r->i64, to_shadow(r, at), "");
}

/* The linker knew whom it calls, or it was a call of anything. */
static void rewrite_linked(struct rewriter *r, struct function *fn, uint32_t i)
{
	const struct ir_site *s = &fn->ir.sites[i];
	LLVMValueRef call, is_none, end, phi, values[2];
	LLVMBasicBlockRef blocks[2];

	call = begin_address(r, fn, i);
	LLVMPositionBuilderBefore(r->b, call);
	values[0] =
	        LLVMBuildPtrToInt(r->b, LLVMGetCalledValue(call), r->i64, "");
	is_none = LLVMBuildICmp(r->b, LLVMIntEQ, values[0],
	                        number(r, REPLAY_NOWHERE), "");
	blocks[0] = LLVMGetInstructionParent(call);
	end = replay_shim_if(is_none, call, true);
	put_tick(r, fn, ir_tick_before(&fn->ir, s), POINTS_NONE, end);
	values[1] = load_callee(r, fn, s, end);
	blocks[1] = LLVMGetInstructionParent(end);
	LLVMPositionBuilderBefore(r->b, call);
	phi = LLVMBuildPhi(r->b, r->i64, "");
	LLVMAddIncoming(phi, values, blocks, 2);
	rewrite_address(r, fn, i, call, phi);
}

/* --- setjmp -------------------------------------------------------------- */

/* What stands behind such a call, before an instruction. */
static void put_behind(struct rewriter *r, const struct function *fn,
                       uint32_t i, LLVMValueRef next)
{
	const struct ir_site *s = &fn->ir.sites[i];
	LLVMValueRef args[2] = {cell_number(r, fn, s->cell)}, u;

	if (ir_ticks_behind(s->kind))
		put_bare_tick(r, fn, IR_TICK_BEHIND, 0, next);
	LLVMPositionBuilderBefore(r->b, next);
	u = LLVMBuildICmp(r->b, LLVMIntNE, load_state(r, FIELD(unwinding)),
	                  number(r, 0), "");
	LLVMPositionBuilderBefore(r->b, replay_shim_if(u, next, true));
	if (fn->nodes[i])
		steps_put_again(r->b, r->m, fn->nodes[i]);
	args[1] = LLVMBuildLoad2(r->b, r->i64, fn->frames[i], "");
	call_helper(r, &r->again, args, 2);
	take_value(r, fn, s, next);
}

/* Where the frame is kept that makes the call; 0: it did not yet. */
static LLVMValueRef add_frame(struct rewriter *r, const struct function *fn)
{
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(fn->f);
	LLVMValueRef frame;

	LLVMPositionBuilderBefore(r->b, LLVMGetFirstInstruction(entry));
	frame = LLVMBuildAlloca(r->b, r->i64, "");
	LLVMPositionBuilderBefore(r->b, fn->first);
	LLVMBuildStore(r->b, number(r, 0), frame);
	return frame;
}

/* Before other sites: a block begins behind each such call, and no value is in
 * a register from block to block. */
static void prepare_twice(struct rewriter *r, struct function *fn)
{
	bool found = false;

	fn->behind = xcalloc((size_t)fn->ir.nsites + 1, sizeof(*fn->behind));
	fn->frames = xcalloc((size_t)fn->ir.nsites + 1, sizeof(*fn->frames));
	fn->nodes = xcalloc((size_t)fn->ir.nsites + 1, sizeof(*fn->nodes));
	for (uint32_t i = 0; i < fn->ir.nsites; i++) {
		struct ir_site *s = &fn->ir.sites[i];

		if (s->kind != IR_TWICE)
			continue;
		found = true;
		if (r->options->shows_steps)
			fn->nodes[i] = steps_node_of(s->at);
		if (LLVMIsAInvokeInst(s->at))
			s->at = lower_invoke(r, fn, s, POINTS_NONE);
		fn->frames[i] = add_frame(r, fn);
		if (fn->points)
			points_add_variable(fn->points, fn->frames[i]);
		fn->behind[i] =
		        replay_shim_split(LLVMGetNextInstruction(s->at));
		put_behind(r, fn, i, LLVMGetFirstInstruction(fn->behind[i]));
	}
	if (found)
		replay_shim_demote(fn->f);
}

/* At the end of a block: a frame that is left here is not written. */
static void put_lost(struct rewriter *r)
{
	LLVMValueRef u = load_state(r, FIELD(unwinding));
	LLVMBasicBlockRef block = LLVMGetInsertBlock(r->b), lost, next;
	LLVMValueRef f = LLVMGetBasicBlockParent(block);

	lost = LLVMAppendBasicBlockInContext(r->context, f, "");
	next = LLVMAppendBasicBlockInContext(r->context, f, "");
	u = LLVMBuildICmp(r->b, LLVMIntEQ, u, number(r, REPLAY_SAVING), "");
	LLVMBuildCondBr(r->b, u, lost, next);
	LLVMPositionBuilderAtEnd(r->b, lost);
	call_helper(r, &r->lost, NULL, 0);
	LLVMBuildBr(r->b, next);
	LLVMPositionBuilderAtEnd(r->b, next);
}

/* The block that a frame being left comes to: behind a setjmp of this
 * activation, or out. */
static void fill_out(struct rewriter *r, const struct function *fn)
{
	LLVMPositionBuilderAtEnd(r->b, fn->out);
	for (uint32_t i = 0; i < fn->ir.nsites; i++) {
		LLVMBasicBlockRef next;
		LLVMValueRef a, b;

		if (!fn->behind[i])
			continue;
		next = LLVMAppendBasicBlockInContext(r->context, fn->f, "");
		a = LLVMBuildICmp(r->b, LLVMIntEQ,
		                  load_state(r, FIELD(unwinding)),
		                  cell_number(r, fn, fn->ir.sites[i].cell), "");
		b = LLVMBuildLoad2(r->b, r->i64, fn->frames[i], "");
		b = LLVMBuildICmp(r->b, LLVMIntEQ, b,
		                  load_state(r, FIELD(frame)), "");
		LLVMBuildCondBr(r->b, LLVMBuildAnd(r->b, a, b, ""),
		                fn->behind[i], next);
		LLVMPositionBuilderAtEnd(r->b, next);
	}
	if (fn->points)
		put_lost(r);
	if (r->options->shows_steps)
		steps_put(r->b, r->m, STEP_OUT);
	build_return(r, fn);
}

static void rewrite_twice(struct rewriter *r, const struct function *fn,
                          uint32_t i)
{
	const struct ir_site *s = &fn->ir.sites[i];

	put_tick_before(r, fn, s);
	LLVMPositionBuilderBefore(r->b, s->at);
	LLVMBuildStore(r->b, load_state(r, FIELD(record) + CAIRN_RECORD_STACK),
	               fn->frames[i]);
	call_foreign(r, fn, &r->foreign, s, s->cell, 0);
	put_leave(r, fn, POINTS_NONE, s->at);
	LLVMInstructionEraseFromParent(s->at);
}

/* --- stores that somebody watches ---------------------------------------- */

static void call_wrote(struct rewriter *r, const struct function *fn,
                       uint32_t i, enum replay_wrote how, LLVMValueRef p,
                       LLVMValueRef n)
{
	uint64_t what = (uint64_t)i << REPLAY_SITE_SHIFT | (uint64_t)how;
	LLVMValueRef args[] = {cell_number(r, fn, 0), number(r, what), p, n};

	call_helper(r, &r->wrote, args, 4);
}

/* Behind a store of n bytes to p: p + n - 1 is less than n - 1 bytes behind
 * what is watched, or in it. */
static void put_watch(struct rewriter *r, const struct function *fn, uint32_t i,
                      LLVMValueRef p, uint64_t n)
{
	LLVMValueRef at = fn->ir.sites[i].at, next, d, size;
	enum replay_wrote how = fn->ir.sites[i].kind == IR_CMPXCHG
	                                ? REPLAY_WROTE_MAYBE
	                                : REPLAY_WROTE_STORE;

	next = LLVMGetNextInstruction(at);
	LLVMPositionBuilderBefore(r->b, next);
	d = LLVMBuildPtrToInt(r->b, p, r->i64, "");
	d = LLVMBuildSub(r->b, d, load_state(r, FIELD(watched)), "");
	d = LLVMBuildAdd(r->b, d, number(r, n - 1), "");
	size = LLVMBuildAdd(r->b, load_state(r, FIELD(nwatched)),
	                    number(r, n - 1), "");
	d = LLVMBuildICmp(r->b, LLVMIntULT, d, size, "");
	LLVMPositionBuilderBefore(r->b, replay_shim_if(d, next, true));
	call_wrote(r, fn, i, how, p, number(r, n));
}

/* --- other sites --------------------------------------------------------- */

static unsigned bytes_of(struct rewriter *r, const struct ir_site *s)
{
	LLVMTypeRef type = LLVMTypeOf(s->at);

	if (s->kind == IR_STORE)
		type = LLVMTypeOf(LLVMGetOperand(s->at, 0));
	else if (s->kind == IR_CMPXCHG)
		type = LLVMTypeOf(LLVMGetOperand(s->at, 1));
	return (unsigned)LLVMStoreSizeOfType(r->layout, type);
}

static void rewrite_memory(struct rewriter *r, const struct function *fn,
                           uint32_t i)
{
	const struct ir_site *s = &fn->ir.sites[i];
	unsigned at = s->kind == IR_STORE ? 1 : 0;
	LLVMValueRef p = LLVMGetOperand(s->at, at);

	if (s->ncells)
		put_input(r, fn, s->cell, p, s->at);
	if (r->options->notes_seen)
		put_seen(r, p, bytes_of(r, s), s->at);
	LLVMPositionBuilderBefore(r->b, s->at);
	LLVMSetOperand(s->at, at, to_shadow(r, p));
	if (s->kind != IR_RMW && s->kind != IR_CMPXCHG)
		LLVMSetOrdering(s->at, LLVMAtomicOrderingNotAtomic);
	if (r->options->shows_stores && s->kind != IR_LOAD &&
	    s->kind != IR_SEEN)
		put_watch(r, fn, i, p, bytes_of(r, s));
}

static void rewrite_copy(struct rewriter *r, const struct function *fn,
                         uint32_t i)
{
	const struct ir_site *s = &fn->ir.sites[i];
	LLVMValueRef args[4] = {cell_number(r, fn, s->cell),
	                        LLVMGetOperand(s->at, 0),
	                        LLVMGetOperand(s->at, 1), NULL};

	LLVMPositionBuilderBefore(r->b, s->at);
	args[3] = LLVMBuildZExtOrBitCast(r->b, LLVMGetOperand(s->at, 2), r->i64,
	                                 "");
	call_helper(r, &r->copy, args, 4);
	if (r->options->shows_stores)
		call_wrote(r, fn, i, REPLAY_WROTE_COPY, args[1], args[3]);
	LLVMInstructionEraseFromParent(s->at);
}

static LLVMValueRef argument(struct rewriter *r, LLVMValueRef call, unsigned k)
{
	return k < LLVMGetNumArgOperands(call)
	               ? as_word(r, LLVMGetOperand(call, k))
	               : number(r, 0);
}

static void rewrite_read(struct rewriter *r, const struct function *fn,
                         const struct ir_site *s)
{
	LLVMTypeRef result = LLVMTypeOf(s->at);
	LLVMValueRef args[5], v;

	LLVMPositionBuilderBefore(r->b, s->at);
	args[0] = cell_number(r, fn, s->cell);
	args[1] = number(r, (uint64_t)fn->which[s - fn->ir.sites]);
	for (unsigned k = 0; k < 3; k++)
		args[2 + k] = argument(r, s->at, k);
	v = call_helper(r, &r->read, args, 5);
	if (LLVMGetTypeKind(result) == LLVMPointerTypeKind)
		v = LLVMBuildIntToPtr(r->b, v, result, "");
	else
		v = LLVMBuildTruncOrBitCast(r->b, v, result, "");
	LLVMReplaceAllUsesWith(s->at, v);
	LLVMInstructionEraseFromParent(s->at);
}

static void rewrite_set(struct rewriter *r, const struct function *fn,
                        uint32_t i)
{
	const struct ir_site *s = &fn->ir.sites[i];
	LLVMValueRef args[3] = {LLVMGetOperand(s->at, 0), NULL, NULL};

	LLVMPositionBuilderBefore(r->b, s->at);
	args[1] = LLVMBuildZExt(r->b, LLVMGetOperand(s->at, 1), r->i64, "");
	args[2] = LLVMBuildZExtOrBitCast(r->b, LLVMGetOperand(s->at, 2), r->i64,
	                                 "");
	call_helper(r, &r->set, args, 3);
	if (r->options->shows_stores)
		call_wrote(r, fn, i, REPLAY_WROTE_COPY, args[0], args[2]);
	LLVMInstructionEraseFromParent(s->at);
}

static void rewrite_input(struct rewriter *r, const struct function *fn,
                          const struct ir_site *s)
{
	LLVMValueRef next;

	if (LLVMIsAInvokeInst(s->at)) {
		LLVMPositionBuilderBefore(r->b, s->at);
		/* nothing runs that could throw */
		next = LLVMBuildBr(r->b, LLVMGetNormalDest(s->at));
		take_value(r, fn, s, next);
		LLVMInstructionEraseFromParent(s->at);
		return;
	}
	take_value(r, fn, s, s->at);
	LLVMInstructionEraseFromParent(s->at);
}

static void rewrite_env(struct rewriter *r, const struct function *fn,
                        const struct ir_site *s)
{
	LLVMValueRef cell = cell_number(r, fn, s->cell);

	put_tick_before(r, fn, s);
	LLVMPositionBuilderBefore(r->b, s->at);
	call_helper(r, &r->env, &cell, 1);
	rewrite_input(r, fn, s);
}

static void rewrite_pad(struct rewriter *r, const struct function *fn,
                        const struct ir_site *s)
{
	LLVMValueRef cell = cell_number(r, fn, s->cell);
	LLVMValueRef next = LLVMGetNextInstruction(s->at);

	if (ir_ticks_behind(s->kind))
		put_bare_tick(r, fn, IR_TICK_BEHIND, 0, next);
	LLVMPositionBuilderBefore(r->b, next);
	call_helper(r, &r->land, &cell, 1);
	take_value(r, fn, s, next);
	LLVMInstructionEraseFromParent(s->at);
}

static void rewrite_resume(struct rewriter *r, const struct function *fn,
                           const struct ir_site *s)
{
	LLVMValueRef cell = cell_number(r, fn, 0);

	put_tick_before(r, fn, s);
	LLVMPositionBuilderBefore(r->b, s->at);
	call_helper(r, &r->resume, &cell, 1);
	LLVMBuildBr(r->b, fn->out);
	LLVMInstructionEraseFromParent(s->at);
}

static void put_stop(struct rewriter *r, const struct function *fn,
                     LLVMValueRef before)
{
	LLVMValueRef args[] = {cell_number(r, fn, 0), line_of(r, before)};

	LLVMPositionBuilderBefore(r->b, before);
	call_helper(r, &r->stop, args, 2);
}

static void rewrite_site(struct rewriter *r, struct function *fn, uint32_t i)
{
	const struct ir_site *s = &fn->ir.sites[i];

	switch (s->kind) {
	case IR_LOAD:
	case IR_SEEN:
	case IR_STORE:
	case IR_RMW:
	case IR_CMPXCHG:
		rewrite_memory(r, fn, i);
		break;
	case IR_READ:
		rewrite_read(r, fn, s);
		break;
	case IR_COPY:
		rewrite_copy(r, fn, i);
		break;
	case IR_SET:
		rewrite_set(r, fn, i);
		break;
	case IR_KNOWN:
		rewrite_known(r, fn, i);
		break;
	case IR_LINKED:
		rewrite_linked(r, fn, i);
		break;
	case IR_CALL:
		rewrite_call(r, fn, i);
		break;
	case IR_TWICE:
		rewrite_twice(r, fn, i);
		break;
	case IR_INPUT:
		rewrite_input(r, fn, s);
		break;
	case IR_ENV:
		rewrite_env(r, fn, s);
		break;
	case IR_PAD:
		rewrite_pad(r, fn, s);
		break;
	case IR_RESUME:
		rewrite_resume(r, fn, s);
		break;
	case IR_STOP:
		put_stop(r, fn, s->at);
		put_leave(r, fn, POINTS_NONE, s->at);
		LLVMInstructionEraseFromParent(s->at);
		break;
	case IR_RETURN:
		put_tick_before(r, fn, s);
		break;
	case IR_PLAIN:
		break;
	}
}

/* --- functions ----------------------------------------------------------- */

/* Is it nothing but an operand of what is not executed? */
static bool is_only_input(LLVMValueRef v)
{
	for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);

		if (!LLVMIsACallInst(user) ||
		    !LLVMIsAInlineAsm(LLVMGetCalledValue(user)))
			return false;
	}
	return true;
}

/* What no recording can have. */
static int check_function(struct rewriter *r, const struct function *fn)
{
	for (unsigned i = 0; i < LLVMCountParams(fn->f); i++)
		if (replay_shim_is_in_memory(fn->f, i) &&
		    !is_only_input(LLVMGetParam(fn->f, i)))
			return refuse(r, fn->f,
			              "uses an argument on the real stack");
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn->f); b;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		switch (LLVMGetInstructionOpcode(end)) {
		case LLVMRet:
		case LLVMBr:
		case LLVMSwitch:
		case LLVMInvoke:
		case LLVMResume:
		case LLVMUnreachable:
			break;
		default:
			return refuse(r, fn->f, "has a computed goto or worse");
		}
	}
	return 0;
}

static void put_head_ticks(struct rewriter *r, const struct function *fn)
{
	for (uint32_t i = 0; i < fn->ir.nheads; i++)
		put_tick(r, fn, ir_tick_at_head(&fn->ir, i), points_head(i),
		         points_behind(
		                 fn->points, points_head(i),
		                 replay_shim_insertion_point(fn->ir.heads[i])));
}

static void put_stops(struct rewriter *r, const struct function *fn)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn->f); b;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		if (!end || !LLVMIsAUnreachableInst(end))
			continue;
		put_stop(r, fn, end);
		LLVMBuildBr(r->b, fn->out);
		LLVMInstructionEraseFromParent(end);
	}
}

/* Is it true in some lane, if it is a vector? */
static LLVMValueRef any_of(struct rewriter *r, LLVMValueRef c)
{
	LLVMTypeRef type = LLVMTypeOf(c), whole;

	if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
		return c;
	whole = LLVMIntTypeInContext(r->context, LLVMGetVectorSize(type));
	return LLVMBuildICmp(r->b, LLVMIntNE,
	                     LLVMBuildBitCast(r->b, c, whole, ""),
	                     LLVMConstNull(whole), "");
}

/* In which lanes the processor would refuse to divide. */
static LLVMValueRef is_refused(struct rewriter *r, LLVMValueRef at,
                               bool is_signed)
{
	LLVMValueRef a = LLVMGetOperand(at, 0), b = LLVMGetOperand(at, 1);
	LLVMValueRef ones = LLVMConstAllOnes(LLVMTypeOf(at)), c, least;

	c = LLVMBuildICmp(r->b, LLVMIntEQ, b, LLVMConstNull(LLVMTypeOf(at)),
	                  "");
	if (!is_signed)
		return c;
	least = LLVMBuildLShr(r->b, ones, LLVMBuildNeg(r->b, ones, ""), "");
	least = LLVMBuildNot(r->b, least, "");
	a = LLVMBuildICmp(r->b, LLVMIntEQ, a, least, "");
	b = LLVMBuildICmp(r->b, LLVMIntEQ, b, ones, "");
	return LLVMBuildOr(r->b, c, LLVMBuildAnd(r->b, a, b, ""), "");
}

/*
 * A division that the processor refuses.  Either the program got a signal
 * there, and a handler jumped away: so does the replay; or nobody needed this
 * lane, or all of it, and the program did not divide: 1 is as good as another.
 */
static void guard_division(struct rewriter *r, const struct function *fn,
                           LLVMValueRef at, bool is_signed)
{
	LLVMValueRef c, any, one, end;

	LLVMPositionBuilderBefore(r->b, at);
	c = is_refused(r, at, is_signed);
	any = any_of(r, c);
	if (LLVMIsAConstantInt(any) && !LLVMConstIntGetZExtValue(any))
		return;
	one = LLVMBuildNeg(r->b, LLVMConstAllOnes(LLVMTypeOf(at)), "");
	LLVMSetOperand(
	        at, 1,
	        LLVMBuildSelect(r->b, c, one, LLVMGetOperand(at, 1), ""));
	end = replay_shim_if(any, at, true);
	LLVMPositionBuilderBefore(r->b, end);
	call_helper(r, &r->fault, NULL, 0);
	put_leave(r, fn, POINTS_NONE, end);
}

static bool is_division(LLVMValueRef i, bool *is_signed)
{
	LLVMOpcode code = LLVMGetInstructionOpcode(i);

	*is_signed = code == LLVMSDiv || code == LLVMSRem;
	return *is_signed || code == LLVMUDiv || code == LLVMURem;
}

static void guard_divisions(struct rewriter *r, const struct function *fn)
{
	LLVMValueRef *all = NULL;
	size_t n = 0, cap = 0;
	bool is_signed;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn->f); b;
	     b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
		     i = LLVMGetNextInstruction(i))
			if (is_division(i, &is_signed)) {
				VEC_RESERVE(all, n, cap);
				all[n++] = i;
			}
	for (size_t i = 0; i < n; i++)
		if (is_division(all[i], &is_signed))
			guard_division(r, fn, all[i], is_signed);
	free(all);
}

/* --- frames that are made again ------------------------------------------ */

/* The call that a frame was in. */
static void call_again(struct rewriter *r, struct function *fn, uint32_t site)
{
	const struct ir_site *s = &fn->ir.sites[site];
	uint32_t point = points_in(&fn->ir, site), cell = result_cell(s);
	LLVMValueRef end = points_again(fn->points, point), g, then, otherwise;
	LLVMValueRef values[2], phi = NULL;
	LLVMBasicBlockRef blocks[2];
	LLVMTypeRef type = LLVMTypeOf(fn->calls[site]);

	LLVMPositionBuilderBefore(r->b, end);
	g = call_helper(r, &r->next, NULL, 0);
	if (!s->looks) {
		points_returned(fn->points, point,
		                points_call(fn->calls[site], g, end));
		return;
	}
	replay_shim_if_else(LLVMBuildICmp(r->b, LLVMIntNE, g,
	                                  LLVMConstNull(r->pointer), ""),
	                    end, &then, &otherwise);
	values[0] = points_call(fn->calls[site], g, then);
	values[0] = put_look(r, fn, s, values[0], then);
	LLVMPositionBuilderBefore(r->b, otherwise);
	call_foreign(r, fn, &r->back, s, cell, ir_ncells(type, r->layout));
	if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
		return;
	values[1] = get_value(r, fn, type, &cell);
	blocks[0] = LLVMGetInstructionParent(then);
	blocks[1] = LLVMGetInstructionParent(otherwise);
	LLVMPositionBuilderBefore(r->b, end);
	phi = LLVMBuildPhi(r->b, type, "");
	LLVMAddIncoming(phi, values, blocks, 2);
	points_returned(fn->points, point, phi);
}

static void make_again(struct rewriter *r, struct function *fn)
{
	points_begin_again(fn->points, r->take.f, cell_number(r, fn, 0),
	                   r->only->points, r->only->n);
	for (uint32_t i = 0; i < r->only->n; i++) {
		uint32_t first = points_in(&fn->ir, 0);
		uint32_t k = r->only->points[i];

		if (k >= first)
			call_again(r, fn, k - first);
	}
}

static void finish_points(struct rewriter *r, struct function *fn)
{
	if (!fn->points)
		return;
	points_write(fn->points, r->save.f, cell_number(r, fn, 0));
	if (r->only)
		make_again(r, fn);
	points_finish(fn->points);
}

/* What makes the outermost of some frames, which foreign code called. */
static void add_again_entry(struct rewriter *r, const struct function *fn)
{
	LLVMTypeRef type = LLVMGlobalGetValueType(fn->f);
	unsigned n = LLVMCountParams(fn->f);
	LLVMValueRef *args = xcalloc((size_t)n + 1, sizeof(*args));
	LLVMValueRef f, end, call;
	char name[32];

	snprintf(name, sizeof(name), REPLAY_AGAIN_ENTRY "%u", fn->number);
	f = LLVMAddFunction(r->m, name, LLVMFunctionType(r->none, NULL, 0, 0));
	LLVMPositionBuilderAtEnd(
	        r->b, LLVMAppendBasicBlockInContext(r->context, f, ""));
	end = LLVMBuildRetVoid(r->b);
	LLVMPositionBuilderBefore(r->b, end);
	for (unsigned i = 0; i < n; i++)
		args[i] = LLVMConstNull(LLVMTypeOf(LLVMGetParam(fn->f, i)));
	call = LLVMBuildCall2(r->b, type, fn->f, args, n, "");
	replay_shim_call_abi(call, fn->f);
	free(args);
}

static void rewrite_function(struct rewriter *r, struct function *fn)
{
	LLVMValueRef first;

	if (fn->points)
		points_place(fn->points, &fn->ir);
	if (r->options->shows_steps)
		steps_place(r->m, fn->f, fn->number);
	fn->out = LLVMAppendBasicBlockInContext(r->context, fn->f, "");
	put_stops(r, fn);
	fn->first = replay_shim_after_allocas(fn->f);
	prepare_twice(r, fn);
	guard_divisions(r, fn);
	first = r->options->shows_steps ? LLVMGetNextInstruction(fn->first)
	                                : fn->first;
	put_tick(r, fn, ir_tick_at_entry(&fn->ir), POINTS_ENTRY,
	         points_behind(fn->points, POINTS_ENTRY, first));
	put_head_ticks(r, fn);
	for (uint32_t i = 0; i < fn->ir.nsites; i++)
		rewrite_site(r, fn, i);
	if (r->options->shows_steps)
		steps_place_returns(r->m, fn->f);
	fill_out(r, fn);
	finish_points(r, fn);
	replay_shim_lower_atomics(fn->f);
	replay_shim_promote(fn->f);
}

/* What foreign code enters: takes the arguments from their cells. */
static void add_entry(struct rewriter *r, const struct function *fn)
{
	LLVMTypeRef type = LLVMGlobalGetValueType(fn->f);
	LLVMValueRef *args = xcalloc((size_t)fn->ir.nargs + 1, sizeof(*args));
	LLVMValueRef f, end, call;
	char name[32];

	snprintf(name, sizeof(name), REPLAY_ENTRY "%u", fn->number);
	f = LLVMAddFunction(r->m, name, LLVMFunctionType(r->none, NULL, 0, 0));
	LLVMPositionBuilderAtEnd(
	        r->b, LLVMAppendBasicBlockInContext(r->context, f, ""));
	end = LLVMBuildRetVoid(r->b);
	for (uint32_t i = 0; i < fn->ir.nargs; i++) {
		LLVMTypeRef t = LLVMTypeOf(LLVMGetParam(fn->f, i));
		uint32_t cell = fn->ir.args[i];

		put_inputs(r, fn, t, &cell, end);
		cell = fn->ir.args[i];
		LLVMPositionBuilderBefore(r->b, end);
		args[i] = get_value(r, fn, t, &cell);
	}
	LLVMPositionBuilderBefore(r->b, end);
	call = LLVMBuildCall2(r->b, type, fn->f, args, fn->ir.nargs, "");
	replay_shim_call_abi(call, fn->f);
	free(args);
}

/* --- the module ---------------------------------------------------------- */

uint32_t rewrite_table(LLVMModuleRef module, LLVMValueRef **values)
{
	uint32_t n = 0, cap = 0;

	*values = NULL;
	for (LLVMValueRef v = LLVMGetFirstGlobal(module); v;
	     v = LLVMGetNextGlobal(v))
		if (!LLVMIsDeclaration(v)) {
			VEC_RESERVE(*values, n, cap);
			(*values)[n++] = v;
		}
	for (LLVMValueRef v = LLVMGetFirstFunction(module); v;
	     v = LLVMGetNextFunction(v))
		if (!LLVMIsDeclaration(v)) {
			VEC_RESERVE(*values, n, cap);
			(*values)[n++] = v;
		}
	for (LLVMValueRef v = LLVMGetFirstGlobalAlias(module); v;
	     v = LLVMGetNextGlobalAlias(v)) {
		VEC_RESERVE(*values, n, cap);
		(*values)[n++] = v;
	}
	for (LLVMValueRef v = LLVMGetFirstFunction(module); v;
	     v = LLVMGetNextFunction(v))
		if (ir_linked_function(v) >= 0) {
			VEC_RESERVE(*values, n, cap);
			(*values)[n++] = v;
		}
	return n;
}

static LLVMValueRef add_symbol(struct rewriter *r, const char *name,
                               bool is_low)
{
	LLVMValueRef v = LLVMAddGlobal(r->m, r->i8, name);

	if (is_low)
		LLVMSetVisibility(v, LLVMHiddenVisibility);
	return v;
}

static void add_helper(struct rewriter *r, struct helper *h, const char *name,
                       LLVMTypeRef result, const char *params)
{
	LLVMTypeRef types[5];
	unsigned n = 0;

	for (; params[n]; n++)
		types[n] = params[n] == 'p' ? r->pointer : r->i64;
	h->type = LLVMFunctionType(result, types, n, 0);
	h->f = LLVMAddFunction(r->m, name, h->type);
}

static void add_helpers(struct rewriter *r)
{
	add_helper(r, &r->arm, REPLAY_ARM, r->none, "ii");
	add_helper(r, &r->in, REPLAY_IN, r->none, "ip");
	LLVMSetFunctionCallConv(r->arm.f, REPLAY_PRESERVE_MOST);
	LLVMSetFunctionCallConv(r->in.f, REPLAY_PRESERVE_MOST);
	add_helper(r, &r->find, REPLAY_FIND, r->pointer, "i");
	add_helper(r, &r->foreign, REPLAY_FOREIGN, r->none, "ii");
	add_helper(r, &r->handed, REPLAY_HANDED, r->none, "ii");
	add_helper(r, &r->copy, REPLAY_COPY, r->none, "ippi");
	add_helper(r, &r->read, REPLAY_READ, r->i64, "iiiii");
	add_helper(r, &r->set, REPLAY_SET, r->none, "pii");
	add_helper(r, &r->env, REPLAY_ENV, r->none, "i");
	add_helper(r, &r->fault, REPLAY_FAULT, r->none, "");
	add_helper(r, &r->land, REPLAY_LAND, r->none, "i");
	add_helper(r, &r->again, REPLAY_AGAIN, r->none, "ii");
	add_helper(r, &r->resume, REPLAY_RESUME, r->none, "i");
	add_helper(r, &r->stop, REPLAY_STOP, r->none, "ii");
	add_helper(r, &r->tell, REPLAY_TELL, r->none, "i");
	add_helper(r, &r->wrote, REPLAY_WROTE, r->none, "iipi");
	add_helper(r, &r->save, REPLAY_SAVE, r->pointer, "iii");
	add_helper(r, &r->lost, REPLAY_LOST, r->none, "");
	add_helper(r, &r->take, REPLAY_TAKE, r->pointer, "i");
	add_helper(r, &r->next, REPLAY_NEXT, r->pointer, "");
	add_helper(r, &r->back, REPLAY_BACK, r->none, "ii");
}

/* What a function has, before anything is changed. */
static void look_at_function(struct rewriter *r, struct function *fn)
{
	size_t n;

	ir_function_init(&fn->ir, fn->f);
	n = (size_t)fn->ir.nsites + 1;
	fn->callees = xcalloc(n, sizeof(*fn->callees));
	fn->calls = xcalloc(n, sizeof(*fn->calls));
	fn->which = xcalloc(n, sizeof(*fn->which));
	for (uint32_t k = 0; k < fn->ir.nsites; k++) {
		const struct ir_site *s = &fn->ir.sites[k];

		if (s->kind == IR_READ)
			fn->which[k] = ir_read(s->at);
		else if (s->kind == IR_LINKED)
			fn->which[k] = ir_linked(s->at);
		else if (s->kind == IR_KNOWN)
			fn->callees[k] = LLVMGetCalledValue(s->at);
		else if (s->kind == IR_PAD)
			ptrmap_set(&fn->pads, LLVMGetInstructionParent(s->at),
			           s->cell);
	}
	if (r->options->saves || r->only)
		fn->points = points_find(&fn->ir);
}

static bool is_wanted(const struct rewriter *r, const struct function *fn)
{
	return fn->has_marks && (!r->only || r->only->function == fn->number);
}

/* The same of all. */
static int find_functions(struct rewriter *r)
{
	r->functions = xcalloc((size_t)r->ntable + 1, sizeof(*r->functions));
	for (uint32_t i = 0; i < r->ntable; i++) {
		struct function *fn = &r->functions[r->nfunctions];

		if (!LLVMIsAFunction(r->table[i]) ||
		    LLVMIsDeclaration(r->table[i]))
			continue;
		fn->f = r->table[i];
		fn->number = r->nfunctions++;
		fn->has_marks = ir_has_marks(fn->f);
		if (!is_wanted(r, fn))
			continue;
		CAIRN_TRY(check_function(r, fn));
		look_at_function(r, fn);
	}
	return 0;
}

static bool has_block_address(LLVMValueRef f)
{
	for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u))
		if (LLVMIsABlockAddress(LLVMGetUser(u)))
			return true;
	return false;
}

/* Every use of what the unit defines becomes its recorded address, except by
 * calls that are known. */
static int replace_addresses(struct rewriter *r)
{
	LLVMValueRef externs = LLVMGetNamedGlobal(r->m, CAIRN_IR_EXTERNS);
	char name[32];

	for (uint32_t i = 0; i < r->ntable; i++) {
		LLVMValueRef old = r->table[i], new;

		if (LLVMIsAFunction(old) && has_block_address(old))
			return refuse(r, old, "has blocks with addresses");
		LLVMSetValueName2(old, "", 0);
		snprintf(name, sizeof(name), REPLAY_ADDRESS "%u", i);
		new = add_symbol(r, name, false);
		LLVMReplaceAllUsesWith(old, new);
		if (old == externs)
			r->externs = new;
	}
	for (unsigned i = 0; i < r->nfunctions; i++) {
		struct function *fn = &r->functions[i];

		for (uint32_t k = 0; k < fn->ir.nsites; k++) {
			LLVMValueRef at = fn->ir.sites[k].at;

			if (fn->ir.sites[k].kind == IR_KNOWN)
				LLVMSetOperand(
				        at,
				        (unsigned)LLVMGetNumOperands(at) - 1,
				        fn->callees[k]);
		}
	}
	return 0;
}

/* The runtime's words are part of the state; what the linker and the loader
 * would do with the module is no matter of ours. */
static void remove_old(struct rewriter *r)
{
	LLVMValueRef v = LLVMGetNamedGlobal(r->m, CAIRN_RT_RECORD);
	LLVMValueRef next;

	if (v)
		LLVMReplaceAllUsesWith(v,
		                       add_bytes(r, r->state, FIELD(record)));
	replay_shim_clear_module(r->m);
	for (uint32_t i = 0; i < r->ntable; i++)
		if (LLVMIsAGlobalAlias(r->table[i]))
			replay_shim_erase(r->table[i]);
	for (v = LLVMGetFirstGlobal(r->m); v; v = next) {
		next = LLVMGetNextGlobal(v);
		if (!LLVMIsDeclaration(v))
			LLVMDeleteGlobal(v);
	}
	/* their addresses are loaded, as those of others' functions */
	for (v = LLVMGetFirstGlobalIFunc(r->m); v; v = next) {
		next = LLVMGetNextGlobalIFunc(v);
		if (!replay_shim_is_used(v))
			LLVMEraseGlobalIFunc(v);
	}
}

static void name_function(struct rewriter *r, struct function *fn)
{
	char name[32];

	snprintf(name, sizeof(name), REPLAY_BODY "%u", fn->number);
	replay_shim_strip_function(fn->f);
	LLVMSetLinkage(fn->f, LLVMExternalLinkage);
	LLVMSetVisibility(fn->f, LLVMDefaultVisibility);
	LLVMSetValueName2(fn->f, name, strlen(name));
	snprintf(name, sizeof(name), REPLAY_CELLS "%u", fn->number);
	fn->cells = add_symbol(r, name, true);
}

static bool is_ours(LLVMValueRef f)
{
	size_t n;

	return LLVMGetValueName2(f, &n)[0] == *REPLAY_STATE;
}

static int check_module(struct rewriter *r)
{
	char *text = NULL;
	int rc = 0;
	size_t n;

	if (LLVMVerifyModule(r->m, LLVMReturnStatusAction, &text))
		rc = cairn_fail(r->err, CAIRN_E_CORRUPT,
		                "%s: the IR of %s cannot be made replay code "
		                "(%.*s); " REMEDY,
		                r->name, LLVMGetSourceFileName(r->m, &n),
		                (int)strcspn(text, "\n"), text);
	LLVMDisposeMessage(text);
	return rc;
}

/* Nothing may be left that the recorded program would have had to find. */
static int check_rest(struct rewriter *r)
{
	LLVMValueRef next;

	for (LLVMValueRef v = LLVMGetFirstGlobalIFunc(r->m); v; v = next) {
		next = LLVMGetNextGlobalIFunc(v);
		if (replay_shim_is_used(v))
			return refuse(r, v, "is chosen by the loader");
		LLVMEraseGlobalIFunc(v);
	}
	for (LLVMValueRef v = LLVMGetFirstGlobal(r->m); v; v = next) {
		next = LLVMGetNextGlobal(v);
		if (is_ours(v))
			continue;
		if (replay_shim_is_used(v))
			return refuse(r, v, "is a variable of another file");
		LLVMDeleteGlobal(v);
	}
	for (LLVMValueRef f = LLVMGetFirstFunction(r->m); f; f = next) {
		next = LLVMGetNextFunction(f);
		if (!LLVMIsDeclaration(f) || LLVMGetIntrinsicID(f) ||
		    is_ours(f))
			continue;
		if (replay_shim_is_used(f))
			return refuse(r, f, "is used and not defined");
		LLVMDeleteFunction(f);
	}
	return check_module(r);
}

static uint32_t line_of_cell(LLVMValueRef f, uint32_t cell)
{
	struct ir_function ir;
	uint32_t line = 0;

	ir_function_init(&ir, f);
	for (uint32_t i = 0; i < ir.nsites; i++)
		if (ir.sites[i].ncells && cell >= ir.sites[i].cell &&
		    cell - ir.sites[i].cell < ir.sites[i].ncells)
			line = replay_shim_line(ir.sites[i].at);
	ir_function_release(&ir);
	return line;
}

uint32_t rewrite_line(LLVMModuleRef module, uint32_t function, uint32_t cell)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
	     f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f) && !function--)
			return ir_has_marks(f) ? line_of_cell(f, cell) : 0;
	return 0;
}

/* Functions have new names; those that are not to be made are only named. */
static void name_functions(struct rewriter *r)
{
	for (unsigned i = 0; i < r->nfunctions; i++) {
		struct function *fn = &r->functions[i];
		char name[32];

		if (!fn->has_marks) {
			LLVMDeleteFunction(fn->f);
			continue;
		}
		name_function(r, fn);
		snprintf(name, sizeof(name), REPLAY_AGAIN_BODY "%u", i);
		if (!is_wanted(r, fn))
			points_declare(fn->f);
		else if (r->only)
			points_part(fn->f, name);
	}
}

/* Where frames are to begin again is what a recording says. */
static int check_again(const struct rewriter *r)
{
	for (unsigned i = 0; r->only && i < r->nfunctions; i++) {
		if (!is_wanted(r, &r->functions[i]))
			continue;
		for (uint32_t k = 0; k < r->only->n; k++)
			if (!points_has(r->functions[i].points,
			                r->only->points[k]))
				return cairn_fail(
				        r->err, CAIRN_E_CORRUPT,
				        "%s: a checkpoint has a frame where "
				        "its function can have none; build the "
				        "program again, and record it again",
				        r->name);
	}
	return 0;
}

static int rewrite_all(struct rewriter *r, uint32_t unit)
{
	r->ntable = rewrite_table(r->m, &r->table);
	CAIRN_TRY(find_functions(r));
	CAIRN_TRY(check_again(r));
	r->state = add_symbol(r, REPLAY_STATE, true);
	add_helpers(r);
	if (r->options->ask)
		r->options->ask(r->options->context, r->m, unit);
	CAIRN_TRY(replace_addresses(r));
	remove_old(r);
	name_functions(r);
	for (unsigned i = 0; i < r->nfunctions; i++)
		if (is_wanted(r, &r->functions[i]))
			rewrite_function(r, &r->functions[i]);
	for (unsigned i = 0; i < r->nfunctions; i++)
		if (r->only && is_wanted(r, &r->functions[i]))
			add_again_entry(r, &r->functions[i]);
		else if (is_wanted(r, &r->functions[i]))
			add_entry(r, &r->functions[i]);
	if (r->options->shows_steps)
		steps_expand(r->m);
	LLVMStripModuleDebugInfo(r->m);
	return check_rest(r);
}

static int rewrite(LLVMModuleRef module, uint32_t unit, const char *name,
                   const struct rewrite_options *options,
                   const struct rewrite_again *only, struct cairn_err *err)
{
	struct rewriter r = {.m = module,
	                     .name = name,
	                     .options = options,
	                     .only = only,
	                     .err = err};
	int rc;

	r.context = LLVMGetModuleContext(module);
	r.b = LLVMCreateBuilderInContext(r.context);
	r.layout = LLVMGetModuleDataLayout(module);
	r.none = LLVMVoidTypeInContext(r.context);
	r.i8 = LLVMInt8TypeInContext(r.context);
	r.i64 = LLVMInt64TypeInContext(r.context);
	r.pointer = LLVMPointerTypeInContext(r.context, 0);
	r.shadow = LLVMPointerTypeInContext(r.context, SHADOW_SPACE);
	rc = rewrite_all(&r, unit);
	for (unsigned i = 0; i < r.nfunctions; i++) {
		struct function *fn = &r.functions[i];

		if (fn->has_marks && fn->callees)
			ir_function_release(&fn->ir);
		if (fn->points)
			points_free(fn->points);
		free(fn->calls);
		ptrmap_release(&fn->pads);
		free(fn->callees);
		free(fn->which);
		free(fn->behind);
		free(fn->frames);
		free(fn->nodes);
	}
	free(r.functions);
	free(r.table);
	LLVMDisposeBuilder(r.b);
	return rc;
}

int rewrite_module(LLVMModuleRef module, uint32_t unit, const char *name,
                   const struct rewrite_options *options, struct cairn_err *err)
{
	return rewrite(module, unit, name, options, NULL, err);
}

int rewrite_again(LLVMModuleRef module, uint32_t unit, const char *name,
                  const struct rewrite_options *options,
                  const struct rewrite_again *again, struct cairn_err *err)
{
	return rewrite(module, unit, name, options, again, err);
}
