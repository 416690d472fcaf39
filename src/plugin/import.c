/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From LLVM's IR to our CFG.
 *
 * Nodes are the basic blocks that can be reached from the entry, in their
 * order; node 0 is the outside.  Parallel successors of one terminator (cases
 * of a switch with the same target) are one edge: one transfer of control from
 * block to block, as the 1994 paper has it.  Every edge learns where its mark
 * would go; some cannot carry one and have to be in the spanning tree.
 *
 * When does a block's flow leave?  A frame that dies in a call (exit, longjmp,
 * throw) is recorded by the runtime as a way out at that call, a *site*.
 * Calls behind which nothing follows need no site: at a tail call, at a call
 * that cannot return, the marks of the way out stand before the call, and the
 * flow is complete when it starts.  That also keeps tail calls tail calls.
 *
 * Invariant: on every path through the code, the marks of an edge stand after
 * the last site of its source and before the first site of its target.
 */
#include "plugin/function.h"

#include "base/alloc.h"
#include "base/ptrmap.h"
#include "ir/flow.h"
#include "ir/sites.h"
#include "plugin/shim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- nodes --------------------------------------------------------------- */

static block_id add_node(struct function *fn, LLVMBasicBlockRef block)
{
	block_id b = fn->g.nblocks++;

	VEC_RESERVE(fn->nodes, b, fn->nodes_cap);
	fn->nodes[b] = (struct node){.block = block, .nsegments = 1};
	return b;
}

/* The next part of the block that the last node is of. */
static block_id add_part(struct function *fn, LLVMValueRef first)
{
	block_id b = add_node(fn, fn->nodes[fn->g.nblocks - 1].block);

	fn->nodes[b].first = first;
	fn->nodes[b - 1].end = first;
	return b;
}

/*
 * Any call may not come back: what it calls may run into a fault, or a signal
 * handler jump out of it.  Before the optimizer a site costs what it can make
 * of the call; there the frames of calls that return by all that is known of
 * them are left to the probes.
 */
static bool needs_site(LLVMValueRef call, LLVMValueRef tail,
                       LLVMValueRef noreturn, const struct mode *mode)
{
	if (!shim_is_call(call) || call == tail || call == noreturn)
		return false;
	return mode->strict || !mode->source || !shim_always_returns(call);
}

static void add_site(struct function *fn, LLVMValueRef call, block_id b)
{
	VEC_RESERVE(fn->sites, fn->nsites, fn->sites_cap);
	fn->sites[fn->nsites++] = (struct site){
	        .call = call,
	        .block = b,
	        .segment = fn->nodes[b].nsegments - 1,
	};
}

/*
 * A call that is a node of its own, so that blocks have the same numbers in all
 * modes, but where the whole module is counted strictly, edge by edge: one that
 * may come back twice, and each of a function that is strict, since calls may
 * leave it and nobody would know.  With calls= those where paths end are, too.
 * A path is counted before it and the next one begins with it, where the
 * register is known, also at the second return.
 */
static bool is_node(LLVMValueRef call, const struct mode *mode)
{
	if (mode->source)
		return false;
	if (mode->strict)
		return mode->apart;
	return shim_returns_twice(call) ||
	       (mode->sites && ptrmap_get(mode->sites, call) != PTRMAP_NONE);
}

static block_id import_call_node(struct function *fn, LLVMValueRef call,
                                 const struct mode *mode)
{
	block_id b = add_part(fn, call);

	fn->nodes[b].is_call = true;
	fn->nodes[b].has_call = true;
	if (mode->strict || mode->is_shared)
		fn->nodes[b].last_call = call;
	else
		add_site(fn, call, b);
	if (!LLVMIsATerminatorInst(call))
		b = add_part(fn, LLVMGetNextInstruction(call));
	return b;
}

/*
 * A call in a trace: a history ends before it, and the next begins behind it.
 * An invoke, and a call that may come back twice, is a node of its own, so that
 * the next one begins before it is known how it comes back.
 */
