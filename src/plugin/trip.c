/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trip counts: loops that count themselves.
 *
 * A loop `for (i = a; i != b; i++)` knows from its induction variable how often
 * its back edge was taken; a counter on it would count the same thing again,
 * and wait for its own last store at every turn.  For innermost loops without
 * calls whose latch compares such a variable with a bound, the counter of the
 * back edge becomes one addition when the loop is left.
 *
 * A run that is killed must not lose more than TRIP_CHUNK iterations, so the
 * distance to the bound is looked at before the loop; the rare long one goes
 * to a copy of it that counts every turn:
 *
 *     if (b - i > CHUNK)  for (; i != b; i++) { ...; counter++ }
 *     else                for (; i != b; i++) { ... }  counter += i - start
 *
 * (Tried before: one loop that stops at the end of each chunk.  Loop strength
 * reduction then rewrites it, for three instructions more per turn.)
 *
 * A *closed* loop, compared by `!=` and left in no other way, takes its back
 * edge distance / step times.  That number is made before the loop by rotating
 * the distance, so that one that the step does not divide is long, too.
 *
 * Invariant: the short loop takes its back edge at most TRIP_CHUNK times, and
 * i - start is the number of times times the step.  For `!=` that needs a
 * distance that is a multiple of the step, for orderings the first test has to
 * hold.
 * An *open* loop, `while (*p++ != x)`, has no bound to look at beforehand.  If
 * it is tight, its variable counts all the same, and every turn compares it
 * with a limit in the frame, TRIP_CHUNK turns ahead:
 *
 *     before:      limit = p + CHUNK
 *     every turn:  if (p == limit) { counter += CHUNK; limit += CHUNK; }
 *     ways out:    counter += p - limit + CHUNK
 *
 * Two instructions that are fused instead of one, but nothing waits for memory:
 * an increment of memory takes five cycles from turn to turn, and bzip2's
 * search in the move-to-front list two without (bzip2 -9: 1.14 times the plain
 * time because of that loop alone).
 *
 * Breaks when: the loop is left in the middle (a fault, a handler that jumps).
 * Its blocks are marked CAIRN_BLOCK_HELD; a reader that finds a frame dead in
 * one says that its counts are not exact.  `strict` builds have no such loops.
 * Cost: about TRIP_COST instructions per entry of the loop, none per iteration.
 */
#include "plugin/function.h"

#include "base/alloc.h"
#include "base/ptrmap.h"
#include "graph/dfs.h"
#include "graph/loops.h"
#include "plugin/shim.h"

#include <stdlib.h>

#define TRIP_CHUNK 65536
#define TRIP_STEP_MAX 4096
#define TRIP_TIGHT 12 /* instructions of a turn */

/* --- recognition -----------------------------------------------------------
 */

struct finder {
	struct function *fn;
	struct dfs dfs;
	struct loops loops;
	bool *has_inner; /* per loop */
	block_id *first; /* per loop: its blocks that no inner loop has, */
	block_id *next;  /* per block: a list; CFG_OUTSIDE ends it */
	struct ptrmap node_of; /* LLVM's block -> ours */
};

static bool is_in_loop(const struct finder *x, uint32_t loop, LLVMValueRef v)
{
	block_id b;

	if (!LLVMIsAInstruction(v))
		return false;
	b = ptrmap_get(&x->node_of, LLVMGetInstructionParent(v));
	/* of an unreachable block claim nothing */
	return b == PTRMAP_NONE || loops_contains(&x->loops, loop, b);
}

static bool is_quiet(LLVMBasicBlockRef block)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
	     i = LLVMGetNextInstruction(i))
		if (!shim_is_quiet(i))
			return false;
	return true;
}

/* Of an innermost loop. */
static bool is_quiet_loop(const struct finder *x, uint32_t loop)
{
	for (block_id b = x->first[loop]; b; b = x->next[b])
		if (!is_quiet(x->fn->nodes[b].block))
			return false;
	return true;
}

/*
 * A computed goto goes to an address, whatever blocks are put on its edges and
 * whatever copies are made of its targets: no loop with one will do, nor one
 * that is entered or left by one.
 */
