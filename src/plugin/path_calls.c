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
 *     before a call      site = its row, or its cell, whom it calls and the sum
 *     entry              caller = site;  site = nobody
 *     first path ends    if (caller calls me) count (caller, me, number)
 *     return             back = me, number
 *     behind the call    if (back is from the callee) put it in the tag of the
 *                        path, or on a list
 *     path ends          count it, with its tag; for all on the list: count,
 *                        with number - sum
 *
 * Tags (graph/tags.h): where an executable calls a known function, the callee's
 * last path is a digit of the caller's path, whose count has all pairs of its
 * calls at once: (caller up to the call, callee), if the callee's path begins
 * at its entry and so is its first one, and (callee, rest of the caller).
 * Nothing else is written behind the call, and nothing before it if the callee
 * has no other first path.  If tags are too many for counters the function
 * counts in a table, where that is cheaper by the estimates of what is hot.
 *
 * Certain: a function with marks that no other module knows, so that nothing
 * can take its place.  Its site does not look who came back; and where all
 * callers are such, and have digits for all of its paths, it does not say so;
 * if it has one path it says nothing.
 *
 * What is done at the entry and where a first path ends is for functions in
 * which that may be before they return; one that calls nobody looks for its
 * caller then, others at the entry.  Rows: each sum that the caller can have at
 * a site of a known function, if these are few, has counters for the first
 * CAIRN_ROW_PATHS paths of the callee.
 *
 * All else, calls of anything and paths that neither rows nor digits have, is
 * counted in the table of call_pairs.c, under the address of the row or of the
 * site's cell.  The list is on the stack, as long as the most calls on one
 * path.
 *
 * A function knows itself by a local symbol: its own may be that of another
 * one, which the dynamic linker found first.  A site says, and compares with,
 * what the linker says of whom it calls: where the call goes.
 *
 * Code without marks neither sets nor clears the words.  Whoever it calls is
 * not whom `site` calls, and is not the callee of the site that it comes back
 * to; a callee with marks leaves `back` whenever it returns: so nothing is
 * taken for what it is not.  One with tail calls says who it is only if its
 * caller is known: whom it calls last may call it again.
 *
 * Invariant: each call that a function with marks makes, of one with marks that
 * is no tail call, is counted once where the callee's first path ends, or with
 * the caller's path, and once where the caller's path ends behind its return;
 * what a frame that dies leaves is in its register.
 * Breaks when: a handler that the runtime does not stand behind
 * (runtime/hook_signal.c: one that was set by a system call, or in a program
 * whose executable has no paths) makes calls between the first word before a
 * call and the entry of the callee, or between the callee's last words and
 * those behind the call: then the pair is missing, or of that handler's path.
 * A frame that a signal stops between calls has no register: calls that came
 * back to it on its last path are then among those of no known caller.
 * Cost: of a certain callee 4 instructions at the return and 6 behind the call;
 * of others 3 more there, 4 at the return, and 2 to 5 before the call; 5 at the
 * entry if the first path may end early and it makes calls, and 15 where that
 * is; without digits two calls of the runtime of about 35 each besides.
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

