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
 * added when the loop is left and every HELD_MAX turns, in functions with few
 * paths, too: an increment of memory in a short loop waits for the one before
 * it (bzip2 compressing: 1.28 times the plain run, 1.37 without holding).
 *
 *     back   dec  %held;  je other
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
 * A frame that dies in a call leaves its register for the runtime to find: it
 * is a value of the site's "deopt" bundle, which costs no instruction if the
 * register stays in one that calls preserve.
 *
 * Invariant: operations at one place run in the order of the edges: what
 * belongs to the edge into a node before what belongs to the edges out of it.
 */
#include "plugin/marker.h"
#include "plugin/path.h"

#include "abi/rt.h"
#include "base/alloc.h"
#include "plugin/shim.h"

#include <stdlib.h>

#define HELD_MAX 65536

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
	const struct increment *op;      /* may be NULL */
	const struct increment *slot_op; /* the same for the slots' register */
	struct turns *turns;
	edge_id edge;
};

struct writer {
	struct marker m;
	LLVMValueRef r, q;   /* the registers, in memory */
	LLVMValueRef s;      /* the third register: 8 times the slot */
	LLVMValueRef held;   /* of the loop that it is in: turns until then */
	LLVMValueRef owner;  /* per slot: 1 + the number of its path */
	LLVMValueRef tested; /* per path, a byte */
	LLVMValueRef delta;  /* or NULL: to be loaded where it is needed */
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

static const struct increment *slot_op_of(const struct function *fn, edge_id e)
{
	return fn->paths->has_slots ? fn->paths->slot_op[e] : NULL;
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
	} else if (fn->paths->op[e] || slot_op_of(fn, e)) {
		deed[n++] = (struct placed){
		        .what = DO_OPERATION,
		        .op = fn->paths->op[e],
		        .slot_op = slot_op_of(fn, e),
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

/* The operation on slots at the same place in a block. */
static const struct increment *twin_of(const struct function *fn,
                                       const struct increment *op)
{
	const struct increments *inc = &fn->paths->slot_inc;

	for (uint32_t i = 0; fn->paths->has_slots && i < inc->n; i++)
		if (inc->ops[i].place == op->place &&
		    inc->ops[i].where == op->where)
			return &inc->ops[i];
	return NULL;
}

/* Is it an operation that only slots have there? */
static bool is_lone_twin(const struct function *fn, const struct increment *op)
{
	const struct increments *inc = &fn->paths->inc;

	for (uint32_t i = 0; i < inc->n; i++)
		if (inc->ops[i].place == op->place &&
		    inc->ops[i].where == op->where)
			return false;
	return true;
}

static void place_at_block(struct writer *w, struct placed what,
                           enum increment_place place, block_id b)
{
	const struct node *node = &w->m.fn->nodes[b];

	what.edge = CFG_NONE;
	place_before(w,
	             place == INCREMENT_AT_HEAD ? marker_top_of(node)
	                                        : marker_end_of(node->block),
	             what);
}

/* Operations in blocks, for computed gotos. */
static void place_at_blocks(struct writer *w, enum increment_place place)
{
	const struct function *fn = w->m.fn;
	const struct increments *inc = &fn->paths->inc;

	for (uint32_t i = 0; i < inc->n; i++)
		if (inc->ops[i].place == place)
			place_at_block(
			        w,
			        (struct placed){
			                .op = &inc->ops[i],
			                .slot_op = twin_of(fn, &inc->ops[i]),
			        },
			        place, inc->ops[i].where);
	inc = &fn->paths->slot_inc;
	for (uint32_t i = 0; fn->paths->has_slots && i < inc->n; i++)
		if (inc->ops[i].place == place &&
		    is_lone_twin(fn, &inc->ops[i]))
			place_at_block(w,
			               (struct placed){.slot_op = &inc->ops[i]},
			               place, inc->ops[i].where);
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
		if (fn->nodes[b].first && b > 1 && fn->nodes[b - 1].end)
			continue; /* a part: there is one for the whole */
		marker_add_probe(marker_top_of(&fn->nodes[b]), probe_of(fn, b));
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
	if (w->m.probes)
		marker_add_probe(shim_insertion_point(block), what);
}

/* --- code ---------------------------------------------------------------- */

static LLVMValueRef constant(struct writer *w, uint64_t v)
{
	return LLVMConstInt(w->m.i64, v, false);
}

/* The address of byte `at` of a global. */
static LLVMValueRef address_in(struct writer *w, LLVMValueRef global,
                               uint64_t at)
{
	LLVMValueRef offset = constant(w, at);

	return LLVMConstPtrToInt(
	        LLVMConstGEP2(LLVMInt8TypeInContext(w->m.context), global,
	                      &offset, 1),
	        w->m.i64);
}

/* The address of byte `at` of the counters, before the delta. */
static LLVMValueRef symbol(struct writer *w, uint64_t at)
{
	return address_in(w, w->m.fn->counters, at);
}

/* A table that never changes. */
static LLVMValueRef add_table(struct writer *w, const char *name,
                              LLVMTypeRef type, LLVMValueRef *values,
                              uint64_t n)
{
	LLVMValueRef table =
	        LLVMAddGlobal(w->m.module, LLVMArrayType2(type, n), name);

	LLVMSetInitializer(table, LLVMConstArray2(type, values, n));
	LLVMSetGlobalConstant(table, true);
	LLVMSetLinkage(table, LLVMPrivateLinkage);
	LLVMSetUnnamedAddress(table, LLVMGlobalUnnamedAddr);
	return table;
}

static LLVMValueRef add_bytes(struct writer *w, const char *name,
                              const uint8_t *bytes, uint64_t n)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(w->m.context);
	LLVMValueRef *values = xcalloc(n, sizeof(LLVMValueRef)), table;

	for (uint64_t i = 0; i < n; i++)
		values[i] = LLVMConstInt(i8, bytes[i], false);
	table = add_table(w, name, i8, values, n);
	free(values);
	return table;
}

/* A sum, or a part of one, as it is in the register. */
static uint64_t in_units(const struct writer *w, uint64_t v)
{
	return w->is_direct ? 8 * v : v;
}

/* The register when the sum so far is v. */
static LLVMValueRef register_at(struct writer *w, uint64_t v)
{
	if (w->is_direct)
		return symbol(w, 8 * v);
	if (w->tested)
		return address_in(w, w->tested, v);
	return constant(w, 1 + v);
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

static uint64_t slot_of(const struct prefer *f, uint64_t number)
{
	uint32_t i = 0;

	while (f->number[i] != number)
		i++;
	return f->slot[i];
}

/* Counts, before `place`, a path that is not preferred, or not tested; `number`
 * is 1 + its number. */
static void count_other(struct writer *w, LLVMValueRef number,
                        LLVMValueRef place)
{
	const struct function_paths *p = w->m.fn->paths;

	if (p->how == CAIRN_PATHS_RESIDUAL || p->others)
		count_hashed(w, number, place);
	else
		count_at(w, symbol(w, 8 * ((uint64_t)p->slots_first +
		                           p->slots_size)));
}

static LLVMValueRef owner_table(struct writer *w)
{
	const struct function_paths *p = w->m.fn->paths;
	uint64_t *number = xcalloc(p->slots_size, sizeof(*number));
	LLVMValueRef *values = xcalloc(p->slots_size, sizeof(LLVMValueRef));
	LLVMValueRef table;

	for (uint32_t i = 0; i < p->prefer.n; i++)
		number[p->prefer.slot[i]] = 1 + p->prefer.number[i];
	for (uint32_t i = 0; i < p->slots_size; i++)
		values[i] = constant(w, number[i]);
	table = add_table(w, "cairn.owner", w->m.i64, values, p->slots_size);
	free(number);
	free(values);
	return table;
}

/* Is slot s that of path r?  Then it is counted, or nothing is to be done. */
static void count_preferred(struct writer *w, LLVMValueRef r, LLVMValueRef s,
                            LLVMValueRef place)
{
	const struct function_paths *p = w->m.fn->paths;
	LLVMBuilderRef b = w->m.builder;
	struct fork f = fork_before(w, place);
	LLVMValueRef at, owner, test, end;

	at = LLVMBuildAnd(b, s, constant(w, 8 * ((uint64_t)p->slots_size - 1)),
	                  "");
	owner = LLVMBuildIntToPtr(b, sum(w, at, address_in(w, w->owner, 0)),
	                          w->m.ptr, "");
	owner = marker_ours(LLVMBuildLoad2(b, w->m.i64, owner, "cairn.owner"));
	test = LLVMBuildICmp(b, LLVMIntNE, owner, r, "");
	shim_set_unlikely(LLVMBuildCondBr(b, test, f.rare, f.common));

	LLVMPositionBuilderAtEnd(b, f.common);
	if (p->how == CAIRN_PATHS_PREFERRED)
		count_at(w,
		         sum(w, at, symbol(w, 8 * (uint64_t)p->slots_first)));
	LLVMBuildBr(b, f.rest);
	add_probe_to(w, f.common, w->before);

	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	count_other(w, r, end);
	add_probe_to(w, f.rare, CAIRN_PROBE_UNKNOWN);
	add_probe_to(w, f.rest, w->m.behind);
	LLVMPositionBuilderBefore(b, place);
}

/* Is the byte at r that of a tested path? */
static void count_untested(struct writer *w, LLVMValueRef r, LLVMValueRef place)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(w->m.context);
	LLVMBuilderRef b = w->m.builder;
	struct fork f = fork_before(w, place);
	LLVMValueRef byte, test, number, end;

	byte = marker_ours(LLVMBuildLoad2(
	        b, i8, LLVMBuildIntToPtr(b, r, w->m.ptr, ""), "cairn.tested"));
	test = LLVMBuildICmp(b, LLVMIntEQ, byte, LLVMConstInt(i8, 0, false),
	                     "");
	shim_set_unlikely(LLVMBuildCondBr(b, test, f.rare, f.common));
	LLVMPositionBuilderAtEnd(b, f.common);
	LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	number = LLVMBuildSub(b, r, address_in(w, w->tested, 0), "");
	count_other(w, sum(w, number, constant(w, 1)), end);
	LLVMPositionBuilderBefore(b, place);
}

static void count_path(struct writer *w, LLVMValueRef r, LLVMValueRef s,
                       LLVMValueRef place)
{
	if (w->is_direct)
		count_at(w, r);
	else if (w->tested)
		count_untested(w, r, place);
	else if (w->m.fn->paths->has_slots)
		count_preferred(w, r, s, place);
	else
		count_hashed(w, r, place);
}

/* A path that is known here. */
static void count_known(struct writer *w, uint64_t number, LLVMValueRef place)
{
	const struct function_paths *p = w->m.fn->paths;

	if (!p->has_slots && !p->tested)
		count_path(w, register_at(w, number), NULL, place);
	else if (!is_tested(p, number))
		count_other(w, constant(w, 1 + number), place);
	else if (p->how == CAIRN_PATHS_PREFERRED)
		count_at(w, symbol(w, 8 * (p->slots_first +
		                           slot_of(&p->prefer, number))));
}

/* The slots' register with what an operation adds, if it does. */
static LLVMValueRef slot_with(struct writer *w, const struct increment *op)
{
	if (!w->m.fn->paths->has_slots)
		return NULL;
	if (op && op->kind == INCREMENT_SET)
		return constant(w, 8 * op->value);
	return sum(w, get(w, w->s), constant(w, op ? 8 * op->value : 0));
}

static void write_slot_operation(struct writer *w, const struct increment *op)
{
	if (op->kind == INCREMENT_SET || op->kind == INCREMENT_ADD)
		set(w, w->s, slot_with(w, op));
	if (op->then_set)
		set(w, w->s, constant(w, 8 * op->set));
}

static void write_operation(struct writer *w, const struct placed *p)
{
	const struct increment *op = p->op;
	LLVMValueRef by = constant(w, op ? in_units(w, op->value) : 0);

	if (op && op->kind == INCREMENT_SET)
		set(w, w->r, register_at(w, op->value));
	else if (op && op->kind == INCREMENT_ADD)
		set(w, w->r, sum(w, get(w, w->r), by));
	else if (op && op->kind == INCREMENT_COUNT)
		count_path(w, sum(w, get(w, w->r), by),
		           slot_with(w, p->slot_op), p->at);
	else if (op)
		count_known(w, op->value, p->at);
	if (op && op->then_set)
		set(w, w->r, register_at(w, op->set));
	if (p->slot_op)
		write_slot_operation(w, p->slot_op);
}

/* --- turns --------------------------------------------------------------- */

/* The second register when the turn so far is v: the address of its counter,
 * or of the byte that says whether it is tested. */
static LLVMValueRef turn_at(struct writer *w, struct turns *t, uint64_t v)
{
	if (!t->tested)
		return symbol(w, 8 * (v + t->first));
	if (!t->tested_table)
		t->tested_table = add_bytes(w, "cairn.tested", t->tested,
		                            t->local.paths.n);
	return address_in(w, t->tested_table, v);
}

static uint64_t turn_units(const struct turns *t, uint64_t v)
{
	return t->tested ? v : 8 * v;
}

/* The first register when a path has begun at the loop's head, had it not been
 * made 0. */
static LLVMValueRef base_of(struct writer *w, const struct turns *t)
{
	const struct paths *p = &w->m.fn->paths->paths;

	return register_at(w, p->value[p->dag.begin_of[t->local.head]]);
}

/* The third register then. */
static LLVMValueRef slot_base_of(struct writer *w, const struct turns *t)
{
	const struct function_paths *p = w->m.fn->paths;
	uint32_t begin = p->paths.dag.begin_of[t->local.head];

	return constant(w, 8 * (uint64_t)p->prefer.value[begin]);
}

static LLVMValueRef gain_table(struct writer *w, const uint64_t *gain,
                               uint64_t n, uint64_t unit, LLVMValueRef *table)
{
	LLVMValueRef *values;

	if (*table)
		return *table;
	values = xcalloc(n, sizeof(LLVMValueRef));
	for (uint64_t i = 0; i < n; i++)
		values[i] = constant(w, unit * gain[i]);
	*table = add_table(w, "cairn.turns", w->m.i64, values, n);
	free(values);
	return *table;
}

/* The turn that ends here, as the address of its counter. */
static LLVMValueRef turn_of(struct writer *w, const struct placed *p)
{
	if (p->op->kind == INCREMENT_COUNT_AT)
		return turn_at(w, p->turns, p->op->value);
	return sum(w, get(w, w->q),
	           constant(w, turn_units(p->turns, p->op->value)));
}

/* What the turn that ends here adds to a register. */
static LLVMValueRef gain_of(struct writer *w, const struct placed *p,
                            const uint64_t *gain, uint64_t unit,
                            LLVMValueRef *table)
{
	LLVMBuilderRef b = w->m.builder;
	struct turns *t = p->turns;
	LLVMValueRef at;

	if (p->op->kind == INCREMENT_COUNT_AT)
		return constant(w, unit * gain[p->op->value]);
	at = LLVMBuildSub(b, turn_of(w, p), turn_at(w, t, 0), "");
	if (t->tested)
		at = LLVMBuildShl(b, at, constant(w, 3), "");
	gain_table(w, gain, t->local.paths.n, unit, table);
	at = sum(w, at, address_in(w, *table, 0));
	at = LLVMBuildIntToPtr(b, at, w->m.ptr, "");
	return marker_ours(LLVMBuildLoad2(b, w->m.i64, at, "cairn.gain"));
}

/* The first register with what the turn that ends here adds. */
static LLVMValueRef gained(struct writer *w, const struct placed *p)
{
	LLVMValueRef r = sum(w, get(w, w->r), base_of(w, p->turns));

	return sum(w, r,
	           gain_of(w, p, p->turns->local.sum, in_units(w, 1),
	                   &p->turns->table));
}

/* The third one; NULL if there is none. */
static LLVMValueRef slot_gained(struct writer *w, const struct placed *p)
{
	if (!w->m.fn->paths->has_slots)
		return NULL;
	return sum(w, get(w, w->s),
	           gain_of(w, p, p->turns->slot_sum, 8, &p->turns->slot_table));
}

/* A path that came from outside has ended: the next begins at the head. */
static void begin_at_head(struct writer *w, const struct turns *t)
{
	set(w, w->r, constant(w, 0));
	if (w->m.fn->paths->has_slots)
		set(w, w->s, slot_base_of(w, t));
}

static LLVMValueRef began_outside(struct writer *w)
{
	return LLVMBuildICmp(w->m.builder, LLVMIntNE, get(w, w->r),
	                     constant(w, 0), "");
}

/* Adds n to the counter of the turn that is held. */
static void count_held(struct writer *w, struct turns *t, LLVMValueRef n)
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
	count_path(w, gained(w, p), slot_gained(w, p), test);
	begin_at_head(w, p->turns);
	LLVMPositionBuilderBefore(b, end);
	set(w, w->held, constant(w, HELD_MAX));
	add_probe_to(w, f.rare, CAIRN_PROBE_UNKNOWN);
	add_probe_to(w, g.rare, CAIRN_PROBE_UNKNOWN);
	add_probe_to(w, g.common, CAIRN_PROBE_UNKNOWN);
	add_probe_to(w, f.rest, w->m.behind);
	LLVMPositionBuilderBefore(b, p->at);
}

static bool are_all_tested(const struct turns *t)
{
	for (uint64_t i = 0; i < t->local.paths.n; i++)
		if (!t->tested[i])
			return false;
	return true;
}

/* Residual: a turn from the head. */
static void count_untested_turn(struct writer *w, const struct placed *p,
                                LLVMValueRef place)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(w->m.context);
	LLVMBuilderRef b = w->m.builder;
	struct turns *t = p->turns;
	LLVMValueRef byte, test, number, end;
	struct fork f;