static bool has_computed_goto(const struct finder *x, uint32_t loop,
                              const struct trip *t)
{
	const struct cfg *g = &x->fn->g;

	if (x->fn->edges[t->enter].kind == CAIRN_EDGE_INDIRECT)
		return true;
	for (block_id b = x->first[loop]; b; b = x->next[b]) {
		if (x->fn->nodes[b].flags & CAIRN_BLOCK_INDIRECT ||
		    shim_has_address_taken(x->fn->nodes[b].block))
			return true;
		for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++)
			if (x->fn->edges[g->out[i]].kind == CAIRN_EDGE_INDIRECT)
				return true;
	}
	return false;
}

/* v = phi + constant step?  Then *phi and *step. */
static bool is_step_of(LLVMValueRef v, LLVMBasicBlockRef head,
                       LLVMBasicBlockRef latch, struct trip *t)
{
	LLVMValueRef phi, other;

	if (!LLVMIsABinaryOperator(v) || LLVMGetInstructionOpcode(v) != LLVMAdd)
		return false;
	phi = LLVMGetOperand(v, 0);
	other = LLVMGetOperand(v, 1);
	if (!LLVMIsAPHINode(phi) || !LLVMIsAConstantInt(other) ||
	    LLVMGetInstructionParent(phi) != head ||
	    LLVMCountIncoming(phi) != 2)
		return false;
	for (unsigned k = 0; k < 2; k++)
		if (LLVMGetIncomingBlock(phi, k) == latch &&
		    LLVMGetIncomingValue(phi, k) != v)
			return false;
	t->phi = phi;
	t->step = LLVMConstIntGetSExtValue(other);
	return true;
}

/* The step of a phi, if its value in the latch is one. */
static bool is_induction(LLVMValueRef phi, LLVMBasicBlockRef head,
                         LLVMBasicBlockRef latch, struct trip *t)
{
	if (!LLVMIsAPHINode(phi) || LLVMGetInstructionParent(phi) != head ||
	    LLVMCountIncoming(phi) != 2)
		return false;
	for (unsigned k = 0; k < 2; k++)
		if (LLVMGetIncomingBlock(phi, k) == latch)
			return is_step_of(LLVMGetIncomingValue(phi, k), head,
			                  latch, t) &&
			       t->phi == phi;
	return false;
}

/* The predicate under which the loop goes on, with the variable on the left. */
static LLVMIntPredicate going_on(LLVMValueRef cmp, bool swapped, bool inverted)
{
	LLVMIntPredicate p = LLVMGetICmpPredicate(cmp);

	static const LLVMIntPredicate swap[] = {
	        [LLVMIntUGT] = LLVMIntULT, [LLVMIntUGE] = LLVMIntULE,
	        [LLVMIntULT] = LLVMIntUGT, [LLVMIntULE] = LLVMIntUGE,
	        [LLVMIntSGT] = LLVMIntSLT, [LLVMIntSGE] = LLVMIntSLE,
	        [LLVMIntSLT] = LLVMIntSGT, [LLVMIntSLE] = LLVMIntSGE,
	        [LLVMIntEQ] = LLVMIntEQ,   [LLVMIntNE] = LLVMIntNE,
	};
	static const LLVMIntPredicate invert[] = {
	        [LLVMIntUGT] = LLVMIntULE, [LLVMIntUGE] = LLVMIntULT,
	        [LLVMIntULT] = LLVMIntUGE, [LLVMIntULE] = LLVMIntUGT,
	        [LLVMIntSGT] = LLVMIntSLE, [LLVMIntSGE] = LLVMIntSLT,
	        [LLVMIntSLT] = LLVMIntSGE, [LLVMIntSLE] = LLVMIntSGT,
	        [LLVMIntEQ] = LLVMIntNE,   [LLVMIntNE] = LLVMIntEQ,
	};

	if (swapped)
		p = swap[p];
	return inverted ? invert[p] : p;
}

static bool is_countable(const struct trip *t)
{
	bool up = t->step > 0;

	if (t->step == 0 || t->step > TRIP_STEP_MAX || t->step < -TRIP_STEP_MAX)
		return false;
	switch (t->predicate) {
	case LLVMIntNE: /* a power of two, or is_long() would have to divide */
		return (t->step & -t->step) == (up ? t->step : -t->step);
	case LLVMIntULT:
	case LLVMIntSLT:
		return up;
	case LLVMIntUGT:
	case LLVMIntSGT:
		return !up;
	default:
		return false;
	}
}

