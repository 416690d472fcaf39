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
 *     before a call      target = callee;  site = row, or cell and sum
 *     entry              caller = target == me ? site : nobody;  target = 0
 *     first path ends    if (caller) count (caller, me, number)
 *     return             back = me, number, is it the first path?
 *     behind the call    if (back is from the callee) count the first path, if
 *                        it is that; put (back, sum) on a list
 *     path ends          for all on the list: count, with number - sum
 *
 * What is done at the entry and where a first path ends is for functions in
 * which that may be before they return; in others the caller does it, behind
 * the call.
 *
 * Code without marks neither sets nor clears the words.  Whoever it calls does
 * not find itself in `target`, and is not the callee of the site that it comes
 * back to; a callee with marks leaves `back` whenever it returns: so nothing is
 * taken for what it is not.  One with tail calls does so only if its caller is
 * known: whom it calls last may call it again.  The list is on the stack, as
 * long as the most calls on one path.
 *
 * Where a pair is counted: where an executable calls a known function, in rows
 * of the site's own counters.  Each sum that the caller can have at the site,
 * if these are few, has a row for the first CAIRN_ROW_PATHS paths of the
 * callee, whichever that turns out to be; its address says the site and the
 * sum.  Each of so many paths that come back has a counter for every way from
 * the site on, if these are few.  All else, and calls of anything, is counted
 * in the table of call_pairs.c, under the address of the row or of the site's
 * cell.
 * Counters add up over threads and runs, so that no row may have another owner:
 * the map has the callee's address.
 *
 * Invariant: each call that a function with marks makes, of one with marks that
 * is no tail call, is counted once where the callee's first path ends, and once
 * where the caller's path ends behind its return; what a frame that dies leaves
 * is counted nowhere.
 * Breaks when: a handler that the runtime does not stand behind
 * (runtime/hook_signal.c: one that was set by a system call, or in a program
 * whose executable has no paths) makes calls between the first word before a
 * call and the entry of the callee, or between the callee's last words and
 * those behind the call: then the pair is missing, or of that handler's path if
 * it is the callee itself that is called there by somebody without marks.
 * Cost: with rows about 4 instructions before a call, 5 at the return, 8 behind
 * the call, and 6 where the path ends; 7 at the entry and 5 where the first
 * path ends if that may be early; without rows two calls of the runtime of
 * about 35 each besides.  The rows of a site take 256 bytes per sum, and 264
 * per way from there.
 */
#include "plugin/path_writer.h"

#include "abi/map.h"
#include "abi/rt.h"
#include "analysis/pair_flow.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "graph/dag.h"
#include "ir/flow.h"
#include "plugin/path.h"
#include "plugin/shim.h"

#include <llvm-c/Comdat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls on one path; what comes back from more of them is unfinished. */
#define LIST_MAX 512
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

/* Has it calls that must be tail calls?  All others have become calls. */
static bool has_tail_calls(const struct function *fn)
{
	for (block_id b = 1; b < fn->g.nblocks; b++)
		if (ir_tail_call(fn->nodes[b].block))
			return true;
	return false;
}

/* May a path from the entry end before the function returns? */
static bool may_end_early(const struct function *fn,
                          const struct function_calls *c)
{
	const struct dag *d = &fn->paths->paths.dag;
	const struct increments *inc = &fn->paths->inc;

	for (edge_id e = 0; e < fn->g.nedges; e++) {
		const struct cfg_edge *edge = &fn->g.edges[e];

		if (edge->src != CFG_OUTSIDE && c->from_entry[edge->src] &&
		    (dag_is_ended(d, e) ||
		     (edge->dst == CFG_OUTSIDE &&
		      fn->edges[e].kind != CAIRN_EDGE_RETURN)))
			return true;
	}
	for (uint32_t i = 0; i < inc->n; i++)
		if (inc->ops[i].place != INCREMENT_ON_EDGE)
			return true;
	return false;
}

/* --- rows ----------------------------------------------------------------- */

#define ROWS_MAX 32          /* sums that have rows, of a site */
#define TABLE_MAX 64         /* rows, with those that are for nothing */
#define RESTS_MAX 1024       /* ways from a site on */
#define RESTS_ALL (1u << 18) /* counters for them, of a function */
#define TRIES 4096           /* for a multiplier */

