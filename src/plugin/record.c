/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks of recordings.
 *
 * A program's own stores and arithmetic need not be logged: replay computes
 * them again.  Only what comes from outside does.  Every context has a shadow
 * of memory, at %gs:p, of what it has stored or seen; a load that finds
 * something else has found an input:
 *
 *     mov  (%p), %v;  cmp %gs:(%p), %v;  jne  input
 *
 * and a store is made twice.  Results of code without marks, of inline assembly
 * and the like are compared with the shadow of a cell, which nobody else has.
 *
 * Who calls what is not known at compile time.  A call of anything says in a
 * thread-local word whom it calls.  (A call by name of a function in another
 * file is one of its body, if the linker knows it.)  A function that others may
 * call has two entries: who comes by the first and is not expected comes from
 * code without marks, and its arguments are inputs; if it was, the word is
 * cleared, which tells the caller that the result is none.
 *
 * The IR is embedded before any mark is in it: canonical.cpp says in what form.
 * ir/sites.c numbers what is in it, here and in the replayer.
 *
 * Invariant: at any moment the shadow of a context is what its replay has in
 * memory.  Cost: linear in instructions.
 */
#include "plugin/record.h"

#include "abi/map.h"
#include "abi/record.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "ir/digest.h"
#include "plugin/function.h"
#include "plugin/marker.h"
#include "plugin/shim.h"

#include <llvm-c/BitWriter.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct recorder {
	const struct ir_function *fn;
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMBuilderRef builder;
	LLVMTargetDataRef layout;
	LLVMTypeRef i64, ptr, gs_ptr, none;
	LLVMValueRef cells;
	LLVMValueRef words; /* CAIRN_RT_RECORD */
	LLVMValueRef turns; /* CAIRN_RT_RECORD_TURNS; NULL: nobody asked yet */
};

static LLVMValueRef constant(const struct recorder *r, uint64_t v)
{
	return LLVMConstInt(r->i64, v, false);
}

/* The address of a cell. */
static LLVMValueRef cell_at(const struct recorder *r, uint32_t cell)
{
	LLVMValueRef at = constant(r, 8 * (uint64_t)cell);

	return LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(r->context),
	                             r->cells, &at, 1);
}

static LLVMValueRef word_at(const struct recorder *r, uint64_t offset)
{
	LLVMValueRef at = constant(r, offset);

	return LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(r->context),
	                             r->words, &at, 1);
}

/* The shadow of what is at an address. */
static LLVMValueRef shadow_of(const struct recorder *r, LLVMValueRef pointer)
{
	return LLVMBuildIntToPtr(
	        r->builder, LLVMBuildPtrToInt(r->builder, pointer, r->i64, ""),
	        r->gs_ptr, "");
}

/* Loads and stores of shadows are volatile: the code generator of LLVM 19 takes
 * stores to one address in two address spaces for stores to one place, and
 * merges them. */
static LLVMValueRef load_shadow(const struct recorder *r, LLVMTypeRef type,
                                LLVMValueRef shadow, unsigned alignment)
{
	LLVMValueRef v = LLVMBuildLoad2(r->builder, type, shadow, "");

	LLVMSetAlignment(v, alignment);
	LLVMSetVolatile(v, true);
	return v;
}

static void store_shadow(const struct recorder *r, LLVMValueRef v,
                         LLVMValueRef shadow, unsigned alignment)
{
	LLVMValueRef s = LLVMBuildStore(r->builder, v, shadow);

	LLVMSetAlignment(s, alignment);
	LLVMSetVolatile(s, true);
}

static LLVMValueRef call_asm(const struct recorder *r, const char *name,
                             LLVMTypeRef result, const char *constraints,
                             LLVMValueRef *args, unsigned nargs)
{
	LLVMTypeRef types[3] = {r->i64, r->i64, r->i64};
	LLVMTypeRef type = LLVMFunctionType(result, types, nargs, false);
	char *text = xasprintf("leaq -128(%%rsp), %%rsp\n\tcall %s\n\t"
	                       "leaq 128(%%rsp), %%rsp",
	                       name);
	LLVMValueRef code, call;

	code = LLVMGetInlineAsm(type, text, strlen(text), constraints,
	                        strlen(constraints), true, false,
	                        LLVMInlineAsmDialectATT, false);
	call = LLVMBuildCall2(r->builder, type, code, args, nargs, "");
	free(text);
	return marker_ours(call);
}

#define CLOBBERS "~{memory},~{dirflag},~{fpsr},~{flags}"

static LLVMValueRef as_i64(const struct recorder *r, LLVMValueRef pointer)
{
	return LLVMBuildPtrToInt(r->builder, pointer, r->i64, "");
}

/*
 * n bytes at an address, whose shadow was just corrected, are an input.  What
 * is known here stands in long nops behind the call: no register is needed for
 * it.
 */