/* For every block, and the hub: may its path have begun at the entry? */
static void find_entered(const struct function *fn, struct function_calls *c)
{
	const struct dag *d = &fn->paths->paths.dag;

	c->from_entry = xcalloc(d->nvertices, sizeof(*c->from_entry));
	c->from_entry[DAG_START] = true;
	for (uint32_t i = 0; i < d->norder; i++) {
		uint32_t v = d->order[i];

		for (uint32_t k = d->in_at[v]; k < d->in_at[v + 1]; k++) {
			const struct dag_edge *e = &d->edges[d->in[k]];

			c->from_entry[v] |= is_step(e) && c->from_entry[e->src];
		}
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

/* Does it call nobody, but where it does not come back? */
static bool is_leaf(const struct function *fn)
{
	for (block_id b = 1; b < fn->g.nblocks; b++)
		if (fn->nodes[b].has_call)
			return false;
	return true;
}

/* May a path from the entry end before the function returns? */
static bool may_end_early(const struct function *fn,
                          const struct function_calls *c)
{
	const struct dag *d = &fn->paths->paths.dag;

	for (edge_id e = 0; e < fn->g.nedges; e++) {
		const struct cfg_edge *edge = &fn->g.edges[e];

		if (edge->src != CFG_OUTSIDE && c->from_entry[edge->src] &&
		    (dag_is_ended(d, e) ||
		     (edge->dst == CFG_OUTSIDE &&
		      fn->edges[e].kind != CAIRN_EDGE_RETURN)))
			return true;
	}
	for (uint32_t e = 0; e < d->nedges; e++)
		if (d->edges[e].kind == DAG_STOP ||
		    d->edges[e].kind == DAG_GATHER)
			return true;
	return false;
}

/* --- rows ----------------------------------------------------------------- */

#define ROWS_MAX 32    /* sums that have rows, of a site */
#define TABLE_MAX 64   /* rows, with those that are for nothing */
#define SPREAD_MAX 256 /* the same, one after the other */
#define TRIES 4096     /* for a multiplier */

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

/* One row after the other, if there is room; else by a multiplier that keeps
 * them apart. */
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
	if (most - r->least < SPREAD_MAX)
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
	fn->ncounters += r->n * CAIRN_ROW_PATHS;
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

/* --- tags ----------------------------------------------------------------- */

#define TAG_COUNTERS 32768  /* of a function, for paths with all tags */
#define TAG_PATHS_FEW 16    /* of a callee, that digits have to begin with */
#define TAG_WORK (1u << 26) /* sites that are tried, times edges */

/* What is known of a function; NULL if it may be somebody else. */
static struct callee *find_callee(LLVMValueRef f, const struct mode *mode)
{
	uint32_t i = PTRMAP_NONE;

	if (f && mode->callees && mode->segment)
		i = ptrmap_get(&mode->callees->index, f);
	return i == PTRMAP_NONE ? NULL : &mode->callees->items[i];
}

/* The same of whom a site calls. */
static struct callee *known_callee(const struct function *fn, uint32_t site,
                                   const struct mode *mode)
{
	return find_callee(callee_of(fn->sites[site].call), mode);
}

/* Does a digit have all paths of the callee? */
static bool has_all_paths(const struct function *fn, uint32_t site,
                          const struct mode *mode)
{
	const struct callee *callee = known_callee(fn, site, mode);

	return callee && fn->paths->calls->digits[site].radix > callee->npaths;
}

/* May it be on the list of what waits for the end of the path? */
static bool may_wait(const struct function *fn, uint32_t site,
                     const struct mode *mode)
{
	return fn->paths->calls->cell[site] != CFG_NONE &&
	       !has_all_paths(fn, site, mode);
}

/* Has it to say who it is before the call?  Not if the callee does not ask. */
static bool says_site(const struct function *fn, uint32_t site,
                      const struct mode *mode)
{
	const struct callee *callee = known_callee(fn, site, mode);

	return fn->paths->calls->cell[site] != CFG_NONE &&
	       (!callee || callee->ends_early);
}

/* Of a digit that has paths of the callee up to `most`. */
static uint64_t radix_of(const struct function *fn, uint32_t site,
                         const struct mode *mode, uint64_t most)
{
	const struct callee *callee = known_callee(fn, site, mode);

	return 1 + (callee && callee->npaths < most ? callee->npaths : most);
}

static int by_flow(const void *a, const void *b, void *arg)
{
	const uint64_t *flow = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (flow[x] != flow[y])
		return flow[x] < flow[y] ? 1 : -1;
	return x < y ? -1 : x > y;
}

/* Gives a site a digit, or a greater one, if there are not too many tags
 * then. */
static void add_digit(struct function *fn, uint32_t site, uint64_t radix,
                      uint64_t limit)
{
	struct function_calls *c = fn->paths->calls;
	uint64_t before = c->digits[site].radix;
	struct tags tags;

	if (radix <= before)
		return;
	c->digits[site].radix = radix;
	if (tags_init(&tags, &fn->paths->paths.dag, c->digits, fn->nsites,
	              limit)) {
		tags_release(&c->tags);
		c->tags = tags;
	} else {
		c->digits[site].radix = before;
	}
}

/* The hottest sites first: all get small digits before any gets a great one.
 * In functions with very many calls the coldest get none. */
static void add_digits(struct function *fn, const struct mode *mode,
                       uint64_t limit)
{
	struct function_calls *c = fn->paths->calls;
	uint32_t *order = xcalloc((size_t)fn->nsites + 1, sizeof(*order)),
	         most = TAG_WORK /
	                (fn->paths->paths.dag.nedges + fn->nsites + 1),
	         n = 0;

	for (uint32_t i = 0; i < fn->nsites; i++)
		if (c->cell[i] != CFG_NONE && callee_of(fn->sites[i].call))
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), by_flow, c->flow);
	if (n > most)
		n = most;
	for (uint32_t i = 0; i < n; i++)
		add_digit(fn, order[i],
		          radix_of(fn, order[i], mode, TAG_PATHS_FEW), limit);
	for (uint32_t i = 0; i < n; i++)
		add_digit(fn, order[i],
		          radix_of(fn, order[i], mode, CAIRN_TAG_PATHS), limit);
	free(order);
}

/* Where a site has no digit, or one for some of the paths, it will look who has
 * come back.  So will the caller of a function that makes a tail call: it is
 * not from whom it has called. */
static void note_callees(const struct function *fn, const struct mode *mode)
{
	for (uint32_t i = 0; i < fn->nsites; i++) {
		struct callee *callee = known_callee(fn, i, mode);

		if (callee && may_wait(fn, i, mode))
			callee->must_say_who = true;
	}
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		LLVMValueRef tail = ir_tail_call(fn->nodes[b].block);
		struct callee *callee =
		        tail ? find_callee(callee_of(tail), mode) : NULL;

		if (callee)
			callee->must_say_who = true;
	}
}

