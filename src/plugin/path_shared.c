/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One copy of a function that many calls share.
 *
 * K. Vaswani, "Efficient online path profiling", thesis, 2007, section 3.4.5:
 * where inlining would grow the code too much, the callee is inlined for the
 * analysis alone, once for each context, a call in a root; its code is there
 * once.  In the thesis the copy has a register for each of its contexts, and
 * keeps all of them.  Here it has one, that of the context that called it, and
 * every context has a table of what to do on each edge:
 *
 *     word 0       address of the root's counters, 0: r is an address
 *     word 1       residual: address of a byte for each path, or 0
 *     per edge:    mask, add, set, counts
 *
 *     r = (r & mask) + add;  if counts: count r, r = set
 *
 * So the cost does not grow with the contexts, and whatever graph/increments.h
 * places on an edge in one of them fits in: the numbers are those of the root's
 * graph with the copy inlined.  Where all contexts agree, the code has the
 * constant, and where none has anything to do, there is no code.
 *
 * The register is handed over in a variable of the root's frame.  A path ends
 * before a call that the copy makes, so that a frame that dies in one leaves
 * nothing unfinished; the way out of it follows from the flow, as in strict
 * functions.  Whether the copy is in such a call is in that variable, too,
 * which the site of the root's call has: if a frame dies elsewhere in the copy,
 * the reader says that its path is not known.
 *
 * Invariant: on each edge of the copy, in each context, r is after the code
 * what it would be after the operation if the copy was inlined. Cost: per edge
 * with an operation 1 to 3 loads more than inlined; 32 bytes of constants per
 * edge and context.
 */
#include "plugin/path_writer.h"

#include "abi/rt.h"
#include "base/alloc.h"
#include "ir/flow.h"
#include "plugin/path.h"
#include "plugin/shim.h"

#include <assert.h>
#include <stdlib.h>

enum { WORD_COUNTERS, WORD_TESTED, WORD_EDGES };
/* What the root hands over, in its frame: the first word is in a site. */
enum { STATE_BUSY, STATE_PATH, STATE_WORDS };
enum { EDGE_MASK, EDGE_ADD, EDGE_SET, EDGE_COUNTS, EDGE_WORDS };

static LLVMValueRef state_word(struct path_writer *w, LLVMValueRef state,
                               unsigned word)
{
	LLVMValueRef at = pw_constant(w, 8 * word);

	return LLVMBuildGEP2(w->m.builder, LLVMInt8TypeInContext(w->m.context),
	                     state, &at, 1, "");
}

/* --- the root ------------------------------------------------------------ */

/* What an edge does in a context: EDGE_WORDS constants. */
static void find_words(struct path_writer *w, const struct increment *op,
                       LLVMValueRef *words)
{
	bool is_known = op && (op->kind == INCREMENT_SET ||
	                       op->kind == INCREMENT_COUNT_AT);
	bool counts = op && (op->kind == INCREMENT_COUNT ||
	                     op->kind == INCREMENT_COUNT_AT);

	words[EDGE_MASK] = pw_constant(w, is_known ? 0 : UINT64_MAX);
	words[EDGE_ADD] = is_known ? pw_register_at(w, op->value)
	                  : op     ? pw_constant(w, pw_in_units(w, op->value))
	                           : pw_constant(w, 0);
	words[EDGE_SET] = op && op->then_set ? pw_register_at(w, op->set)
	                                     : pw_constant(w, 0);
	words[EDGE_COUNTS] = pw_constant(w, counts);
}

/* Constants are equal if they are the same. */
static void note_words(struct shared_edge *x, LLVMValueRef *words,
                       bool is_first)
{
	bool sets = LLVMConstIntGetZExtValue(words[EDGE_MASK]) == 0;
	bool counts = LLVMConstIntGetZExtValue(words[EDGE_COUNTS]) != 0;

	x->sets |= sets;
	x->keeps |= !sets;
	x->counts |= counts;
	x->passes |= !counts;
	if (is_first || x->add != words[EDGE_ADD])
		x->add = is_first ? words[EDGE_ADD] : NULL;
	if (is_first || x->set != words[EDGE_SET])
		x->set = is_first ? words[EDGE_SET] : NULL;
}