static void say_input(const struct recorder *r, uint32_t cell,
                      LLVMValueRef pointer, uint64_t how)
{
	static const char text[] = "leaq -128(%rsp), %rsp\n\t"
	                           "pushq $0\n\t"
	                           "call " CAIRN_RT_RECORD_IN "\n\t"
	                           ".byte 0x0f, 0x1f, 0x80\n\t"
	                           ".long ${1:c} - .\n\t"
	                           ".byte 0x0f, 0x1f, 0x80\n\t"
	                           ".long ${2:c}\n\t"
	                           "leaq 136(%rsp), %rsp";
	static const char constraints[] = "r,i,i," CLOBBERS;
	LLVMTypeRef types[3] = {r->i64, r->ptr, r->i64};
	LLVMTypeRef type = LLVMFunctionType(r->none, types, 3, false);
	LLVMValueRef args[3] = {as_i64(r, pointer), cell_at(r, cell),
	                        constant(r, how)};
	LLVMValueRef code = LLVMGetInlineAsm(
	        type, text, strlen(text), constraints, strlen(constraints),
	        true, false, LLVMInlineAsmDialectATT, false);

	marker_ours(LLVMBuildCall2(r->builder, type, code, args, 3, ""));
}

static void tick(const struct recorder *r, uint32_t by)
{
	LLVMValueRef at = word_at(r, CAIRN_RECORD_TICK);
	LLVMValueRef old = LLVMBuildLoad2(r->builder, r->i64, at, "");

	LLVMBuildStore(r->builder,
	               LLVMBuildAdd(r->builder, old, constant(r, by), ""), at);
}

static void expect(const struct recorder *r, LLVMValueRef what)
{
	LLVMBuildStore(r->builder, what, word_at(r, CAIRN_RECORD_EXPECT));
}

/*
 * Begins a block that runs if a condition holds, and comes back to `place`; the
 * builder is left in it.  end_rare() puts it before `place` again.
 */
static void begin_rare(const struct recorder *r, LLVMValueRef condition,
                       LLVMValueRef place)
{
	LLVMBasicBlockRef first = LLVMGetInstructionParent(place);
	LLVMBasicBlockRef rest = shim_split_before(place);
	LLVMBasicBlockRef rare =
	        LLVMInsertBasicBlockInContext(r->context, rest, "cairn.input");

	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(first));
	LLVMPositionBuilderAtEnd(r->builder, first);
	shim_set_unlikely(LLVMBuildCondBr(r->builder, condition, rare, rest));
	LLVMPositionBuilderAtEnd(r->builder, rare);
	LLVMPositionBuilderBefore(r->builder, LLVMBuildBr(r->builder, rest));
}

static void end_rare(const struct recorder *r, LLVMValueRef place)
{
	LLVMPositionBuilderBefore(r->builder, place);
}