/* Different sums up to a vertex; more than ROWS_MAX: too many. */
struct sums {
	uint32_t n;
	uint64_t sum[ROWS_MAX + 1];
};

static void add_sum(struct sums *to, uint64_t sum)
{
	for (uint32_t i = 0; i < to->n; i++)
		if (to->sum[i] == sum)
			return;
	if (to->n <= ROWS_MAX)
		to->sum[to->n++] = sum;
}

static struct sums *find_sums(const struct paths *p)
{
	const struct dag *d = &p->dag;
	struct sums *sums = xcalloc(d->nvertices, sizeof(*sums));

	sums[DAG_START].n = 1;
	for (uint32_t i = 1; i < d->norder; i++) {
		uint32_t v = d->order[i];

		for (uint32_t k = d->in_at[v]; k < d->in_at[v + 1]; k++) {
			const struct sums *from = &sums[d->edges[d->in[k]].src];

			for (uint32_t j = 0; j < from->n; j++)
				add_sum(&sums[v],
				        from->sum[j] + p->value[d->in[k]]);
		}
	}
	return sums;
}

static uint64_t row_number(const struct call_rows *r, uint64_t sum)
{
	return (sum - r->least) * r->multiplier >> r->shift;
}

/* Have all sums rows of their own? */
static bool are_apart(const struct call_rows *r, const struct sums *s)
{
	uint64_t taken = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t row = row_number(r, s->sum[i]);

		if (row >= r->n || taken >> row & 1)
			return false;
		taken |= (uint64_t)1 << row;
	}
	return true;
}

/* One row after the other, if that takes no more than twice the room; else by
 * a multiplier that keeps them apart. */
static bool find_multiplier(struct call_rows *r, const struct sums *s)
{
	uint64_t most = s->sum[0], seed = 1;

	r->least = s->sum[0];
	for (uint32_t i = 1; i < s->n; i++) {
		if (s->sum[i] < r->least)
			r->least = s->sum[i];
		if (s->sum[i] > most)
			most = s->sum[i];
	}
	r->multiplier = 1;
	r->n = (uint32_t)(most - r->least) + 1;
	if (most - r->least < 2 * (uint64_t)s->n)
		return true;
	for (r->n = 2, r->shift = 63; r->n < s->n; r->n *= 2)
		r->shift--;
	for (; r->n <= TABLE_MAX; r->n *= 2, r->shift--)
		for (unsigned i = 0; i < TRIES; i++) {
			seed = seed * 6364136223846793005u +
			       1442695040888963407u;
			r->multiplier = seed | 1;
			if (are_apart(r, s))
				return true;
		}
	return false;
}

/* Is nothing called behind a site, on the only way from there? */
static bool is_last_call(const struct function *fn, uint32_t site)
{
	const struct dag *d = &fn->paths->paths.dag;
	uint32_t v = fn->sites[site].block;

	while (v != dag_end(d)) {
		for (uint32_t i = 0; i < fn->nsites; i++)
			if (fn->sites[i].block == v && i != site)
				return false;
		if (d->out_at[v] == d->out_at[v + 1])
			return false;
		v = d->edges[d->out_at[v]].dst;
	}
	return true;
}

/* Whom it calls, if that is known; it may have no marks. */
static LLVMValueRef callee_of(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);

	return LLVMIsAFunction(callee) ? callee : NULL;
}

static void choose_rows(struct function *fn, uint32_t site,
                        const struct sums *sums)
{
	struct function_calls *c = fn->paths->calls;
	struct call_rows *r = &c->rows[site];
	block_id b = fn->sites[site].block;

	if (!sums[b].n || sums[b].n > ROWS_MAX || !find_multiplier(r, &sums[b]))
		return;
	r->callee = callee_of(fn->sites[site].call);
	r->sum = xcalloc(r->n, sizeof(*r->sum));
	for (uint32_t i = 0; i < r->n; i++)
		r->sum[i] = CALLS_NO_SUM;
	for (uint32_t i = 0; i < sums[b].n; i++)
		r->sum[row_number(r, sums[b].sum[i])] = sums[b].sum[i];
	r->first = fn->ncounters;
	fn->ncounters += r->n * CAIRN_ROW_WIDTH;
	if (fn->paths->paths.npaths[b] > RESTS_MAX || c->longest > LIST_MAX ||
	    fn->paths->paths.npaths[b] * CAIRN_REST_WIDTH > c->nleft)
		return;
	r->nrests = fn->paths->paths.npaths[b];
	c->nleft -= (uint32_t)r->nrests * CAIRN_REST_WIDTH;
	r->is_last = r->nrests == 1 && is_last_call(fn, site);
	c->has_rests |= !r->is_last;
	r->back = fn->ncounters;
	fn->ncounters += (uint32_t)r->nrests * CAIRN_REST_WIDTH;
}