/* To which sites may paths come that have a tag? */
static void find_tagged(const struct function *fn, struct function_calls *c)
{
	const struct dag *d = &fn->paths->paths.dag;
	bool *tagged = xcalloc(d->nvertices, sizeof(*tagged));
	bool *behind = xcalloc(d->nvertices, sizeof(*behind));

	for (uint32_t i = 0; i < fn->nsites; i++) {
		c->is_tagged[i] = behind[fn->sites[i].block];
		behind[fn->sites[i].block] |= c->digits[i].radix != 0;
	}
	for (uint32_t i = 0; i < d->norder; i++) {
		uint32_t v = d->order[i];

		for (uint32_t k = d->in_at[v]; k < d->in_at[v + 1]; k++)
			tagged[v] |= behind[d->edges[d->in[k]].src];
		behind[v] |= tagged[v];
	}
	for (uint32_t i = 0; i < fn->nsites; i++)
		c->is_tagged[i] |= tagged[fn->sites[i].block];
	free(tagged);
	free(behind);
}

/* What a count takes longer in a table, and a call without a digit, in
 * instructions. */
#define TABLE_COST 10
#define CALL_COST 60

/* What it costs that some calls have no digits. */
static uint64_t cost_of_calls(const struct function *fn)
{
	const struct function_calls *c = fn->paths->calls;
	uint64_t cost = 0;

	for (uint32_t i = 0; i < fn->nsites; i++)
		if (c->cell[i] != CFG_NONE && !c->digits[i].radix)
			cost += CALL_COST * c->flow[i];
	return cost;
}

/* What it costs to count in a table. */
static uint64_t cost_of_table(const struct function *fn)
{
	const struct function_calls *c = fn->paths->calls;
	uint64_t cost = 0;

	for (edge_id e = 0; e < fn->g.nedges; e++)
		if (fn->g.edges[e].dst == CFG_OUTSIDE ||
		    dag_is_ended(&fn->paths->paths.dag, e))
			cost += TABLE_COST * c->weight[e];
	return cost;
}

/* All sites that may have digits, within a limit. */
static void find_digits(struct function *fn, const struct mode *mode,
                        uint64_t limit)
{
	struct function_calls *c = fn->paths->calls;

	for (uint32_t i = 0; i < fn->nsites; i++)
		c->digits[i] = (struct tag_site){fn->sites[i].block, 0};
	tags_release(&c->tags);
	tags_init(&c->tags, &fn->paths->paths.dag, c->digits, fn->nsites, 1);
	/* executables: see uses_rows; and only registers are for the runtime */
	if (mode->segment && !shim_is_not_optimized(fn->f))
		add_digits(fn, mode, limit);
}

enum cairn_paths path_calls_choose_tags(struct function *fn,
                                        const struct mode *mode, uint64_t few)
{
	struct function_calls *c = fn->paths->calls;
	uint64_t total = fn->paths->pairs.total, cost;

	c->digits = xcalloc((size_t)fn->nsites + 1, sizeof(*c->digits));
	if (total <= few) {
		find_digits(fn, mode, TAG_COUNTERS / total);
		cost = cost_of_calls(fn);
		if (cost <= cost_of_table(fn))
			return CAIRN_PATHS_DIRECT;
	}
	find_digits(fn, mode, TAGS_LIMIT / total);
	if (total > few || cost_of_calls(fn) + cost_of_table(fn) < cost)
		return CAIRN_PATHS_HASHED;
	find_digits(fn, mode, TAG_COUNTERS / total);
	return CAIRN_PATHS_DIRECT;
}

/* How many calls may have come back on the way to it that wait for the end of
 * the path? */
static void find_waiting(const struct function *fn, struct function_calls *c,
                         const struct mode *mode)
{
	const struct dag *d = &fn->paths->paths.dag;

	c->ncalls = xcalloc(d->nvertices, sizeof(*c->ncalls));
	for (uint32_t i = 0; i < fn->nsites; i++)
		if ((c->may_wait[i] = may_wait(fn, i, mode)))
			c->ncalls[fn->sites[i].block]++;
	for (uint32_t i = 0; i < d->norder; i++) {
		uint32_t v = d->order[i], n = 0;

		for (uint32_t k = d->in_at[v]; k < d->in_at[v + 1]; k++) {
			const struct dag_edge *e = &d->edges[d->in[k]];

			if (is_step(e) && c->ncalls[e->src] > n)
				n = c->ncalls[e->src];
		}
		c->ncalls[v] += n;
		if (c->ncalls[v] > c->longest)
			c->longest = c->ncalls[v];
	}
}

/* Others may call it by what they know of it: it is in nobody's place, and
 * leaves its path whenever it returns.  Not of one that other files may know:
 * it has to say who it is anyway, and digits for all of its paths cost more
 * than that saves. */