/* The bits of a value, as a number. */
static LLVMValueRef bits_of(const struct recorder *r, LLVMValueRef v)
{
	LLVMTypeRef type = LLVMTypeOf(v);
	unsigned n = (unsigned)LLVMSizeOfTypeInBits(r->layout, type);
	LLVMTypeRef number = LLVMIntTypeInContext(r->context, n);
	LLVMTypeKind kind = LLVMGetTypeKind(type);

	if (kind == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(r->builder, v, number, "");
	if (kind == LLVMVectorTypeKind &&
	    LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMPointerTypeKind)
		v = LLVMBuildPtrToInt(
		        r->builder, v,
		        LLVMVectorType(r->i64, LLVMGetVectorSize(type)), "");
	return LLVMTypeOf(v) == number
	               ? v
	               : LLVMBuildBitCast(r->builder, v, number, "");
}

/* If a value is not the shadow of where it comes from, which is returned, it is
 * an input.  Writes before `place`, where the builder is and stays.  `how`: 0,
 * or CAIRN_IN_ATOMIC. */
static LLVMValueRef check_memory(const struct recorder *r, LLVMValueRef v,
                                 LLVMValueRef pointer, unsigned alignment,
                                 uint32_t cell, uint32_t how,
                                 LLVMValueRef place)
{
	LLVMTypeRef type = LLVMTypeOf(v);
	LLVMValueRef shadow = shadow_of(r, pointer);
	LLVMValueRef seen = load_shadow(r, type, shadow, alignment);

	begin_rare(r,
	           LLVMBuildICmp(r->builder, LLVMIntNE, bits_of(r, v),
	                         bits_of(r, seen), ""),
	           place);
	store_shadow(r, v, shadow, alignment);
	say_input(r, cell, pointer, LLVMStoreSizeOfType(r->layout, type) | how);
	end_rare(r, place);
	return seen;
}

static void check_value(const struct recorder *r, LLVMValueRef v,
                        LLVMValueRef pointer, unsigned alignment, uint32_t cell,
                        LLVMValueRef place)
{
	check_memory(r, v, pointer, alignment, cell, 0, place);
}

/* The same of values that are not memory, leaf by leaf. */
static void check_leaves(const struct recorder *r, LLVMValueRef v,
                         uint32_t *cell, LLVMValueRef place)
{
	LLVMTypeRef type = LLVMTypeOf(v);
	LLVMTypeKind kind = LLVMGetTypeKind(type);
	unsigned n = kind == LLVMStructTypeKind
	                     ? LLVMCountStructElementTypes(type)
	             : kind == LLVMArrayTypeKind
	                     ? (unsigned)LLVMGetArrayLength2(type)
	                     : 0;

	if (kind == LLVMVoidTypeKind)
		return;
	if (kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind) {
		check_value(r, v, cell_at(r, *cell), 8, *cell, place);
		*cell += ir_ncells(type, r->layout);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		LLVMValueRef part = LLVMBuildExtractValue(r->builder, v, i, "");

		check_leaves(r, part, cell, place);
	}
}

static void check_result(const struct recorder *r, const struct ir_site *s,
                         LLVMValueRef place)
{
	uint32_t cell = s->cell;

	check_leaves(r, s->at, &cell, place);
}

/* --- kinds of sites ------------------------------------------------------ */

static void mark_load(const struct recorder *r, const struct ir_site *s)
{
	LLVMValueRef place = LLVMGetNextInstruction(s->at);

	LLVMPositionBuilderBefore(r->builder, place);
	check_value(r, s->at, LLVMGetOperand(s->at, 0), LLVMGetAlignment(s->at),
	            s->cell, place);
}

static void mark_seen(const struct recorder *r, const struct ir_site *s)
{
	LLVMPositionBuilderBefore(r->builder, s->at);
	LLVMSetOperand(s->at, 0, shadow_of(r, LLVMGetOperand(s->at, 0)));
	LLVMSetVolatile(s->at, true);
}

/* Before `place`: if there are several threads, runs what the caller puts
 * there.  end_rare() follows. */
static void begin_turns(struct recorder *r, LLVMValueRef place)
{
	LLVMValueRef turns;

	if (!r->turns)
		r->turns = LLVMGetNamedGlobal(r->module, CAIRN_RT_RECORD_TURNS);
	if (!r->turns) {
		r->turns =
		        LLVMAddGlobal(r->module, r->i64, CAIRN_RT_RECORD_TURNS);
		LLVMSetVisibility(r->turns, LLVMHiddenVisibility);
	}
	LLVMPositionBuilderBefore(r->builder, place);
	turns = LLVMBuildLoad2(r->builder, r->i64, r->turns, "");
	LLVMSetVolatile(turns, true);
	begin_rare(
	        r,
	        LLVMBuildICmp(r->builder, LLVMIntNE, turns, constant(r, 0), ""),
	        place);
}

/* What is at a site takes its turn, while there are several threads. */
static void begin_turn(struct recorder *r, const struct ir_site *s,
                       LLVMValueRef pointer)
{
	LLVMValueRef at;

	begin_turns(r, s->at);
	at = as_i64(r, pointer);
	call_asm(r, CAIRN_RT_RECORD_TURN, r->none, "{rax}," CLOBBERS, &at, 1);
	end_rare(r, s->at);
}

static void end_turn(struct recorder *r, LLVMValueRef place)
{
	begin_turns(r, place);
	call_asm(r, CAIRN_RT_RECORD_TURNED, r->none, CLOBBERS, NULL, 0);
	end_rare(r, place);
}

/* is_new: may be NULL, for always. */
static void note_turn(struct recorder *r, const struct ir_site *s,
                      LLVMValueRef is_new)
{
	LLVMValueRef args[2] = {as_i64(r, cell_at(r, s->cell)), constant(r, 1)};

	if (is_new)
		args[1] = LLVMBuildZExt(r->builder, is_new, r->i64, "");
	call_asm(r, CAIRN_RT_RECORD_NOTE, r->none, "{rax},{rdx}," CLOBBERS,
	         args, 2);
}

static void mark_store(struct recorder *r, const struct ir_site *s)
{
	LLVMValueRef place = LLVMGetNextInstruction(s->at);
	LLVMValueRef pointer = LLVMGetOperand(s->at, 1);

	if (s->ncells)
		begin_turn(r, s, pointer);
	LLVMPositionBuilderBefore(r->builder, place);
	store_shadow(r, LLVMGetOperand(s->at, 0), shadow_of(r, pointer),
	             LLVMGetAlignment(s->at));
	if (!s->ncells)
		return;
	begin_turns(r, place);
	note_turn(r, s, NULL);
	end_rare(r, place);
}

/* Has the processor an instruction for it, whatever it is? */
static bool is_native(const struct recorder *r, LLVMValueRef v,
                      unsigned alignment)
{
	uint64_t n = LLVMStoreSizeOfType(r->layout, LLVMTypeOf(v));

	return n <= 8 && alignment >= n;
}

/*
 * The shadow gets what memory had, and then the same is done to it.  In a turn
 * that found what the shadow had, and left that, nothing happened.
 */
static void mark_atomic(struct recorder *r, const struct ir_site *s)
{
	LLVMValueRef place = LLVMGetNextInstruction(s->at);
	LLVMValueRef pointer = LLVMGetOperand(s->at, 0), old = s->at;
	LLVMValueRef twin, seen, left, a, b;
	unsigned alignment = LLVMGetAlignment(s->at);

	begin_turn(r, s, pointer);
	end_turn(r, place);
	LLVMPositionBuilderBefore(r->builder, place);
	if (s->kind == IR_CMPXCHG)
		old = LLVMBuildExtractValue(r->builder, s->at, 0, "");
	seen = check_memory(r, old, pointer, alignment, s->cell,
	                    CAIRN_IN_ATOMIC, place);
	twin = LLVMInstructionClone(s->at);
	LLVMSetOperand(twin, 0, shadow_of(r, pointer));
	LLVMInsertIntoBuilder(r->builder, twin);
	if (!is_native(r, old, alignment))
		record_lower_atomic(twin, alignment);
	begin_turns(r, place);
	left = bits_of(r, load_shadow(r, LLVMTypeOf(old), shadow_of(r, pointer),
	                              alignment));
	a = LLVMBuildICmp(r->builder, LLVMIntNE, bits_of(r, old), left, "");
	b = LLVMBuildICmp(r->builder, LLVMIntNE, bits_of(r, seen), left, "");
	note_turn(r, s, LLVMBuildOr(r->builder, a, b, ""));
	end_rare(r, place);
}

static LLVMValueRef runtime_function(const struct recorder *r, const char *name,
                                     LLVMTypeRef type)
{
	LLVMValueRef f = LLVMGetNamedFunction(r->module, name);

	if (!f) {
		f = LLVMAddFunction(r->module, name, type);
		LLVMSetVisibility(f, LLVMHiddenVisibility);
	}
	return f;
}

static LLVMValueRef length_of(const struct recorder *r, LLVMValueRef call)
{
	return LLVMBuildZExtOrBitCast(r->builder, LLVMGetOperand(call, 2),
	                              r->i64, "");
}

static void mark_copy(const struct recorder *r, const struct ir_site *s)
{
	LLVMTypeRef types[4] = {r->ptr, r->ptr, r->ptr, r->i64};
	LLVMTypeRef type = LLVMFunctionType(r->none, types, 4, false);
	LLVMValueRef args[4];

	LLVMPositionBuilderBefore(r->builder, s->at);
	args[0] = cell_at(r, s->cell);
	args[1] = LLVMGetOperand(s->at, 0);
	args[2] = LLVMGetOperand(s->at, 1);
	args[3] = length_of(r, s->at);
	LLVMBuildCall2(r->builder, type,
	               runtime_function(r, CAIRN_RT_RECORD_COPY, type), args, 4,
	               "");
	LLVMInstructionEraseFromParent(s->at);
}

/* What a call has as its k-th argument, as an i64; 0 if it has no such. */
static LLVMValueRef argument(const struct recorder *r, LLVMValueRef call,
                             unsigned k)
{
	LLVMValueRef v;

	if (k >= LLVMGetNumArgOperands(call))
		return constant(r, 0);
	v = LLVMGetOperand(call, k);
	if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(r->builder, v, r->i64, "");
	return LLVMBuildZExtOrBitCast(r->builder, v, r->i64, "");
}

static void mark_read(const struct recorder *r, const struct ir_site *s)
{
	LLVMTypeRef types[5] = {r->ptr, r->i64, r->ptr, r->i64, r->i64};
	LLVMTypeRef type = LLVMFunctionType(r->i64, types, 5, false);
	LLVMTypeRef result = LLVMTypeOf(s->at);
	LLVMValueRef args[5], v;

	LLVMPositionBuilderBefore(r->builder, s->at);
	args[0] = cell_at(r, s->cell);
	args[1] = constant(r, (uint64_t)ir_read(s->at));
	args[2] = LLVMGetOperand(s->at, 0);
	args[3] = argument(r, s->at, 1);
	args[4] = argument(r, s->at, 2);
	v = LLVMBuildCall2(r->builder, type,
	                   runtime_function(r, CAIRN_RT_RECORD_READ, type),
	                   args, 5, "");
	if (LLVMGetTypeKind(result) == LLVMPointerTypeKind)
		v = LLVMBuildIntToPtr(r->builder, v, result, "");
	else
		v = LLVMBuildTruncOrBitCast(r->builder, v, result, "");
	LLVMReplaceAllUsesWith(s->at, v);
	LLVMInstructionEraseFromParent(s->at);
}

static void mark_set(const struct recorder *r, const struct ir_site *s)
{
	LLVMTypeRef i32 = LLVMInt32TypeInContext(r->context);
	LLVMTypeRef types[3] = {r->ptr, i32, r->i64};
	LLVMTypeRef type = LLVMFunctionType(r->none, types, 3, false);
	LLVMValueRef args[3];

	LLVMPositionBuilderBefore(r->builder, s->at);
	args[0] = LLVMGetOperand(s->at, 0);
	args[1] = LLVMBuildZExt(r->builder, LLVMGetOperand(s->at, 1), i32, "");
	args[2] = length_of(r, s->at);
	LLVMBuildCall2(r->builder, type,
	               runtime_function(r, CAIRN_RT_RECORD_SET, type), args, 3,
	               "");
	LLVMInstructionEraseFromParent(s->at);
}

/* Where a call has returned; NULL if it does not. */
static LLVMValueRef behind(LLVMValueRef call)
{
	LLVMValueRef next;

	if (LLVMIsAInvokeInst(call))
		return shim_insertion_point(
		        shim_split_edge(LLVMGetInstructionParent(call),
		                        LLVMGetNormalDest(call)));
	next = LLVMGetNextInstruction(call);
	return LLVMIsAUnreachableInst(next) ? NULL : next;
}

static void check_env(const struct recorder *r)
{
	call_asm(r, CAIRN_RT_RECORD_ENV, r->none, CLOBBERS, NULL, 0);
}

/* Tells a call which function it calls. */
static void mark_callee(const struct recorder *r, LLVMValueRef call)
{
	LLVMPositionBuilderBefore(r->builder, call);
	expect(r, LLVMBuildPtrToInt(r->builder, LLVMGetCalledValue(call),
	                            r->i64, ""));
}

/* Looks, at a place after a call, whether its result, in the cells from `cell`
 * on, is that of foreign code. */
static void look(const struct recorder *r, LLVMValueRef call,
                 LLVMValueRef result, uint32_t cell, LLVMValueRef place)
{
	LLVMValueRef expected, is_foreign;

	LLVMPositionBuilderBefore(r->builder, place);
	expected = LLVMBuildLoad2(r->builder, r->i64,
	                          word_at(r, CAIRN_RECORD_EXPECT), "");
	is_foreign = LLVMBuildICmp(r->builder, LLVMIntNE, expected,
	                           constant(r, 0), "");
	begin_rare(r, is_foreign, place);
	expect(r, constant(r, 0));
	if (ir_changes_env(call))
		check_env(r);
	check_leaves(
	        r, result, &cell,
	        LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(r->builder)));
	end_rare(r, place);
}

