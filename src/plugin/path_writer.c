/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks that count paths: the code that counts and turns are made of.
 *
 * The first register is the sum of what was added on the way, in a form that
 * the count can use as it is (v: the sum so far):
 *
 *     DIRECT                counters + 8*v, before the delta is added
 *     RESIDUAL, few paths   tested + v, the byte that says whether it is tested
 *     otherwise             1 + v, as the keys of tables are; 0 is no path
 *
 * The table of bytes is aligned so that v can be read off the address of one
 * (cairn_path_modulus).
 *
 * Registers are variables on the stack until all code is written: then LLVM
 * makes values of them (path_code.c).
 *
 * Cost: constant, but for tables: one value each.
 */
#include "plugin/path_writer.h"

#include "base/alloc.h"
#include "plugin/path.h"
#include "plugin/shim.h"

#include <llvm-c/Comdat.h>
#include <stdlib.h>

/* --- values -------------------------------------------------------------- */

LLVMValueRef pw_constant(struct path_writer *w, uint64_t v)
{
	return LLVMConstInt(w->m.i64, v, false);
}

LLVMValueRef pw_address_in(struct path_writer *w, LLVMValueRef global,
                           uint64_t at)
{
	LLVMValueRef offset = pw_constant(w, at);

	return LLVMConstPtrToInt(
	        LLVMConstGEP2(LLVMInt8TypeInContext(w->m.context), global,
	                      &offset, 1),
	        w->m.i64);
}

LLVMValueRef pw_symbol(struct path_writer *w, uint64_t at)
{
	if (w->base)
		return at ? pw_sum(w, w->base, pw_constant(w, at)) : w->base;
	return pw_address_in(w, w->m.fn->counters, at);
}

LLVMValueRef pw_own_address(struct path_writer *w)
{
	return LLVMConstPtrToInt(shim_own_address(w->m.fn->f), w->m.i64);
}

LLVMValueRef pw_add_table(struct path_writer *w, const char *name,
                          LLVMTypeRef type, LLVMValueRef *values, uint64_t n)
{
	LLVMValueRef table =
	        LLVMAddGlobal(w->m.module, LLVMArrayType2(type, n), name);

	LLVMSetInitializer(table, LLVMConstArray2(type, values, n));
	LLVMSetGlobalConstant(table, true);
	LLVMSetLinkage(table, LLVMPrivateLinkage);
	LLVMSetUnnamedAddress(table, LLVMGlobalUnnamedAddr);
	/* it may have addresses of counters, which are dropped with a copy */
	if (LLVMGetComdat(w->m.fn->f))
		LLVMSetComdat(table, LLVMGetComdat(w->m.fn->f));
	return table;
}

LLVMValueRef pw_add_bytes(struct path_writer *w, const char *name,
                          const uint8_t *bytes, uint64_t n)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(w->m.context);
	LLVMValueRef *values = xcalloc(n, sizeof(LLVMValueRef)), table;

	for (uint64_t i = 0; i < n; i++)
		values[i] = LLVMConstInt(i8, bytes[i], false);
	table = pw_add_table(w, name, i8, values, n);
	free(values);
	return table;
}

/* --- registers ----------------------------------------------------------- */

uint64_t pw_in_units(const struct path_writer *w, uint64_t v)
{
	return w->is_direct ? 8 * v : v;
}

LLVMValueRef pw_register_at(struct path_writer *w, uint64_t v)
{
	if (w->is_direct)
		return pw_symbol(w, 8 * v);
	if (w->tested && paths_register_is_byte(w->m.fn))
		return pw_address_in(w, w->tested, v);
	return pw_constant(w, 1 + v);
}

LLVMValueRef pw_sum(struct path_writer *w, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildAdd(w->m.builder, a, b, "");
}

LLVMValueRef pw_id(struct path_writer *w, LLVMValueRef r)
{
	LLVMBuilderRef b = w->m.builder;

	if (!w->is_direct)
		return r;
	r = LLVMBuildSub(b, r, pw_symbol(w, 0), "");
	r = LLVMBuildLShr(b, r, pw_constant(w, 3), "");
	return pw_sum(w, r, pw_constant(w, 1));
}

LLVMValueRef pw_sum_in(struct path_writer *w, block_id b)
{
	const struct increments *inc = &w->m.fn->paths->inc;

	if (inc->is_known[b])
		return pw_register_at(w, inc->offset[b]);
	return pw_sum(w, pw_get(w, w->r),
	              pw_constant(w, pw_in_units(w, inc->offset[b])));
}

LLVMValueRef pw_get(struct path_writer *w, LLVMValueRef variable)
{
	return marker_ours(
	        LLVMBuildLoad2(w->m.builder, w->m.i64, variable, "cairn.path"));
}

void pw_set(struct path_writer *w, LLVMValueRef variable, LLVMValueRef v)
{
	marker_ours(LLVMBuildStore(w->m.builder, v, variable));
}

LLVMValueRef pw_get_word(struct path_writer *w, uint64_t offset)
{
	LLVMValueRef v = marker_ours(LLVMBuildLoad2(
	        w->m.builder, w->m.i64, marker_thread_word(&w->m, offset),
	        "cairn.word"));

	LLVMSetVolatile(v, true);
	return v;
}

void pw_set_word(struct path_writer *w, uint64_t offset, LLVMValueRef v)
{
	LLVMSetVolatile(
	        marker_ours(LLVMBuildStore(w->m.builder, v,
	                                   marker_thread_word(&w->m, offset))),
	        true);
}

LLVMValueRef pw_delta(struct path_writer *w)
{
	return w->delta ? w->delta : marker_load_delta(&w->m);
}

LLVMValueRef pw_pointer(struct path_writer *w, LLVMValueRef address)
{
	LLVMBuilderRef b = w->m.builder;

	if (w->m.by_segment)
		return LLVMBuildIntToPtr(b, address, w->m.segment_ptr, "");
	return LLVMBuildIntToPtr(b, pw_sum(w, address, pw_delta(w)), w->m.ptr,
	                         "");
}

/* --- flow ---------------------------------------------------------------- */

struct path_fork pw_fork_before(struct path_writer *w, LLVMValueRef place)
{
	LLVMBasicBlockRef first = LLVMGetInstructionParent(place);
	struct path_fork f = {.rest = shim_split_before(place)};

	f.rare = LLVMInsertBasicBlockInContext(w->m.context, f.rest,
	                                       "cairn.rare");
	f.common = LLVMInsertBasicBlockInContext(w->m.context, f.rest,
	                                         "cairn.common");
	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(first));
	LLVMPositionBuilderAtEnd(w->m.builder, first);
	return f;
}

void pw_add_probe_to(struct path_writer *w, LLVMBasicBlockRef block,
                     uint32_t what)
{
	if (w->m.probes)
		marker_add_probe(shim_insertion_point(block), what);
}
