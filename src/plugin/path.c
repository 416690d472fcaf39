/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of a function: their numbers, and what to do where.
 *
 * graph/ does the work (Ball and Larus 1996, and the thesis of 2007 for the
 * paths that are preferred); here it is chosen how a function counts:
 *
 *     DIRECT     few paths: every path has a counter
 *     HASHED     many: counts are in a table
 *     PREFERRED  many, and it is known which are interesting, from a profile
 *                or as all paths through some blocks: these have counters, in
 *                slots of a second numbering
 *     RESIDUAL   a profile says which are tested: only the others are counted
 *
 * each, but for the last two, with a count for every pair of a path and the one
 * before it, if that is asked for (graph/pairs.h),
 *
 * and which loops count their turns themselves (graph/local.h).  path_code.c
 * writes the code.
 */
#include "plugin/path.h"

#include "abi/rt.h"
#include "analysis/interest.h"
#include "analysis/pair_flow.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "graph/dag.h"
#include "graph/through.h"
#include "graph/weight.h"
#include "plugin/shim.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Counters of all functions of SQLite with at most so many paths take 7 MB per
 * thread, those of most programs 0.1 to 1 MB; pages that nobody counts in take
 * none.  Between 4096 and 16384 are 37 % of all path ends that minisat
 * executes, 20 % of tcc's and 13 % of phalanx's; between there and here is the
 * function in which zstd spends its time (21110 paths; 1.36 times the plain run
 * in a table, 1.24 so).
 */
#define DIRECT_MAX 32768
/* With computed gotos: an interpreter's loop takes each to all instructions,
 * and is where its time goes (Lua: 235437 paths, half of all executed ones). */
#define DIRECT_MAX_GOTO (1u << 18)
#define TURNS_MAX 512
/* ... with a counter for each pair of them. */
#define TURNS_MAX_PAIRS 128
/* Instructions per turn that is held, when the loop is left. */
#define HELD_RATIO 4
#define SLOTS_MAX 65536 /* for preferred paths */
/* Bytes, of a function that calls shared copies: these know no slots. */
#define TESTED_MAX_SHARED (1u << 20)
/* Edges of all paths that are preferred by name, for what prefer.c does with
 * them: 16384 paths of 230 edges take 1 s and 160 MB, 65536 of 430 would take
 * 17 s and 1.4 GB (measured). */
#define WANTED_MAX (1u << 22)

/* --- what to do ---------------------------------------------------------- */

static enum dag_how asked_for(enum cairn_edge_kind kind)
{
	switch (kind) {
	case CAIRN_EDGE_INDIRECT:
		return DAG_INDIRECT;
	case CAIRN_EDGE_CALL:
		return DAG_CUT;
	case CAIRN_EDGE_ABNORMAL:
		return DAG_IGNORED;
	default:
		return DAG_THROUGH;
	}
}

/* Cut as `known` was, if that is for this graph. */
static bool number_as(struct function *fn, struct paths_options options,
                      const struct interest_function *known)
{
	struct cairn_err err = {0};

	if (!known || !known->npaths)
		return false;
	options.cuts = known->cuts;
	options.ncuts = known->ncuts;
	if (paths_init(&fn->paths->paths, &fn->g, &options, &err) < 0)
		return false;
	if (fn->paths->paths.n == known->npaths)
		return true;
	paths_release(&fn->paths->paths);
	return false;
}

/* Cuts no edge of a path through a wanted block, if others suffice. */
static bool number_around(struct function *fn, struct paths_options options,
                          const bool *wanted)
{
	bool *keep = xcalloc(fn->g.nedges, sizeof(*keep));
	struct cairn_err err = {0};
	struct dag whole;
	int result;

	dag_init(&whole, &fn->g, options.asked);
	through_edges(&whole, wanted, keep);
	dag_release(&whole);
	options.keep = keep;
	result = paths_init(&fn->paths->paths, &fn->g, &options, &err);
	free(keep);
	return result == CAIRN_OK;
}