static void add_callee(const struct function *fn, const struct mode *mode)
{
	const struct function_calls *c = fn->paths->calls;
	struct callees *all = mode->callees;

	if (!all || c->is_off || c->has_tails ||
	    c->uses_rows != CAIRN_ROWS_STRONG ||
	    LLVMGetLinkage(fn->f) != LLVMInternalLinkage)
		return;
	VEC_RESERVE(all->items, all->n, all->cap);
	ptrmap_set(&all->index, fn->f, all->n);
	all->items[all->n++] = (struct callee){
	        .f = fn->f,
	        .npaths = fn->paths->paths.n,
	        .ends_early = c->ends_early,
	        .must_say_who = shim_has_outside_callers(fn->f),
	};
}

void path_calls_begin(struct function *fn, const struct mode *mode,
                      const uint64_t *weight)
{
	struct function_calls *c = xcalloc(1, sizeof(*c));

	fn->paths->calls = c;
	c->cell = xcalloc((size_t)fn->nsites + 1, sizeof(*c->cell));
	c->rows = xcalloc((size_t)fn->nsites + 1, sizeof(*c->rows));
	c->left_out = xcalloc((size_t)fn->nsites + 1, sizeof(*c->left_out));
	c->flow = xcalloc((size_t)fn->nsites + 1, sizeof(*c->flow));
	c->weight = xcalloc((size_t)fn->g.nedges + 1, sizeof(*c->weight));
	c->degree = mode->degree;
	c->is_off = mode->in_loops;
	for (edge_id e = 0; e < fn->g.nedges; e++)
		c->weight[e] = weight[e];
	for (uint32_t i = 0; i < fn->nsites; i++) {
		block_id b = fn->sites[i].block;

		for (uint32_t k = fn->g.in_at[b]; k < fn->g.in_at[b + 1]; k++)
			c->flow[i] += weight[fn->g.in[k]];
	}
	choose_cells(fn, c);
	find_entered(fn, c);
	c->has_tails = has_tail_calls(fn);
	c->is_leaf = is_leaf(fn) && !c->has_tails;
	c->ends_early = c->has_tails || may_end_early(fn, c);
	/* only executables, which have one delta for all their functions */
	c->uses_rows = mode->segment ? kind_of_rows(fn->f) : CAIRN_ROWS_NONE;
	add_callee(fn, mode);
}

void path_calls_choose(struct function *fn, const struct mode *mode)
{
	struct function_calls *c = fn->paths->calls;
	struct sums *sums;

	c->is_tagged = xcalloc((size_t)fn->nsites + 1, sizeof(*c->is_tagged));
	c->is_certain = xcalloc((size_t)fn->nsites + 1, sizeof(*c->is_certain));
	c->is_single = xcalloc((size_t)fn->nsites + 1, sizeof(*c->is_single));
	c->says_site = xcalloc((size_t)fn->nsites + 1, sizeof(*c->says_site));
	c->may_wait = xcalloc((size_t)fn->nsites + 1, sizeof(*c->may_wait));
	find_tagged(fn, c);
	note_callees(fn, mode);
	find_waiting(fn, c, mode);
	sums = find_sums(&fn->paths->paths);
	for (uint32_t i = 0; i < fn->nsites; i++) {
		const struct callee *callee = known_callee(fn, i, mode);

		c->is_certain[i] = callee != NULL;
		c->is_single[i] = callee && callee->npaths == 1;
		c->says_site[i] = says_site(fn, i, mode);
		if (mode->segment && c->says_site[i] &&
		    callee_of(fn->sites[i].call))
			choose_rows(fn, i, sums);
	}
	free(sums);
	c->first = fn->ncounters;
	fn->ncounters += c->ncells;
}

bool path_calls_has_tag(const struct function *fn, uint32_t site)
{
	return fn->paths->calls && fn->paths->calls->is_tagged[site];
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
	free(c->digits);
	free(c->is_tagged);
	free(c->is_certain);
	free(c->is_single);
	free(c->says_site);
	free(c->may_wait);
	free(c->flow);
	free(c->weight);
	tags_release(&c->tags);
	free(c);
}

LLVMValueRef paths_row_callee(const struct function *fn, uint32_t site)
{
	const struct function_calls *c = fn->paths->calls;

	if (!c || (!c->rows[site].callee && !c->digits[site].radix))
		return NULL;
	return callee_of(fn->sites[site].call);
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
	bytes_put_uv(b, fn->paths->pairs.first);
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
		bytes_put_uv(b, c->digits[i].radix);
	}
}

/* --- code ---------------------------------------------------------------- */