/* A weak function may have to give way to another one, and what the map has as
 * its address is then that one's. */
static enum cairn_rows kind_of_rows(LLVMValueRef f)
{
	switch (LLVMGetLinkage(f)) {
	case LLVMExternalLinkage:
	case LLVMInternalLinkage:
	case LLVMPrivateLinkage:
		return CAIRN_ROWS_STRONG;
	default:
		return LLVMGetComdat(f) ? CAIRN_ROWS_WEAK : CAIRN_ROWS_NONE;
	}
}

/* Which calls may be of a function with marks, and have enough of them. */
static void choose_cells(struct function *fn, struct function_calls *c)
{
	const struct pair_flow_function *flow = fn->paths->flow;

	for (uint32_t i = 0; i < fn->nsites; i++) {
		const struct site *s = &fn->sites[i];

		c->cell[i] = CFG_NONE;
		if (c->is_off || !shim_may_call_marked(s->call))
			continue;
		c->left_out[i] =
		        flow && !pair_flow_has_site(flow, s->block, s->segment);
		if (!c->left_out[i])
			c->cell[i] = c->ncells++;
	}
}

void path_calls_choose(struct function *fn, const struct mode *mode)
{
	struct function_calls *c = xcalloc(1, sizeof(*c));
	struct sums *sums;

	fn->paths->calls = c;
	c->cell = xcalloc((size_t)fn->nsites + 1, sizeof(*c->cell));
	c->rows = xcalloc((size_t)fn->nsites + 1, sizeof(*c->rows));
	c->left_out = xcalloc((size_t)fn->nsites + 1, sizeof(*c->left_out));
	c->degree = mode->degree;
	c->nleft = RESTS_ALL;
	c->is_off = mode->in_loops;
	choose_cells(fn, c);
	find_ways(fn, c);
	c->has_tails = has_tail_calls(fn);
	c->ends_early = c->has_tails || may_end_early(fn, c);
	/* only executables, which have one delta for all their functions */
	c->uses_rows = mode->segment ? kind_of_rows(fn->f) : CAIRN_ROWS_NONE;
	sums = find_sums(&fn->paths->paths);
	for (uint32_t i = 0; mode->segment && i < fn->nsites; i++)
		if (c->cell[i] != CFG_NONE && callee_of(fn->sites[i].call))
			choose_rows(fn, i, sums);
	free(sums);
	c->all_rests = c->has_rests;
	for (uint32_t i = 0; i < fn->nsites; i++)
		c->all_rests &= c->cell[i] == CFG_NONE || c->rows[i].nrests;
	c->first = fn->ncounters;
	fn->ncounters += c->ncells;
}

void path_calls_release(struct function_calls *c, uint32_t nsites)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < nsites; i++)
		free(c->rows[i].sum);
	free(c->rows);
	free(c->cell);
	free(c->left_out);
	free(c->from_entry);
	free(c->ncalls);
	free(c);
}

LLVMValueRef paths_row_callee(const struct function *fn, uint32_t site)
{
	const struct function_calls *c = fn->paths->calls;

	return c ? c->rows[site].callee : NULL;
}

/* Puts n, and the numbers of those of `all` that are set: n of them. */
static void describe_set(struct bytes *b, const bool *set, uint32_t all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; set && i < all; i++)
		n += set[i];
	bytes_put_uv(b, n);
	for (uint32_t i = 0; set && i < all; i++)
		if (set[i])
			bytes_put_uv(b, i);
}

static bool leaves_out(const struct function *fn)
{
	const struct function_calls *c = fn->paths->calls;
	bool any = fn->paths->left_out != NULL;

	for (uint32_t i = 0; i < fn->nsites; i++)
		any |= c->left_out[i];
	return any;
}