static block_id import_traced_call(struct function *fn, LLVMValueRef call,
                                   block_id b)
{
	bool is_last = LLVMIsATerminatorInst(call);

	fn->nodes[b].has_call = true;
	if (ir_is_part(call)) {
		b = add_part(fn, call);
		fn->nodes[b].flags |= CAIRN_BLOCK_PART;
		fn->nodes[b].is_call = true;
		fn->nodes[b].has_call = true;
	} else {
		fn->nodes[b].last_call = call;
	}
	add_site(fn, call, b);
	if (!is_last) {
		b = add_part(fn, LLVMGetNextInstruction(call));
		fn->nodes[b].flags |= CAIRN_BLOCK_PART;
	}
	return b;
}

static const struct shared_call *find_shared(const struct mode *mode,
                                             LLVMValueRef call)
{
	for (uint32_t i = 0; i < mode->nshared; i++)
		if (mode->shared[i].call == call)
			return &mode->shared[i];
	return NULL;
}

/* A call of a shared copy is a node of its own. */
static block_id import_shared_call(struct function *fn,
                                   const struct shared_call *call)
{
	block_id b = add_part(fn, call->call);

	fn->nodes[b].is_shared = true;
	fn->nodes[b].has_call = true;
	VEC_RESERVE(fn->shared, fn->nshared, fn->shared_cap);
	fn->shared[fn->nshared++] = (struct shared_use){
	        .call = call->call,
	        .body = call->body,
	        .at = b,
	        .site = fn->nsites,
	};
	add_site(fn, call->call, b);
	return add_part(fn, LLVMGetNextInstruction(call->call));
}

/* Nodes and sites of one block.  Returns its last node. */
static block_id import_block(struct function *fn, LLVMBasicBlockRef block,
                             const struct mode *mode)
{
	block_id b = add_node(fn, block);
	LLVMValueRef tail = ir_tail_call(block);
	LLVMValueRef last = ir_last_call(block);
	LLVMValueRef noreturn = ir_final_call(block);
	LLVMValueRef i = LLVMGetFirstInstruction(block);
	const struct shared_call *shared;

	for (; i; i = LLVMGetNextInstruction(i)) {
		if (LLVMIsALandingPadInst(i))
			fn->nodes[b].flags |= CAIRN_BLOCK_LANDING_PAD;
		if (mode->trace) {
			if (ir_ends_part(i, tail, noreturn) &&
			    (mode->record || !shim_calls_nothing(i)))
				b = import_traced_call(fn, i, b);
			continue;
		}
		if (shim_is_call(i) && i != tail && i != noreturn)
			fn->nodes[b].has_call = true;
		shared = find_shared(mode, i);
		if (shared) {
			b = import_shared_call(fn, shared);
			continue;
		}
		if (!needs_site(i, tail, noreturn, mode))
			continue;
		if (is_node(i, mode)) {
			b = import_call_node(fn, i, mode);
			continue;
		}
		if (mode->is_shared)
			continue;
		if (!mode->strict) {
			add_site(fn, i, b);
			if (!LLVMIsATerminatorInst(i) && i != last)
				fn->nodes[b].nsegments++;
			continue;
		}
		fn->nodes[b].last_call = i;
		if (!LLVMIsATerminatorInst(i))
			b = add_part(fn, LLVMGetNextInstruction(i));
	}
	if (last)
		fn->nodes[b].flags |= CAIRN_BLOCK_TAIL;
	return b;
}

/* --- edges --------------------------------------------------------------- */

static struct edge_info *add_edge(struct function *fn, block_id src,
                                  block_id dst, enum cairn_edge_kind kind,
                                  enum edge_where where)
{
	edge_id e = cfg_add_edge(&fn->g, src, dst);

	VEC_RESERVE(fn->edges, e, fn->edges_cap);
	fn->edges[e] = (struct edge_info){.kind = kind, .where = where};
	return &fn->edges[e];
}