static void note_context(const struct path_writer *w, struct shared_body *body)
{
	body->ncontexts++;
	body->has_direct |= w->is_direct;
	body->has_table |= !w->is_direct;
	body->has_tested |= w->tested != NULL;
}

/* The table of a context. */
static LLVMValueRef make_context(struct path_writer *w,
                                 const struct shared_use *use)
{
	const struct function_paths *p = w->m.fn->paths;
	struct shared_body *body = use->body;
	uint32_t nedges = body->fn.g.nedges;
	size_t n = WORD_EDGES + (size_t)EDGE_WORDS * nedges;
	LLVMValueRef *words = xcalloc(n, sizeof(LLVMValueRef)), table;

	if (!body->edges)
		body->edges = xcalloc(nedges, sizeof(*body->edges));
	words[WORD_COUNTERS] =
	        w->is_direct ? pw_constant(w, 0) : pw_symbol(w, 0);
	words[WORD_TESTED] =
	        w->tested ? pw_address_in(w, w->tested, 0) : pw_constant(w, 0);
	for (edge_id e = 0; e < nedges; e++) {
		LLVMValueRef *at = &words[WORD_EDGES + EDGE_WORDS * e];

		find_words(w, p->is_tested ? NULL : p->op[use->edge + e], at);
		note_words(&body->edges[e], at, !body->ncontexts);
	}
	note_context(w, body);
	table = pw_add_table(w, "cairn.context", w->m.i64, words, n);
	free(words);
	return table;
}

/* Operations are on edges, since a shared copy has no computed gotos. */
static void check_places(const struct function *fn)
{
	const struct increments *inc = &fn->paths->inc;

	for (uint32_t i = 0; i < inc->n; i++)
		assert(inc->ops[i].place == INCREMENT_ON_EDGE ||
		       !fn->nodes[inc->ops[i].where].is_elsewhere);
}

void path_shared_call(struct path_writer *w)
{
	const struct function *fn = w->m.fn;
	LLVMBuilderRef b = w->m.builder;

	if (!fn->nshared)
		return;
	check_places(fn);
	LLVMPositionBuilderBefore(
	        b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn->f)));
	w->busy = LLVMBuildAlloca(b, LLVMArrayType2(w->m.i64, STATE_WORDS),
	                          "cairn.state");
	for (uint32_t i = 0; i < fn->nshared; i++) {
		LLVMValueRef call = fn->shared[i].call;

		shim_hand_over(call, w->busy, make_context(w, &fn->shared[i]));
		LLVMPositionBuilderBefore(b, call);
		pw_set(w, w->busy, pw_constant(w, 1));
		pw_set(w, state_word(w, w->busy, STATE_PATH), pw_get(w, w->r));
		LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(call));
		pw_set(w, w->r, pw_get(w, state_word(w, w->busy, STATE_PATH)));
	}
}

/* --- the copy ------------------------------------------------------------ */

struct copy_writer {
	struct path_writer w;
	struct shared_body *body;
	LLVMValueRef state, table; /* its arguments */
};

static LLVMValueRef load_word(struct copy_writer *c, size_t word)
{
	LLVMValueRef at = pw_constant(&c->w, 8 * word);
	LLVMBuilderRef b = c->w.m.builder;

	at = LLVMBuildGEP2(b, LLVMInt8TypeInContext(c->w.m.context), c->table,
	                   &at, 1, "");
	return marker_ours(LLVMBuildLoad2(b, c->w.m.i64, at, "cairn.context"));
}

static LLVMValueRef load_edge(struct copy_writer *c, edge_id e, unsigned word)
{
	return load_word(c, WORD_EDGES + (size_t)EDGE_WORDS * e + word);
}

static LLVMValueRef is_zero(struct copy_writer *c, LLVMValueRef v)
{
	return LLVMBuildICmp(c->w.m.builder, LLVMIntEQ, v,
	                     pw_constant(&c->w, 0), "");
}