/* Matches the latch's branch; fills in *t. */
static bool match_latch(const struct finder *x, uint32_t loop, struct trip *t)
{
	LLVMBasicBlockRef head = x->fn->nodes[t->head].block;
	LLVMBasicBlockRef latch = x->fn->nodes[t->latch].block;
	LLVMValueRef end = LLVMGetBasicBlockTerminator(latch);
	LLVMValueRef cmp;

	if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end))
		return false;
	cmp = LLVMGetCondition(end);
	if (!LLVMIsAICmpInst(cmp) ||
	    LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(cmp, 0))) !=
	            LLVMIntegerTypeKind)
		return false;
	t->goes_on_if_true = LLVMGetSuccessor(end, 0) == head;
	for (unsigned k = 0; k < 2; k++) {
		LLVMValueRef variable = LLVMGetOperand(cmp, k);
		LLVMValueRef bound = LLVMGetOperand(cmp, 1 - k);

		t->compare = cmp;
		t->bound_at = 1 - k;
		t->compares_phi = LLVMIsAPHINode(variable) != NULL;
		t->predicate = going_on(cmp, k == 1, !t->goes_on_if_true);
		if ((is_step_of(variable, head, latch, t) ||
		     is_induction(variable, head, latch, t)) &&
		    !is_in_loop(x, loop, bound) && is_countable(t)) {
			unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(bound));

			return width == 32 || width == 64;
		}
	}
	return false;
}

/* The one edge into the head from outside, and the one from inside. */
static bool find_edges(const struct finder *x, uint32_t loop, struct trip *t)
{
	const struct cfg *g = &x->fn->g;
	uint32_t nback = 0, nenter = 0;

	for (uint32_t i = g->in_at[t->head]; i < g->in_at[t->head + 1]; i++) {
		edge_id e = g->in[i];

		if (loops_contains(&x->loops, loop, g->edges[e].src)) {
			t->back = e;
			nback++;
		} else {
			t->enter = e;
			nenter++;
		}
	}
	t->latch = g->edges[t->back].src;
	return nback == 1 && nenter == 1 && t->enter != 0;
}

/* Notes blocks and ways out of an innermost loop. */
static void collect(const struct finder *x, uint32_t loop, struct trip *t)
{
	const struct cfg *g = &x->fn->g;

	for (block_id b = x->first[loop]; b; b = x->next[b]) {
		VEC_RESERVE(t->blocks, t->nblocks, t->blocks_cap);
		t->blocks[t->nblocks++] = b;
		for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++) {
			edge_id e = g->out[i];

			if (loops_contains(&x->loops, loop, g->edges[e].dst))
				continue;
			VEC_RESERVE(t->exits, t->nexits, t->exits_cap);
			t->exits[t->nexits++] = e;
		}
	}
}

/* Is a turn so short that it would wait for its own counter? */
static bool is_tight(const struct finder *x, uint32_t loop)
{
	unsigned n = 0;

	for (block_id b = x->first[loop]; b; b = x->next[b])
		for (LLVMValueRef i =
		             LLVMGetFirstInstruction(x->fn->nodes[b].block);
		     i; i = LLVMGetNextInstruction(i))
			n += !LLVMIsAPHINode(i) &&
			     !LLVMIsAGetElementPtrInst(i) &&
			     !LLVMIsADbgInfoIntrinsic(i);
	return n <= TRIP_TIGHT;
}

/* Any variable of a tight loop that steps by a constant will do. */
static bool match_open(const struct finder *x, uint32_t loop, struct trip *t)
{
	LLVMBasicBlockRef latch = x->fn->nodes[t->latch].block;
	LLVMValueRef phi = LLVMGetFirstInstruction(x->fn->nodes[t->head].block);

	if (!is_tight(x, loop))
		return false;
	for (; LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
		t->phi = phi;
		t->step = shim_step_of(phi, latch);
		t->is_open = true;
		if (t->step && t->step <= TRIP_STEP_MAX &&
		    t->step >= -TRIP_STEP_MAX)
			return true;
	}
	return false;
}