	if (are_all_tested(t) ||
	    (p->op->kind == INCREMENT_COUNT_AT && t->tested[p->op->value]))
		return;
	f = fork_before(w, place);
	byte = marker_ours(LLVMBuildLoad2(
	        b, i8, LLVMBuildIntToPtr(b, turn_of(w, p), w->m.ptr, ""), ""));
	test = LLVMBuildICmp(b, LLVMIntEQ, byte, LLVMConstInt(i8, 0, false),
	                     "");
	shim_set_unlikely(LLVMBuildCondBr(b, test, f.rare, f.common));
	LLVMPositionBuilderAtEnd(b, f.common);
	LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	number = gained(w, p); /* the first register is 0 */
	if (w->tested)
		number = sum(w,
		             LLVMBuildSub(b, number,
		                          address_in(w, w->tested, 0), ""),
		             constant(w, 1));
	count_other(w, number, end);
	LLVMPositionBuilderBefore(b, place);
}

/* To the head: a turn from there, or a path that came from outside. */
static void write_turn(struct writer *w, const struct placed *p)
{
	LLVMBuilderRef b = w->m.builder;
	struct fork f = fork_before(w, p->at);
	LLVMValueRef end;

	shim_set_unlikely(
	        LLVMBuildCondBr(b, began_outside(w), f.rare, f.common));
	LLVMPositionBuilderAtEnd(b, f.common);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	if (p->turns->tested)
		count_untested_turn(w, p, end);
	else
		count_at(w, turn_of(w, p));
	add_probe_to(w, f.common, w->before);

	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	count_path(w, gained(w, p), slot_gained(w, p), end);
	begin_at_head(w, p->turns);
	add_probe_to(w, f.rare, w->before);
	add_probe_to(w, f.rest, w->m.behind);
	LLVMPositionBuilderBefore(b, p->at);
}