void path_calls_describe(const struct function *fn, struct bytes *b)
{
	const struct function_calls *c = fn->paths->calls;
	bool left_out = leaves_out(fn);

	bytes_put_uv(b, c->degree);
	bytes_put_uv(b, c->uses_rows | (left_out ? CAIRN_ROWS_LEFT_OUT : 0));
	if (left_out) {
		describe_set(b, fn->paths->left_out, fn->g.nblocks);
		describe_set(b, c->left_out, fn->nsites);
	}
	for (uint32_t i = 0; i < fn->nsites; i++)
		bytes_put_uv(b, c->cell[i] == CFG_NONE ? 0 : 1 + c->cell[i]);
	for (uint32_t i = 0; i < fn->nsites; i++) {
		const struct call_rows *r = &c->rows[i];

		if (c->cell[i] == CFG_NONE)
			continue;
		bytes_put_uv(b, r->callee ? r->n : 0);
		for (uint32_t k = 0; r->callee && k < r->n; k++)
			bytes_put_uv(b, r->sum[k] == CALLS_NO_SUM
			                        ? 0
			                        : 1 + r->sum[k]);
		if (r->callee)
			bytes_put_uv(b, r->nrests);
	}
}

/* --- code ---------------------------------------------------------------- */

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

static const struct call_rows *rows_of(const struct path_writer *w,
                                       uint32_t site)
{
	const struct call_rows *r = &w->m.fn->paths->calls->rows[site];

	return r->callee ? r : NULL;
}

/* The row of the path so far. */
static LLVMValueRef row_of(struct path_writer *w, const struct call_rows *r,
                           block_id b)
{
	const struct increments *inc = &w->m.fn->paths->inc;
	uint64_t base = 8 * (uint64_t)r->first, size = 8 * CAIRN_ROW_WIDTH;
	LLVMValueRef row;

	if (inc->is_known[b])
		return pw_symbol(w,
		                 base + size * row_number(r, inc->offset[b]));
	if (r->n == 1)
		return pw_symbol(w, base);
	row = LLVMBuildSub(w->m.builder, number_of(w, pw_sum_in(w, b), 0),
	                   pw_constant(w, r->least), "");
	row = LLVMBuildMul(w->m.builder, row, pw_constant(w, r->multiplier),
	                   "");
	row = LLVMBuildLShr(w->m.builder, row, pw_constant(w, r->shift), "");
	row = LLVMBuildMul(w->m.builder, row, pw_constant(w, size), "");
	return pw_sum(w, row, pw_symbol(w, base));
}

/* The sum of the path so far, times 2^32. */
static LLVMValueRef prefix_of(struct path_writer *w, uint32_t site)
{
	return number_of(w, pw_sum_in(w, w->m.fn->sites[site].block), 32);
}

/* What a site without rows says. */
static LLVMValueRef tagged_cell(struct path_writer *w, uint32_t site)
{
	return pw_sum(w, cell_of(w, site), pw_constant(w, CAIRN_CALLS_NO_ROW));
}

/* The address of what a site calls. */
static LLVMValueRef target_of(struct path_writer *w, uint32_t site)
{
	LLVMValueRef call = w->m.fn->sites[site].call;

	return LLVMBuildPtrToInt(w->m.builder, LLVMGetCalledValue(call),
	                         w->m.i64, "");
}

void path_calls_before(struct path_writer *w, uint32_t site)
{
	const struct site *s = &w->m.fn->sites[site];

	if (!has_cell(w, site))
		return;
	LLVMPositionBuilderBefore(w->m.builder, s->call);
	pw_set_word(w, CAIRN_CALLS_TARGET, target_of(w, site));
	if (rows_of(w, site)) {
		pw_set_word(w, CAIRN_CALLS_SITE,
		            row_of(w, rows_of(w, site), s->block));
		return;
	}
	pw_set_word(w, CAIRN_CALLS_SITE, tagged_cell(w, site));
	pw_set_word(w, CAIRN_CALLS_PREFIX, prefix_of(w, site));
}

/* A caller that is not known. */
static LLVMValueRef nobody(struct path_writer *w)
{
	return pw_constant(w, CAIRN_CALLS_NO_ROW);
}

static LLVMValueRef list_of(struct path_writer *w, LLVMValueRef list)
{
	return LLVMBuildPtrToInt(w->m.builder, list, w->m.i64, "");
}