static void consider(struct finder *x, uint32_t loop)
{
	struct function *fn = x->fn;
	struct trip t = {.head = x->loops.loop[loop].head};

	if (x->loops.loop[loop].irreducible || x->has_inner[loop] ||
	    !find_edges(x, loop, &t) ||
	    (!match_latch(x, loop, &t) && !match_open(x, loop, &t)) ||
	    !is_quiet_loop(x, loop) || has_computed_goto(x, loop, &t))
		return;
	collect(x, loop, &t);
	t.is_closed = !t.is_open && t.predicate == LLVMIntNE && t.nexits == 1 &&
	              fn->g.edges[t.exits[0]].src == t.latch;
	fn->edges[t.back].where = AT_TRIP;
	fn->edges[t.back].trip = fn->ntrips;
	VEC_RESERVE(fn->trips, fn->ntrips, fn->trips_cap);
	fn->trips[fn->ntrips++] = t;
}

static void finder_init(struct finder *x, struct function *fn)
{
	*x = (struct finder){.fn = fn};
	dfs_init(&x->dfs, &fn->g);
	loops_init(&x->loops, &fn->g, &x->dfs);
	x->has_inner = xcalloc(x->loops.n, sizeof(*x->has_inner));
	x->first = xcalloc(x->loops.n, sizeof(*x->first));
	x->next = xcalloc(fn->g.nblocks, sizeof(*x->next));
	for (uint32_t i = 0; i < x->loops.n; i++)
		if (x->loops.loop[i].parent != CFG_NONE)
			x->has_inner[x->loops.loop[i].parent] = true;
	for (block_id b = fn->g.nblocks - 1; b > 0; b--) {
		uint32_t loop = x->loops.of[b];

		ptrmap_set(&x->node_of, fn->nodes[b].block, b);
		if (loop == CFG_NONE)
			continue;
		x->next[b] = x->first[loop];
		x->first[loop] = b;
	}
}

static void finder_release(struct finder *x)
{
	loops_release(&x->loops);
	dfs_release(&x->dfs);
	free(x->has_inner);
	free(x->first);
	free(x->next);
	ptrmap_release(&x->node_of);
}

void trips_find(struct function *fn)
{
	struct finder x;

	finder_init(&x, fn);
	for (uint32_t i = 0; i < x.loops.n; i++)
		consider(&x, i);
	finder_release(&x);
}

void trips_release(struct function *fn)
{
	for (uint32_t i = 0; i < fn->ntrips; i++) {
		free(fn->trips[i].exits);
		free(fn->trips[i].blocks);
	}
	free(fn->trips);
}

/* --- marks -----------------------------------------------------------------
 */

struct writer {
	struct function *fn;
	const struct trip *t;
	struct marker *m;
	LLVMBuilderRef b;
	LLVMTypeRef type; /* of the induction variable */
	LLVMBasicBlockRef head, latch;
	LLVMValueRef start; /* of the induction variable */
	LLVMValueRef bound; /* what it is compared with, if the loop has one */
	LLVMValueRef turns; /* of a closed loop, else NULL */
};

static LLVMValueRef constant(const struct writer *w, int64_t v)
{
	return LLVMConstInt(w->type, (uint64_t)v, true);
}

/*
 * May the variable step over the end of its type, and go round?  Only if the
 * bound is less than a step away from it.
 */
static LLVMValueRef may_wrap(const struct writer *w)
{
	const struct trip *t = w->t;
	unsigned width = LLVMGetIntTypeWidth(w->type);
	uint64_t ones = UINT64_MAX >> (64 - width), least = 0, greatest = ones;
	uint64_t reach = (uint64_t)(t->step > 0 ? t->step : -t->step) - 1;
	bool is_signed =
	        t->predicate == LLVMIntSLT || t->predicate == LLVMIntSGT;

	if (is_signed) {
		least = (ones >> 1) + 1;
		greatest = ones >> 1;
	}
	if (t->step > 0)
		return LLVMBuildICmp(
		        w->b, is_signed ? LLVMIntSGT : LLVMIntUGT, w->bound,
		        LLVMConstInt(w->type, greatest - reach, false), "");
	return LLVMBuildICmp(w->b, is_signed ? LLVMIntSLT : LLVMIntULT,
	                     w->bound,
	                     LLVMConstInt(w->type, least + reach, false), "");
}