static void tick_after(const struct recorder *r, const struct ir_site *s,
                       LLVMValueRef place)
{
	LLVMPositionBuilderBefore(r->builder, place);
	tick(r, ir_tick_after(r->fn, s));
}

/* What is done after a call, if it comes back. */
static void mark_after(const struct recorder *r, const struct ir_site *s)
{
	LLVMValueRef place = s->looks || s->ticks_after ? behind(s->at) : NULL;

	if (place && s->looks)
		look(r, s->at, s->at, s->cell, place);
	if (place && s->ticks_after)
		tick_after(r, s, place);
}

static void mark_call(const struct recorder *r, const struct ir_site *s)
{
	LLVMPositionBuilderBefore(r->builder, s->at);
	tick(r, ir_tick_before(r->fn, s));
	mark_callee(r, s->at);
	mark_after(r, s);
}

/* A known call, or one of what the table has. */
static void mark_linked(const struct recorder *r, const struct ir_site *s)
{
	LLVMValueRef table = LLVMGetNamedGlobal(r->module, CAIRN_IR_EXTERNS);
	LLVMValueRef at = constant(r, 8 * (uint64_t)ir_linked(s->at)), callee;
	struct record_fork fork;
	LLVMValueRef call;

	record_fork(r->builder, s->at, &fork);
	call = fork.other;
	LLVMPositionBuilderBefore(r->builder, call);
	tick(r, ir_tick_before(r->fn, s));
	at = LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(r->context), table,
	                           &at, 1);
	callee = LLVMBuildLoad2(r->builder, r->ptr, at, "");
	check_value(r, callee, at, 8, s->cell, call);
	LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, callee);
	mark_callee(r, call);
	if (s->looks && fork.rest)
		look(r, call, fork.result, s->cell + 1, fork.rest);
	if (s->ticks_after && fork.rest)
		tick_after(r, s, fork.rest);
}