/* Nobody has come back. */
static void empty_lists(struct path_writer *w)
{
	if (w->list)
		pw_set(w, w->top, list_of(w, w->list));
	if (w->rests)
		pw_set(w, w->rests_top, list_of(w, w->rests));
}

/* In the order in which the site does not write: if a handler comes in between
 * and makes calls, the target is another one. */
static void look_for_caller(struct path_writer *w)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef f = LLVMConstPtrToInt(w->m.fn->f, w->m.i64);
	LLVMValueRef site = pw_get_word(w, CAIRN_CALLS_SITE), test;

	pw_set(w, w->prefix, pw_get_word(w, CAIRN_CALLS_PREFIX));
	test = LLVMBuildICmp(b, LLVMIntEQ, pw_get_word(w, CAIRN_CALLS_TARGET),
	                     f, "");
	pw_set_word(w, CAIRN_CALLS_TARGET, pw_constant(w, 0));
	pw_set(w, w->first, LLVMBuildSelect(b, test, site, nobody(w), ""));
	pw_set(w, w->caller, pw_get(w, w->first));
	pw_set(w, w->early, pw_constant(w, 0));
}

void path_calls_enter(struct path_writer *w)
{
	if (w->m.fn->paths->calls->ends_early)
		look_for_caller(w);
	empty_lists(w);
}

void path_calls_forget(struct path_writer *w)
{
	pw_set(w, w->first, nobody(w));
	pw_set(w, w->early, pw_constant(w, CAIRN_CALLS_EARLY));
	empty_lists(w);
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

static void put_in_list(struct path_writer *w, LLVMValueRef top,
                        const LLVMValueRef *word, unsigned n)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMTypeRef i8 = LLVMInt8TypeInContext(w->m.context);
	LLVMValueRef from = pw_get(w, top);

	for (unsigned i = 0; i < n; i++) {
		LLVMValueRef at = pw_constant(w, 8 * i), to;

		to = LLVMBuildGEP2(b, i8,
		                   LLVMBuildIntToPtr(b, from, w->m.ptr, ""),
		                   &at, 1, "");
		marker_ours(LLVMBuildStore(b, word[i], to));
	}
	pw_set(w, top, pw_sum(w, from, pw_constant(w, 8 * n)));
}

/* A register as an address in counters that lie apart. */
static LLVMValueRef in_bytes(struct path_writer *w, LLVMValueRef r)
{
	return w->is_direct
	               ? r
	               : LLVMBuildShl(w->m.builder, r, pw_constant(w, 3), "");
}

static void count_call(struct path_writer *w, LLVMValueRef site,
                       LLVMValueRef callee, LLVMValueRef paths)
{
	LLVMValueRef args[3] = {site, callee, paths};

	call_runtime(w, CAIRN_RT_COUNT_CALL,
	             "{rsi},{rdx},{rcx},~{memory},~{dirflag},~{fpsr},~{flags}",
	             args, 3);
}

/* What a callee left, without the words that only tables need. */
struct came_back {
	uint32_t site;
	LLVMValueRef path, function;
};

static LLVMValueRef bits_of(struct path_writer *w, LLVMValueRef v,
                            uint64_t mask)
{
	return LLVMBuildAnd(w->m.builder, v, pw_constant(w, mask), "");
}

/* The number of the callee's last path, times 2^32. */
static LLVMValueRef last_path(struct path_writer *w, LLVMValueRef path)
{
	path = bits_of(w, path, ~(CAIRN_CALLS_BACK_TABLE | CAIRN_CALLS_EARLY));
	return LLVMBuildShl(w->m.builder, path,
	                    pw_constant(w, 32 - CAIRN_CALLS_PATH_SHIFT), "");
}

static void put_in_table_list(struct path_writer *w, const struct came_back *c)
{
	LLVMValueRef word[4];

	word[0] = pw_sum(w, cell_of(w, c->site), pw_constant(w, 1));
	word[1] = c->function;
	word[2] = last_path(w, c->path);
	word[3] = pw_sum_in(w, w->m.fn->sites[c->site].block);
	put_in_list(w, w->top, word, 4);
}