static enum cairn_edge_kind kind_of(LLVMValueRef end, unsigned k)
{
	switch (LLVMGetInstructionOpcode(end)) {
	case LLVMBr:
		if (LLVMGetNumSuccessors(end) == 1)
			return CAIRN_EDGE_JUMP;
		return k == 0 ? CAIRN_EDGE_TRUE : CAIRN_EDGE_FALSE;
	case LLVMSwitch:
		return k == 0 ? CAIRN_EDGE_DEFAULT : CAIRN_EDGE_CASE;
	case LLVMIndirectBr:
		return CAIRN_EDGE_INDIRECT;
	case LLVMInvoke:
		return k == 0 ? CAIRN_EDGE_NORMAL : CAIRN_EDGE_UNWIND;
	default:
		return CAIRN_EDGE_JUMP;
	}
}

static enum cairn_edge_kind exit_kind_of(LLVMValueRef end)
{
	switch (LLVMGetInstructionOpcode(end)) {
	case LLVMRet:
		return CAIRN_EDGE_RETURN;
	case LLVMResume:
		return CAIRN_EDGE_RESUME;
	default:
		return CAIRN_EDGE_NORETURN;
	}
}

/* One edge per distinct successor; `to_node` names first parts of blocks. */
static void import_successors(struct function *fn, block_id src,
                              const struct ptrmap *to_node, struct shim *s)
{
	LLVMBasicBlockRef block = fn->nodes[src].block;
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
	unsigned n = LLVMGetNumSuccessors(end);
	struct ptrmap seen = {0}; /* target -> edge */

	if (n == 0) {
		struct edge_info *e = add_edge(fn, src, CFG_OUTSIDE,
		                               exit_kind_of(end), AT_END);

		e->frequency = shim_edge_frequency(s, block, 0);
		return;
	}
	if (ir_was_goto(end))
		fn->nodes[src].flags |= CAIRN_BLOCK_GOTO;
	for (unsigned k = 0; k < n; k++) {
		LLVMBasicBlockRef to = LLVMGetSuccessor(end, k);
		edge_id known = ptrmap_get(&seen, to);
		struct edge_info *e;

		if (known != PTRMAP_NONE) {
			fn->edges[known].frequency +=
			        shim_edge_frequency(s, block, k);
			continue;
		}
		ptrmap_set(&seen, to, fn->g.nedges);
		e = add_edge(fn, src, ptrmap_get(to_node, to), kind_of(end, k),
		             AT_SPLIT);
		e->successor = k;
		e->frequency = shim_edge_frequency(s, block, k);
	}
	ptrmap_release(&seen);
}

/* What an edge calls in a trace, if it does. */
static void note_call(struct edge_info *e, LLVMValueRef call,
                      const struct mode *mode)
{
	LLVMValueRef callee;

	if (!call)
		return;
	e->is_call = true;
	if (mode->record) /* who replays it says what is called */
		return;
	callee = LLVMGetCalledValue(call);
	if (!LLVMIsAFunction(callee) || LLVMIsDeclaration(callee))
		return;
	e->is_maybe = shim_is_thunk(callee);
	if (e->is_maybe ||
	    (!trace_is_announced(callee) && !trace_why_not(callee)))
		e->callee = callee;
}

