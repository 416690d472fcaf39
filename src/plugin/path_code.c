/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks that count paths.
 *
 * T. Ball and J. Larus, "Efficient path profiling", MICRO-29, 1996: a register
 * sums values along the way, so that at its end it is the number of the path.
 * graph/ numbers the paths and says what to do where (increments.h); here that
 * becomes code.  All that is to be done, the deeds, is given a place first;
 * then one after the other is written:
 *
 *     path_code.c    places, probes, sites, and what the register does
 *     path_count.c   the count, where a path ends
 *     path_chain.c   the same, with the calls that led there
 *     path_turns.c   loops that count their turns
 *     path_shared.c  copies of functions that many calls share
 *     path_writer.c  what these are made of
 *
 * The register is a local variable that LLVM then turns into values; a function
 * that is not optimized keeps it on the stack.  If there are few paths it is
 * the address of a counter:
 *
 *     set    lea  counters+8*v(%rip), %r
 *     add    add  $8*v, %r
 *
 * A frame that dies in a call leaves its register for the runtime to find: it
 * is a value of the site's "deopt" bundle, which costs no instruction if the
 * register stays in one that calls preserve.
 *
 * Invariant: operations at one place run in the order of the edges: what
 * belongs to the edge into a node before what belongs to the edges out of it.
 * Cost: linear in blocks, edges and operations; in a function with slots and
 * computed gotos each operation in a block looks for its twin among all.
 */
#include "plugin/path_writer.h"

#include "abi/map.h"
#include "base/alloc.h"
#include "plugin/path.h"
#include "plugin/shim.h"

#include <stdlib.h>

/* --- where --------------------------------------------------------------- */

/* Behind what was placed there before: the top of a block, and what is next to
 * a call, would be that otherwise. */
static void place_before(struct path_writer *w, LLVMValueRef at,
                         struct path_deed what)
{
	VEC_RESERVE(w->placed, w->nplaced, w->placed_cap);
	while (shim_is_place(at))
		at = LLVMGetNextInstruction(at);
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

#define DEEDS 4

/* What belongs to an edge, in order; returns how many: at most DEEDS. */
static unsigned deeds_of(const struct function *fn, edge_id e,
                         struct path_deed *deed)
{
	const struct cfg_edge *edge = &fn->g.edges[e];
	struct turns *from = turns_of(fn, edge->src);
	struct turns *to = turns_of(fn, edge->dst);
	unsigned n = 0;
	uint32_t site;

	if (path_calls_is_back(fn, e, &site))
		deed[n++] = (struct path_deed){
		        .what = DO_BACK, .site = site, .edge = e};

