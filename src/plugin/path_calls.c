/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks that count paths: pairs across calls.
 *
 * S. Tallam, X. Zhang and R. Gupta, "Extending path profiling across loop
 * backedges and procedure boundaries", CGO 2004, section 3.  Type I is the path
 * of the caller up to the call and the first path of the callee, type II the
 * last path of the callee and the rest of the caller's.  The paper hands a
 * register and the callee's name from one to the other as parameters; here they
 * are words of the thread (abi/rt.h), so that functions keep their types and
 * calls through pointers need nothing else:
 *
 *     before a call      target = callee;  site = cell;  prefix = sum << 32
 *     entry              caller = target == me ? site : 0;  target = 0
 *     first path ends    if (caller) count (caller, me, prefix + number)
 *     return             back = caller, me, number << 32
 *     behind the call    if (back is for cell) put (cell, back, sum) on a list
 *     path ends          for all on the list: count, with number - sum
 *
 * Code without marks neither sets nor clears the words.  Whoever it calls does
 * not find itself in `target`, and what that leaves in `back` is for no site:
 * so nothing is taken for what it is not, in signal handlers neither.  The list
 * is on the stack, as long as the most calls on one path.
 *
 * Invariant: each call that a function with marks makes, of one with marks that
 * is no tail call, is counted once where the callee's first path ends, and once
 * where the caller's path ends behind its return; what a frame that dies leaves
 * is counted nowhere.
 * Breaks when: a handler interrupts a function between the first word before a
 * call and the entry of the callee, and makes calls: then the callee does not
 * know its caller, and the pair is missing.
 * Cost: per call about 12 instructions at the site, 6 in the callee, and two
 * calls of the runtime of about 25 each.
 */
#include "plugin/path_writer.h"

#include "abi/map.h"
#include "abi/rt.h"
#include "base/alloc.h"
#include "graph/dag.h"
#include "plugin/path.h"
#include "plugin/shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX 64 /* calls on one path */
#define ENTRY_SIZE 32

/* --- what is known of blocks ---------------------------------------------- */

static bool is_step(const struct dag_edge *e)
{
	return e->kind == DAG_STEP || e->kind == DAG_GATHER;
}

/* For every block, and the hub: may its path have begun at the entry, and how
 * many marked calls may it have made? */
static void find_ways(const struct function *fn, struct function_calls *c)
{
	const struct dag *d = &fn->paths->paths.dag;

	c->from_entry = xcalloc(d->nvertices, sizeof(*c->from_entry));
	c->ncalls = xcalloc(d->nvertices, sizeof(*c->ncalls));
	c->from_entry[DAG_START] = true;
	for (uint32_t i = 0; i < d->norder; i++) {
		uint32_t v = d->order[i], n = 0;

		for (uint32_t k = d->in_at[v]; k < d->in_at[v + 1]; k++) {
			const struct dag_edge *e = &d->edges[d->in[k]];

			if (!is_step(e))
				continue;
			c->from_entry[v] |= c->from_entry[e->src];
			if (c->ncalls[e->src] > n)
				n = c->ncalls[e->src];
		}
		for (uint32_t k = 0; v < fn->g.nblocks && k < fn->nsites; k++)
			n += c->cell[k] != CFG_NONE && fn->sites[k].block == v;
		c->ncalls[v] = n;
		if (n > c->longest)
			c->longest = n;
	}
}

void path_calls_choose(struct function *fn)
{
	struct function_calls *c = xcalloc(1, sizeof(*c));

	c->first = fn->ncounters;
	c->cell = xcalloc((size_t)fn->nsites + 1, sizeof(*c->cell));
	for (uint32_t i = 0; i < fn->nsites; i++)
		c->cell[i] = shim_may_call_marked(fn->sites[i].call)
		                     ? c->ncells++
		                     : CFG_NONE;
	fn->ncounters += c->ncells;
	find_ways(fn, c);
	fn->paths->calls = c;
}