/* Or does the variable step over its bound, and never meet it? */
static LLVMValueRef or_misses(const struct writer *w, LLVMValueRef test,
                              LLVMValueRef distance)
{
	int64_t step = w->t->step > 0 ? w->t->step : -w->t->step;
	LLVMValueRef rest;

	if (step == 1)
		return test;
	rest = LLVMBuildAnd(w->b, distance, constant(w, step - 1), "");
	rest = LLVMBuildICmp(w->b, LLVMIntNE, rest, constant(w, 0), "");
	return LLVMBuildOr(w->b, test, rest, "");
}

/* The first value that is compared with the bound. */
static LLVMValueRef first_of(const struct writer *w)
{
	if (w->t->compares_phi)
		return w->start;
	return LLVMBuildAdd(w->b, w->start, constant(w, w->t->step), "");
}

/* From there to the bound, in the direction of the loop. */
static LLVMValueRef distance_from(const struct writer *w, LLVMValueRef first)
{
	return w->t->step > 0 ? LLVMBuildSub(w->b, w->bound, first, "")
	                      : LLVMBuildSub(w->b, first, w->bound, "");
}

/* Of a closed loop: how often it will take its back edge, if not too often. */
static LLVMValueRef turns_of(const struct writer *w)
{
	unsigned width = LLVMGetIntTypeWidth(w->type);
	int64_t step = w->t->step > 0 ? w->t->step : -w->t->step;
	unsigned k = (unsigned)__builtin_ctzll((uint64_t)step);
	LLVMValueRef d =
	        LLVMBuildFreeze(w->b, distance_from(w, first_of(w)), "");

	if (!k)
		return d;
	return LLVMBuildOr(
	        w->b, LLVMBuildLShr(w->b, d, constant(w, k), ""),
	        LLVMBuildShl(w->b, d, constant(w, (int64_t)(width - k)), ""),
	        "cairn.turns");
}

/* Will the loop run for more than TRIP_CHUNK turns, or might it? */
static LLVMValueRef is_long(const struct writer *w)
{
	const struct trip *t = w->t;
	int64_t chunk = TRIP_CHUNK * (t->step > 0 ? t->step : -t->step);
	LLVMValueRef first, distance, test;

	if (w->turns)
		return LLVMBuildICmp(w->b, LLVMIntUGT, w->turns,
		                     constant(w, TRIP_CHUNK), "cairn.long");
	first = first_of(w);
	distance = distance_from(w, first);
	test = LLVMBuildICmp(w->b, LLVMIntUGT, distance, constant(w, chunk),
	                     "cairn.long");
	if (t->predicate == LLVMIntNE)
		test = or_misses(w, test, distance);
	else /* if it does not hold, the distance means nothing */
		test = LLVMBuildAnd(
		        w->b, test,
		        LLVMBuildICmp(w->b, t->predicate, first, w->bound, ""),
		        "");
	if (t->predicate != LLVMIntNE && t->step != 1 && t->step != -1)
		test = LLVMBuildOr(w->b, test, may_wrap(w), "");
	/* the loop might never have looked at the bound */
	return LLVMBuildFreeze(w->b, test, "");
}

/* How often the back edge was taken in this run of the loop. */
static LLVMValueRef taken(const struct writer *w)
{
	int64_t step = w->t->step;
	LLVMValueRef n = w->turns;

	if (!n)
		n = step > 0 ? LLVMBuildSub(w->b, w->t->phi, w->start, "")
		             : LLVMBuildSub(w->b, w->start, w->t->phi, "");
	if (!w->turns && step != 1 && step != -1)
		n = LLVMBuildUDiv(w->b, n, constant(w, step > 0 ? step : -step),
		                  "");
	return LLVMBuildZExtOrBitCast(
	        w->b, n, LLVMInt64TypeInContext(LLVMGetTypeContext(w->type)),
	        "");
}

static LLVMValueRef incoming_from(LLVMValueRef phi, LLVMBasicBlockRef block)
{
	for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
		if (LLVMGetIncomingBlock(phi, k) == block)
			return LLVMGetIncomingValue(phi, k);
	return NULL;
}

/* --- open loops --------------------------------------------------------------
 */

