/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks that count paths.
 *
 * T. Ball and J. Larus, "Efficient path profiling", MICRO-29, 1996: a register
 * sums values along the way, so that at its end it is the number of the path.
 * graph/ numbers the paths and says what to do where (increments.h); here that
 * becomes code.  The register is a local variable that LLVM then turns into
 * values; a function that is not optimized keeps it on the stack.
 *
 * Few paths (DIRECT_MAX): every path has a counter, and the register is the
 * address of it, before the delta is added:
 *
 *     set    lea  counters+8*v(%rip), %r
 *     add    add  $8*v, %r
 *     count  incq %gs:8*v(%r)
 *
 * Many: counts are in a table of which abi/rt.h has the form, and one slot is
 * looked at here:
 *
 *     mov  %gs:multiplier, %t;  imul %r, %t;  shr $36, %t;  and %gs:mask, %t
 *     add  %gs:offset, %t;  cmp %gs:key(%t), %r;  jne call;  incq %gs:count(%t)
 *
 * Innermost loops of such functions that make no calls count their turns
 * themselves (graph/local.h): in a second register q, which is the address of
 * the turn's counter.  The first one is not kept there: it is what it was when
 * the loop was entered, less what it would be had a path begun at the head, so
 * that it is 0 when a path has.  (It is 0 only then: no two ways to a block
 * have the same sum.)
 *
 *     back   test %r, %r;  jne other;  incq %gs:8*v(%q)
 *     exit   add  gain(%q), %r
 *
 * If all edges back end the same turn, it is held: counted in a register, and
 * added when the loop is left and every HELD_MAX turns.  That is done in
 * functions with few paths, too: an increment of memory each turn waits for the
 * one before it (bzip2 compressing: 2.0 times the plain run, 1.4 held).
 *
 *     back   dec  %held;  je other
 *
 * A frame that dies in a call leaves its register for the runtime to find: it
 * is a value of the site's "deopt" bundle, which costs no instruction if the
 * register stays in one that calls preserve (MECHANISMS: 3785 of 3785 sites).
 *
 * Invariant: operations at one place run in the order of the edges: what
 * belongs to the edge into a node before what belongs to the edges out of it.
 */
#include "plugin/marker.h"

#include "abi/rt.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "graph/increments.h"
#include "graph/local.h"
#include "graph/paths.h"
#include "graph/weight.h"
#include "plugin/shim.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Measured on 17 programs: up to here are 35 % of all executed ends of paths
 * in Lua and 67 % in zstd that are not below 4096; the counters of all
 * functions of SQLite then take 5 MB, and 0.1 to 1 MB in most programs.
 */
#define DIRECT_MAX 16384
#define TURNS_MAX 512
#define HELD_MAX 65536

/* A loop that counts its turns. */
struct turns {
	struct local local;
	struct increments inc;
	const struct increment **op; /* per edge of the loop's graph, or NULL */
	uint32_t first;              /* counter of turn 0, if there are any */
	bool is_held;
	uint64_t held;      /* the one turn that goes back */
	LLVMValueRef table; /* what turns add to the register, once needed */
};

struct function_paths {
	enum cairn_paths how;
	struct paths paths;
	struct increments inc;
	const struct increment **op; /* per edge, or NULL */
	struct turns *turns;
	uint32_t nturns, turns_cap;
	uint32_t *turns_of; /* per block: 0, or 1 + index */
	edge_id *local;     /* per edge out of such a block: its name there */
};

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