void path_calls_release(struct function_calls *c)
{
	if (!c)
		return;
	free(c->cell);
	free(c->from_entry);
	free(c->ncalls);
	free(c);
}

/* --- code ---------------------------------------------------------------- */

static LLVMValueRef get_word(struct path_writer *w, uint64_t offset)
{
	LLVMValueRef v = marker_ours(LLVMBuildLoad2(
	        w->m.builder, w->m.i64, marker_thread_word(&w->m, offset),
	        "cairn.call"));

	LLVMSetVolatile(v, true); /* the callee changes it */
	return v;
}

static void set_word(struct path_writer *w, uint64_t offset, LLVMValueRef v)
{
	LLVMSetVolatile(
	        marker_ours(LLVMBuildStore(w->m.builder, v,
	                                   marker_thread_word(&w->m, offset))),
	        true);
}

static void call_runtime(struct path_writer *w, const char *name,
                         const char *constraints, LLVMValueRef *args,
                         unsigned n)
{
	LLVMTypeRef types[4] = {w->m.i64, w->m.i64, w->m.i64, w->m.i64};
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(w->m.context),
	                                    types, n, false);
	char text[128];
	LLVMValueRef code;

	snprintf(text, sizeof(text),
	         "leaq -128(%%rsp), %%rsp\n\tcall %s\n\t"
	         "leaq 128(%%rsp), %%rsp",
	         name);
	code = LLVMGetInlineAsm(type, text, strlen(text), constraints,
	                        strlen(constraints), true, false,
	                        LLVMInlineAsmDialectATT, false);
	marker_ours(LLVMBuildCall2(w->m.builder, type, code, args, n, ""));
}

/* A register as a number times 2^shift. */
static LLVMValueRef number_of(struct path_writer *w, LLVMValueRef r,
                              unsigned shift)
{
	LLVMBuilderRef b = w->m.builder;
	unsigned unit = w->is_direct ? 3 : 0;

	r = LLVMBuildSub(b, r, pw_register_at(w, 0), "");
	if (shift >= unit)
		return LLVMBuildShl(b, r, pw_constant(w, shift - unit), "");
	return LLVMBuildLShr(b, r, pw_constant(w, unit - shift), "");
}

/* The register with the whole sum, in a block. */
static LLVMValueRef sum_in(struct path_writer *w, block_id b)
{
	const struct increments *inc = &w->m.fn->paths->inc;

	if (inc->is_known[b])
		return pw_register_at(w, inc->offset[b]);
	return pw_sum(w, pw_get(w, w->r),
	              pw_constant(w, pw_in_units(w, inc->offset[b])));
}

static LLVMValueRef me(struct path_writer *w)
{
	return pw_symbol(w, 0);
}

static LLVMValueRef cell_of(struct path_writer *w, uint32_t site)
{
	const struct function_calls *c = w->m.fn->paths->calls;

	return pw_symbol(w, 8 * ((uint64_t)c->first + c->cell[site]));
}

static bool has_cell(const struct path_writer *w, uint32_t site)
{
	const struct function_calls *c = w->m.fn->paths->calls;

	return c && c->cell[site] != CFG_NONE;
}

void path_calls_before(struct path_writer *w, uint32_t site)
{
	const struct site *s = &w->m.fn->sites[site];
	LLVMValueRef callee;

	if (!has_cell(w, site))
		return;
	LLVMPositionBuilderBefore(w->m.builder, s->call);
	callee = LLVMBuildPtrToInt(w->m.builder, LLVMGetCalledValue(s->call),
	                           w->m.i64, "");
	set_word(w, CAIRN_CALLS_SITE, cell_of(w, site));
	set_word(w, CAIRN_CALLS_PREFIX, number_of(w, sum_in(w, s->block), 32));
	set_word(w, CAIRN_CALLS_TARGET, callee);
}