static void call_runtime(struct path_writer *w, const char *name,
                         const char *constraints, LLVMValueRef *args,
                         unsigned n)
{
	LLVMTypeRef types[5] = {w->m.i64, w->m.i64, w->m.i64, w->m.i64,
	                        w->m.i64};
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

/*
 * The rows of a site, for callees that look for their caller: whom it calls,
 * the address of its first row, and the numbers of its rows, one for each.
 */
static LLVMValueRef make_record(struct path_writer *w, uint32_t site)
{
	const struct call_rows *r = rows_of(w, site);
	LLVMValueRef *word = xcalloc((size_t)r->n + CAIRN_CALLS_RECORD,
	                             sizeof(LLVMValueRef)),
	             record;

	word[0] = LLVMConstPtrToInt(r->callee, w->m.i64);
	word[1] = pw_symbol(w, 8 * (uint64_t)r->first);
	for (uint32_t i = 0; i < r->n; i++)
		word[CAIRN_CALLS_RECORD + i] = pw_constant(w, i);
	record = pw_add_table(w, "cairn.site", w->m.i64, word,
	                      (uint64_t)r->n + CAIRN_CALLS_RECORD);
	LLVMSetAlignment(record, 8);
	/* where the dynamic linker may write: see shim_ask_for_addresses */
	LLVMSetGlobalConstant(record, false);
	free(word);
	return record;
}

/* The address of the number of the row of the path so far. */
static LLVMValueRef row_of(struct path_writer *w, uint32_t site)
{
	const struct increments *inc = &w->m.fn->paths->inc;
	const struct call_rows *r = rows_of(w, site);
	block_id b = w->m.fn->sites[site].block;
	LLVMValueRef record = make_record(w, site), row;
	uint64_t first = 8 * CAIRN_CALLS_RECORD;

	if (inc->is_known[b])
		return pw_address_in(w, record,
		                     first + 8 * row_number(r, inc->offset[b]));
	if (r->n == 1)
		return pw_address_in(w, record, first);
	if (r->multiplier == 1 && !r->shift)
		return pw_sum(w, number_of(w, pw_sum_in(w, b), 3),
		              pw_address_in(w, record, first - 8 * r->least));
	row = LLVMBuildSub(w->m.builder, number_of(w, pw_sum_in(w, b), 0),
	                   pw_constant(w, r->least), "");
	row = LLVMBuildMul(w->m.builder, row, pw_constant(w, r->multiplier),
	                   "");
	row = LLVMBuildLShr(w->m.builder, row, pw_constant(w, r->shift), "");
	row = LLVMBuildShl(w->m.builder, row, pw_constant(w, 3), "");
	return pw_sum(w, row, pw_address_in(w, record, first));
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

	if (!has_cell(w, site) || !w->m.fn->paths->calls->says_site[site])
		return;
	LLVMPositionBuilderBefore(w->m.builder, s->call);
	if (rows_of(w, site)) {
		pw_set_word(w, CAIRN_CALLS_SITE, row_of(w, site));
		return;
	}
	pw_set_word(w, CAIRN_CALLS_TARGET, target_of(w, site));
	pw_set_word(w, CAIRN_CALLS_SITE, tagged_cell(w, site));
	pw_set_word(w, CAIRN_CALLS_PREFIX, prefix_of(w, site));
}

LLVMValueRef path_calls_register(struct path_writer *w, uint32_t site)
{
	const struct function *fn = w->m.fn;
	block_id b = fn->sites[site].block;
	LLVMValueRef r;

	if (!path_calls_has_tag(fn, site))
		return pw_get(w, w->r);
	r = fn->paths->inc.is_known[b] ? pw_sum_in(w, b) : pw_get(w, w->r);
	return pw_sum(w, r, pw_get(w, w->tag));
}

/* Nobody has come back. */
static void empty_list(struct path_writer *w)
{
	pw_set(w, w->top, pw_constant(w, 0));
	pw_set(w, w->tag, pw_constant(w, 0));
}

/* If the test holds, the rare way is taken: the builder is then on it.  Returns
 * the branch. */
static LLVMValueRef begin_if(struct path_writer *w, LLVMValueRef test,
                             const struct path_fork *f)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef end, branch = LLVMBuildCondBr(b, test, f->rare, f->common);

	LLVMPositionBuilderAtEnd(b, f->common);
	LLVMBuildBr(b, f->rest);
	LLVMPositionBuilderAtEnd(b, f->rare);
	end = LLVMBuildBr(b, f->rest);
	LLVMPositionBuilderBefore(b, end);
	pw_add_probe_to(w, f->common, w->before);
	pw_add_probe_to(w, f->rare, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, f->rest, w->before);
	return branch;
}

/* Who calls us: first becomes what SITE is, or 0.  A site without rows leaves
 * whom it calls beside it; of one with rows that is seen later. */
static void look_for_caller(struct path_writer *w, LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef f = pw_own_address(w);
	LLVMValueRef site = pw_get_word(w, CAIRN_CALLS_SITE), test;
	struct path_fork k;

	pw_set_word(w, CAIRN_CALLS_SITE, pw_constant(w, 0));
	pw_set(w, w->first, site);
	k = pw_fork_before(w, place);
	test = LLVMBuildAnd(b, site, pw_constant(w, CAIRN_CALLS_NO_ROW), "");
	begin_if(w, LLVMBuildICmp(b, LLVMIntNE, test, pw_constant(w, 0), ""),
	         &k);
	pw_set(w, w->prefix, pw_get_word(w, CAIRN_CALLS_PREFIX));
	test = LLVMBuildICmp(b, LLVMIntEQ, pw_get_word(w, CAIRN_CALLS_TARGET),
	                     f, "");
	pw_set(w, w->first,
	       LLVMBuildSelect(b, test, site, pw_constant(w, 0), ""));
	LLVMPositionBuilderBefore(b, place);
}