static void number_paths(struct function *fn, const uint64_t *weight)
{
	enum dag_how *asked = xcalloc(fn->g.nedges, sizeof(*asked));
	struct paths_options options = {
	        .asked = asked,
	        .weight = weight,
	        /* there is no table of paths yet when it runs */
	        .limit = shim_runs_while_loading(fn->f) ? DIRECT_MAX + 1 : 0,
	};
	struct cairn_err err = {0};
	int result;

	for (edge_id e = 0; e < fn->g.nedges; e++)
		asked[e] = asked_for(fn->edges[e].kind);
	result = paths_init(&fn->paths->paths, &fn->g, &options, &err);
	/* every edge may be cut, and indirect branches have landing blocks */
	assert(result == CAIRN_OK);
	(void)result;
	free(asked);
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

/* Does the loop make no call, and turn more often than it is entered? */
static bool is_worth_it(const struct function *fn, const struct local *l,
                        const uint64_t *weight)
{
	uint64_t back = 0, enter = 0;

	for (block_id b = 1; b < l->g.nblocks; b++)
		if (fn->nodes[l->block[b]].has_call)
			return false;
	for (uint32_t i = fn->g.in_at[l->head]; i < fn->g.in_at[l->head + 1];
	     i++) {
		edge_id e = fn->g.in[i];
		bool is_back = local_block(l, fn->g.edges[e].src) != CFG_NONE;

		*(is_back ? &back : &enter) += weight[e];
	}
	return back > enter;
}

/* How many turns go back; *turn is one of them. */
static uint32_t count_back(const struct function *fn, const struct local *l,
                           uint64_t *turn)
{
	uint64_t number;
	uint32_t n = 0;

	for (uint64_t i = 0; i < l->paths.n; i++)
		if (local_path(l, &fn->paths->paths, i, &number)) {
			*turn = i;
			n++;
		}
	return n;
}

static void add_turns(struct function *fn, const struct local *l,
                      const uint64_t *cost)
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
	t->is_held = count_back(fn, l, &t->held) == 1;
	for (block_id b = 1; t->is_held && b < l->g.nblocks; b++)
		fn->nodes[l->block[b]].flags |= CAIRN_BLOCK_HELD;
	if (p->how == CAIRN_PATHS_HASHED) {
		t->first = fn->ncounters;
		fn->ncounters += (uint32_t)l->paths.n;
	}
	free(own);
}

static void find_turns(struct function *fn, const uint64_t *weight,
                       const uint64_t *cost)
{
	struct local l;
	uint64_t turn;

	if (shim_is_not_optimized(fn->f) || shim_runs_while_loading(fn->f))
		return;
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		if (!local_init(&l, &fn->paths->paths, b, TURNS_MAX))
			continue;
		if (is_worth_it(fn, &l, weight) &&
		    (fn->paths->how == CAIRN_PATHS_HASHED ||
		     count_back(fn, &l, &turn) == 1))
			add_turns(fn, &l, cost);
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
	find_turns(fn, weight, cost);
	free(cost);
	free(needs_block);
}

void paths_choose(struct function *fn, const uint64_t *weight)
{
	const struct increments *inc;

	fn->paths = xcalloc(1, sizeof(*fn->paths));
	fn->paths->turns_of =
	        xcalloc(fn->g.nblocks, sizeof(*fn->paths->turns_of));
	fn->paths->local = xcalloc(fn->g.nedges, sizeof(*fn->paths->local));
	number_paths(fn, weight);
	if (fn->paths->paths.n <= DIRECT_MAX) {
		fn->paths->how = CAIRN_PATHS_DIRECT;
		fn->ncounters = (uint32_t)fn->paths->paths.n;
	} else {
		fn->paths->how = CAIRN_PATHS_HASHED;
		fn->ncounters = CAIRN_TABLE_WORDS;
	}
	place_operations(fn, weight);
	inc = &fn->paths->inc;
	for (uint32_t i = 0; i < fn->nsites; i++) {
		block_id b = fn->sites[i].block;

		fn->sites[i].value = inc->offset[b];
		fn->sites[i].pending = inc->is_known[b]
		                               ? CAIRN_PENDING_KNOWN
		                               : CAIRN_PENDING_REGISTER;
	}
}

void paths_release_of(struct function *fn)
{
	if (!fn->paths)
		return;
	for (uint32_t i = 0; i < fn->paths->nturns; i++) {
		increments_release(&fn->paths->turns[i].inc);
		local_release(&fn->paths->turns[i].local);
		free(fn->paths->turns[i].op);
	}
	increments_release(&fn->paths->inc);
	paths_release(&fn->paths->paths);
	free(fn->paths->op);
	free(fn->paths->turns);
	free(fn->paths->turns_of);
	free(fn->paths->local);
	free(fn->paths);
	fn->paths = NULL;
}

/* --- where --------------------------------------------------------------- */

enum what {
	DO_OPERATION, /* of the function's register */
	DO_ENTER,     /* a loop that counts its turns */
	DO_STEP,      /* within it */
	DO_TURN,      /* back to its head */
	DO_EXIT,      /* out of it */
};

/* Something to do and the instruction that keeps its place. */
struct placed {
	LLVMValueRef at;
	enum what what;
	const struct increment *op; /* may be NULL */
	struct turns *turns;
	edge_id edge;
};

struct writer {
	struct marker m;
	LLVMValueRef r, q;  /* the registers, in memory */
	LLVMValueRef held;  /* of the loop that it is in: turns until then */
	LLVMValueRef delta; /* or NULL: to be loaded where it is needed */
	bool is_direct;
	struct placed *placed;
	size_t nplaced, placed_cap;
	uint32_t before; /* what the code before a count is: m.behind behind */
};