void path_calls_enter(struct path_writer *w)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef f = LLVMConstPtrToInt(w->m.fn->f, w->m.i64), test;

	test = LLVMBuildICmp(b, LLVMIntEQ, get_word(w, CAIRN_CALLS_TARGET), f,
	                     "");
	set_word(w, CAIRN_CALLS_TARGET, pw_constant(w, 0));
	pw_set(w, w->caller,
	       LLVMBuildSelect(b, test, get_word(w, CAIRN_CALLS_SITE),
	                       pw_constant(w, 0), ""));
	pw_set(w, w->first, pw_get(w, w->caller));
	pw_set(w, w->prefix, get_word(w, CAIRN_CALLS_PREFIX));
	if (w->list)
		pw_set(w, w->top, LLVMBuildPtrToInt(b, w->list, w->m.i64, ""));
}

void path_calls_forget(struct path_writer *w)
{
	pw_set(w, w->first, pw_constant(w, 0));
	if (w->list)
		pw_set(w, w->top,
		       LLVMBuildPtrToInt(w->m.builder, w->list, w->m.i64, ""));
}

/* If the test holds, the rare way is taken: the builder is then on it. */
static void begin_if(struct path_writer *w, LLVMValueRef test,
                     const struct path_fork *f)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef end;

	LLVMBuildCondBr(b, test, f->rare, f->common);
	LLVMPositionBuilderAtEnd(b, f->common);
	LLVMBuildBr(b, f->rest);
	LLVMPositionBuilderAtEnd(b, f->rare);
	end = LLVMBuildBr(b, f->rest);
	LLVMPositionBuilderBefore(b, end);
	pw_add_probe_to(w, f->common, w->before);
	pw_add_probe_to(w, f->rare, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, f->rest, w->before);
}

void path_calls_back(struct path_writer *w, const struct path_deed *p)
{
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, p->at);
	LLVMValueRef cell = cell_of(w, p->site), top, test, word[4];
	LLVMTypeRef i8 = LLVMInt8TypeInContext(w->m.context);

	test = LLVMBuildICmp(b, LLVMIntEQ, get_word(w, CAIRN_CALLS_BACK_SITE),
	                     cell, "");
	if (w->m.fn->paths->calls->longest > LIST_MAX) {
		LLVMValueRef end =
		        pw_sum(w, LLVMBuildPtrToInt(b, w->list, w->m.i64, ""),
		               pw_constant(w, (uint64_t)LIST_MAX * ENTRY_SIZE));

		test = LLVMBuildAnd(b, test,
		                    LLVMBuildICmp(b, LLVMIntULT,
		                                  pw_get(w, w->top), end, ""),
		                    "");
	}
	begin_if(w, test, &f);
	set_word(w, CAIRN_CALLS_BACK_SITE, pw_constant(w, 0));
	top = pw_get(w, w->top);
	word[0] = pw_sum(w, cell, pw_constant(w, 1));
	word[1] = get_word(w, CAIRN_CALLS_BACK_FUNCTION);
	word[2] = get_word(w, CAIRN_CALLS_BACK_PATH);
	word[3] = sum_in(w, w->m.fn->sites[p->site].block);
	for (unsigned i = 0; i < 4; i++) {
		LLVMValueRef at = pw_constant(w, 8 * i), to;

		to = LLVMBuildGEP2(b, i8,
		                   LLVMBuildIntToPtr(b, top, w->m.ptr, ""), &at,
		                   1, "");
		marker_ours(LLVMBuildStore(b, word[i], to));
	}
	pw_set(w, w->top, pw_sum(w, top, pw_constant(w, ENTRY_SIZE)));
	LLVMPositionBuilderBefore(b, p->at);
}