/*
 * It came back once more if foreign code ran until then: the word says so.  (It
 * returns 0 again, if it is getcontext.)  If it returned another number all the
 * same, a handler that nobody knows of has jumped, and the runtime refuses
 * that.
 */
static LLVMValueRef is_again(const struct recorder *r, const struct ir_site *s)
{
	LLVMValueRef e = LLVMBuildLoad2(r->builder, r->i64,
	                                word_at(r, CAIRN_RECORD_EXPECT), "");
	LLVMValueRef a =
	        LLVMBuildICmp(r->builder, LLVMIntNE, e, constant(r, 0), "");
	LLVMValueRef b = LLVMBuildICmp(r->builder, LLVMIntNE, s->at,
	                               LLVMConstNull(LLVMTypeOf(s->at)), "");

	return LLVMBuildOr(r->builder, a, b, "");
}

static void mark_twice(const struct recorder *r, const struct ir_site *s)
{
	LLVMValueRef place, args[2];

	LLVMPositionBuilderBefore(r->builder, s->at);
	tick(r, ir_tick_before(r->fn, s));
	/* behind it canonical.cpp sets the second stack right */
	place = LLVMGetNextInstruction(s->at);
	while (!LLVMIsAStoreInst(place))
		place = LLVMGetNextInstruction(place);
	place = LLVMGetNextInstruction(place);
	LLVMPositionBuilderBefore(r->builder, place);
	tick(r, IR_TICK_BEHIND);
	begin_rare(r, is_again(r, s), place);
	args[0] = as_i64(r, cell_at(r, s->cell));
	args[1] = LLVMBuildLoad2(r->builder, r->i64,
	                         word_at(r, CAIRN_RECORD_STACK), "");
	call_asm(r, CAIRN_RT_RECORD_AGAIN, r->none, "{rax},{rdx}," CLOBBERS,
	         args, 2);
	end_rare(r, place);
	expect(r, constant(r, 0));
	check_result(r, s, place);
}

