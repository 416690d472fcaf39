/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks that count paths: the count, where a path ends.
 *
 * T. Ball and J. Larus, "Efficient path profiling", MICRO-29, 1996.  Few paths
 * (DIRECT_MAX of path.c): every path has a counter, and the register is the
 * address of it, before the delta is added:
 *
 *     count  incq %gs:8*v(%r)
 *
 * Many: counts are in a table of which abi/rt.h has the form, and one slot is
 * looked at here:
 *
 *     mov  %gs:multiplier, %t;  imul %r, %t;  shr $36, %t;  and %gs:mask, %t
 *     add  %gs:offset, %t;  cmp %gs:key(%t), %r;  jne call;  incq %gs:count(%t)
 *
 * Preferred paths (graph/prefer.h) have counters in functions with many paths.
 * A third register s sums their slots; a path that is none of them may have any
 * sum, and is told by its number:
 *
 *     count  and $mask, %s;  cmp owner(%s), %r;  jne other;  incq %gs:slot(%s)
 *
 * Residual (thesis, section 3.3): tested paths are the preferred ones, and need
 * no counter at all.  Where paths are few, the register is the address of a
 * byte that says whether the path is tested:
 *
 *     count  cmpb $0, v(%r);  je untested
 *
 * Invariant: a count stands before its place, and the builder is there when it
 * is written, though the place may have come to another block.
 * Cost: what is shown, per path that ends; the calls and what is behind `other`
 * and `untested` are rare.
 */
#include "plugin/path_writer.h"

#include "abi/rt.h"
#include "base/alloc.h"
#include "plugin/path.h"
#include "plugin/shim.h"

#include <stdlib.h>

void path_count_at(struct path_writer *w, LLVMValueRef address)
{
	LLVMValueRef at;

	/* assembly names the segment itself */
	if (w->m.by_segment && shim_is_not_optimized(w->m.fn->f))
		at = LLVMBuildIntToPtr(w->m.builder, address, w->m.ptr, "");
	else
		at = pw_pointer(w, address);
	marker_add_to(&w->m, at, w->m.by_segment, pw_constant(w, 1));
}

/* --- in a table ---------------------------------------------------------- */

static LLVMValueRef load_word(struct path_writer *w, LLVMTypeRef type,
                              unsigned word)
{
	LLVMValueRef v = marker_ours(LLVMBuildLoad2(
	        w->m.builder, type, pw_pointer(w, pw_symbol(w, 8 * word)), ""));

	LLVMSetVolatile(v, true); /* in this order */
	return v;
}

/* As inline assembly, for the reasons of the slow call in mark.c. */
static void call_count(struct path_writer *w, LLVMValueRef r)
{
	static const char text[] = "leaq -128(%rsp), %rsp\n\t"
	                           "call " CAIRN_RT_COUNT_PATH "\n\t"
	                           "leaq 128(%rsp), %rsp";
	static const char constraints[] = "{rdi},{rsi},~{memory},~{dirflag},"
	                                  "~{fpsr},~{flags}";
	LLVMTypeRef types[2] = {w->m.i64, w->m.i64};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(w->m.context),
	                                    types, 2, false);
	LLVMValueRef code =
	        LLVMGetInlineAsm(type, text, sizeof(text) - 1, constraints,
	                         sizeof(constraints) - 1, true, false,
	                         LLVMInlineAsmDialectATT, false);
	LLVMValueRef args[2] = {pw_sum(w, pw_symbol(w, 0), pw_delta(w)), r};

	marker_ours(LLVMBuildCall2(w->m.builder, type, code, args, 2, ""));
}