static void count_first(struct path_writer *w, LLVMValueRef r,
                        LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, place);
	LLVMValueRef first = pw_get(w, w->first), args[3];

	begin_if(w, LLVMBuildICmp(b, LLVMIntNE, first, pw_constant(w, 0), ""),
	         &f);
	args[0] = first;
	args[1] = me(w);
	args[2] = pw_sum(w, pw_get(w, w->prefix), number_of(w, r, 0));
	call_runtime(w, CAIRN_RT_COUNT_CALL,
	             "{rsi},{rdx},{rcx},~{memory},~{dirflag},~{fpsr},~{flags}",
	             args, 3);
	pw_set(w, w->first, pw_constant(w, 0));
	LLVMPositionBuilderBefore(b, place);
}

static void count_list(struct path_writer *w, LLVMValueRef r,
                       LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, place);
	LLVMValueRef list = LLVMBuildPtrToInt(b, w->list, w->m.i64, "");
	LLVMValueRef top = pw_get(w, w->top), args[4];

	begin_if(w, LLVMBuildICmp(b, LLVMIntNE, top, list, ""), &f);
	args[0] = list;
	args[1] = top;
	args[2] = r;
	args[3] = pw_constant(w, w->is_direct ? 3 : 0);
	call_runtime(w, CAIRN_RT_COUNT_RETURNS,
	             "{rdi},{rsi},{rdx},{rcx},~{memory},~{dirflag},~{fpsr},"
	             "~{flags}",
	             args, 4);
	pw_set(w, w->top, list);
	LLVMPositionBuilderBefore(b, place);
}

void path_calls_end(struct path_writer *w, const struct path_deed *p,
                    LLVMValueRef r, LLVMValueRef place)
{
	const struct function *fn = w->m.fn;
	const struct function_calls *c = fn->paths->calls;
	uint32_t v;

	if (!c)
		return;
	if (p->edge != CFG_NONE)
		v = fn->g.edges[p->edge].src;
	else if (p->op->place == INCREMENT_AT_HEAD)
		v = dag_hub(&fn->paths->paths.dag);
	else
		v = p->op->where;
	if (c->from_entry[v])
		count_first(w, r, place);
	if (w->list && c->ncalls[v])
		count_list(w, r, place);
	if (p->edge == CFG_NONE || fn->edges[p->edge].kind != CAIRN_EDGE_RETURN)
		return;
	set_word(w, CAIRN_CALLS_BACK_FUNCTION, me(w));
	set_word(w, CAIRN_CALLS_BACK_PATH, number_of(w, r, 32));
	set_word(w, CAIRN_CALLS_BACK_SITE, pw_get(w, w->caller));
}

void path_calls_place(struct path_writer *w,
                      void place(struct path_writer *w, LLVMValueRef at,
                                 struct path_deed what))
{
	const struct function *fn = w->m.fn;

	for (uint32_t i = 0; i < fn->nsites; i++)
		if (has_cell(w, i) && !LLVMIsATerminatorInst(fn->sites[i].call))
			place(w, LLVMGetNextInstruction(fn->sites[i].call),
			      (struct path_deed){.what = DO_BACK,
			                         .site = i,
			                         .edge = CFG_NONE});
}

bool path_calls_is_back(const struct function *fn, edge_id e, uint32_t *site)
{
	const struct function_calls *c = fn->paths->calls;

	for (*site = 0; c && *site < fn->nsites; ++*site)
		if (c->cell[*site] != CFG_NONE &&
		    fn->sites[*site].block == fn->g.edges[e].src &&
		    fn->edges[e].successor == 0 &&
		    LLVMIsATerminatorInst(fn->sites[*site].call))
			return true;
	return false;
}

LLVMValueRef path_calls_list(struct path_writer *w)
{
	const struct function_calls *c = w->m.fn->paths->calls;
	uint32_t n = !c ? 0 : c->longest < LIST_MAX ? c->longest : LIST_MAX;
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(w->m.fn->f);

	if (!n)
		return NULL;
	LLVMPositionBuilderBefore(w->m.builder, LLVMGetFirstInstruction(entry));
	return LLVMBuildAlloca(w->m.builder,
	                       LLVMArrayType2(w->m.i64, (uint64_t)n * 4),
	                       "cairn.back");
}
