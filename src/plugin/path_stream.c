/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks that count paths: windows of the stream of paths.
 *
 * The paths of an activation, one after the other, are a stream; what is
 * counted are its windows of up to K paths (abi/rt.h, runtime/forest_steps.c).
 * The state of the stream is a variable of the frame, so that recursion needs
 * nothing, and a step is made where a path ends, once it is counted:
 *
 *     cmp  $1, %state;  jbe call
 *     mov  24(%state), %t;  mov 32(%state), %s;  add %id, %t
 *     cmp  %t, (%state,%s);  jne call
 *     add  %s, %state;  incq 16(%state)
 *
 * Functions whose paths all begin at the entry have no stream: their counts say
 * all.  Behind a call that may come back twice a new stream begins.
 *
 * Invariant: what the windows of a function say of a path is its count, less
 * what found no room, and one for each frame that a signal took away right
 * behind the count: never more.
 * Cost: 8 instructions per path that ends in a window which was foreseen, a
 * call of the runtime for the others; 5 at the entry.
 */
#include "plugin/path_writer.h"

#include "abi/file.h"
#include "abi/map.h"
#include "abi/rt.h"
#include "plugin/path.h"
#include "plugin/shim.h"

#include <string.h>

static LLVMValueRef load_at(struct path_writer *w, LLVMValueRef base,
                            uint64_t offset)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(w->m.context);
	LLVMValueRef at = pw_constant(w, offset);

	return marker_ours(LLVMBuildLoad2(
	        w->m.builder, w->m.i64,
	        LLVMBuildGEP2(w->m.builder, i8, base, &at, 1, ""),
	        "cairn.window"));
}

static LLVMValueRef call_asm(struct path_writer *w, LLVMTypeRef result,
                             const char *text, const char *constraints,
                             LLVMValueRef *args, unsigned n)
{
	LLVMTypeRef types[4], type;
	LLVMValueRef code;

	for (unsigned i = 0; i < n; i++)
		types[i] = LLVMTypeOf(args[i]);
	type = LLVMFunctionType(result, types, n, false);
	code = LLVMGetInlineAsm(type, text, strlen(text), constraints,
	                        strlen(constraints), true, false,
	                        LLVMInlineAsmDialectATT, false);
	return marker_ours(
	        LLVMBuildCall2(w->m.builder, type, code, args, n, ""));
}

/* Where the state says that the next slot is. */
static LLVMValueRef foreseen(struct path_writer *w, LLVMValueRef state,
                             LLVMValueRef id, LLVMValueRef *differs)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef at = LLVMBuildIntToPtr(b, state, w->m.ptr, ""), key, slot;

	key = pw_sum(w, load_at(w, at, CAIRN_SLOT_NEXT), id);
	slot = pw_sum(w, state, load_at(w, at, CAIRN_SLOT_SUCC));
	slot = LLVMBuildIntToPtr(b, slot, w->m.ptr, "");
	*differs = LLVMBuildICmp(b, LLVMIntNE, load_at(w, slot, CAIRN_SLOT_KEY),
	                         key, "");
	return slot;
}

/* Counts the window of a slot, which is the next state. */
static void write_foreseen(struct path_writer *w, LLVMValueRef slot,
                           LLVMValueRef variable)
{
	call_asm(w, LLVMVoidTypeInContext(w->m.context), "incq 16($0)",
	         "r,~{flags}", &slot, 1);
	pw_set(w, variable,
	       LLVMBuildPtrToInt(w->m.builder, slot, w->m.i64, ""));
}

static void write_call(struct path_writer *w, LLVMValueRef state,
                       LLVMValueRef id, LLVMValueRef variable)
{
	const struct function_paths *p = w->m.fn->paths;
	LLVMValueRef args[4] = {
	        state, pw_symbol(w, 0), id,
	        pw_constant(w, p->longest | (uint64_t)p->start_word
	                                            << CAIRN_STARTS_SHIFT)};

	pw_set(w, variable,
	       call_asm(w, w->m.i64,
	                "leaq -128(%rsp), %rsp\n\t"
	                "call " CAIRN_RT_FOREST_STEP "\n\t"
	                "leaq 128(%rsp), %rsp",
	                "={rax},{rdi},{rsi},{rdx},{rcx},~{memory},~{dirflag},"
	                "~{fpsr},~{flags}",
	                args, 4));
}

/* Leaves the builder at `place`, behind the step; the variable has the next
 * state. */
static void write_step(struct path_writer *w, LLVMValueRef variable,
                       LLVMValueRef id, LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, place);
	LLVMBasicBlockRef look = LLVMInsertBasicBlockInContext(
	        w->m.context, f.rest, "cairn.look");
	LLVMValueRef state = pw_get(w, variable), slot, differs;

	shim_set_unlikely(LLVMBuildCondBr(
	        b, LLVMBuildICmp(b, LLVMIntULE, state, pw_constant(w, 1), ""),
	        f.rare, look));
	LLVMPositionBuilderAtEnd(b, look);
	slot = foreseen(w, state, id, &differs);
	shim_set_unlikely(LLVMBuildCondBr(b, differs, f.rare, f.common));
	pw_add_probe_to(w, look, w->m.behind);

	LLVMPositionBuilderAtEnd(b, f.common);
	write_foreseen(w, slot, variable);
	LLVMBuildBr(b, f.rest);
	pw_add_probe_to(w, f.common, w->m.behind);

	LLVMPositionBuilderAtEnd(b, f.rare);
	write_call(w, state, id, variable);
	LLVMBuildBr(b, f.rest);
	pw_add_probe_to(w, f.rare, w->m.behind);
	pw_add_probe_to(w, f.rest, w->m.behind);
	LLVMPositionBuilderBefore(b, place);
}

void path_stream_enter(struct path_writer *w)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef starts, slot, owner;

	if (!counts_windows(w->m.fn->paths))
		return;
	starts = marker_ours(LLVMBuildLoad2(
	        b, w->m.i64, marker_thread_word(&w->m, CAIRN_FOREST_STARTS),
	        "cairn.starts"));
	LLVMSetVolatile(starts, true); /* the first step changes it */
	slot = load_at(w, LLVMBuildIntToPtr(b, starts, w->m.ptr, ""),
	               8 * (uint64_t)w->m.fn->paths->start_word);
	LLVMSetVolatile(slot, true);
	slot = pw_sum(w, slot, starts);
	owner = load_at(w, LLVMBuildIntToPtr(b, slot, w->m.ptr, ""),
	                CAIRN_SLOT_OWNER);
	pw_set(w, w->state,
	       LLVMBuildSelect(
	               b,
	               LLVMBuildICmp(b, LLVMIntEQ, owner, pw_symbol(w, 0), ""),
	               slot, pw_constant(w, 0), ""));
}

void path_stream_begin(struct path_writer *w)
{
	if (counts_windows(w->m.fn->paths))
		pw_set(w, w->state, pw_constant(w, 0));
}

void path_stream_end(struct path_writer *w, LLVMValueRef r, LLVMValueRef place)
{
	if (counts_windows(w->m.fn->paths))
		write_step(w, w->state, pw_id(w, r), place);
}