/* The same for edges of interesting segments. */
static bool number_keeping(struct function *fn, struct paths_options options,
                           const struct paths_request *r)
{
	bool *keep = xcalloc(fn->g.nedges, sizeof(*keep));
	struct cairn_err err = {0};
	struct dag whole;
	int result;

	dag_init(&whole, &fn->g, options.asked);
	dag_cut(&whole, options.cuts, options.ncuts);
	r->keep(r->context, fn, &whole, keep);
	dag_release(&whole);
	options.keep = keep;
	result = paths_init(&fn->paths->paths, &fn->g, &options, &err);
	free(keep);
	return result == CAIRN_OK;
}

static void number_anew(struct function *fn,
                        const struct paths_options *options,
                        const struct paths_request *r)
{
	struct cairn_err err = {0};
	int result;

	if (r->wanted && number_around(fn, *options, r->wanted))
		return;
	if (r->keep && number_keeping(fn, *options, r))
		return;
	result = paths_init(&fn->paths->paths, &fn->g, options, &err);
	/* every edge may be cut, indirect branches have landing blocks */
	assert(result == CAIRN_OK);
	(void)result;
}

/* Calls that end paths, where loops around them still do: *n of them. */
static edge_id *list_sites(const struct function *fn, uint32_t *n)
{
	edge_id *sites = xcalloc(fn->g.nedges, sizeof(*sites));

	*n = 0;
	for (edge_id e = 0; e < fn->g.nedges; e++)
		if (fn->edges[e].kind == CAIRN_EDGE_SITE)
			sites[(*n)++] = e;
	return sites;
}

/* Edges that are to be cut besides, where they can be: how many. */
static uint32_t add_cuts(const struct function *fn,
                         const struct paths_request *r,
                         const enum dag_how *asked, edge_id *cuts)
{
	uint32_t n = r->cut(r->context, fn, cuts), kept = 0;
	struct dag d;

	if (!n)
		return 0;
	dag_init(&d, &fn->g, asked);
	for (uint32_t i = 0; i < n; i++)
		if (d.how[cuts[i]] == DAG_THROUGH)
			cuts[kept++] = cuts[i];
	dag_release(&d);
	return kept;
}

/* Returns whether the numbers are those of r->known. */
static bool number_paths(struct function *fn, const struct paths_request *r)
{
	const struct interest_function *known = r->known;
	enum dag_how *asked = xcalloc(fn->g.nedges, sizeof(*asked));
	struct paths_options options = {
	        .asked = asked,
	        .weight = r->weight,
	        /* there is no table of paths yet when it runs */
	        .limit = shim_runs_while_loading(fn->f)        ? DIRECT_MAX + 1
	                 : r->pairs || r->windows || r->chains ? PAIRS_LIMIT
	                                                       : 0,
	};
	edge_id *sites = list_sites(fn, &options.ncuts);
	bool is_known;

	options.cuts = sites;
	for (edge_id e = 0; e < fn->g.nedges; e++)
		asked[e] = asked_for(fn->edges[e].kind);
	if (r->cut)
		options.ncuts += add_cuts(fn, r, asked, sites + options.ncuts);
	is_known = number_as(fn, options, known);
	if (!is_known)
		number_anew(fn, &options, r);
	free(asked);
	free(sites);
	return is_known || (known && !known->npaths);
}

/* By edge; *op has room for all edges. */
static const struct increment **index_ops(const struct increments *inc,
                                          uint32_t nedges)
{
	const struct increment **op = xcalloc((size_t)nedges + 1, sizeof(*op));

	for (uint32_t i = 0; i < inc->n; i++)
		if (inc->ops[i].place == INCREMENT_ON_EDGE)
			op[inc->ops[i].where] = &inc->ops[i];
	return op;
}

/* --- loops that count their turns ---------------------------------------- */

bool counts_pairs(const struct function_paths *p)
{
	return p->pairs.n != 0;
}

bool counts_pairs_at(const struct function_paths *p, block_id head)
{
	return counts_pairs(p) && !(p->left_out && p->left_out[head]);
}

bool counts_windows(const struct function_paths *p)
{
	return p->longest != 0;
}

bool counts_turns(const struct function_paths *p)
{
	return p->how == CAIRN_PATHS_HASHED || p->how == CAIRN_PATHS_PREFERRED;
}