/* What is held: HELD_MAX at most; nothing in the first turn. */
static void release_held(struct writer *w, struct turns *t)
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
	LLVMValueRef r, s;

	if (p->turns->is_held) {
		w->before = 2 * fn->g.nblocks + p->edge;
		w->m.before = w->m.behind = w->before;
		release_held(w, p->turns);
		w->m.behind = behind_deed(fn, p);
	}
	r = gained(w, p);
	s = slot_gained(w, p);
	if (op &&
	    (op->kind == INCREMENT_COUNT || op->kind == INCREMENT_COUNT_AT)) {
		count_path(w, r, s, p->at);
		if (op->then_set)
			set(w, w->r, register_at(w, op->set));
		if (s && op->then_set)
			set(w, w->s,
			    constant(w, 8 * fn->paths->slot_op[p->edge]->set));
		return;
	}
	if (inc->is_known[dst])
		return;
	set(w, w->r, sum(w, r, constant(w, 0 - in_units(w, inc->offset[dst]))));
	if (s)
		set(w, w->s,
		    sum(w, s,
		        constant(w, 0 - 8 * fn->paths->slot_inc.offset[dst])));
}

/* In a loop the third register is the sum itself. */
static void enter_slots(struct writer *w, block_id head)
{
	const struct increments *inc = &w->m.fn->paths->slot_inc;
	LLVMValueRef offset = constant(w, 8 * inc->offset[head]);

	set(w, w->s,
	    inc->is_known[head] ? offset : sum(w, get(w, w->s), offset));
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
	if (w->m.fn->paths->has_slots)
		enter_slots(w, head);
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
		    sum(w, get(w, w->q),
		        constant(w, turn_units(p->turns, p->op->value))));
}

static void write_deed(struct writer *w, const struct placed *p)
{
	LLVMPositionBuilderBefore(w->m.builder, p->at);
	w->before = before_deed(w->m.fn, p);
	w->m.before =
	        w->before == CAIRN_PROBE_UNKNOWN ? SHIM_NOTHING : w->before;
	w->m.behind = behind_deed(w->m.fn, p);
	switch (p->what) {
	case DO_OPERATION:
		write_operation(w, p);
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
	w.s = make_register(&w);
	w.held = make_register(&w);
	if (fn->paths->has_slots)
		w.owner = owner_table(&w);
	if (fn->paths->tested)
		w.tested = add_bytes(&w, "cairn.tested", fn->paths->tested,
		                     fn->paths->paths.n);
	marker_keep_last_calls(fn);
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
		shim_promote(w.s);
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