static void mark_input(const struct recorder *r, const struct ir_site *s)
{
	LLVMValueRef place = LLVMGetNextInstruction(s->at);

	LLVMPositionBuilderBefore(r->builder, place);
	check_result(r, s, place);
}

static void mark_env(const struct recorder *r, const struct ir_site *s)
{
	LLVMValueRef place = LLVMGetNextInstruction(s->at);

	LLVMPositionBuilderBefore(r->builder, s->at);
	tick(r, ir_tick_before(r->fn, s));
	LLVMPositionBuilderBefore(r->builder, place);
	check_env(r);
	check_result(r, s, place);
}

static void mark_pad(const struct recorder *r, const struct ir_site *s)
{
	LLVMValueRef place = LLVMGetNextInstruction(s->at), args[1];

	LLVMPositionBuilderBefore(r->builder, place);
	tick(r, IR_TICK_BEHIND);
	expect(r, constant(r, 0));
	args[0] = as_i64(r, cell_at(r, s->cell));
	call_asm(r, CAIRN_RT_RECORD_LAND, r->none, "{rax}," CLOBBERS, args, 1);
	check_result(r, s, place);
}

/* Foreign code goes on; nobody is expected. */
static void mark_resume(const struct recorder *r, const struct ir_site *s)
{
	LLVMPositionBuilderBefore(r->builder, s->at);
	tick(r, ir_tick_before(r->fn, s));
	expect(r, constant(r, CAIRN_RECORD_BASE));
}

static void mark_site(struct recorder *r, const struct ir_site *s)
{
	switch (s->kind) {
	case IR_LOAD:
		mark_load(r, s);
		break;
	case IR_SEEN:
		mark_seen(r, s);
		break;
	case IR_STORE:
		mark_store(r, s);
		break;
	case IR_RMW:
	case IR_CMPXCHG:
		mark_atomic(r, s);
		break;
	case IR_READ:
		mark_read(r, s);
		break;
	case IR_COPY:
		mark_copy(r, s);
		break;
	case IR_SET:
		mark_set(r, s);
		break;
	case IR_LINKED:
		mark_linked(r, s);
		break;
	case IR_CALL:
		mark_call(r, s);
		break;
	case IR_TWICE:
		mark_twice(r, s);
		break;
	case IR_INPUT:
		mark_input(r, s);
		break;
	case IR_ENV:
		mark_env(r, s);
		break;
	case IR_PAD:
		mark_pad(r, s);
		break;
	case IR_RESUME:
		mark_resume(r, s);
		break;
	case IR_RETURN:
		LLVMPositionBuilderBefore(r->builder, s->at);
		tick(r, ir_tick_before(r->fn, s));
		break;
	case IR_KNOWN:
		mark_after(r, s);
		break;
	case IR_PLAIN:
	case IR_STOP:
		break;
	}
}

/* --- entries ------------------------------------------------------------- */

static void check_args(const struct recorder *r, LLVMValueRef f,
                       LLVMValueRef place)
{
	for (uint32_t i = 0; i < r->fn->nargs; i++) {
		uint32_t cell = r->fn->args[i];

		check_leaves(r, LLVMGetParam(f, i), &cell, place);
	}
}

/* From code without marks.  Returns what was expected. */
static LLVMValueRef enter(const struct recorder *r, LLVMValueRef f,
                          LLVMValueRef place)
{
	LLVMValueRef args[1] = {as_i64(r, cell_at(r, 0))}, old;

	old = call_asm(r, CAIRN_RT_RECORD_ENTER, r->i64,
	               "={rax},{rax}," CLOBBERS, args, 1);
	check_args(r, f, place);
	return old;
}

static void leave(const struct recorder *r, LLVMValueRef old)
{
	call_asm(r, CAIRN_RT_RECORD_LEAVE, r->none, "{rax}," CLOBBERS, &old, 1);
}

static LLVMValueRef is_expected(const struct recorder *r, LLVMValueRef f)
{
	LLVMValueRef e = LLVMBuildLoad2(r->builder, r->i64,
	                                word_at(r, CAIRN_RECORD_EXPECT), "");

	return LLVMBuildICmp(r->builder, LLVMIntEQ, e,
	                     as_i64(r, shim_own_address(f)), "");
}

/* An exception goes back to code without marks. */
static void leave_by_throw(const struct recorder *r, LLVMValueRef old)
{
	LLVMValueRef cell = as_i64(r, cell_at(r, 0));

	tick(r, IR_TICK_BEHIND);
	call_asm(r, CAIRN_RT_RECORD_LAND, r->none, "{rax}," CLOBBERS, &cell, 1);
	expect(r, old);
}