/* How often a loop turns, and how often it is entered. */
static void weigh_loop(const struct function *fn, const struct local *l,
                       const uint64_t *weight, uint64_t *back, uint64_t *enter)
{
	*back = *enter = 0;
	for (uint32_t i = fn->g.in_at[l->head]; i < fn->g.in_at[l->head + 1];
	     i++) {
		edge_id e = fn->g.in[i];
		bool is_back = local_block(l, fn->g.edges[e].src) != CFG_NONE;

		*(is_back ? back : enter) += weight[e];
	}
}

/* Does the loop make no call, and turn more often than it is entered? */
static bool is_worth_it(const struct function *fn, const struct local *l,
                        const uint64_t *weight)
{
	uint64_t back, enter;

	for (block_id b = 1; b < l->g.nblocks; b++)
		if (fn->nodes[l->block[b]].has_call)
			return false;
	weigh_loop(fn, l, weight, &back, &enter);
	return back > enter;
}

/* How many turns go back; the first of them into turn[]. */
static uint32_t find_back(const struct function *fn, const struct local *l,
                          uint64_t turn[HELD_TURNS])
{
	uint64_t number;
	uint32_t n = 0;

	for (uint64_t i = 0; i < l->paths.n; i++)
		if (local_path(l, &fn->paths->paths, i, &number)) {
			if (n < HELD_TURNS)
				turn[n] = i;
			n++;
		}
	return n;
}

/*
 * How many turns a loop holds in a register: all that go back, or none.  What
 * is held is added to the counters when the loop is left, one by one.
 */
static uint32_t find_held(const struct function *fn, const struct local *l,
                          const uint64_t *weight, uint64_t turn[HELD_TURNS])
{
	uint32_t n = find_back(fn, l, turn);
	uint64_t back, enter;

	if (fn->paths->how == CAIRN_PATHS_RESIDUAL || fn->paths->is_strict ||
	    n > (counts_pairs_at(fn->paths, l->head) ? 1 : HELD_TURNS))
		return 0;
	weigh_loop(fn, l, weight, &back, &enter);
	return n == 1 || back / (HELD_RATIO * n) > enter ? n : 0;
}

bool is_tested(const struct function_paths *p, uint64_t number)
{
	uint32_t lo = 0, hi = p->prefer.n;

	if (p->tested)
		return p->tested[number];
	while (lo < hi) {
		uint32_t middle = lo + (hi - lo) / 2;

		if (p->prefer.number[middle] < number)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo < p->prefer.n && p->prefer.number[lo] == number;
}

/* What is known of the turns of a loop. */
static void note_turns(struct function *fn, struct turns *t)
{
	struct function_paths *p = fn->paths;
	const struct local *l = &t->local;
	bool is_residual = p->how == CAIRN_PATHS_RESIDUAL;
	uint64_t number;

	if (p->has_slots) {
		t->slot_sum = xcalloc(l->paths.n, sizeof(*t->slot_sum));
		local_sum(l, &p->paths, (const uint64_t *)p->prefer.value,
		          t->slot_sum);
	}
	if (is_residual)
		t->tested = xcalloc(l->paths.n, sizeof(*t->tested));
	for (uint64_t i = 0; is_residual && i < l->paths.n; i++)
		t->tested[i] = !local_path(l, &p->paths, i, &number) ||
		               is_tested(p, number);
}

static void add_turns(struct function *fn, const struct local *l,
                      const uint64_t *weight, const uint64_t *cost)
{
	struct function_paths *p = fn->paths;
	uint64_t *own = xcalloc(l->g.nedges, sizeof(*own));
	struct turns *t;

	VEC_RESERVE(p->turns, p->nturns, p->turns_cap);
	t = &p->turns[p->nturns++];
	*t = (struct turns){.local = *l};
	t->local.paths.dag.g = &t->local.g;
	for (edge_id e = 1; e < l->g.nedges; e++) {
		own[e] = cost[l->edge[e]];
		p->local[l->edge[e]] = e;
	}
	increments_init(&t->inc, &t->local.paths.dag, t->local.paths.value,
	                own);
	t->op = index_ops(&t->inc, l->g.nedges);
	for (block_id b = 1; b < l->g.nblocks; b++)
		p->turns_of[l->block[b]] = p->nturns;
	t->nheld = find_held(fn, l, weight, t->held);
	note_turns(fn, t);
	for (block_id b = 1; t->nheld && b < l->g.nblocks; b++)
		fn->nodes[l->block[b]].flags |= CAIRN_BLOCK_HELD;
	if (counts_turns(p)) {
		t->first = fn->ncounters;
		fn->ncounters +=
		        (uint32_t)l->paths.n * (counts_pairs_at(p, l->head)
		                                        ? (uint32_t)l->paths.n
		                                        : 1);
	}
	free(own);
}

static void find_turns(struct function *fn, const uint64_t *weight,
                       const uint64_t *cost)
{
	struct local l;
	uint64_t held[HELD_TURNS];

	if (shim_is_not_optimized(fn->f) || shim_runs_while_loading(fn->f) ||
	    counts_windows(fn->paths) || counts_chains(fn->paths))
		return;
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		if (!local_init(&l, &fn->paths->paths, b,
		                counts_pairs_at(fn->paths, b) ? TURNS_MAX_PAIRS
		                                              : TURNS_MAX))
			continue;
		if (is_worth_it(fn, &l, weight) &&
		    (counts_turns(fn->paths) || fn->paths->has_slots ||
		     find_held(fn, &l, weight, held)))
			add_turns(fn, &l, weight, cost);
		else
			local_release(&l);
	}
	/* the vector has moved while it grew */
	for (uint32_t i = 0; i < fn->paths->nturns; i++)
		fn->paths->turns[i].local.paths.dag.g =
		        &fn->paths->turns[i].local.g;
}