	if (from) {
		deed[n] = (struct path_deed){
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
		deed[n++] = (struct path_deed){
		        .what = DO_OPERATION,
		        .op = fn->paths->op[e],
		        .slot_op = slot_op_of(fn, e),
		        .edge = e,
		};
	}
	if (to && from != to)
		deed[n++] = (struct path_deed){
		        .what = DO_ENTER,
		        .op = to->op[0],
		        .turns = to,
		        .edge = e,
		};
	return n;
}

/* Strict: the way out of a call that does not come back. */
static bool is_behind_call(const struct function *fn, edge_id e)
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
static void place_edges_of(struct path_writer *w, bool at_top)
{
	const struct function *fn = w->m.fn;
	struct path_deed deed[DEEDS];

	for (edge_id e = 0; e < fn->g.nedges; e++) {
		unsigned n = deeds_of(fn, e, deed);

		if (n == 0 || is_at_top(fn, e) != at_top ||
		    is_behind_call(fn, e) || fn->edges[e].where == AT_SHARED)
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

static void place_at_block(struct path_writer *w, struct path_deed what,
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
static void place_at_blocks(struct path_writer *w, enum increment_place place)
{
	const struct function *fn = w->m.fn;
	const struct increments *inc = &fn->paths->inc;

	for (uint32_t i = 0; i < inc->n; i++)
		if (inc->ops[i].place == place)
			place_at_block(
			        w,
			        (struct path_deed){
			                .op = &inc->ops[i],
			                .slot_op = twin_of(fn, &inc->ops[i]),
			        },
			        place, inc->ops[i].where);
	inc = &fn->paths->slot_inc;
	for (uint32_t i = 0; fn->paths->has_slots && i < inc->n; i++)
		if (inc->ops[i].place == place &&
		    is_lone_twin(fn, &inc->ops[i]))
			place_at_block(
			        w, (struct path_deed){.slot_op = &inc->ops[i]},
			        place, inc->ops[i].where);
}

static bool looks_at_calls(const struct function *fn)
{
	return fn->paths->calls && !fn->paths->calls->is_off;
}

static void place_all(struct path_writer *w)
{
	const struct function *fn = w->m.fn;

	for (edge_id e = 0; looks_at_calls(fn) && e < fn->g.nedges; e++)
		if (fn->edges[e].where == AT_ENTRY)
			place_before(w, marker_place_of_edge(&w->m, e),
			             (struct path_deed){.what = DO_BEGIN,
			                                .edge = e});
	path_calls_place(w, place_before);
	place_edges_of(w, true);
	place_at_blocks(w, INCREMENT_AT_HEAD);
	place_edges_of(w, false);
	place_at_blocks(w, INCREMENT_AT_END);
	for (edge_id e = 0; e < fn->g.nedges; e++) {
		struct path_deed deed[DEEDS];
		block_id b = fn->g.edges[e].src;

		if (!is_behind_call(fn, e) || !deeds_of(fn, e, deed))
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
static bool counts(const struct path_deed *p)
{
	return p->what == DO_TURN ||
	       (p->op && (p->op->kind == INCREMENT_COUNT ||
	                  p->op->kind == INCREMENT_COUNT_AT));
}

static bool leaves_held(const struct path_deed *p)
{
	return p->what == DO_EXIT && p->turns->nheld;
}

static uint32_t before_deed(const struct function *fn,
                            const struct path_deed *p)
{
	if (p->edge == CFG_NONE || leaves_held(p) ||
	    fn->g.edges[p->edge].dst == CFG_OUTSIDE)
		return CAIRN_PROBE_UNKNOWN;
	return 2 * fn->g.nblocks + p->edge;
}

static uint32_t behind_deed(const struct function *fn,
                            const struct path_deed *p)
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
	struct path_deed deed[DEEDS];
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

static void add_path_probes(struct path_writer *w)
{
	const struct function *fn = w->m.fn;

	for (block_id b = 1; w->m.probes && b < fn->g.nblocks; b++) {
		if (fn->nodes[b].first && b > 1 && fn->nodes[b - 1].end)
			continue; /* a part: there is one for the whole */
		if (fn->nodes[b].is_elsewhere)
			continue;
		marker_add_probe(marker_top_of(&fn->nodes[b]), probe_of(fn, b));
	}
	for (size_t i = 0; w->m.probes && i < w->nplaced; i++) {
		const struct path_deed *p = &w->placed[i];

		if (p->edge != CFG_NONE && fn->edges[p->edge].probe &&
		    leaves_held(p))
			shim_set_probed(fn->edges[p->edge].probe,
			                CAIRN_PROBE_UNKNOWN);
	}
}

/* --- code ---------------------------------------------------------------- */

/* The slots' register with what an operation adds, if it does. */
static LLVMValueRef slot_with(struct path_writer *w, const struct increment *op)
{
	if (!w->m.fn->paths->has_slots)
		return NULL;
	if (op && op->kind == INCREMENT_SET)
		return pw_constant(w, 8 * op->value);
	return pw_sum(w, pw_get(w, w->s),
	              pw_constant(w, op ? 8 * op->value : 0));
}

static void write_slot_operation(struct path_writer *w,
                                 const struct increment *op)
{
	if (op->kind == INCREMENT_SET || op->kind == INCREMENT_ADD)
		pw_set(w, w->s, slot_with(w, op));
	if (op->then_set)
		pw_set(w, w->s, pw_constant(w, 8 * op->set));
}

/* A path ends; returns its register. */
static LLVMValueRef write_count(struct path_writer *w,
                                const struct path_deed *p)
{
	const struct increment *op = p->op;
	LLVMValueRef r;

	if (op->kind == INCREMENT_COUNT_AT) {
		r = pw_register_at(w, op->value);
		path_calls_end(w, p, r, p->at);
		path_count_known(w, op->value, p->at);
		path_stream_end(w, r, p->at);
		path_chain_end(w, r);
		return r;
	}
	r = pw_sum(w, pw_get(w, w->r),
	           pw_constant(w, pw_in_units(w, op->value)));
	path_calls_end(w, p, r, p->at);
	path_count(w, r, slot_with(w, p->slot_op), p->at);
	path_stream_end(w, r, p->at);
	path_chain_end(w, r);
	return r;
}

bool path_is_before(const struct function *fn, const struct path_deed *p)
{
	edge_id e = p->edge;

	if (e == CFG_NONE) /* at the head of a block */
		return counts_pairs_at(fn->paths, p->op->where);
	/* a call may come back twice: nobody is before what follows it */
	return fn->edges[e].kind != CAIRN_EDGE_CALL &&
	       counts_pairs_at(fn->paths, fn->g.edges[e].dst);
}

/* A stream goes on, but for calls that may come back twice. */
static bool ends_stream(const struct function *fn, edge_id e)
{
	return e != CFG_NONE && fn->edges[e].kind == CAIRN_EDGE_CALL;
}

/* Does another path begin where this one ends? */
static bool begins_another(const struct function *fn, const struct path_deed *p)
{
	if (p->edge == CFG_NONE) /* of a computed goto, or the last one */
		return p->op->place == INCREMENT_AT_HEAD;
	return dag_is_ended(&fn->paths->paths.dag, p->edge);
}

static void write_operation(struct path_writer *w, const struct path_deed *p)
{
	const struct increment *op = p->op;
	LLVMValueRef r = NULL;

	if (op && op->kind == INCREMENT_SET)
		pw_set(w, w->r, pw_register_at(w, op->value));
	else if (op && op->kind == INCREMENT_ADD)
		pw_set(w, w->r,
		       pw_sum(w, pw_get(w, w->r),
		              pw_constant(w, pw_in_units(w, op->value))));
	else if (op)
		r = write_count(w, p);
	if (op && op->then_set)
		pw_set(w, w->r, pw_register_at(w, op->set));
	if (r && begins_another(w->m.fn, p)) {
		path_comes_before(w, path_is_before(w->m.fn, p) ? r : NULL);
		if (ends_stream(w->m.fn, p->edge))
			path_stream_begin(w);
	}
	if (p->slot_op)
		write_slot_operation(w, p->slot_op);
}

static void write_deed(struct path_writer *w, const struct path_deed *p)
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
		path_turns_enter(w, p);
		break;
	case DO_STEP:
		path_turns_step(w, p);
		break;
	case DO_TURN:
		path_turns_back(w, p);
		break;
	case DO_EXIT:
		path_turns_exit(w, p);
		break;
	case DO_BEGIN:
		path_calls_enter(w, p->at);
		break;
	case DO_BACK:
		path_calls_back(w, p);
		break;
	}
	LLVMInstructionEraseFromParent(p->at);
}

/* Pairs: behind a call that may come back twice nobody was before. */
static void write_second_returns(struct path_writer *w)
{
	const struct function *fn = w->m.fn;

	for (block_id b = 1; b < fn->g.nblocks; b++)
		if (fn->nodes[b].is_call &&
		    !LLVMIsATerminatorInst(node_first(&fn->nodes[b]))) {
			LLVMPositionBuilderBefore(
			        w->m.builder, LLVMGetNextInstruction(node_first(
			                              &fn->nodes[b])));
			path_comes_before(w, NULL);
			path_stream_begin(w);
			if (looks_at_calls(fn))
				path_calls_forget(w);
		}
}

/* --- sites --------------------------------------------------------------- */

/* Gives every site its number, and the register where it needs it. */
static void write_sites(struct path_writer *w)
{
	struct function *fn = w->m.fn;
	bool in_memory = shim_is_not_optimized(fn->f);

	for (uint32_t i = 0; i < fn->nsites; i++) {
		struct site *site = &fn->sites[i];
		LLVMValueRef value = NULL;

		path_calls_before(w, i);
		if (site->pending == CAIRN_PENDING_SHARED) {
			value = w->busy;
		} else if (site->pending >= CAIRN_PENDING_REGISTER) {
			LLVMPositionBuilderBefore(w->m.builder, site->call);
			value = in_memory ? w->r : path_calls_register(w, i);
		}
		site->call = shim_add_site(site->call, i, value);
	}
}

/* Where the register has turned out to be a constant the map has it. */
static void note_constants(struct path_writer *w)
{
	struct function *fn = w->m.fn;

	for (uint32_t i = 0; i < fn->nsites; i++) {
		struct site *site = &fn->sites[i];
		LLVMValueRef base = site->pending == CAIRN_PENDING_ADDRESS
		                            ? w->tested
		                            : fn->counters;
		uint64_t r;

		if (site->pending < CAIRN_PENDING_REGISTER ||
		    site->pending == CAIRN_PENDING_SHARED ||
		    !shim_site_constant(site->call, base, &r))
			continue;
		if (site->pending == CAIRN_PENDING_ADDRESS)
			site->value += r;
		else
			site->value += w->is_direct ? r / 8 : r - 1;
		site->pending = CAIRN_PENDING_KNOWN;
		site->call = shim_add_site(site->call, i, NULL);
	}
}

static LLVMValueRef make_register(struct path_writer *w)
{
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(w->m.fn->f);

	LLVMPositionBuilderBefore(w->m.builder, LLVMGetFirstInstruction(entry));
	return LLVMBuildAlloca(w->m.builder, w->m.i64, "cairn.path");
}

void mark_paths(struct function *fn, const struct mode *mode)
{
	struct path_writer w = {0};

	marker_init(&w.m, fn, mode);
	w.is_direct = fn->paths->how == CAIRN_PATHS_DIRECT;
	fn->counters = marker_declare_counters(&w.m, fn->ncounters);
	path_chain_find(&w);
	w.r = make_register(&w);
	w.q = make_register(&w);
	w.s = make_register(&w);
	w.held = make_register(&w);
	w.last = make_register(&w);
	w.o = make_register(&w);
	w.state = make_register(&w);
	w.caller = make_register(&w);
	w.first = make_register(&w);
	w.prefix = make_register(&w);
	w.early = make_register(&w);
	w.top = make_register(&w);
	w.tag = make_register(&w);
	path_calls_prepare(&w, mode);
	if (counts_pairs(fn->paths)) {
		LLVMPositionBuilderBefore(w.m.builder,
		                          LLVMGetNextInstruction(w.r));
		pw_set(&w, w.o, pw_constant(&w, 0));
	}
	LLVMPositionBuilderBefore(w.m.builder, LLVMGetNextInstruction(w.r));
	path_stream_enter(&w);
	path_chain_enter(&w);
	if (fn->paths->has_slots)
		w.owner = path_count_owners(&w);
	if (fn->paths->tested)
		w.tested = pw_add_bytes(&w, "cairn.tested", fn->paths->tested,
		                        fn->paths->paths.n);
	if (paths_register_is_byte(fn)) {
		LLVMSetAlignment(w.tested, (unsigned)cairn_path_modulus(
		                                   fn->paths->paths.n));
		/* no linker may make it a part of another constant */
		LLVMSetUnnamedAddress(w.tested, LLVMNoUnnamedAddr);
	}
	marker_keep_last_calls(&w.m);
	w.delta = marker_prologue(&w.m);
	if (w.m.by_segment || shim_has_builtin_setjmp(fn->f))
		w.delta = NULL;
	if (!fn->paths->is_tested)
		place_all(&w);
	path_shared_call(&w);
	add_path_probes(&w);
	write_second_returns(&w);
	path_chain_calls(&w);
	write_sites(&w);
	for (size_t i = 0; i < w.nplaced; i++)
		write_deed(&w, &w.placed[i]);
	if (!shim_is_not_optimized(fn->f)) {
		shim_promote(w.r);
		note_constants(&w);
		shim_promote(w.q);
		shim_promote(w.s);
		shim_promote(w.held);
		shim_promote(w.last);
		shim_promote(w.o);
		shim_promote(w.state);
		shim_promote(w.caller);
		shim_promote(w.first);
		shim_promote(w.prefix);
		shim_promote(w.early);
		shim_promote(w.top);
		shim_promote(w.tag);
	} else {
		LLVMInstructionEraseFromParent(w.q);
		LLVMInstructionEraseFromParent(w.held);
		LLVMInstructionEraseFromParent(w.last);
		if (!counts_windows(fn->paths) && !counts_chains(fn->paths))
			LLVMInstructionEraseFromParent(w.state);
		if (!counts_pairs(fn->paths)) {
			LLVMInstructionEraseFromParent(w.o);
			LLVMInstructionEraseFromParent(w.caller);
			LLVMInstructionEraseFromParent(w.first);
			LLVMInstructionEraseFromParent(w.prefix);
			LLVMInstructionEraseFromParent(w.early);
			LLVMInstructionEraseFromParent(w.top);
			LLVMInstructionEraseFromParent(w.tag);
		}
	}
	shim_prepare_function(fn->f, !mode->strict);
	shim_pin(fn->f);
	LLVMDisposeBuilder(w.m.builder);
	free(w.placed);
	free(w.links);
}