static void place_before(struct writer *w, LLVMValueRef at, struct placed what)
{
	VEC_RESERVE(w->placed, w->nplaced, w->placed_cap);
	what.at = shim_place(at);
	w->placed[w->nplaced++] = what;
}

static struct turns *turns_of(const struct function *fn, block_id b)
{
	uint32_t i = fn->paths->turns_of[b];

	return i ? &fn->paths->turns[i - 1] : NULL;
}

/* What belongs to an edge, in order; returns how many. */
static unsigned deeds_of(const struct function *fn, edge_id e,
                         struct placed *deed)
{
	const struct cfg_edge *edge = &fn->g.edges[e];
	struct turns *from = turns_of(fn, edge->src);
	struct turns *to = turns_of(fn, edge->dst);
	unsigned n = 0;

	if (from) {
		deed[n] = (struct placed){
		        .what = DO_STEP,
		        .op = from->op[fn->paths->local[e]],
		        .turns = from,
		        .edge = e,
		};
		if (from != to)
			deed[n++].what = DO_EXIT;
		else if (edge->dst == to->local.head)
			deed[n++].what = DO_TURN;
		else if (deed[n].op)
			n++;
	} else if (fn->paths->op[e]) {
		deed[n++] = (struct placed){
		        .what = DO_OPERATION,
		        .op = fn->paths->op[e],
		        .edge = e,
		};
	}
	if (to && from != to)
		deed[n++] = (struct placed){
		        .what = DO_ENTER,
		        .op = to->op[0],
		        .turns = to,
		        .edge = e,
		};
	return n;
}

/* An edge to the outside from a return that must stay bare. */
static bool is_behind_tail_calls(const struct function *fn, edge_id e)
{
	return fn->edges[e].where == AT_NOWHERE;
}

/* At the top of a block, before whatever belongs to the edges out of it. */
static bool is_at_top(const struct function *fn, edge_id e)
{
	enum edge_where where = fn->edges[e].where;

	return where == AT_ENTRY || where == AT_TOP || where == AT_FALL;
}

/* The edges at the tops of blocks, or the others. */
static void place_edges_of(struct writer *w, bool at_top)
{
	const struct function *fn = w->m.fn;
	struct placed deed[3];

	for (edge_id e = 0; e < fn->g.nedges; e++) {
		unsigned n = deeds_of(fn, e, deed);

		if (n == 0 || is_at_top(fn, e) != at_top ||
		    is_behind_tail_calls(fn, e))
			continue;
		for (unsigned i = 0; i < n; i++)
			place_before(w, marker_place_of_edge(&w->m, e),
			             deed[i]);
	}
}

/* Operations in blocks, for computed gotos. */
static void place_at_blocks(struct writer *w, enum increment_place place)
{
	const struct function *fn = w->m.fn;
	const struct increments *inc = &fn->paths->inc;

	for (uint32_t i = 0; i < inc->n; i++) {
		const struct increment *op = &inc->ops[i];
		const struct node *node = &fn->nodes[op->where];

		if (op->place != place)
			continue;
		place_before(w,
		             place == INCREMENT_AT_HEAD
		                     ? marker_top_of(node)
		                     : marker_end_of(node->block),
		             (struct placed){.op = op, .edge = CFG_NONE});
	}
}

static void place_all(struct writer *w)
{
	const struct function *fn = w->m.fn;

	place_edges_of(w, true);
	place_at_blocks(w, INCREMENT_AT_HEAD);
	place_edges_of(w, false);
	place_at_blocks(w, INCREMENT_AT_END);
	for (edge_id e = 0; e < fn->g.nedges; e++) {
		struct placed deed[3];
		block_id b = fn->g.edges[e].src;

		if (!is_behind_tail_calls(fn, e) || !deeds_of(fn, e, deed))
			continue;
		for (uint32_t k = fn->g.in_at[b]; k < fn->g.in_at[b + 1]; k++)
			place_before(w,
			             marker_place_of_edge(&w->m, fn->g.in[k]),
			             deed[0]);
	}
}

/* --- probes -------------------------------------------------------------- */

/*
 * For frames that are stopped between calls (abi/map.h).  Only counts matter:
 * what is in the registers then is not known, and not asked for.
 */
static bool counts(const struct placed *p)
{
	return p->what == DO_TURN ||
	       (p->op && (p->op->kind == INCREMENT_COUNT ||
	                  p->op->kind == INCREMENT_COUNT_AT));
}

static bool leaves_held(const struct placed *p)
{
	return p->what == DO_EXIT && p->turns->is_held;
}