static void place_operations(struct function *fn, const uint64_t *weight)
{
	uint64_t *cost = xcalloc(fn->g.nedges, sizeof(*cost));
	bool *needs_block = xcalloc(fn->g.nedges, sizeof(*needs_block));

	for (edge_id e = 0; e < fn->g.nedges; e++) {
		enum edge_where where = fn->edges[e].where;

		cost[e] = weight[e];
		needs_block[e] = where == AT_SPLIT || where == AT_PAD;
	}
	weight_add_jumps(&fn->g, needs_block, cost);
	increments_init(&fn->paths->inc, &fn->paths->paths.dag,
	                fn->paths->paths.value, cost);
	fn->paths->op = index_ops(&fn->paths->inc, fn->g.nedges);
	if (fn->paths->has_slots) {
		increments_init(&fn->paths->slot_inc, &fn->paths->paths.dag,
		                (const uint64_t *)fn->paths->prefer.value,
		                cost);
		fn->paths->slot_op =
		        index_ops(&fn->paths->slot_inc, fn->g.nedges);
	}
	find_turns(fn, weight, cost);
	free(cost);
	free(needs_block);
}

/* Gives the paths slots, unless they would be too many. */
static bool find_slots(struct function *fn, const uint64_t *numbers, uint64_t n)
{
	const struct prefer_options options = {.method = PREFER_BEST,
	                                       .max_size = SLOTS_MAX};
	struct function_paths *p = fn->paths;

	if (n == 0 || n > SLOTS_MAX ||
	    prefer_init(&p->prefer, &p->paths, numbers, (uint32_t)n, &options,
	                NULL) < 0)
		return false;
	p->has_slots = true;
	p->slots_size = 1;
	while (p->slots_size < p->prefer.size)
		p->slots_size *= 2;
	return true;
}

/* How a function counts with these paths preferred, out of many. */
static enum cairn_paths prefer(struct function *fn, const uint64_t *numbers,
                               uint64_t n)
{
	/* their own numbers are as compact as any, with one register */
	if (n == fn->paths->paths.n && n <= SLOTS_MAX)
		return CAIRN_PATHS_DIRECT;
	return find_slots(fn, numbers, n) ? CAIRN_PATHS_PREFERRED
	                                  : CAIRN_PATHS_HASHED;
}