static void import_parts(struct function *fn, block_id first, block_id last,
                         const struct mode *mode, struct shim *s)
{
	struct edge_info *e;
	uint64_t frequency =
	        shim_edge_frequency(s, fn->nodes[first].block, UINT32_MAX);

	for (block_id b = first; b <= last; b++) {
		if (fn->nodes[b].last_call && !mode->trace)
			add_edge(fn, b, CFG_OUTSIDE, CAIRN_EDGE_ABNORMAL,
			         AT_NOWHERE);
		if (b == last)
			return;
		if (fn->nodes[b].is_shared)
			continue; /* to the copy: import_copy */
		if (fn->nodes[b + 1].is_shared)
			e = add_edge(fn, b, b + 1, CAIRN_EDGE_FALL, AT_CALL);
		else if (fn->nodes[b + 1].is_call)
			e = add_edge(fn, b, b + 1,
			             mode->sites ? CAIRN_EDGE_SITE
			                         : CAIRN_EDGE_CALL,
			             AT_CALL);
		else if (mode->trace && fn->nodes[b].last_call)
			e = add_edge(fn, b, b + 1, CAIRN_EDGE_FALL, AT_BEFORE);
		else
			e = add_edge(fn, b, b + 1, CAIRN_EDGE_FALL,
			             fn->nodes[b].is_call ? AT_TOP : AT_FALL);
		e->frequency = frequency;
		if (mode->trace)
			note_call(e,
			          fn->nodes[b + 1].is_call
			                  ? fn->nodes[b + 1].first
			                  : fn->nodes[b].last_call,
			          mode);
	}
}

/* The node that a block of a shared copy is, seen from one of its calls. */
static block_id copy_of(const struct shared_use *use, block_id b)
{
	return use->first + b - 1;
}

/* The graph of a shared copy becomes a part of the caller's. */
static void import_copy(struct function *fn, struct shared_use *use,
                        struct shim *s)
{
	const struct function *body = &use->body->fn;
	uint64_t here =
	        shim_edge_frequency(s, fn->nodes[use->at].block, UINT32_MAX);
	uint64_t once = body->edges[0].frequency;

	use->first = fn->g.nblocks;
	use->edge = fn->g.nedges;
	for (block_id b = 1; b < body->g.nblocks; b++) {
		block_id copy = add_node(fn, body->nodes[b].block);

		fn->nodes[copy] = body->nodes[b];
		fn->nodes[copy].has_call = true;
		fn->nodes[copy].is_elsewhere = true;
	}
	for (edge_id e = 0; e < body->g.nedges; e++) {
		const struct cfg_edge *x = &body->g.edges[e];
		enum cairn_edge_kind kind = body->edges[e].kind;
		block_id src = x->src ? copy_of(use, x->src) : use->at;
		block_id dst = x->dst ? copy_of(use, x->dst) : CFG_OUTSIDE;
		struct edge_info *info;

		if (kind == CAIRN_EDGE_RETURN)
			dst = use->at + 1;
		if (kind == CAIRN_EDGE_RETURN || kind == CAIRN_EDGE_ENTRY)
			kind = CAIRN_EDGE_JUMP;
		info = add_edge(fn, src, dst, kind, AT_SHARED);
		info->frequency = (uint64_t)((double)here / (double)(once | 1) *
		                             (double)body->edges[e].frequency);
	}
}

/* Where the mark of each edge would go, once the whole graph is known. */
static void choose_places(struct function *fn)
{
	const struct cfg *g = &fn->g;

	for (edge_id e = 0; e < g->nedges; e++) {
		struct edge_info *info = &fn->edges[e];
		block_id src = g->edges[e].src, dst = g->edges[e].dst;
		uint32_t nout = g->out_at[src + 1] - g->out_at[src];
		uint32_t nin = g->in_at[dst + 1] - g->in_at[dst];

		if (info->kind == CAIRN_EDGE_INDIRECT)
			fn->nodes[dst].flags |= CAIRN_BLOCK_INDIRECT;
		if (info->where != AT_SPLIT)
			continue;
		if (nin == 1)
			info->where = AT_TOP;
		else if (nout == 1)
			info->where = AT_END;
		else if (info->kind == CAIRN_EDGE_INDIRECT)
			info->where = AT_COMPARE;
		else if (info->kind == CAIRN_EDGE_UNWIND)
			info->where = AT_PAD;
	}
}