/*
 * Two ways to `place`: returns the end of that which is taken if the test
 * holds, and *other is the end of the other one.  The builder is before the
 * first.
 */
static LLVMValueRef fork_if(struct copy_writer *c, LLVMValueRef test,
                            LLVMValueRef place, LLVMValueRef *other)
{
	LLVMBuilderRef b = c->w.m.builder;
	struct path_fork f = pw_fork_before(&c->w, place);
	LLVMValueRef end;

	LLVMBuildCondBr(b, test, f.rare, f.common);
	LLVMPositionBuilderAtEnd(b, f.common);
	*other = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderAtEnd(b, f.rare);
	end = LLVMBuildBr(b, f.rest);
	LLVMPositionBuilderBefore(b, end);
	return end;
}

/* In the root's counters, or in its table. */
static void count_somewhere(struct copy_writer *c, LLVMValueRef r,
                            LLVMValueRef place)
{
	LLVMValueRef end, other;

	c->w.base = load_word(c, WORD_COUNTERS);
	if (!c->body->has_table) {
		path_count_at(&c->w, r);
	} else if (!c->body->has_direct) {
		path_count_in_table(&c->w, r, place);
	} else {
		end = fork_if(c, is_zero(c, c->w.base), place, &other);
		path_count_at(&c->w, r);
		(void)end;
		LLVMPositionBuilderBefore(c->w.m.builder, other);
		path_count_in_table(&c->w, r, other);
	}
	LLVMPositionBuilderBefore(c->w.m.builder, place);
}

/* ... unless the path is tested. */
static void count_path(struct copy_writer *c, LLVMValueRef r,
                       LLVMValueRef place)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(c->w.m.context);
	LLVMBuilderRef b = c->w.m.builder;
	LLVMValueRef tested, has_none, at, byte, end, other;

	if (!c->body->has_tested) {
		count_somewhere(c, r, place);
		return;
	}
	/* without a table of bytes some other byte is read, and not heeded */
	tested = load_word(c, WORD_TESTED);
	has_none = is_zero(c, tested);
	at = LLVMBuildSub(b, pw_sum(&c->w, tested, r), pw_constant(&c->w, 1),
	                  "");
	at = LLVMBuildSelect(b, has_none,
	                     LLVMBuildPtrToInt(b, c->table, c->w.m.i64, ""), at,
	                     "");
	byte = marker_ours(
	        LLVMBuildLoad2(b, i8, LLVMBuildIntToPtr(b, at, c->w.m.ptr, ""),
	                       "cairn.tested"));
	byte = LLVMBuildICmp(b, LLVMIntEQ, byte, LLVMConstInt(i8, 0, false),
	                     "");
	end = fork_if(c, LLVMBuildOr(b, byte, has_none, ""), place, &other);
	count_somewhere(c, r, end);
	LLVMPositionBuilderBefore(b, place);
}

/* The register behind (r & mask) + add. */
static LLVMValueRef write_sum(struct copy_writer *c, edge_id e)
{
	const struct shared_edge *x = &c->body->edges[e];
	LLVMValueRef add = x->add ? x->add : load_edge(c, e, EDGE_ADD);
	LLVMValueRef r;

	if (!x->keeps)
		return add;
	r = pw_get(&c->w, c->w.r);
	if (x->sets)
		r = LLVMBuildAnd(c->w.m.builder, r, load_edge(c, e, EDGE_MASK),
		                 "");
	return pw_sum(&c->w, r, add);
}

static void write_edge(struct copy_writer *c, edge_id e, LLVMValueRef place)
{
	const struct shared_edge *x = &c->body->edges[e];
	LLVMBuilderRef b = c->w.m.builder;
	LLVMValueRef r, set, counts, end, other;

	LLVMPositionBuilderBefore(b, place);
	r = write_sum(c, e);
	if (x->counts) {
		set = x->set ? x->set : load_edge(c, e, EDGE_SET);
		if (!x->passes) {
			count_path(c, r, place);
			r = set;
		} else {
			counts = is_zero(c, load_edge(c, e, EDGE_COUNTS));
			set = LLVMBuildSelect(b, counts, r, set, "");
			fork_if(c, counts, place, &other);
			end = other;
			LLVMPositionBuilderBefore(b, end);
			count_path(c, r, end);
			LLVMPositionBuilderBefore(b, place);
			r = set;
		}
	}
	pw_set(&c->w, c->w.r, r);
}