/* The paths of both, ascending; the caller frees them. */
static uint64_t *unite(const uint64_t *a, uint64_t na, const uint64_t *b,
                       uint64_t nb, uint64_t *n)
{
	uint64_t *both = xcalloc(na + nb + 1, sizeof(*both));
	uint64_t i = 0, k = 0;

	for (*n = 0; i < na || k < nb; ++*n) {
		both[*n] = k == nb || (i < na && a[i] <= b[k]) ? a[i] : b[k];
		while (i < na && a[i] == both[*n])
			i++;
		while (k < nb && b[k] == both[*n])
			k++;
	}
	return both;
}

/* The same with all paths through wanted blocks, and those that are known. */
static enum cairn_paths prefer_wanted(struct function *fn,
                                      struct paths_request *r)
{
	const struct paths *p = &fn->paths->paths;
	uint64_t length, nwanted = through_count(p, r->wanted, &length), n;
	enum cairn_paths how = CAIRN_PATHS_HASHED;
	uint64_t *wanted, *both;

	if (nwanted <= SLOTS_MAX && length <= WANTED_MAX) {
		wanted = xcalloc(nwanted + 1, sizeof(*wanted));
		through_list(p, r->wanted, wanted);
		both = unite(wanted, nwanted,
		             r->known ? r->known->numbers : NULL,
		             r->known ? r->known->n : 0, &n);
		how = prefer(fn, both, n);
		free(wanted);
		free(both);
	}
	if (how == CAIRN_PATHS_HASHED)
		r->nrefused = nwanted;
	return how;
}

static void find_tested(struct function *fn,
                        const struct interest_function *known)
{
	fn->paths->tested =
	        xcalloc(fn->paths->paths.n, sizeof(*fn->paths->tested));
	for (uint32_t i = 0; i < known->n; i++)
		fn->paths->tested[known->numbers[i]] = 1;
}

static bool has_gotos(const struct function *fn)
{
	for (edge_id e = 0; e < fn->g.nedges; e++)
		if (fn->edges[e].kind == CAIRN_EDGE_INDIRECT)
			return true;
	return false;
}

/* Shared copies know no slots: what they do not know is in the table. */
static enum cairn_paths choose_shared(struct function *fn,
                                      const struct mode *mode,
                                      struct paths_request *r, bool few)
{
	if (!mode->residual || !r->known)
		return few ? CAIRN_PATHS_DIRECT : CAIRN_PATHS_HASHED;
	if (r->known->n && fn->paths->paths.n > TESTED_MAX_SHARED) {
		r->nrefused = fn->paths->paths.n;
		return CAIRN_PATHS_HASHED;
	}
	if (r->known->n)
		find_tested(fn, r->known);
	return CAIRN_PATHS_RESIDUAL;
}

static enum cairn_paths choose_how(struct function *fn, const struct mode *mode,
                                   struct paths_request *r)
{
	const struct interest_function *known = r->known;
	bool few = fn->paths->paths.n <=
	           (has_gotos(fn) ? DIRECT_MAX_GOTO : DIRECT_MAX);

	if (shim_runs_while_loading(fn->f))
		return CAIRN_PATHS_DIRECT;
	if (fn->nshared)
		return choose_shared(fn, mode, r, few);
	if (mode->residual && known && (few || known->n == 0)) {
		if (known->n) /* or there is nothing to look up */
			find_tested(fn, known);
		return CAIRN_PATHS_RESIDUAL;
	}
	if (few)
		return CAIRN_PATHS_DIRECT;
	if (r->wanted)
		return prefer_wanted(fn, r);
	if (!known)
		return CAIRN_PATHS_HASHED;
	if (!mode->residual) {
		enum cairn_paths how = prefer(fn, known->numbers, known->n);

		if (how == CAIRN_PATHS_HASHED)
			r->nrefused = known->n;
		return how;
	}
	return find_slots(fn, known->numbers, known->n) ? CAIRN_PATHS_RESIDUAL
	                                                : CAIRN_PATHS_HASHED;
}

bool paths_register_is_byte(const struct function *fn)
{
	return fn->paths->tested && !fn->nshared &&
	       fn->paths->paths.n <= CAIRN_PATH_MODULUS_MAX;
}