/* A word of the record of the site with rows that has called. */
static LLVMValueRef word_of(struct path_writer *w, LLVMValueRef at)
{
	return marker_ours(LLVMBuildLoad2(
	        w->m.builder, w->m.i64,
	        LLVMBuildIntToPtr(w->m.builder, at, w->m.ptr, ""), ""));
}

static LLVMValueRef record_of(struct path_writer *w, LLVMValueRef site)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef row = word_of(w, site);

	row = LLVMBuildShl(b, row, pw_constant(w, 3), "");
	row = pw_sum(w, row, pw_constant(w, 8 * CAIRN_CALLS_RECORD));
	return LLVMBuildSub(b, site, row, "");
}

/* Is it us whom the site with rows in `first` calls? */
static LLVMValueRef is_called(struct path_writer *w, LLVMValueRef record)
{
	LLVMValueRef f = pw_own_address(w);

	return LLVMBuildICmp(w->m.builder, LLVMIntEQ, word_of(w, record), f,
	                     "");
}

static LLVMValueRef has_rows(struct path_writer *w, LLVMValueRef site)
{
	LLVMBuilderRef b = w->m.builder;

	site = LLVMBuildAnd(b, site, pw_constant(w, CAIRN_CALLS_NO_ROW), "");
	return LLVMBuildICmp(b, LLVMIntEQ, site, pw_constant(w, 0), "");
}

static LLVMValueRef is_somebody(struct path_writer *w, LLVMValueRef site)
{
	return LLVMBuildICmp(w->m.builder, LLVMIntNE, site, pw_constant(w, 0),
	                     "");
}

/* Whether the caller is known, now: first becomes 0 if it is not. */
static void make_sure(struct path_writer *w, LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef site = pw_get(w, w->first), test;
	struct path_fork f = pw_fork_before(w, place);

	test = LLVMBuildAnd(b, is_somebody(w, site), has_rows(w, site), "");
	begin_if(w, test, &f);
	pw_set(w, w->first,
	       LLVMBuildSelect(b, is_called(w, record_of(w, site)), site,
	                       pw_constant(w, 0), ""));
	LLVMPositionBuilderBefore(b, place);
}

/* If it calls nobody SITE stays what it is until it returns. */
static bool looks_late(const struct path_writer *w)
{
	return w->m.fn->paths->calls->is_leaf;
}

void path_calls_enter(struct path_writer *w, LLVMValueRef place)
{
	const struct function_calls *c = w->m.fn->paths->calls;

	empty_list(w);
	pw_set(w, w->early, pw_constant(w, 0));
	if (!c->ends_early)
		return;
	if (looks_late(w)) {
		pw_set(w, w->first, pw_constant(w, CAIRN_CALLS_NO_ROW));
		return;
	}
	look_for_caller(w, place);
	if (!c->has_tails)
		return;
	make_sure(w, place);
	pw_set(w, w->caller, pw_get(w, w->first));
}

void path_calls_forget(struct path_writer *w)
{
	pw_set(w, w->first, pw_constant(w, 0));
	pw_set(w, w->early, pw_constant(w, CAIRN_CALLS_EARLY));
	empty_list(w);
}

/* Behind what is on it. */
static void put_in_list(struct path_writer *w, const LLVMValueRef *word,
                        unsigned n)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMTypeRef i8 = LLVMInt8TypeInContext(w->m.context);
	LLVMValueRef top = pw_get(w, w->top);

	for (unsigned i = 0; i < n; i++) {
		LLVMValueRef at = pw_sum(w, top, pw_constant(w, 8 * i)), to;

		to = LLVMBuildGEP2(b, i8, w->list, &at, 1, "");
		marker_ours(LLVMBuildStore(b, word[i], to));
	}
	pw_set(w, w->top, pw_sum(w, top, pw_constant(w, 8 * n)));
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

/* The number of the callee's last path. */
static LLVMValueRef last_path(struct path_writer *w, const struct came_back *c)
{
	LLVMValueRef n = bits_of(w, c->path, ~CAIRN_CALLS_BACK_TABLE);

	n = LLVMBuildLShr(w->m.builder, n, pw_constant(w, 3), "");
	return LLVMBuildSub(w->m.builder, n, pw_constant(w, 1), "");
}

static LLVMValueRef who(struct path_writer *w, const struct came_back *c)
{
	return bits_of(w, c->function, ~CAIRN_CALLS_EARLY);
}

static void put_call_in_list(struct path_writer *w, const struct came_back *c)
{
	LLVMValueRef word[4];

	word[0] = pw_sum(w, cell_of(w, c->site), pw_constant(w, 1));
	word[1] = who(w, c);
	word[2] = LLVMBuildShl(w->m.builder, last_path(w, c),
	                       pw_constant(w, 32), "");
	word[3] = pw_sum_in(w, w->m.fn->sites[c->site].block);
	put_in_list(w, word, 4);
}