/* The address of the slot where r has to be, before the delta. */
static LLVMValueRef home_of(struct path_writer *w, LLVMValueRef r)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMTypeRef i32 = LLVMInt32TypeInContext(w->m.context);
	LLVMValueRef at, mask;

	at = load_word(w, w->m.i64, CAIRN_TABLE_MULTIPLIER);
	at = LLVMBuildMul(b, at, r, "");
	at = LLVMBuildLShr(b, at, pw_constant(w, CAIRN_TABLE_SHIFT), "");
	at = LLVMBuildTrunc(b, at, i32, "");
	mask = load_word(w, i32, CAIRN_TABLE_MASK);
	at = LLVMBuildAnd(b, at, mask, "");
	at = LLVMBuildZExt(b, at, w->m.i64, "");
	at = pw_sum(w, at, load_word(w, w->m.i64, CAIRN_TABLE_OFFSET));
	return pw_sum(w, at, pw_symbol(w, 8 * CAIRN_TABLE_KEY));
}

void path_count_in_table(struct path_writer *w, LLVMValueRef r,
                         LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, place);
	LLVMValueRef home = home_of(w, r), key;

	key = marker_ours(
	        LLVMBuildLoad2(b, w->m.i64, pw_pointer(w, home), "cairn.key"));
	shim_set_unlikely(LLVMBuildCondBr(
	        b, LLVMBuildICmp(b, LLVMIntNE, key, r, ""), f.rare, f.common));

	LLVMPositionBuilderAtEnd(b, f.common);
	path_count_at(w, pw_sum(w, home, pw_constant(w, 8)));
	LLVMBuildBr(b, f.rest);
	pw_add_probe_to(w, f.common, w->before);

	LLVMPositionBuilderAtEnd(b, f.rare);
	call_count(w, r);
	LLVMBuildBr(b, f.rest);
	pw_add_probe_to(w, f.rare, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, f.rest, w->m.behind);
	LLVMPositionBuilderBefore(b, place);
}

/* --- preferred and tested paths ------------------------------------------ */

static uint64_t slot_of(const struct prefer *f, uint64_t number)
{
	uint32_t i = 0;

	while (f->number[i] != number)
		i++;
	return f->slot[i];
}

void path_count_other(struct path_writer *w, LLVMValueRef number,
                      LLVMValueRef place)
{
	const struct function_paths *p = w->m.fn->paths;

	if (p->how == CAIRN_PATHS_RESIDUAL || p->others)
		path_count_in_table(w, number, place);
	else
		path_count_at(w, pw_symbol(w, 8 * ((uint64_t)p->slots_first +
		                                   p->slots_size)));
}

LLVMValueRef path_count_owners(struct path_writer *w)
{
	const struct function_paths *p = w->m.fn->paths;
	uint64_t *number = xcalloc(p->slots_size, sizeof(*number));
	LLVMValueRef *values = xcalloc(p->slots_size, sizeof(LLVMValueRef));
	LLVMValueRef table;

	for (uint32_t i = 0; i < p->prefer.n; i++)
		number[p->prefer.slot[i]] = 1 + p->prefer.number[i];
	for (uint32_t i = 0; i < p->slots_size; i++)
		values[i] = pw_constant(w, number[i]);
	table = pw_add_table(w, "cairn.owner", w->m.i64, values, p->slots_size);
	free(number);
	free(values);
	return table;
}

/* Is slot s that of path r?  Then it is counted, or nothing is to be done. */
static void count_preferred(struct path_writer *w, LLVMValueRef r,
                            LLVMValueRef s, LLVMValueRef place)
{
	const struct function_paths *p = w->m.fn->paths;
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, place);
	LLVMValueRef at, owner, test, end;

	at = LLVMBuildAnd(
	        b, s, pw_constant(w, 8 * ((uint64_t)p->slots_size - 1)), "");
	owner = LLVMBuildIntToPtr(
	        b, pw_sum(w, at, pw_address_in(w, w->owner, 0)), w->m.ptr, "");
	owner = marker_ours(LLVMBuildLoad2(b, w->m.i64, owner, "cairn.owner"));
	test = LLVMBuildICmp(b, LLVMIntNE, owner, r, "");
	shim_set_unlikely(LLVMBuildCondBr(b, test, f.rare, f.common));

	LLVMPositionBuilderAtEnd(b, f.common);
	if (p->how == CAIRN_PATHS_PREFERRED)
		path_count_at(
		        w, pw_sum(w, at,
		                  pw_symbol(w, 8 * (uint64_t)p->slots_first)));
	LLVMBuildBr(b, f.rest);
	pw_add_probe_to(w, f.common, w->before);

	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	path_count_other(w, r, end);
	pw_add_probe_to(w, f.rare, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, f.rest, w->m.behind);
	LLVMPositionBuilderBefore(b, place);
}