static void note_pendings(struct function *fn)
{
	const struct increments *inc = &fn->paths->inc;

	for (uint32_t i = 0; i < fn->nsites; i++) {
		block_id b = fn->sites[i].block;

		fn->sites[i].value = inc->offset[b];
		if (inc->is_known[b] && path_calls_has_tag(fn, i)) {
			fn->sites[i].value = 0;
			fn->sites[i].pending = CAIRN_PENDING_REGISTER;
			continue;
		}
		fn->sites[i].pending =
		        fn->paths->is_tested         ? CAIRN_PENDING_NOTHING
		        : inc->is_known[b]           ? CAIRN_PENDING_KNOWN
		        : paths_register_is_byte(fn) ? CAIRN_PENDING_ADDRESS
		                                     : CAIRN_PENDING_REGISTER;
	}
	for (uint32_t i = 0; i < fn->nshared; i++) {
		fn->sites[fn->shared[i].site].pending = CAIRN_PENDING_SHARED;
		fn->sites[fn->shared[i].site].value = 0;
	}
}

/* Of the function's name: FNV-1a. */
static uint32_t hash_name(const struct function *fn)
{
	uint32_t h = 2166136261u;
	size_t n;
	const char *name = LLVMGetValueName2(fn->f, &n);

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619u;
	return h;
}

/* A function whose paths all begin at the entry has no stream. */
static void choose_stream(struct function *fn, uint32_t longest)
{
	struct function_paths *p = fn->paths;
	struct pairs pairs;

	pairs_init(&pairs, &p->paths);
	p->longest = pairs.columns ? longest : 0;
	p->start_word = CAIRN_STARTS_FIRST +
	                hash_name(fn) % (CAIRN_STARTS_N - CAIRN_STARTS_FIRST);
}

/* Pairs behind edges to blocks where they would be too few. */
static void leave_out(struct function *fn)
{
	struct function_paths *p = fn->paths;
	const struct dag *d = &p->paths.dag;
	uint64_t *flow = xcalloc(fn->g.nblocks, sizeof(*flow));
	bool any = false;

	p->left_out = xcalloc(fn->g.nblocks, sizeof(*p->left_out));
	for (edge_id e = 0; e < fn->g.nedges; e++)
		if (dag_is_ended(d, e))
			flow[fn->g.edges[e].dst] += pair_flow_edge(p->flow, e);
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		/* behind a call that may come back twice is no pair anyway */
		p->left_out[b] = d->begin_of[b] != CFG_NONE &&
		                 !fn->nodes[b].is_call &&
		                 !pair_flow_is_enough(p->flow, flow[b]);
		any |= p->left_out[b];
	}
	free(flow);
	if (any) {
		pairs_leave_out(&p->pairs, &p->paths, p->left_out);
		return;
	}
	free(p->left_out);
	p->left_out = NULL;
}

uint64_t paths_possible(const struct function *fn)
{
	return fn->paths->paths.n;
}

void paths_choose(struct function *fn, const struct mode *mode,
                  struct paths_request *r)
{
	struct function_paths *p = xcalloc(1, sizeof(*p));
	const struct interest_function *known = r->known;

	fn->paths = p;
	p->turns_of = xcalloc(fn->g.nblocks, sizeof(*p->turns_of));
	p->local = xcalloc(fn->g.nedges, sizeof(*p->local));
	p->others = mode->others;
	p->is_strict = mode->strict;
	r->absent = UINT64_MAX;
	r->nrefused = 0;
	if (!number_paths(fn, r))
		r->known = NULL;
	if (r->find)
		r->known = r->find(r->context, fn);
	else if (r->known && known->n &&
	         known->numbers[known->n - 1] >= p->paths.n) {
		r->absent = known->numbers[known->n - 1];
		r->known = NULL;
	}
	if (r->pairs)
		pairs_init(&p->pairs, &p->paths);
	p->flow = r->flow;
	if (r->pairs && p->flow)
		leave_out(fn);
	if (r->windows)
		choose_stream(fn, r->windows);
	p->deepest = r->chains;
	if (counts_pairs(p)) { /* the rest when all that are called are known */
		path_calls_begin(fn, mode, r->weight);
		return;
	}
	p->how = choose_how(fn, mode, r);
	p->is_tested =
	        p->how == CAIRN_PATHS_RESIDUAL && r->known->n == p->paths.n;
	fn->ncounters = p->how != CAIRN_PATHS_DIRECT ? CAIRN_TABLE_WORDS
	                                             : (uint32_t)p->paths.n;
	place_operations(fn, r->weight);
	if (p->how == CAIRN_PATHS_PREFERRED) {
		p->slots_first = fn->ncounters;
		fn->ncounters += p->slots_size + 1;
	}
	note_pendings(fn);
}