/* Marks the nodes that some path from the entry reaches through a call. */
static void find_behind_calls(struct function *fn)
{
	const struct cfg *g = &fn->g;
	block_id *stack = xcalloc(g->nblocks, sizeof(*stack));
	uint32_t depth = 0;

	for (block_id b = 1; b < g->nblocks; b++)
		if (fn->nodes[b].has_call)
			stack[depth++] = b;
	while (depth) {
		block_id b = stack[--depth];

		for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++) {
			block_id to = g->edges[g->out[i]].dst;

			if (to == CFG_OUTSIDE || fn->nodes[to].is_behind_call)
				continue;
			fn->nodes[to].is_behind_call = true;
			if (!fn->nodes[to].has_call)
				stack[depth++] = to;
		}
	}
	free(stack);
}

/* A call that the code generator makes of something else (memcpy) may run into
 * a fault: its caller's frame has to be there. */
static void keep_under_intrinsics(LLVMValueRef f)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
	     b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
		     i = LLVMGetNextInstruction(i))
			if (LLVMIsAIntrinsicInst(i) && LLVMIsACallInst(i))
				LLVMSetTailCall(i, false);
}

void function_prepare(LLVMValueRef f, struct shim *s)
{
	shim_after_allocas(f); /* or what a part begins with might move yet */
	keep_under_intrinsics(f);
	if (ir_own_returns(f))
		shim_forget(s, f);
	shim_prepare(s, f);
}

void function_import(struct function *fn, LLVMValueRef f,
                     const struct mode *mode, struct shim *s)
{
	unsigned n = LLVMCountBasicBlocks(f);
	struct ptrmap reachable = {0}, to_node = {0};
	block_id *last = xcalloc(n + 1, sizeof(*last));
	block_id *first = xcalloc(n + 1, sizeof(*first));
	uint32_t nblocks = 0;

	*fn = (struct function){.f = f};
	cfg_init(&fn->g, 1);
	VEC_RESERVE(fn->nodes, 0, fn->nodes_cap);
	fn->nodes[CFG_OUTSIDE] = (struct node){0};
	ir_reach(f, &reachable);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
	     b = LLVMGetNextBasicBlock(b)) {
		if (ptrmap_get(&reachable, b) == PTRMAP_NONE)
			continue;
		first[nblocks] = fn->g.nblocks;
		ptrmap_set(&to_node, b, fn->g.nblocks);
		last[nblocks++] = import_block(fn, b, mode);
	}
	add_edge(fn, CFG_OUTSIDE, 1, CAIRN_EDGE_ENTRY, AT_ENTRY)->frequency =
	        shim_edge_frequency(s, fn->nodes[1].block, UINT32_MAX);
	for (uint32_t i = 0; i < nblocks; i++) {
		import_parts(fn, first[i], last[i], mode, s);
		import_successors(fn, last[i], &to_node, s);
	}
	for (uint32_t i = 0; i < fn->nshared; i++)
		import_copy(fn, &fn->shared[i], s);
	cfg_link(&fn->g);
	choose_places(fn);
	find_behind_calls(fn);
	if (!mode->strict && !mode->all && !mode->source && !mode->slow &&
	    !mode->paths && !mode->trace && !shim_is_not_optimized(f))
		trips_find(fn);
	ptrmap_release(&reachable);
	ptrmap_release(&to_node);
	free(first);
	free(last);
}

void function_release(struct function *fn)
{
	cfg_release(&fn->g);
	trips_release(fn);
	paths_release_of(fn);
	trace_release_of(fn);
	free(fn->bases);
	free(fn->nodes);
	free(fn->edges);
	free(fn->sites);
	free(fn->shared);
	*fn = (struct function){0};
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
	return h * 0xff51afd7ed558ccdu;
}

uint64_t function_hash(const struct function *fn)
{
	uint64_t h = mix(0, fn->g.nblocks);

	for (edge_id e = 0; e < fn->g.nedges; e++) {
		h = mix(h, fn->g.edges[e].src);
		h = mix(h, fn->g.edges[e].dst);
		h = mix(h, fn->edges[e].kind);
	}
	return h;
}