/* It will be counted when the path ends. */
static void wait_for_end(struct path_writer *w, const struct came_back *c,
                         LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f;

	if (w->m.fn->paths->calls->longest <= LIST_MAX) {
		put_call_in_list(w, c);
		return;
	}
	f = pw_fork_before(w, place);
	begin_if(w,
	         LLVMBuildICmp(b, LLVMIntULT, pw_get(w, w->top),
	                       pw_constant(w, (uint64_t)LIST_MAX * ENTRY_SIZE),
	                       ""),
	         &f);
	put_call_in_list(w, c);
	LLVMPositionBuilderBefore(b, place);
}

/* In the table; its first path, too, unless it has counted that itself. */
static void take_in_table(struct path_writer *w, const struct came_back *c,
                          LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef early = bits_of(w, c->function, CAIRN_CALLS_EARLY);
	struct path_fork f = pw_fork_before(w, place);

	begin_if(w, LLVMBuildICmp(b, LLVMIntEQ, early, pw_constant(w, 0), ""),
	         &f);
	count_call(w, cell_of(w, c->site), who(w, c),
	           pw_sum(w, prefix_of(w, c->site), last_path(w, c)));
	LLVMPositionBuilderBefore(b, place);
	wait_for_end(w, c, place);
}

static LLVMValueRef is_back(struct path_writer *w, uint32_t site)
{
	return LLVMBuildICmp(w->m.builder, LLVMIntEQ,
	                     pw_get_word(w, CAIRN_CALLS_BACK_TARGET),
	                     target_of(w, site), "");
}

/* Was it from whom we have called?  Who it is, which it writes first, is read
 * last. */
static void take_if_back(struct path_writer *w, struct came_back *c,
                         LLVMValueRef place)
{
	struct path_fork f = pw_fork_before(w, place);

	c->path = pw_get_word(w, CAIRN_CALLS_BACK_PATH);
	c->function = pw_get_word(w, CAIRN_CALLS_BACK_FUNCTION);
	begin_if(w, is_back(w, c->site), &f);
	take_in_table(w, c, LLVMGetBasicBlockTerminator(f.rare));
	LLVMPositionBuilderBefore(w->m.builder, place);
}

/* A digit of a certain callee may have all of its paths. */
static bool may_be_listed(const struct path_writer *w, uint32_t site)
{
	return w->list && w->m.fn->paths->calls->may_wait[site];
}

/* What a path of a callee adds to the register; `path` is BACK_PATH. */
static LLVMValueRef tag_step(struct path_writer *w, uint32_t site,
                             LLVMValueRef path)
{
	const struct function_calls *c = w->m.fn->paths->calls;
	uint64_t weight = c->tags.weight[site] * w->m.fn->paths->pairs.total;

	if (!w->is_direct)
		path = LLVMBuildLShr(w->m.builder, path, pw_constant(w, 3), "");
	return LLVMBuildMul(w->m.builder, path, pw_constant(w, weight), "");
}

/* Goes on at `yes` if the test holds, else at the rare way. */
static void go_on_if(struct path_writer *w, LLVMValueRef test,
                     LLVMBasicBlockRef yes, const struct path_fork *f)
{
	LLVMBuilderRef b = w->m.builder;

	test = LLVMBuildNot(b, test, "");
	shim_set_unlikely(LLVMBuildCondBr(b, test, f->rare, yes));
	LLVMPositionBuilderAtEnd(b, yes);
}

/* The tag has its path, if that is one of the first. */
static void take_in_tag(struct path_writer *w, struct came_back *c,
                        LLVMValueRef place)
{
	const struct function_calls *calls = w->m.fn->paths->calls;
	uint64_t most = 8 * (calls->digits[c->site].radix - 1);
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, place);
	LLVMValueRef path = pw_get_word(w, CAIRN_CALLS_BACK_PATH), test, end;
	LLVMBasicBlockRef is_it = NULL;

	if (!calls->is_certain[c->site]) {
		is_it = LLVMInsertBasicBlockInContext(w->m.context, f.common,
		                                      "cairn.back");
		go_on_if(w, is_back(w, c->site), is_it, &f);
	}
	test = LLVMBuildSub(b, path, pw_constant(w, 8), "");
	test = LLVMBuildICmp(b, LLVMIntULT, test, pw_constant(w, most), "");
	go_on_if(w, test, f.common, &f);
	pw_set(w, w->tag,
	       pw_sum(w, pw_get(w, w->tag), tag_step(w, c->site, path)));
	LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	if (may_be_listed(w, c->site))
		take_if_back(w, c, end);
	if (is_it)
		pw_add_probe_to(w, is_it, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, f.common, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, f.rare, CAIRN_PROBE_UNKNOWN);
	pw_add_probe_to(w, f.rest, w->before);
}

/* It has one path, and has come back by it. */
static void take_single(struct path_writer *w, uint32_t site)
{
	LLVMValueRef step = tag_step(w, site, pw_constant(w, 8));

	pw_set(w, w->tag, pw_sum(w, pw_get(w, w->tag), step));
}