static uint32_t before_deed(const struct function *fn, const struct placed *p)
{
	if (p->edge == CFG_NONE || leaves_held(p) ||
	    fn->g.edges[p->edge].dst == CFG_OUTSIDE)
		return CAIRN_PROBE_UNKNOWN;
	return 2 * fn->g.nblocks + p->edge;
}

static uint32_t behind_deed(const struct function *fn, const struct placed *p)
{
	block_id dst;

	if (p->edge == CFG_NONE)
		return CAIRN_PROBE_UNKNOWN;
	dst = fn->g.edges[p->edge].dst;
	if (dst == CFG_OUTSIDE)
		return CFG_OUTSIDE;
	return dag_is_ended(&fn->paths->paths.dag, p->edge)
	               ? fn->g.nblocks + dst
	               : dst;
}

/* What the code at the top of a block is. */
static uint32_t probe_of(const struct function *fn, block_id b)
{
	uint32_t in = fn->g.in_at[b];
	struct placed deed[3];
	unsigned n;

	if (fn->nodes[b].end || (fn->nodes[b].flags & CAIRN_BLOCK_INDIRECT))
		return CAIRN_PROBE_UNKNOWN;
	if (in + 1 != fn->g.in_at[b + 1] || !is_at_top(fn, fn->g.in[in]))
		return b;
	n = deeds_of(fn, fn->g.in[in], deed);
	for (unsigned i = 0; i < n; i++)
		if (counts(&deed[i]) || leaves_held(&deed[i]))
			return before_deed(fn, &deed[i]);
	return b;
}

static void add_path_probes(struct writer *w)
{
	const struct function *fn = w->m.fn;

	for (block_id b = 1; w->m.probes && b < fn->g.nblocks; b++) {
		LLVMValueRef top;

		if (fn->nodes[b].first && b > 1 && fn->nodes[b - 1].end)
			continue; /* a part: there is one for the whole */
		top = marker_top_of(&fn->nodes[b]);
		if (!LLVMIsABranchInst(top) || LLVMIsConditional(top))
			shim_add_probe(top, probe_of(fn, b));
	}
	for (size_t i = 0; w->m.probes && i < w->nplaced; i++) {
		const struct placed *p = &w->placed[i];

		if (p->edge != CFG_NONE && fn->edges[p->edge].probe &&
		    leaves_held(p))
			shim_set_probed(fn->edges[p->edge].probe,
			                CAIRN_PROBE_UNKNOWN);
	}
}

static void add_probe_to(struct writer *w, LLVMBasicBlockRef block,
                         uint32_t what)
{
	LLVMValueRef first = shim_insertion_point(block);

	if (w->m.probes &&
	    (!LLVMIsABranchInst(first) || LLVMIsConditional(first)))
		shim_add_probe(first, what);
}

/* --- code ---------------------------------------------------------------- */

static LLVMValueRef constant(struct writer *w, uint64_t v)
{
	return LLVMConstInt(w->m.i64, v, false);
}

/* The address of byte `at` of the counters, before the delta. */
static LLVMValueRef symbol(struct writer *w, uint64_t at)
{
	LLVMValueRef offset = constant(w, at);

	return LLVMConstPtrToInt(
	        LLVMConstGEP2(LLVMInt8TypeInContext(w->m.context),
	                      w->m.fn->counters, &offset, 1),
	        w->m.i64);
}

/* A sum, or a part of one, as it is in the register. */
static uint64_t in_units(const struct writer *w, uint64_t v)
{
	return w->is_direct ? 8 * v : v;
}

/* The register when the sum so far is v. */
static LLVMValueRef register_at(struct writer *w, uint64_t v)
{
	return w->is_direct ? symbol(w, 8 * v) : constant(w, 1 + v);
}

static LLVMValueRef sum(struct writer *w, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildAdd(w->m.builder, a, b, "");
}

static LLVMValueRef get(struct writer *w, LLVMValueRef variable)
{
	return marker_ours(
	        LLVMBuildLoad2(w->m.builder, w->m.i64, variable, "cairn.path"));
}

static void set(struct writer *w, LLVMValueRef variable, LLVMValueRef v)
{
	marker_ours(LLVMBuildStore(w->m.builder, v, variable));
}

/* As the prologue found it, where it may be kept. */
static LLVMValueRef delta_of(struct writer *w)
{
	return w->delta ? w->delta : marker_load_delta(&w->m);
}

/* A pointer to what is at `address` in the thread's shard. */
static LLVMValueRef pointer(struct writer *w, LLVMValueRef address)
{
	LLVMBuilderRef b = w->m.builder;

	if (w->m.by_segment)
		return LLVMBuildIntToPtr(b, address, w->m.segment_ptr, "");
	return LLVMBuildIntToPtr(b, sum(w, address, delta_of(w)), w->m.ptr, "");
}