/* The entry of a function whose body is in another. */
static void write_entry(const struct recorder *r, LLVMValueRef entry)
{
	LLVMBasicBlockRef first, fast, slow;
	LLVMValueRef place, old, end;

	first = LLVMAppendBasicBlockInContext(r->context, entry, "");
	fast = LLVMAppendBasicBlockInContext(r->context, entry, "expected");
	slow = LLVMAppendBasicBlockInContext(r->context, entry, "foreign");
	LLVMPositionBuilderAtEnd(r->builder, first);
	LLVMBuildCondBr(r->builder, is_expected(r, entry), fast, slow);
	LLVMPositionBuilderAtEnd(r->builder, fast);
	expect(r, constant(r, 0));
	record_hand_on(r->builder, entry, r->fn->f, true);
	LLVMPositionBuilderAtEnd(r->builder, slow);
	place = LLVMBuildUnreachable(r->builder);
	LLVMPositionBuilderBefore(r->builder, place);
	old = enter(r, entry, place);
	end = record_hand_on(r->builder, entry, r->fn->f, false);
	/* the one that kept the place */
	LLVMInstructionEraseFromParent(place);
	LLVMPositionBuilderBefore(r->builder, end);
	leave(r, old);
	end = record_catch(r->fn->f, entry);
	if (!end)
		return;
	LLVMPositionBuilderBefore(r->builder, end);
	leave_by_throw(r, old);
}

/* At all ends of a function that has one entry. */
static void leave_here(const struct recorder *r, LLVMValueRef unexpected,
                       LLVMValueRef old)
{
	record_catch_here(r->fn->f);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(r->fn->f), next; b;
	     b = next) {
		LLVMValueRef last = LLVMGetBasicBlockTerminator(b);

		next = LLVMGetNextBasicBlock(b);
		if (!LLVMIsAReturnInst(last) && !LLVMIsAResumeInst(last))
			continue;
		LLVMPositionBuilderBefore(r->builder, last);
		begin_rare(r, unexpected, last);
		if (LLVMIsAReturnInst(last))
			leave(r, old);
		else
			leave_by_throw(r, old);
		end_rare(r, last);
	}
}

/* At the top of a function that has one entry, and at all its ends. */
static void enter_here(const struct recorder *r)
{
	LLVMValueRef place = shim_after_allocas(r->fn->f), unexpected, old;
	LLVMBasicBlockRef first, rest, slow, fast;
	LLVMValueRef values[2], phi;
	LLVMBasicBlockRef blocks[2];
	LLVMValueRef end;

	LLVMPositionBuilderBefore(r->builder, place);
	unexpected = LLVMBuildNot(r->builder, is_expected(r, r->fn->f), "");
	first = LLVMGetInstructionParent(place);
	rest = shim_split_before(place);
	slow = LLVMInsertBasicBlockInContext(r->context, rest, "foreign");
	fast = LLVMInsertBasicBlockInContext(r->context, rest, "expected");
	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(first));
	LLVMPositionBuilderAtEnd(r->builder, first);
	LLVMBuildCondBr(r->builder, unexpected, slow, fast);
	LLVMPositionBuilderAtEnd(r->builder, fast);
	expect(r, constant(r, 0));
	LLVMBuildBr(r->builder, rest);
	LLVMPositionBuilderAtEnd(r->builder, slow);
	end = LLVMBuildBr(r->builder, rest);
	LLVMPositionBuilderBefore(r->builder, end);
	old = enter(r, r->fn->f, end);
	LLVMPositionBuilderBefore(r->builder, LLVMGetFirstInstruction(rest));
	phi = LLVMBuildPhi(r->builder, r->i64, "");
	values[0] = constant(r, 0);
	blocks[0] = fast;
	values[1] = old;
	blocks[1] = LLVMGetInstructionParent(end);
	LLVMAddIncoming(phi, values, blocks, 2);
	leave_here(r, unexpected, phi);
}

/* --- a function ---------------------------------------------------------- */

static void mark_ticks(const struct recorder *r)
{
	for (uint32_t i = 0; i < r->fn->nheads; i++) {
		LLVMPositionBuilderBefore(
		        r->builder, shim_insertion_point(r->fn->heads[i]));
		tick(r, ir_tick_at_head(r->fn, i));
	}
	LLVMPositionBuilderBefore(r->builder, shim_after_allocas(r->fn->f));
	tick(r, ir_tick_at_entry(r->fn));
}