LLVMValueRef path_key(struct path_writer *w, LLVMValueRef r)
{
	if (!w->tested || !paths_register_is_byte(w->m.fn))
		return r;
	return pw_sum(w,
	              LLVMBuildSub(w->m.builder, r,
	                           pw_address_in(w, w->tested, 0), ""),
	              pw_constant(w, 1));
}

/* Does the table of bytes have the path as tested? */
static void count_untested(struct path_writer *w, LLVMValueRef r,
                           LLVMValueRef place)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(w->m.context);
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, place);
	LLVMValueRef byte, test, end, at = r;

	if (!paths_register_is_byte(w->m.fn))
		at = LLVMBuildSub(b,
		                  pw_sum(w, r, pw_address_in(w, w->tested, 0)),
		                  pw_constant(w, 1), "");
	byte = marker_ours(LLVMBuildLoad2(
	        b, i8, LLVMBuildIntToPtr(b, at, w->m.ptr, ""), "cairn.tested"));
	test = LLVMBuildICmp(b, LLVMIntEQ, byte, LLVMConstInt(i8, 0, false),
	                     "");
	shim_set_unlikely(LLVMBuildCondBr(b, test, f.rare, f.common));
	LLVMPositionBuilderAtEnd(b, f.common);
	LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	path_count_other(w, path_key(w, r), end);
	LLVMPositionBuilderBefore(b, place);
}

/* --- any path ------------------------------------------------------------ */

/* The row of graph/pairs.h, in the units of the register. */
static LLVMValueRef row_of(struct path_writer *w, LLVMValueRef r)
{
	const struct pairs *pairs = &w->m.fn->paths->pairs;
	LLVMBuilderRef b = w->m.builder;

	r = LLVMBuildSub(b, r, pw_register_at(w, 0), "");
	r = LLVMBuildMul(b, r, pw_constant(w, pairs->columns), "");
	return pw_sum(w, r,
	              pw_constant(w, pw_in_units(w, pairs_row(pairs, 0))));
}

void path_comes_before(struct path_writer *w, LLVMValueRef r)
{
	if (counts_pairs(w->m.fn->paths))
		pw_set(w, w->o, r ? row_of(w, r) : pw_constant(w, 0));
}

void path_count(struct path_writer *w, LLVMValueRef r, LLVMValueRef s,
                LLVMValueRef place)
{
	if (counts_pairs(w->m.fn->paths))
		r = pw_sum(w, r, pw_get(w, w->o));
	if (w->m.fn->paths->calls && w->m.fn->paths->calls->tags.n > 1) {
		r = pw_sum(w, r, pw_get(w, w->tag));
		pw_set(w, w->tag, pw_constant(w, 0));
	}
	if (w->is_direct)
		path_count_at(w, r);
	else if (w->tested)
		count_untested(w, r, place);
	else if (w->m.fn->paths->has_slots)
		count_preferred(w, r, s, place);
	else
		path_count_in_table(w, r, place);
}

void path_count_known(struct path_writer *w, uint64_t number,
                      LLVMValueRef place)
{
	const struct function_paths *p = w->m.fn->paths;

	if (!p->has_slots && !p->tested)
		path_count(w, pw_register_at(w, number), NULL, place);
	else if (!is_tested(p, number))
		path_count_other(w, pw_constant(w, 1 + number), place);
	else if (p->how == CAIRN_PATHS_PREFERRED)
		path_count_at(w,
		              pw_symbol(w, 8 * (p->slots_first +
		                                slot_of(&p->prefer, number))));
}