static LLVMValueRef load_word(struct writer *w, LLVMTypeRef type, unsigned word)
{
	LLVMValueRef v = marker_ours(LLVMBuildLoad2(
	        w->m.builder, type, pointer(w, symbol(w, 8 * word)), ""));

	LLVMSetVolatile(v, true); /* in this order */
	return v;
}

static void count_at(struct writer *w, LLVMValueRef address)
{
	LLVMValueRef at;

	/* assembly names the segment itself */
	if (w->m.by_segment && shim_is_not_optimized(w->m.fn->f))
		at = LLVMBuildIntToPtr(w->m.builder, address, w->m.ptr, "");
	else
		at = pointer(w, address);
	marker_add_to(&w->m, at, w->m.by_segment, constant(w, 1));
}

/* As inline assembly, for the reasons of the slow call in mark.c. */
static void call_count(struct writer *w, LLVMValueRef r)
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
	LLVMValueRef args[2] = {sum(w, symbol(w, 0), delta_of(w)), r};

	marker_ours(LLVMBuildCall2(w->m.builder, type, code, args, 2, ""));
}

/* The address of the slot where r has to be, before the delta. */
static LLVMValueRef home_of(struct writer *w, LLVMValueRef r)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMTypeRef i32 = LLVMInt32TypeInContext(w->m.context);
	LLVMValueRef at, mask;

	at = load_word(w, w->m.i64, CAIRN_TABLE_MULTIPLIER);
	at = LLVMBuildMul(b, at, r, "");
	at = LLVMBuildLShr(b, at, constant(w, CAIRN_TABLE_SHIFT), "");
	at = LLVMBuildTrunc(b, at, i32, "");
	mask = load_word(w, i32, CAIRN_TABLE_MASK);
	at = LLVMBuildAnd(b, at, mask, "");
	at = LLVMBuildZExt(b, at, w->m.i64, "");
	at = sum(w, at, load_word(w, w->m.i64, CAIRN_TABLE_OFFSET));
	return sum(w, at, symbol(w, 8 * CAIRN_TABLE_KEY));
}

/* Two ways from the builder's place to `place`, which comes to stand in another
 * block. */
struct fork {
	LLVMBasicBlockRef common, rare, rest;
};

static struct fork fork_before(struct writer *w, LLVMValueRef place)
{
	LLVMBasicBlockRef first = LLVMGetInstructionParent(place);
	struct fork f = {.rest = shim_split_before(place)};

	f.rare = LLVMInsertBasicBlockInContext(w->m.context, f.rest,
	                                       "cairn.rare");
	f.common = LLVMInsertBasicBlockInContext(w->m.context, f.rest,
	                                         "cairn.common");
	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(first));
	LLVMPositionBuilderAtEnd(w->m.builder, first);
	return f;
}

/* Leaves the builder at `place`. */
static void count_hashed(struct writer *w, LLVMValueRef r, LLVMValueRef place)
{
	LLVMBuilderRef b = w->m.builder;
	struct fork f = fork_before(w, place);
	LLVMValueRef home = home_of(w, r), key;

	key = marker_ours(
	        LLVMBuildLoad2(b, w->m.i64, pointer(w, home), "cairn.key"));
	shim_set_unlikely(LLVMBuildCondBr(
	        b, LLVMBuildICmp(b, LLVMIntNE, key, r, ""), f.rare, f.common));

	LLVMPositionBuilderAtEnd(b, f.common);
	count_at(w, sum(w, home, constant(w, 8)));
	LLVMBuildBr(b, f.rest);
	add_probe_to(w, f.common, w->before);

	LLVMPositionBuilderAtEnd(b, f.rare);
	call_count(w, r);
	LLVMBuildBr(b, f.rest);
	add_probe_to(w, f.rare, CAIRN_PROBE_UNKNOWN);
	add_probe_to(w, f.rest, w->m.behind);
	LLVMPositionBuilderBefore(b, place);
}

static void count_path(struct writer *w, LLVMValueRef r, LLVMValueRef place)
{
	if (w->is_direct)
		count_at(w, r);
	else
		count_hashed(w, r, place);
}