void paths_choose_calls(struct function *fn, const struct mode *mode)
{
	struct function_paths *p = fn->paths;

	if (!counts_pairs(p))
		return;
	p->how = path_calls_choose_tags(
	        fn, mode, has_gotos(fn) ? DIRECT_MAX_GOTO : DIRECT_MAX);
	fn->ncounters = p->how == CAIRN_PATHS_DIRECT
	                        ? (uint32_t)(p->pairs.total * p->calls->tags.n)
	                        : CAIRN_TABLE_WORDS;
	place_operations(fn, p->calls->weight);
	path_calls_choose(fn, mode);
	note_pendings(fn);
}

void paths_release_of(struct function *fn)
{
	if (!fn->paths)
		return;
	for (uint32_t i = 0; i < fn->paths->nturns; i++) {
		increments_release(&fn->paths->turns[i].inc);
		local_release(&fn->paths->turns[i].local);
		free(fn->paths->turns[i].op);
		free(fn->paths->turns[i].slot_sum);
		free(fn->paths->turns[i].tested);
	}
	increments_release(&fn->paths->slot_inc);
	prefer_release(&fn->paths->prefer);
	free(fn->paths->slot_op);
	free(fn->paths->tested);
	free(fn->paths->left_out);
	increments_release(&fn->paths->inc);
	paths_release(&fn->paths->paths);
	free(fn->paths->op);
	free(fn->paths->turns);
	free(fn->paths->turns_of);
	free(fn->paths->local);
	path_calls_release(fn->paths->calls, fn->nsites);
	free(fn->paths);
	fn->paths = NULL;
}

/* --- the map ------------------------------------------------------------- */

static void describe_slots(const struct function_paths *p, struct bytes *b)
{
	uint64_t last = 0;

	bytes_put_uv(b, p->slots_size);
	bytes_put_uv(b, p->prefer.n);
	for (uint32_t i = 0; i < p->prefer.n; i++) {
		bytes_put_uv(b, p->prefer.number[i] - last);
		bytes_put_uv(b, p->prefer.slot[i]);
		last = p->prefer.number[i];
	}
}

static enum cairn_paths kind_in_map(const struct function_paths *p)
{
	if (!counts_pairs(p))
		return p->how;
	return p->how == CAIRN_PATHS_DIRECT ? CAIRN_PATHS_PAIRS_DIRECT
	                                    : CAIRN_PATHS_PAIRS;
}

void describe_paths(const struct function *fn, struct bytes *b)
{
	const struct paths *p = &fn->paths->paths;
	uint32_t nturns;

	bytes_put_uv(b, kind_in_map(fn->paths));
	bytes_put_uv(b, p->n);
	bytes_put_uv(b, p->ncuts);
	for (uint32_t i = 0; i < p->ncuts; i++)
		bytes_put_uv(b, p->cuts[i]);
	nturns = counts_turns(fn->paths) ? fn->paths->nturns : 0;
	bytes_put_uv(b, nturns);
	for (uint32_t i = 0; i < nturns; i++)
		bytes_put_uv(b, fn->paths->turns[i].local.head);
	if (fn->paths->how == CAIRN_PATHS_PREFERRED)
		describe_slots(fn->paths, b);
	if (fn->paths->calls)
		path_calls_describe(fn, b);
	for (uint32_t i = 0; i < fn->nsites; i++) {
		bytes_put_uv(b, fn->sites[i].pending);
		if (fn->sites[i].pending == CAIRN_PENDING_KNOWN)
			bytes_put_uv(b, fn->sites[i].value);
		else if (fn->sites[i].pending != CAIRN_PENDING_NOTHING)
			bytes_put_sv(b, (int64_t)fn->sites[i].value);
	}
}