/* v + n steps of a chunk, v being the variable or like it. */
static LLVMValueRef chunk_from(const struct writer *w, LLVMValueRef v)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetTypeContext(w->type));
	int64_t distance = TRIP_CHUNK * w->t->step;
	LLVMValueRef offset = LLVMConstInt(i64, (uint64_t)distance, true);

	if (LLVMGetTypeKind(w->type) != LLVMPointerTypeKind)
		return LLVMBuildAdd(w->b, v, constant(w, distance), "");
	return LLVMBuildGEP2(w->b,
	                     LLVMInt8TypeInContext(LLVMGetTypeContext(w->type)),
	                     v, &offset, 1, "");
}

/* Turns since the limit was set: (phi - limit) / step + CHUNK. */
static LLVMValueRef taken_open(const struct writer *w, LLVMValueRef slot)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetTypeContext(w->type));
	LLVMValueRef phi = opaque(w->b, w->t->phi);
	LLVMValueRef limit = LLVMBuildLoad2(w->b, w->type, slot, "");
	LLVMValueRef n;

	shim_no_sanitize(limit);
	if (LLVMGetTypeKind(w->type) == LLVMPointerTypeKind) {
		phi = LLVMBuildPtrToInt(w->b, phi, i64, "");
		limit = LLVMBuildPtrToInt(w->b, limit, i64, "");
		n = LLVMBuildSub(w->b, phi, limit, "");
	} else {
		n = LLVMBuildSub(w->b, phi, limit, "");
		n = LLVMBuildSExtOrBitCast(w->b, n, i64, "");
	}
	if (w->t->step != 1)
		n = LLVMBuildExactSDiv(
		        w->b, n, LLVMConstInt(i64, (uint64_t)w->t->step, true),
		        "");
	return LLVMBuildAdd(w->b, n, LLVMConstInt(i64, TRIP_CHUNK, false), "");
}

/* A way out still holds the count of the loop, up to the addition. */
static void hold_until(struct writer *w, edge_id e, LLVMValueRef at)
{
	const struct node *dst = &w->fn->nodes[w->fn->g.edges[e].dst];
	bool is_top = LLVMGetInstructionParent(at) == dst->block;
	LLVMValueRef probe = is_top ? dst->probe : w->fn->edges[e].probe;

	if (probe) { /* what it said holds behind the addition */
		marker_set_behind(w->m, shim_probed(probe));
		shim_set_probed(probe, w->t->latch);
	} else {
		marker_set_behind(w->m, marker_behind_edge(w->fn, e));
		if (w->fn->nodes[w->t->head].probe)
			shim_add_probe(at, w->t->latch);
	}
}

/* Every way out of the loop adds up; an open loop has a slot for its limit. */
static void write_exits(struct writer *w, LLVMValueRef slot, uint32_t counter)
{
	const struct function *fn = w->fn;

	for (uint32_t i = 0; i < w->t->nexits; i++) {
		edge_id e = w->t->exits[i];
		LLVMBasicBlockRef from = fn->nodes[fn->g.edges[e].src].block;
		LLVMValueRef at = shim_edge_place(from, fn->edges[e].successor);

		hold_until(w, e, at);
		LLVMPositionBuilderBefore(w->b, at);
		marker_add(w->m, w->b, counter,
		           slot ? taken_open(w, slot) : taken(w));
	}
}

/*
 * At the end of a turn, before the latch decides: a full chunk is written down.
 * If the turn is the last one, a turn too many was; the way out, which compares
 * with the new limit, takes it back.
 */