static void write_operation(struct writer *w, const struct increment *op,
                            LLVMValueRef place)
{
	LLVMValueRef by = constant(w, in_units(w, op->value));

	switch (op->kind) {
	case INCREMENT_SET:
		set(w, w->r, register_at(w, op->value));
		break;
	case INCREMENT_ADD:
		set(w, w->r, sum(w, get(w, w->r), by));
		break;
	case INCREMENT_COUNT:
		count_path(w, sum(w, get(w, w->r), by), place);
		break;
	case INCREMENT_COUNT_AT:
		count_path(w, register_at(w, op->value), place);
		break;
	}
	if (op->then_set)
		set(w, w->r, register_at(w, op->set));
}

/* --- turns --------------------------------------------------------------- */

/* The second register when the turn so far is v: the address of its counter. */
static LLVMValueRef turn_at(struct writer *w, const struct turns *t, uint64_t v)
{
	return symbol(w, 8 * (v + t->first));
}

/* The first register when a path has begun at the loop's head, had it not been
 * made 0. */
static LLVMValueRef base_of(struct writer *w, const struct turns *t)
{
	const struct paths *p = &w->m.fn->paths->paths;

	return register_at(w, p->value[p->dag.begin_of[t->local.head]]);
}

static LLVMValueRef gain_of(struct writer *w, const struct turns *t,
                            uint64_t turn)
{
	return constant(w, in_units(w, t->local.sum[turn]));
}

static LLVMValueRef gain_table(struct writer *w, struct turns *t)
{
	uint64_t n = t->local.paths.n;
	LLVMTypeRef type = LLVMArrayType2(w->m.i64, n);
	LLVMValueRef *values;

	if (t->table)
		return t->table;
	values = xcalloc(n, sizeof(LLVMValueRef));
	for (uint64_t i = 0; i < n; i++)
		values[i] = gain_of(w, t, i);
	t->table = LLVMAddGlobal(w->m.module, type, "cairn.turns");
	LLVMSetInitializer(t->table, LLVMConstArray2(w->m.i64, values, n));
	LLVMSetGlobalConstant(t->table, true);
	LLVMSetLinkage(t->table, LLVMPrivateLinkage);
	LLVMSetUnnamedAddress(t->table, LLVMGlobalUnnamedAddr);
	free(values);
	return t->table;
}

/* The turn that ends here, as the address of its counter. */
static LLVMValueRef turn_of(struct writer *w, const struct placed *p)
{
	if (p->op->kind == INCREMENT_COUNT_AT)
		return turn_at(w, p->turns, p->op->value);
	return sum(w, get(w, w->q), constant(w, 8 * p->op->value));
}

/* The first register with what the turn that ends here adds. */
static LLVMValueRef gained(struct writer *w, const struct placed *p)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef r = sum(w, get(w, w->r), base_of(w, p->turns)), at;

	if (p->op->kind == INCREMENT_COUNT_AT)
		return sum(w, r, gain_of(w, p->turns, p->op->value));
	at = LLVMBuildSub(b, turn_of(w, p), turn_at(w, p->turns, 0), "");
	at = sum(w, at, LLVMConstPtrToInt(gain_table(w, p->turns), w->m.i64));
	at = LLVMBuildIntToPtr(b, at, w->m.ptr, "");
	return sum(w, r,
	           marker_ours(LLVMBuildLoad2(b, w->m.i64, at, "cairn.gain")));
}

static LLVMValueRef began_outside(struct writer *w)
{
	return LLVMBuildICmp(w->m.builder, LLVMIntNE, get(w, w->r),
	                     constant(w, 0), "");
}

/* Adds n to the counter of the turn that is held. */
static void count_held(struct writer *w, const struct turns *t, LLVMValueRef n)
{
	const struct paths *p = &w->m.fn->paths->paths;
	LLVMValueRef at;
	uint64_t number;

	local_path(&t->local, p, t->held, &number);
	at = w->is_direct ? symbol(w, 8 * number) : turn_at(w, t, t->held);
	if (w->m.by_segment) /* assembly names the segment */
		at = LLVMBuildIntToPtr(w->m.builder, at, w->m.ptr, "");
	else
		at = pointer(w, at);
	marker_add_to(&w->m, at, w->m.by_segment, n);
}