/* It will be counted in the table, when the path ends. */
static void wait_for_table(struct path_writer *w, const struct came_back *c,
                           LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef end =
	        pw_sum(w, list_of(w, w->list),
	               pw_constant(w, (uint64_t)LIST_MAX * ENTRY_SIZE));
	struct path_fork f;

	if (w->m.fn->paths->calls->longest <= LIST_MAX) {
		put_in_table_list(w, c);
		return;
	}
	f = pw_fork_before(w, place);
	begin_if(w, LLVMBuildICmp(b, LLVMIntULT, pw_get(w, w->top), end, ""),
	         &f);
	put_in_table_list(w, c);
	LLVMPositionBuilderBefore(b, place);
}

/* Until the path ends; `at` is the counter of way 0. */
static void wait_in_rests(struct path_writer *w, uint32_t site, LLVMValueRef at)
{
	LLVMValueRef sum = pw_sum_in(w, w->m.fn->sites[site].block);

	at = LLVMBuildSub(w->m.builder, at, in_bytes(w, sum), "");
	put_in_list(w, w->rests_top, &at, 1);
}

/* The counter of the callee's path and the way from here on. */
static void count_in_rest(struct path_writer *w, uint32_t site,
                          LLVMValueRef path)
{
	const struct call_rows *r = rows_of(w, site);
	LLVMValueRef at;

	at = LLVMBuildMul(w->m.builder, path, pw_constant(w, r->nrests), "");
	at = pw_sum(w, at, pw_symbol(w, 8 * (uint64_t)r->back));
	if (r->is_last)
		path_count_at(w, at);
	else
		wait_in_rests(w, site, at);
}

/* In the table; its first path, too, unless it has counted that itself. */
static void take_in_table(struct path_writer *w, const struct came_back *c,
                          LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef early = bits_of(w, c->path, CAIRN_CALLS_EARLY), number;
	struct path_fork f = pw_fork_before(w, place);

	begin_if(w, LLVMBuildICmp(b, LLVMIntEQ, early, pw_constant(w, 0), ""),
	         &f);
	number = bits_of(w, c->path, ~CAIRN_CALLS_BACK_TABLE);
	number = LLVMBuildLShr(b, number,
	                       pw_constant(w, CAIRN_CALLS_PATH_SHIFT), "");
	count_call(w, cell_of(w, c->site), c->function,
	           pw_sum(w, prefix_of(w, c->site), number));
	LLVMPositionBuilderBefore(b, place);
	wait_for_table(w, c, place);
}

static LLVMValueRef is_back(struct path_writer *w, uint32_t site)
{
	return LLVMBuildICmp(w->m.builder, LLVMIntEQ,
	                     pw_get_word(w, CAIRN_CALLS_BACK_TARGET),
	                     target_of(w, site), "");
}

/* Rows do not have its path.  Who it is has not been read yet: a handler may
 * have come in between. */
static void take_beyond_rows(struct path_writer *w, struct came_back *c,
                             LLVMValueRef place)
{
	const struct call_rows *r = rows_of(w, c->site);
	struct path_fork f = pw_fork_before(w, place);

	c->function = pw_get_word(w, CAIRN_CALLS_BACK_FUNCTION);
	begin_if(w, is_back(w, c->site), &f);
	if (w->m.fn->paths->calls->all_rests) /* a counter of nothing */
		wait_in_rests(w, c->site,
		              pw_symbol(w, 8 * (r->back +
		                                CAIRN_ROW_WIDTH * r->nrests)));
	take_in_table(w, c, LLVMGetBasicBlockTerminator(f.rare));
	LLVMPositionBuilderBefore(w->m.builder, place);
}

/* Its path is in the site's rows. */
static void take_in_rows(struct path_writer *w, const struct came_back *c,
                         LLVMValueRef place)
{
	const struct call_rows *r = rows_of(w, c->site);

	path_count_at(w, pw_sum(w, c->path,
	                        row_of(w, r, w->m.fn->sites[c->site].block)));
	if (r->nrests)
		count_in_rest(w, c->site, c->path);
	else
		wait_for_table(w, c, place);
}