/* Has it nothing to do in any context? */
static bool is_idle(const struct shared_edge *x)
{
	return !x->sets && !x->counts && x->add && LLVMIsNull(x->add);
}

static bool is_at_top(const struct function *fn, edge_id e)
{
	enum edge_where where = fn->edges[e].where;

	return where == AT_ENTRY || where == AT_TOP || where == AT_FALL;
}

/* What belongs to edges into a block stands before what belongs to those out of
 * it. */
static void place_edges(struct copy_writer *c, bool at_top,
                        LLVMValueRef *places)
{
	const struct function *fn = &c->body->fn;

	for (edge_id e = 0; e < fn->g.nedges; e++) {
		if (is_at_top(fn, e) != at_top || is_idle(&c->body->edges[e]))
			continue;
		places[e] = shim_place(marker_place_of_edge(&c->w.m, e));
	}
}

static void return_register(struct copy_writer *c)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(c->body->fn.f); b;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		if (!LLVMIsAReturnInst(end))
			continue;
		LLVMPositionBuilderBefore(c->w.m.builder, end);
		pw_set(&c->w, state_word(&c->w, c->state, STATE_PATH),
		       pw_get(&c->w, c->w.r));
	}
}

static void set_busy(struct copy_writer *c, LLVMValueRef before, bool is_busy)
{
	LLVMPositionBuilderBefore(c->w.m.builder, before);
	pw_set(&c->w, c->state, pw_constant(&c->w, is_busy));
}

/* Nothing is unfinished in a call that ends a path, or the program. */
static void note_calls(struct copy_writer *c)
{
	const struct function *fn = &c->body->fn;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn->f); b;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef last = ir_final_call(b);

		if (last)
			set_busy(c, last, false);
	}
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		const struct node *node = &fn->nodes[b];

		if (!node->is_call)
			continue;
		set_busy(c, node->last_call, false);
		set_busy(c, LLVMGetNextInstruction(node->last_call), true);
	}
}

static void begin(struct copy_writer *c, const struct mode *mode)
{
	struct function *fn = &c->body->fn;
	unsigned n = LLVMCountParams(fn->f);
	LLVMBuilderRef b;

	marker_init(&c->w.m, fn, mode);
	c->w.m.probes = false;
	b = c->w.m.builder;
	c->state = LLVMGetParam(fn->f, n - 2);
	c->table = LLVMGetParam(fn->f, n - 1);
	LLVMPositionBuilderBefore(
	        b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn->f)));
	c->w.r = LLVMBuildAlloca(b, c->w.m.i64, "cairn.path");
	marker_keep_last_calls(&c->w.m);
	c->w.delta = marker_prologue(&c->w.m);
	if (c->w.m.by_segment)
		c->w.delta = NULL;
	LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(c->w.r));
	pw_set(&c->w, c->w.r,
	       pw_get(&c->w, state_word(&c->w, c->state, STATE_PATH)));
}

void mark_shared(struct shared_body *body, const struct mode *mode)
{
	struct copy_writer c = {.body = body};
	uint32_t nedges = body->fn.g.nedges;
	LLVMValueRef *places = xcalloc(nedges, sizeof(LLVMValueRef));

	begin(&c, mode);
	place_edges(&c, true, places);
	place_edges(&c, false, places);
	for (edge_id e = 0; e < nedges; e++) {
		if (!places[e])
			continue;
		write_edge(&c, e, places[e]);
		LLVMInstructionEraseFromParent(places[e]);
	}
	return_register(&c);
	note_calls(&c);
	if (!shim_is_not_optimized(body->fn.f))
		shim_promote(c.w.r);
	shim_see_through(body->fn.f);
	shim_pin(body->fn.f);
	LLVMDisposeBuilder(c.w.m.builder);
	free(places);
}