/* A path that came from outside ends, or so many turns are held. */
static void write_held(struct writer *w, const struct placed *p)
{
	LLVMBuilderRef b = w->m.builder;
	struct fork f = fork_before(w, p->at), g;
	LLVMValueRef held, test, end;

	held = sum(w, get(w, w->held), constant(w, UINT64_MAX));
	set(w, w->held, held);
	test = LLVMBuildICmp(b, LLVMIntEQ, held, constant(w, 0), "");
	shim_set_unlikely(LLVMBuildCondBr(b, test, f.rare, f.common));
	LLVMPositionBuilderAtEnd(b, f.common);
	LLVMBuildBr(b, f.rest);

	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	g = fork_before(w, end);
	LLVMBuildCondBr(b, began_outside(w), g.common, g.rare);
	LLVMPositionBuilderAtEnd(b, g.rare);
	count_held(w, p->turns, constant(w, HELD_MAX));
	LLVMBuildBr(b, g.rest);
	LLVMPositionBuilderAtEnd(b, g.common);
	test = LLVMBuildBr(b, g.rest);
	LLVMPositionBuilderBefore(b, test);
	count_path(w, gained(w, p), test);
	set(w, w->r, constant(w, 0));
	LLVMPositionBuilderBefore(b, end);
	set(w, w->held, constant(w, HELD_MAX));
	add_probe_to(w, f.rare, CAIRN_PROBE_UNKNOWN);
	add_probe_to(w, g.rare, CAIRN_PROBE_UNKNOWN);
	add_probe_to(w, g.common, CAIRN_PROBE_UNKNOWN);
	add_probe_to(w, f.rest, w->m.behind);
	LLVMPositionBuilderBefore(b, p->at);
}

/* To the head: a turn from there, or a path that came from outside. */
static void write_turn(struct writer *w, const struct placed *p)
{
	LLVMBuilderRef b = w->m.builder;
	struct fork f = fork_before(w, p->at);
	LLVMValueRef turn = turn_of(w, p), end;

	shim_set_unlikely(
	        LLVMBuildCondBr(b, began_outside(w), f.rare, f.common));
	LLVMPositionBuilderAtEnd(b, f.common);
	count_at(w, turn);
	LLVMBuildBr(b, f.rest);
	add_probe_to(w, f.common, w->before);

	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	count_path(w, gained(w, p), end);
	set(w, w->r, constant(w, 0));
	add_probe_to(w, f.rare, w->before);
	add_probe_to(w, f.rest, w->m.behind);
	LLVMPositionBuilderBefore(b, p->at);
}

/* What is held: HELD_MAX at most; nothing in the first turn. */
static void release_held(struct writer *w, const struct turns *t)
{
	LLVMBuilderRef b = w->m.builder;
	LLVMValueRef from = LLVMBuildSelect(b, began_outside(w), constant(w, 1),
	                                    constant(w, HELD_MAX), "");

	count_held(w, t, LLVMBuildSub(b, from, get(w, w->held), ""));
}

/* Out of the loop: the first register is what it would be had it been kept. */
static void write_exit(struct writer *w, const struct placed *p)
{
	const struct function *fn = w->m.fn;
	const struct increments *inc = &fn->paths->inc;
	const struct increment *op = fn->paths->op[p->edge];
	block_id dst = fn->g.edges[p->edge].dst;
	LLVMValueRef r;

	if (p->turns->is_held) {
		w->m.behind = w->before = 2 * fn->g.nblocks + p->edge;
		release_held(w, p->turns);
		w->m.behind = behind_deed(fn, p);
	}
	r = gained(w, p);
	if (op &&
	    (op->kind == INCREMENT_COUNT || op->kind == INCREMENT_COUNT_AT)) {
		count_path(w, r, p->at);
		if (op->then_set)
			set(w, w->r, register_at(w, op->set));
		return;
	}
	if (!inc->is_known[dst])
		set(w, w->r,
		    sum(w, r, constant(w, 0 - in_units(w, inc->offset[dst]))));
}

static void write_enter(struct writer *w, const struct placed *p)
{
	const struct increments *inc = &w->m.fn->paths->inc;
	block_id head = p->turns->local.head;
	uint64_t offset = inc->offset[head];
	LLVMValueRef r;

	if (inc->is_known[head])
		r = register_at(w, offset);
	else
		r = sum(w, get(w, w->r), constant(w, in_units(w, offset)));
	set(w, w->r, LLVMBuildSub(w->m.builder, r, base_of(w, p->turns), ""));
	if (p->op)
		set(w, w->q, turn_at(w, p->turns, p->op->value));
	if (p->turns->is_held) /* the first turn may begin at the head, too */
		set(w, w->held,
		    constant(w,
		             dag_is_ended(&w->m.fn->paths->paths.dag, p->edge)
		                     ? HELD_MAX
		                     : 1));
}

static void write_step(struct writer *w, const struct placed *p)
{
	if (p->op->kind == INCREMENT_SET)
		set(w, w->q, turn_at(w, p->turns, p->op->value));
	else
		set(w, w->q,
		    sum(w, get(w, w->q), constant(w, 8 * p->op->value)));
}