/* It has come back: its path is in a row, or waits for the table. */
static void take_back(struct path_writer *w, struct came_back *c,
                      LLVMValueRef end)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef test, rare, common;
	struct path_fork f;

	if (!rows_of(w, c->site)) {
		take_in_table(w, c, end);
		return;
	}
	f = pw_fork_before(w, end);
	test = LLVMBuildICmp(b, LLVMIntUGE, c->path,
	                     pw_constant(w, (uint64_t)CAIRN_ROW_WIDTH * 8), "");
	shim_set_unlikely(LLVMBuildCondBr(b, test, f.rare, f.common));
	LLVMPositionBuilderAtEnd(b, f.common);
	common = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, common);
	take_in_rows(w, c, common);
	LLVMPositionBuilderAtEnd(b, f.rare);
	rare = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, rare);
	take_beyond_rows(w, c, rare);
	pw_add_probe_to(w, f.common, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, f.rare, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, f.rest, CAIRN_PROBE_UNKNOWN);
}

void path_calls_back(struct path_writer *w, const struct path_deed *p)
{
	const struct call_rows *r = rows_of(w, p->site);
	struct path_fork f = pw_fork_before(w, p->at);
	struct came_back c = {.site = p->site};

	/* the target, which the callee writes first, is read last */
	c.path = pw_get_word(w, CAIRN_CALLS_BACK_PATH);
	if (!r || !r->nrests)
		c.function = pw_get_word(w, CAIRN_CALLS_BACK_FUNCTION);
	begin_if(w, is_back(w, p->site), &f);
	take_back(w, &c, LLVMGetBasicBlockTerminator(f.rare));
	LLVMPositionBuilderBefore(w->m.builder, p->at);
}

/* In the table: the caller has no rows, or they do not have the path. */
static void count_without_row(struct path_writer *w, LLVMValueRef r)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef first = pw_get(w, w->first), site, prefix, tag;

	site = LLVMBuildAnd(b, first, pw_constant(w, ~(uint64_t)1), "");
	prefix = pw_get(w, w->prefix);
	tag = LLVMBuildSub(b, site, first, ""); /* -1, or 0: it is a row */
	prefix = LLVMBuildAnd(b, prefix, tag, "");
	count_call(w, site, me(w), pw_sum(w, prefix, number_of(w, r, 0)));
}

static LLVMValueRef is_beyond_row(struct path_writer *w, LLVMValueRef r)
{
	return LLVMBuildICmp(w->m.builder, LLVMIntUGE, number_of(w, r, 0),
	                     pw_constant(w, CAIRN_ROW_PATHS), "");
}

/* The caller is known. */
static void count_known_first(struct path_writer *w, LLVMValueRef r,
                              LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef first = pw_get(w, w->first), test;
	struct path_fork f;

	if (!w->m.fn->paths->calls->uses_rows) {
		count_without_row(w, r);
		return;
	}
	f = pw_fork_before(w, place);
	test = LLVMBuildAnd(b, first, nobody(w), "");
	test = LLVMBuildICmp(b, LLVMIntNE, test, pw_constant(w, 0), "");
	if (w->m.fn->paths->pairs.first > CAIRN_ROW_PATHS)
		test = LLVMBuildOr(b, test, is_beyond_row(w, r), "");
	shim_set_unlikely(LLVMBuildCondBr(b, test, f.rare, f.common));
	LLVMPositionBuilderAtEnd(b, f.common);
	LLVMPositionBuilderBefore(b, LLVMBuildBr(b, f.rest));
	path_count_at(
	        w, pw_sum(w, first, number_of(w, r, CAIRN_CALLS_PATH_SHIFT)));
	LLVMPositionBuilderAtEnd(b, f.rare);
	LLVMPositionBuilderBefore(b, LLVMBuildBr(b, f.rest));
	count_without_row(w, r);
	pw_add_probe_to(w, f.common, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, f.rare, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, f.rest, CAIRN_PROBE_UNKNOWN);
	LLVMPositionBuilderBefore(b, place);
}

static void count_first(struct path_writer *w, LLVMValueRef r,
                        LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, place);

	begin_if(
	        w,
	        LLVMBuildICmp(b, LLVMIntNE, pw_get(w, w->first), nobody(w), ""),
	        &f);
	count_known_first(w, r, LLVMGetBasicBlockTerminator(f.rare));
	pw_set(w, w->first, nobody(w));
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