static void write_turn(struct writer *w, LLVMValueRef slot, uint32_t counter)
{
	LLVMContextRef context = LLVMGetTypeContext(w->type);
	LLVMValueRef next = incoming_from(w->t->phi, w->latch);
	LLVMBasicBlockRef rest =
	        shim_split_before(LLVMGetBasicBlockTerminator(w->latch));
	LLVMBasicBlockRef full =
	        LLVMInsertBasicBlockInContext(context, rest, "cairn.full");
	LLVMValueRef limit, test;

	w->fn->nodes[w->t->latch].block = rest;
	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(w->latch));
	LLVMPositionBuilderAtEnd(w->b, w->latch);
	limit = LLVMBuildLoad2(w->b, w->type, slot, "cairn.limit");
	shim_no_sanitize(limit);
	test = LLVMBuildICmp(w->b, LLVMIntEQ, next, limit, "");
	shim_set_unlikely(LLVMBuildCondBr(w->b, test, full, rest));

	LLVMPositionBuilderAtEnd(w->b, full);
	marker_set_behind(w->m, w->t->latch);
	marker_add(w->m, w->b, counter,
	           LLVMConstInt(LLVMInt64TypeInContext(context), TRIP_CHUNK,
	                        false));
	shim_no_sanitize(
	        LLVMBuildStore(w->b, chunk_from(w, opaque(w->b, next)), slot));
	LLVMBuildBr(w->b, rest);
	if (w->fn->nodes[w->t->head].probe) {
		shim_add_probe(LLVMGetFirstInstruction(full), w->t->latch);
		shim_add_probe(LLVMGetFirstInstruction(rest), w->t->latch);
	}
}

static void mark_open(struct writer *w, uint32_t counter)
{
	LLVMValueRef slot;

	LLVMPositionBuilderBefore(
	        w->b,
	        LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(w->fn->f)));
	slot = LLVMBuildAlloca(w->b, w->type, "cairn.limit");
	LLVMPositionBuilderBefore(w->b,
	                          LLVMGetBasicBlockTerminator(w->t->before));
	shim_no_sanitize(LLVMBuildStore(w->b, chunk_from(w, w->start), slot));
	write_exits(w, slot, counter);
	write_turn(w, slot, counter);
}

/* --- both
 * --------------------------------------------------------------------- */

static void mark_bounded(struct writer *w, uint32_t counter)
{
	LLVMContextRef context = LLVMGetTypeContext(w->type);
	LLVMBasicBlockRef copied_before, copied_head, copied_latch;

	LLVMPositionBuilderBefore(w->b,
	                          LLVMGetBasicBlockTerminator(w->t->before));
	if (w->t->is_closed)
		w->turns = opaque(w->b, turns_of(w));
	shim_copy_loop(w->head, w->latch, is_long(w), &copied_before,
	               &copied_head, &copied_latch);
	LLVMPositionBuilderBefore(w->b,
	                          LLVMGetBasicBlockTerminator(w->t->before));
	if (!w->turns)
		w->start = opaque(w->b, w->start);
	write_exits(w, NULL, counter);
	LLVMPositionBuilderBefore(
	        w->b, LLVMGetBasicBlockTerminator(
	                      shim_split_edge(copied_latch, copied_head)));
	marker_set_behind(w->m, w->t->latch);
	marker_add_in_loop(
	        w->m, copied_before, w->b, counter,
	        LLVMConstInt(LLVMInt64TypeInContext(context), 1, false));
}

/*
 * A block of its own before the loop.  If the loop before it leads right here,
 * the copy of that one will, too.
 */
void trip_prepare(struct function *fn, edge_id back)
{
	struct trip *t = &fn->trips[fn->edges[back].trip];
	LLVMBasicBlockRef latch = fn->nodes[t->latch].block;
	LLVMBasicBlockRef p = LLVMGetIncomingBlock(t->phi, 0);

	if (p == latch)
		p = LLVMGetIncomingBlock(t->phi, 1);
	if (LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(p)) != 1)
		p = shim_split_edge(p, fn->nodes[t->head].block);
	t->before = p;
}

void trip_mark(struct function *fn, edge_id back, struct marker *m)
{
	const struct trip *t = &fn->trips[fn->edges[back].trip];
	struct writer w = {.fn = fn, .t = t, .m = m};
	uint32_t counter = fn->edges[back].counter - 1;

	w.head = fn->nodes[t->head].block;
	w.latch = fn->nodes[t->latch].block;
	w.type = LLVMTypeOf(t->phi);
	w.b = LLVMCreateBuilderInContext(LLVMGetTypeContext(w.type));
	w.start = incoming_from(t->phi, t->before);
	if (!t->is_open) /* marks on other loops may have replaced it */
		w.bound = LLVMGetOperand(t->compare, t->bound_at);
	if (t->is_open)
		mark_open(&w, counter);
	else
		mark_bounded(&w, counter);
	LLVMDisposeBuilder(w.b);
}