static void write_deed(struct writer *w, const struct placed *p)
{
	LLVMPositionBuilderBefore(w->m.builder, p->at);
	w->before = before_deed(w->m.fn, p);
	w->m.behind = behind_deed(w->m.fn, p);
	switch (p->what) {
	case DO_OPERATION:
		write_operation(w, p->op, p->at);
		break;
	case DO_ENTER:
		write_enter(w, p);
		break;
	case DO_STEP:
		write_step(w, p);
		break;
	case DO_TURN:
		if (p->turns->is_held)
			write_held(w, p);
		else
			write_turn(w, p);
		break;
	case DO_EXIT:
		write_exit(w, p);
		break;
	}
	LLVMInstructionEraseFromParent(p->at);
}

/* --- sites --------------------------------------------------------------- */

/* Gives every site its number, and the register where it needs it. */
static void write_sites(struct writer *w)
{
	struct function *fn = w->m.fn;
	bool in_memory = shim_is_not_optimized(fn->f);

	for (uint32_t i = 0; i < fn->nsites; i++) {
		struct site *site = &fn->sites[i];
		LLVMValueRef value = NULL;

		if (site->pending == CAIRN_PENDING_REGISTER) {
			LLVMPositionBuilderBefore(w->m.builder, site->call);
			value = in_memory ? w->r : get(w, w->r);
		}
		site->call = shim_add_site(site->call, i, value);
	}
}

/* Where the register has turned out to be a constant the map has it. */
static void note_constants(struct writer *w)
{
	struct function *fn = w->m.fn;

	for (uint32_t i = 0; i < fn->nsites; i++) {
		struct site *site = &fn->sites[i];
		uint64_t r;

		if (site->pending != CAIRN_PENDING_REGISTER ||
		    !shim_site_constant(site->call, fn->counters, &r))
			continue;
		site->value += w->is_direct ? r / 8 : r - 1;
		site->pending = CAIRN_PENDING_KNOWN;
		site->call = shim_add_site(site->call, i, NULL);
	}
}

static LLVMValueRef make_register(struct writer *w)
{
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(w->m.fn->f);

	LLVMPositionBuilderBefore(w->m.builder, LLVMGetFirstInstruction(entry));
	return LLVMBuildAlloca(w->m.builder, w->m.i64, "cairn.path");
}

void mark_paths(struct function *fn, const struct mode *mode)
{
	struct writer w = {.is_direct = fn->paths->how == CAIRN_PATHS_DIRECT};

	marker_init(&w.m, fn, mode);
	fn->counters = marker_declare_counters(&w.m, fn->ncounters);
	w.r = make_register(&w);
	w.q = make_register(&w);
	w.held = make_register(&w);
	w.delta = marker_prologue(&w.m);
	if (w.m.by_segment || shim_has_builtin_setjmp(fn->f))
		w.delta = NULL;
	place_all(&w);
	add_path_probes(&w);
	write_sites(&w);
	for (size_t i = 0; i < w.nplaced; i++)
		write_deed(&w, &w.placed[i]);
	if (!shim_is_not_optimized(fn->f)) {
		shim_promote(w.r);
		note_constants(&w);
		shim_promote(w.q);
		shim_promote(w.held);
	} else {
		LLVMInstructionEraseFromParent(w.q);
		LLVMInstructionEraseFromParent(w.held);
	}
	shim_prepare_function(fn->f, !mode->strict);
	shim_pin(fn->f);
	LLVMDisposeBuilder(w.m.builder);
	free(w.placed);
}

/* --- the map ------------------------------------------------------------- */

void describe_paths(const struct function *fn, struct bytes *b)
{
	const struct paths *p = &fn->paths->paths;

	bytes_put_uv(b, fn->paths->how);
	bytes_put_uv(b, p->n);
	bytes_put_uv(b, p->ncuts);
	for (uint32_t i = 0; i < p->ncuts; i++)
		bytes_put_uv(b, p->cuts[i]);
	bytes_put_uv(b, fn->paths->how == CAIRN_PATHS_HASHED ? fn->paths->nturns
	                                                     : 0);
	for (uint32_t i = 0;
	     i < fn->paths->nturns && fn->paths->how == CAIRN_PATHS_HASHED; i++)
		bytes_put_uv(b, fn->paths->turns[i].local.head);
	for (uint32_t i = 0; i < fn->nsites; i++) {
		bytes_put_uv(b, fn->sites[i].pending);
		if (fn->sites[i].pending == CAIRN_PENDING_KNOWN)
			bytes_put_uv(b, fn->sites[i].value);
		else if (fn->sites[i].pending == CAIRN_PENDING_REGISTER)
			bytes_put_sv(b, (int64_t)fn->sites[i].value);
	}
}