/* What waits in counters: way 0 of each is known, r says which it was. */
static void count_rests(struct path_writer *w, LLVMValueRef r,
                        LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, place);
	LLVMValueRef list = list_of(w, w->rests), top, at, end;
	LLVMBasicBlockRef behind = f.rest;

	top = pw_get(w, w->rests_top);
	begin_if(w, LLVMBuildICmp(b, LLVMIntNE, top, list, ""), &f);
	end = LLVMGetBasicBlockTerminator(f.rare);
	top = LLVMBuildSub(b, pw_get(w, w->rests_top), pw_constant(w, 8), "");
	pw_set(w, w->rests_top, top);
	at = marker_ours(LLVMBuildLoad2(
	        b, w->m.i64, LLVMBuildIntToPtr(b, top, w->m.ptr, ""), ""));
	path_count_at(w, pw_sum(w, at, in_bytes(w, r)));
	if (w->m.fn->paths->calls->all_rests)
		behind = LLVMInsertBasicBlockInContext(w->m.context, f.rest,
		                                       "cairn.behind");
	LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, top, list, ""), f.rare,
	                behind);
	LLVMInstructionEraseFromParent(end);
	if (behind != f.rest) { /* who waits in the table waits here, too */
		LLVMPositionBuilderAtEnd(b, behind);
		end = LLVMBuildBr(b, f.rest);
		LLVMPositionBuilderBefore(b, end);
		count_list(w, r, end);
		pw_add_probe_to(w, behind, CAIRN_PROBE_UNKNOWN);
	}
	LLVMPositionBuilderBefore(b, place);
}

/* The target first: see path_calls_back. */
static void leave_for_caller(struct path_writer *w, LLVMValueRef r)
{
	const struct function_calls *c = w->m.fn->paths->calls;
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef f = LLVMConstPtrToInt(w->m.fn->f, w->m.i64), path, test;

	if (c->has_tails) { /* who is called there may call us */
		test = LLVMBuildICmp(b, LLVMIntNE, pw_get(w, w->caller),
		                     nobody(w), "");
		f = LLVMBuildSelect(b, test, f, pw_constant(w, 0), "");
	}
	pw_set_word(w, CAIRN_CALLS_BACK_TARGET, f);
	pw_set_word(w, CAIRN_CALLS_BACK_FUNCTION, me(w));
	path = number_of(w, r, CAIRN_CALLS_PATH_SHIFT);
	if (c->ends_early)
		path = pw_sum(w, path, pw_get(w, w->early));
	if (!c->uses_rows)
		path = LLVMBuildOr(b, path,
		                   pw_constant(w, CAIRN_CALLS_BACK_TABLE), "");
	pw_set_word(w, CAIRN_CALLS_BACK_PATH, path);
}

void path_calls_end(struct path_writer *w, const struct path_deed *p,
                    LLVMValueRef r, LLVMValueRef place)
{
	const struct function *fn = w->m.fn;
	const struct function_calls *c = fn->paths->calls;
	bool returns, is_early;
	uint32_t v;

	if (!c || c->is_off)
		return;
	returns = p->edge != CFG_NONE &&
	          fn->edges[p->edge].kind == CAIRN_EDGE_RETURN;
	is_early = !returns || c->has_tails; /* which may be here */
	if (p->edge != CFG_NONE)
		v = fn->g.edges[p->edge].src;
	else if (p->op->place == INCREMENT_AT_HEAD)
		v = dag_hub(&fn->paths->paths.dag);
	else
		v = p->op->where;
	if (c->from_entry[v] && is_early)
		count_first(w, r, place);
	if (w->rests && c->ncalls[v])
		count_rests(w, r, place);
	if (w->list && c->ncalls[v] && !c->all_rests)
		count_list(w, r, place);
	if (is_early)
		pw_set(w, w->early, pw_constant(w, CAIRN_CALLS_EARLY));
	if (returns)
		leave_for_caller(w, r);
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

static LLVMValueRef make_list(struct path_writer *w, uint64_t words,
                              const char *name)
{
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(w->m.fn->f);

	LLVMPositionBuilderBefore(w->m.builder, LLVMGetFirstInstruction(entry));
	return LLVMBuildAlloca(w->m.builder, LLVMArrayType2(w->m.i64, words),
	                       name);
}

void path_calls_make_lists(struct path_writer *w)
{
	const struct function_calls *c = w->m.fn->paths->calls;
	uint32_t n = !c ? 0 : c->longest < LIST_MAX ? c->longest : LIST_MAX;

	if (n)
		w->list = make_list(w, (uint64_t)n * 4, "cairn.back");
	if (n && c->has_rests)
		w->rests = make_list(w, n, "cairn.rests");
}