void path_calls_back(struct path_writer *w, const struct path_deed *p)
{
	const struct function_calls *calls = w->m.fn->paths->calls;
	struct came_back c = {.site = p->site};

	if (calls->digits[p->site].radix && calls->is_single[p->site])
		take_single(w, p->site);
	else if (calls->digits[p->site].radix)
		take_in_tag(w, &c, p->at);
	else
		take_if_back(w, &c, p->at);
	LLVMPositionBuilderBefore(w->m.builder, p->at);
}

/* Somebody has called: the runtime sees whether he has called us. */
static void count_caller(struct path_writer *w, LLVMValueRef r)
{
	bool uses_rows = w->m.fn->paths->calls->uses_rows;
	LLVMValueRef args[5] = {
	        pw_own_address(w),  pw_get(w, w->first),  me(w),
	        number_of(w, r, 0), pw_get(w, w->prefix),
	};

	call_runtime(w,
	             uses_rows ? CAIRN_RT_COUNT_FIRST
	                       : CAIRN_RT_COUNT_FIRST_ANYWHERE,
	             "{rdi},{rsi},{rdx},{rcx},{r8},~{memory},~{dirflag},"
	             "~{fpsr},~{flags}",
	             args, 5);
}

static void count_first(struct path_writer *w, LLVMValueRef r,
                        LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, place), k;
	LLVMValueRef end;

	shim_set_unlikely(begin_if(w, is_somebody(w, pw_get(w, w->first)), &f));
	end = LLVMGetBasicBlockTerminator(f.rare);
	if (looks_late(w)) {
		look_for_caller(w, end);
		k = pw_fork_before(w, end);
		begin_if(w, is_somebody(w, pw_get(w, w->first)), &k);
		count_caller(w, r);
		LLVMPositionBuilderBefore(b, end);
	} else {
		count_caller(w, r);
	}
	pw_set(w, w->first, pw_constant(w, 0));
	LLVMPositionBuilderBefore(b, place);
}

static void count_list(struct path_writer *w, LLVMValueRef r,
                       LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	struct path_fork f = pw_fork_before(w, place);
	LLVMValueRef top = pw_get(w, w->top), args[4];

	begin_if(w, LLVMBuildICmp(b, LLVMIntNE, top, pw_constant(w, 0), ""),
	         &f);
	args[0] = LLVMBuildPtrToInt(b, w->list, w->m.i64, "");
	args[1] = pw_sum(w, args[0], top);
	args[2] = r;
	args[3] = pw_constant(w, w->is_direct ? 3 : 0);
	call_runtime(w, CAIRN_RT_COUNT_RETURNS,
	             "{rdi},{rsi},{rdx},{rcx},~{memory},~{dirflag},~{fpsr},"
	             "~{flags}",
	             args, 4);
	pw_set(w, w->top, pw_constant(w, 0));
	LLVMPositionBuilderBefore(b, place);
}

/* The target first: see take_if_back. */
static void say_who(struct path_writer *w)
{
	const struct function_calls *c = w->m.fn->paths->calls;
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef f = pw_own_address(w), test;
	LLVMValueRef function = me(w);

	if (c->has_tails) { /* who is called there may call us */
		test = is_somebody(w, pw_get(w, w->caller));
		f = LLVMBuildSelect(b, test, f, pw_constant(w, 0), "");
	}
	if (c->ends_early)
		function = pw_sum(w, function, pw_get(w, w->early));
	pw_set_word(w, CAIRN_CALLS_BACK_TARGET, f);
	pw_set_word(w, CAIRN_CALLS_BACK_FUNCTION, function);
}

static void leave_for_caller(struct path_writer *w, LLVMValueRef r)
{
	const struct function_calls *c = w->m.fn->paths->calls;
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef path = number_of(w, r, 3);

	if (c->ends_early && looks_late(w))
		pw_set_word(w, CAIRN_CALLS_SITE, pw_constant(w, 0));
	if (c->says_who)
		say_who(w);
	else if (w->m.fn->paths->paths.n == 1)
		return; /* all callers know */
	path = pw_sum(w, path, pw_constant(w, 8));
	/* readers could not tell who it was, or whether it was early */
	if (!c->uses_rows || c->has_tails)
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
	if (w->list && c->ncalls[v])
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

/* Does anybody look who has come back? */
static bool says_who(const struct function *fn, const struct mode *mode)
{
	uint32_t i = PTRMAP_NONE;

	if (mode->callees)
		i = ptrmap_get(&mode->callees->index, fn->f);
	return i == PTRMAP_NONE || mode->callees->items[i].must_say_who;
}

void path_calls_prepare(struct path_writer *w, const struct mode *mode)
{
	struct function_calls *c = w->m.fn->paths->calls;
	uint32_t n = !c ? 0 : c->longest < LIST_MAX ? c->longest : LIST_MAX;
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(w->m.fn->f);

	if (c)
		c->says_who = says_who(w->m.fn, mode);
	if (!n)
		return;
	LLVMPositionBuilderBefore(w->m.builder, LLVMGetFirstInstruction(entry));
	w->list = LLVMBuildAlloca(w->m.builder,
	                          LLVMArrayType2(w->m.i64, (uint64_t)n * 4),
	                          "cairn.back");
}