LLVMValueRef record_mark(struct function *fn, const struct ir_function *ir,
                         const struct mode *mode)
{
	struct recorder r = {.fn = ir};
	struct marker m;
	LLVMValueRef entry = ir->f;
	enum record_entries entries;

	marker_init(&m, fn, mode);
	r.module = m.module;
	r.context = m.context;
	r.builder = m.builder;
	r.layout = LLVMGetModuleDataLayout(m.module);
	r.i64 = m.i64;
	r.ptr = m.ptr;
	r.gs_ptr = LLVMPointerTypeInContext(m.context, SEGMENT_SPACE);
	r.none = LLVMVoidTypeInContext(m.context);
	r.words = LLVMGetNamedGlobal(m.module, CAIRN_RT_RECORD);
	fn->ncounters = ir->ncells;
	r.cells = fn->counters = marker_declare_counters(&m, ir->ncells);
	mark_ticks(&r);
	for (uint32_t i = 0; i < ir->nsites; i++)
		mark_site(&r, &ir->sites[i]);
	entries = record_split(ir->f, &entry);
	if (entries == RECORD_TWO)
		write_entry(&r, entry);
	else if (entries == RECORD_ONE)
		enter_here(&r);
	shim_prepare_function(ir->f, false);
	shim_pin(ir->f);
	LLVMDisposeBuilder(m.builder);
	return entry;
}

void describe_recorded(const struct record_unit *u, uint32_t index,
                       struct bytes *b)
{
	bytes_put_uv(b, CAIRN_PATHS_RECORD);
	bytes_put(b, u->id, sizeof(u->id));
	bytes_put_uv(b, index);
}

/* --- the IR -------------------------------------------------------------- */

void record_number_stores(LLVMModuleRef module)
{
	const char *name = CAIRN_IR_TURN;
	LLVMContextRef context = LLVMGetModuleContext(module);
	unsigned kind =
	        LLVMGetMDKindIDInContext(context, name, (unsigned)strlen(name));
	LLVMValueRef mark = LLVMMetadataAsValue(
	        context, LLVMMDNodeInContext2(context, NULL, 0));

	for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
	     f = LLVMGetNextFunction(f))
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
		     b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
			     i = LLVMGetNextInstruction(i))
				if (LLVMIsAStoreInst(i) &&
				    LLVMGetOrdering(i) !=
				            LLVMAtomicOrderingNotAtomic)
					LLVMSetMetadata(i, kind, mark);
}

static LLVMMetadataRef text(LLVMContextRef context, const void *data, size_t n)
{
	return LLVMMDStringInContext2(context, data, n);
}

static void record_unit_add(struct record_unit *u, LLVMValueRef g)
{
	VEC_RESERVE(u->globals, u->nglobals, u->globals_cap);
	u->globals[u->nglobals++] = g;
}

/* In the order of rewrite_table (replay/rewrite.h). */
static void record_unit_list(struct record_unit *u, LLVMModuleRef module)
{
	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g;
	     g = LLVMGetNextGlobal(g))
		if (!LLVMIsDeclaration(g))
			record_unit_add(u, g);
	u->functions = u->nglobals;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
	     f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f))
			record_unit_add(u, f);
	u->aliases = u->nglobals;
	for (LLVMValueRef a = LLVMGetFirstGlobalAlias(module); a;
	     a = LLVMGetNextGlobalAlias(a))
		record_unit_add(u, a);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
	     f = LLVMGetNextFunction(f))
		if (ir_linked_function(f) >= 0)
			record_unit_add(u, f);
}

void record_unit_init(struct record_unit *u, LLVMModuleRef module)
{
	LLVMMemoryBufferRef raw = LLVMWriteBitcodeToMemoryBuffer(module);
	const char *data = LLVMGetBufferStart(raw);
	size_t n = LLVMGetBufferSize(raw), bound = ZSTD_compressBound(n), nout;
	uint8_t *packed = xmalloc(bound);
	struct bytes b = {0};

	*u = (struct record_unit){0};
	digest_unit(data, n, u->id);
	nout = ZSTD_compress(packed, bound, data, n, 9);
	bytes_put(&b, CAIRN_IR_MAGIC, 8);
	bytes_put(&b, u->id, sizeof(u->id));
	bytes_put_u64(&b, n);
	bytes_put_u64(&b, nout);
	bytes_put(&b, packed, nout);
	while (b.n % 8)
		bytes_put(&b, "", 1);
	u->blob = b.data;
	u->nblob = b.n;
	free(packed);
	LLVMDisposeMemoryBuffer(raw);
	record_unit_list(u, module);
}

/* Leaves the IR, and what the unit defines, for the writer of sections. */
void record_unit_leave(struct record_unit *u, LLVMModuleRef module)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	size_t n = 0;
	LLVMMetadataRef *parts = xcalloc(u->nglobals + 2, sizeof(*parts));

	parts[n++] = text(context, u->blob, u->nblob);
	parts[n++] = text(context, u->id, sizeof(u->id));
	for (size_t i = 0; i < u->nglobals; i++) {
		size_t length;
		const char *name = LLVMGetValueName2(u->globals[i], &length);

		/* those of the compiler itself are nowhere */
		parts[n++] = strncmp(name, "llvm.", 5)
		                     ? LLVMValueAsMetadata(u->globals[i])
		                     : NULL;
	}
	LLVMAddNamedMetadataOperand(
	        module, RECORD_UNIT,
	        LLVMMetadataAsValue(context,
	                            LLVMMDNodeInContext2(context, parts, n)));
	free(parts);
}

void record_unit_release(struct record_unit *u)
{
	free(u->blob);
	free(u->globals);
}
