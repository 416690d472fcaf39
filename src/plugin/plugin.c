/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin, from a module to a marked module:
 *
 *     for every function with a body:
 *         import its CFG                        import.c
 *         weigh the edges, choose the chords    graph/
 *         describe it for the map               describe.c
 *         write the marks                       mark.c
 *
 * A module is marked once: a flag in it says so, since the same bitcode can
 * pass here again (-emit-llvm and then clang on the result, link time).
 */
#include "plugin/function.h"

#include "abi/map.h"
#include "abi/rt.h"
#include "abi/trace.h"
#include "analysis/feedback.h"
#include "analysis/interest.h"
#include "analysis/pair_flow.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/listed.h"
#include "format/profile.h"
#include "graph/blocks.h"
#include "graph/place.h"
#include "graph/weight.h"
#include "ir/flow.h"
#include "analysis/segment_build.h"
#include "plugin/before.h"
#include "plugin/last.h"
#include "plugin/record.h"
#include "plugin/segments.h"
#include "plugin/shim.h"
#include "plugin/tails.h"
#include "plugin/wanted.h"

#include <assert.h>
#include <inttypes.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_NAMES 20
/* Of all pairs, in millionths, unless share= says otherwise. */
#define PAIRS_SHARE 990000

struct plugin {
	LLVMModuleRef module;
	LLVMContextRef context;
	struct shim *shim;
	struct mode mode;
	struct feedback *feedback; /* or NULL */
	struct interest *interest; /* or NULL */
	struct pair_flow *pairs;   /* prefer= of overlap, or NULL */
	struct wanted *wanted;     /* or NULL */
	struct segs *segs;         /* or NULL */
	struct callees callees;    /* pairs across calls */
	struct ptrmap deep;        /* tail calls that have to stay such */
	struct segment_list list;  /* calls that are inlined, segments */
	struct interest_options chosen;
	const char **sets;          /* of chosen, in words */
	unsigned nlooked, nunknown; /* functions: in the profile, or not */
	char *unknown;              /* the names of some */
	size_t sets_cap;
	char *words;     /* the mode, taken apart */
	char wrong[512]; /* the first thing that is, or "" */
};

/* top=N, share=N, prefer=SET: true if it is one of these. */
static bool parse_chosen(struct plugin *p, const char *word)
{
	struct interest_options *chosen = &p->chosen;

	if (!strncmp(word, "top=", 4)) {
		chosen->top = strtoull(word + 4, NULL, 10);
	} else if (!strncmp(word, "share=", 6)) {
		chosen->share = (uint32_t)strtoul(word + 6, NULL, 10);
	} else if (!strncmp(word, "prefer=", 7)) {
		VEC_RESERVE(p->sets, chosen->nsets, p->sets_cap);
		p->sets[chosen->nsets++] = word + 7;
		chosen->sets = p->sets;
	} else {
		return false;
	}
	return true;
}

static bool take_depth(struct mode *mode, const char *depth)
{
	mode->depth = (uint32_t)strtoul(depth, NULL, 10);
	return true;
}

/* The driver has looked at it. */
static void take_overlap(struct mode *mode, const char *value)
{
	mode->overlap = true;
	if (!strcmp(value, "loops"))
		mode->in_loops = true;
	else if (!strcmp(value, "auto"))
		mode->degree = CAIRN_DEGREE_AUTO;
	else if (!strcmp(value, "max"))
		mode->degree = CAIRN_DEGREE_MAX;
	else
		mode->degree =
		        CAIRN_DEGREE_FIRST + (uint32_t)strtoul(value, NULL, 10);
}

static int parse_mode(struct plugin *p, const struct plugin_options *options,
                      struct cairn_err *err)
{
	char *rest = p->words = xstrdup(options->mode);
	char *word = strsep(&rest, ",");
	struct mode *mode = &p->mode;
	int result = CAIRN_OK;

	*mode = (struct mode){
	        .source = !strcmp(options->stage, "source"),
	        .segment = true,
	        .grow = MODE_GROW_AUTO,
	};
	mode->residual = !strcmp(word, "residual");
	mode->trace = !strcmp(word, "trace");
	mode->record = !strcmp(word, "record");
	mode->is_inlining = !strcmp(word, "inline");
	mode->paths =
	        mode->residual || mode->is_inlining || !strcmp(word, "paths");
	if (strcmp(word, "edges") && !mode->paths && !mode->trace &&
	    !mode->record)
		result = cairn_fail(err, CAIRN_E_USAGE,
		                    "cairn: unknown mode '%s'", word);
	if ((mode->paths || mode->trace || mode->record) && mode->source)
		result = cairn_fail(err, CAIRN_E_USAGE,
		                    "cairn: paths are those of the optimized "
		                    "program; leave out --cairn-stage=source");
	while (result == CAIRN_OK && (word = strsep(&rest, ","))) {
		if (!strcmp(word, "slow"))
			mode->slow = true;
		else if (!strcmp(word, "strict"))
			mode->strict = true;
		else if (!strcmp(word, "all"))
			mode->all = true;
		else if (!strcmp(word, "log"))
			mode->log = true;
		else if (!strcmp(word, "witness"))
			mode->witness = true;
		else if (!strcmp(word, "paths"))
			mode->path_ids = true;
		else if (!strncmp(word, "last=", 5))
			mode->last = strtoull(word + 5, NULL, 10);
		else if (!strncmp(word, "memory=", 7))
			mode->memory = strtoull(word + 7, NULL, 10);
		else if (!strncmp(word, "calls=", 6))
			mode->calls = take_depth(mode, word + 6);
		else if (!strncmp(word, "grow=", 5))
			mode->grow = (uint32_t)strtoul(word + 5, NULL, 10);
		else if (!strcmp(word, "nogs"))
			mode->segment = false;
		else if (!strcmp(word, "others"))
			mode->others = true;
		else if (!strcmp(word, "overlap"))
			mode->overlap = true;
		else if (!strncmp(word, "overlap=", 8))
			take_overlap(mode, word + 8);
		else if (!strncmp(word, "iterations=", 11))
			mode->windows = (uint32_t)strtoul(word + 11, NULL, 10);
		else if (!strncmp(word, "chains=", 7))
			mode->chains = (uint32_t)strtoul(word + 7, NULL, 10);
		else if (!strcmp(word, "remarks"))
			mode->remarks = true;
		else if (parse_chosen(p, word))
			continue;
		else if (!strcmp(word, "weights=heuristic"))
			mode->heuristic = true;
		else if (strcmp(word, "weights=freq") && word[0])
			result = cairn_fail(err, CAIRN_E_USAGE,
			                    "cairn: unknown option '%s'", word);
	}
	return result;
}

/* Measured counts of this function from an earlier run, or NULL. */
static const uint64_t *measured(struct plugin *p, const struct function *fn)
{
	const uint64_t *counts;
	uint32_t nedges;
	char *file;
	size_t n;

	if (!p->feedback)
		return NULL;
	file = path_of_function(fn->f);
	counts = feedback_edges(p->feedback, name_of(fn->f, &n), file,
	                        function_hash(fn), &nedges);
	free(file);
	return counts && nedges == fn->g.nedges ? counts : NULL;
}

/* Weights by which the spanning tree is chosen. */
static void weigh(struct plugin *p, struct function *fn, uint64_t *weight)
{
	const uint64_t *counts = measured(p, fn);
	const struct cfg *g = &fn->g;
	uint64_t *frequency = xcalloc(g->nedges, sizeof(*frequency));

	for (edge_id e = 0; e < g->nedges; e++)
		frequency[e] = fn->edges[e].frequency;
	if (counts)
		weight_from_counts(g, counts, weight);
	else if (p->mode.heuristic)
		weight_heuristic(g, weight);
	else
		weight_from_frequencies(g, frequency, weight);
	for (edge_id e = 0; e < g->nedges; e++)
		fn->edges[e].weight = weight[e];
	free(frequency);
}

/* A loop that counts itself costs something when it is entered. */
static uint64_t weight_of_trip(const struct function *fn, edge_id back,
                               const uint64_t *flow)
{
	const struct trip *t = &fn->trips[fn->edges[back].trip];
	uint64_t enter = flow[t->enter];
	uint64_t cost = t->is_closed ? TRIP_COST_CLOSED : TRIP_COST;

	if (t->is_open) /* less than an increment: nothing waits for it */
		return flow[back] / 2;
	return enter < WEIGHT_MAX / cost ? cost * enter : WEIGHT_MAX;
}

/* Where counting each turn costs no more, the back edge is one as any. */
static void drop_dear_trips(struct function *fn, const uint64_t *flow)
{
	for (edge_id e = 0; e < fn->g.nedges; e++)
		if (fn->edges[e].where == AT_TRIP &&
		    weight_of_trip(fn, e, flow) >= flow[e])
			fn->edges[e].where = AT_SPLIT;
}

/* Blocks of loops whose count is not in memory while they run. */
static void flag_held_blocks(struct function *fn)
{
	for (edge_id e = 0; e < fn->g.nedges; e++) {
		const struct trip *t = &fn->trips[fn->edges[e].trip];

		if (fn->edges[e].where != AT_TRIP || !fn->edges[e].is_chord)
			continue;
		for (uint32_t i = 0; i < t->nblocks; i++)
			fn->nodes[t->blocks[i]].flags |= CAIRN_BLOCK_HELD;
	}
}

/*
 * Chooses what to count: edges, and blocks where that is cheaper than a new
 * block on an edge.
 */
static void choose_chords(struct plugin *p, struct function *fn)
{
	const struct cfg *g = &fn->g;
	uint32_t n = g->nedges + g->nblocks - 1;
	uint64_t *flow = xcalloc(g->nedges, sizeof(*flow));
	uint64_t *weight = xcalloc(n, sizeof(*weight));
	bool *must = xcalloc(n, sizeof(*must));
	bool *chord = xcalloc(n, sizeof(*chord));
	bool *needs_block = xcalloc(n, sizeof(*needs_block));
	struct cfg split;
	uint32_t impossible;

	weigh(p, fn, flow);
	blocks_split(g, &split);
	blocks_weigh(g, flow, weight);
	drop_dear_trips(fn, flow);
	for (edge_id e = 0; e < g->nedges; e++) {
		enum edge_where where = fn->edges[e].where;

		must[e] = where == AT_NOWHERE;
		needs_block[e] = where == AT_SPLIT || where == AT_COMPARE ||
		                 where == AT_PAD;
	}
	weight_add_jumps(&split, needs_block, weight);
	for (edge_id e = 0; e < g->nedges; e++)
		if (fn->edges[e].where == AT_TRIP)
			weight[e] = weight_of_trip(fn, e, flow);
	impossible = place_edges(&split, weight, must, chord);
	/* a block has at most one edge that cannot be counted: no cycle */
	assert(impossible == 0);
	(void)impossible;
	for (edge_id e = 0; e < g->nedges; e++)
		fn->edges[e].is_chord =
		        chord[e] ||
		        ((p->mode.all || p->mode.strict) && !must[e]);
	flag_held_blocks(fn);
	for (block_id b = 1; b < g->nblocks; b++)
		fn->nodes[b].is_chord = chord[blocks_edge(g, b)] || p->mode.all;
	cfg_release(&split);
	free(flow);
	free(weight);
	free(must);
	free(chord);
	free(needs_block);
}

/* Its paths in the profile that was named, NULL if it is not there. */
static const struct interest_function *known_paths(struct plugin *p,
                                                   const struct function *fn)
{
	const struct interest_function *known;
	char *file;
	size_t n;

	if (!p->interest)
		return NULL;
	file = path_of_function(fn->f);
	known = interest_find(p->interest, LLVMGetValueName2(fn->f, &n), file,
	                      function_hash(fn));
	free(file);
	return known;
}

/* How many pairs it had in the profile that was named, NULL if it is not
 * there. */
static const struct pair_flow_function *known_pairs(struct plugin *p,
                                                    const struct function *fn)
{
	const struct pair_flow_function *known;
	char *file;
	size_t n;

	if (!p->pairs)
		return NULL;
	file = path_of_function(fn->f);
	known = pair_flow_find(p->pairs, LLVMGetValueName2(fn->f, &n), file,
	                       function_hash(fn));
	free(file);
	return known;
}

/* Only a profile of the same program has its functions. */
static void note_unknown(struct plugin *p, const struct function *fn,
                         bool is_known)
{
	size_t n;

	p->nlooked++;
	if (is_known)
		return;
	if (p->nunknown++ < UNKNOWN_NAMES) {
		char *more = xasprintf("%s%s%s", p->unknown ? p->unknown : "",
		                       p->unknown ? ", " : "",
		                       LLVMGetValueName2(fn->f, &n));

		free(p->unknown);
		p->unknown = more;
	}
}

static void say_unknown(struct plugin *p, const char *profile)
{
	size_t n;
	char *text;

	if (!p->nunknown || !p->mode.remarks)
		return;
	text = xasprintf("cairn: %s: %s: of %u functions %u are not there, or "
	                 "have changed: %s%s",
	                 LLVMGetSourceFileName(p->module, &n), profile,
	                 p->nlooked, p->nunknown, p->unknown,
	                 p->nunknown > UNKNOWN_NAMES ? ", ..." : "");
	shim_say(p->module, false, text);
	free(text);
}

static void say_refused(struct plugin *p, const struct function *fn,
                        uint64_t nrefused)
{
	size_t n;
	char *text = xasprintf(
	        "cairn: prefer: %" PRIu64 " of the %" PRIu64
	        " paths of %s are too many, or too long, for counters of their "
	        "own, so that all of them are counted in a table, which is "
	        "slower; prefer fewer, or the hottest of a profile "
	        "(prefer=FILE,top=N)",
	        nrefused, paths_possible(fn), LLVMGetValueName2(fn->f, &n));

	shim_say(p->module, true, text);
	free(text);
}

static void choose_paths(struct plugin *p, struct function *fn)
{
	uint64_t *flow = xcalloc(fn->g.nedges, sizeof(*flow));
	struct paths_request r = {
	        .weight = flow,
	        .known = known_paths(p, fn),
	        /* what runs while the program is loaded has few counters */
	        .pairs = p->mode.overlap && !shim_runs_while_loading(fn->f),
	        .flow = known_pairs(p, fn),
	        .windows = shim_runs_while_loading(fn->f) ? 0 : p->mode.windows,
	        .chains = shim_runs_while_loading(fn->f) ? 0 : p->mode.chains,
	};
	struct segs_search search = {p->segs, p->mode.residual};
	size_t n;

	if (p->segs && !p->interest) {
		r.find = segs_find;
		r.keep = segs_keep;
		r.cut = segs_cut;
		r.context = &search;
	}

	if (p->interest && interest_is_profile(p->interest))
		note_unknown(p, fn, r.known != NULL);
	if (p->pairs)
		note_unknown(p, fn, r.flow != NULL);
	weigh(p, fn, flow);
	if (p->wanted)
		r.wanted = wanted_blocks(p->wanted, fn);
	paths_choose(fn, &p->mode, &r);
	if (p->wanted)
		wanted_count(p->wanted, fn);
	free(flow);
	if (r.nrefused && p->mode.residual && fn->nshared && !p->wrong[0])
		snprintf(p->wrong, sizeof(p->wrong),
		         "cairn: tested: %s has %" PRIu64
		         " paths, too many to tell those that are tested in a "
		         "function that calls shared copies; allow more code "
		         "with grow=PERCENT, or fewer calls with calls=D",
		         LLVMGetValueName2(fn->f, &n), paths_possible(fn));
	else if (r.nrefused)
		say_refused(p, fn, r.nrefused);
	if (r.absent != UINT64_MAX && !p->wrong[0])
		snprintf(p->wrong, sizeof(p->wrong),
		         "cairn: prefer: %s has no path %" PRIu64
		         ", only 0 to %" PRIu64,
		         LLVMGetValueName2(fn->f, &n), r.absent,
		         paths_possible(fn) - 1);
}

static void number_counters(struct plugin *p, struct function *fn)
{
	for (edge_id e = 0; e < fn->g.nedges; e++)
		if (fn->edges[e].is_chord && !p->mode.slow)
			fn->edges[e].counter = ++fn->ncounters;
	for (block_id b = 1; b < fn->g.nblocks; b++)
		if (fn->nodes[b].is_chord || p->mode.slow)
			fn->nodes[b].counter = ++fn->ncounters;
}

/* The functions that it calls in a trace, in the order of the edges, or at
 * sites that count pairs in rows. */
static LLVMMetadataRef callees_of(struct plugin *p, const struct function *fn)
{
	LLVMMetadataRef *list = xcalloc((size_t)fn->g.nedges + fn->nsites + 1,
	                                sizeof(*list)),
	                node;
	size_t n = 0;
	LLVMValueRef callee;

	for (edge_id e = 0; e < fn->g.nedges; e++)
		if (fn->edges[e].callee)
			list[n++] = LLVMValueAsMetadata(fn->edges[e].callee);
	for (uint32_t i = 0; fn->paths && i < fn->nsites; i++)
		if ((callee = paths_row_callee(fn, i)))
			list[n++] = LLVMValueAsMetadata(callee);
	node = LLVMMDNodeInContext2(p->context, list, n);
	free(list);
	return node;
}

/* Leaves the record for the writer of sections (entry.cpp). */
static void add_record(struct plugin *p, const struct function *fn,
                       const struct bytes *blob)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(p->context);
	LLVMMetadataRef parts[6] = {
	        LLVMValueAsMetadata(fn->f),
	        fn->counters ? LLVMValueAsMetadata(fn->counters) : NULL,
	        LLVMValueAsMetadata(LLVMConstInt(i64, fn->ncounters, false)),
	        LLVMMDStringInContext2(p->context, (const char *)blob->data,
	                               blob->n),
	        LLVMValueAsMetadata(LLVMConstInt(i64, fn->key, false)),
	        callees_of(p, fn),
	};
	LLVMMetadataRef node = LLVMMDNodeInContext2(p->context, parts, 6);

	LLVMAddNamedMetadataOperand(p->module, PLUGIN_FUNCTIONS,
	                            LLVMMetadataAsValue(p->context, node));
}

static void leave_out(struct plugin *p, LLVMValueRef f, const char *reason)
{
	struct bytes blob = {0};

	describe_uncovered(f, reason, &blob);
	add_record(p, &(struct function){.f = f}, &blob);
	bytes_release(&blob);
}

/* Pairs across calls: a function that makes a tail call is gone when the callee
 * comes back, and a fifth of the calls of mujs are such.  They become calls,
 * but for those that the language wants so, and deep ones (tails.h). */
static void keep_frames(const struct plugin *p, LLVMValueRef f)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef call = ir_tail_call(b);
		bool is_deep =
		        call && ptrmap_get(&p->deep, call) != PTRMAP_NONE;

		if (call && !is_deep &&
		    LLVMGetTailCallKind(call) == LLVMTailCallKindTail)
			ir_keep_frame(call);
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
		     i = LLVMGetNextInstruction(i))
			if (LLVMIsACallInst(i) && !(is_deep && i == call) &&
			    LLVMGetTailCallKind(i) == LLVMTailCallKindTail)
				LLVMSetTailCallKind(i, LLVMTailCallKindNone);
	}
}

static bool calls(LLVMValueRef f, const char *name)
{
	LLVMValueRef callee =
	        LLVMGetNamedFunction(LLVMGetGlobalParent(f), name);
	LLVMUseRef use = callee ? LLVMGetFirstUse(callee) : NULL;

	for (; use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsAInstruction(user) &&
		    LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) ==
		            f)
			return true;
	}
	return false;
}

/*
 * Functions into which control comes back by a jump inside libc that nobody can
 * see: pthread_cleanup_push in C, when the thread is cancelled, and getcontext.
 * They are counted strictly, which needs nobody to look.
 */
bool is_jumped_into(LLVMValueRef f)
{
	return calls(f, "__pthread_register_cancel") || calls(f, "getcontext");
}

static void run_traced(struct plugin *p, LLVMValueRef f)
{
	struct bytes blob = {0};
	struct function fn;
	uint64_t *flow;

	if (shim_is_thunk(f))
		return;
	if (shim_is_entry(f)) {
		mark_entry(f, &p->mode);
		return;
	}
	shim_keep_own_address(f);
	function_import(&fn, f, &p->mode, p->shim);
	flow = xcalloc(fn.g.nedges, sizeof(*flow));
	weigh(p, &fn, flow);
	trace_choose(&fn, &p->mode, flow);
	describe_function(&fn, &p->mode, &blob);
	describe_trace(&fn, &blob);
	mark_trace(&fn, &p->mode);
	add_record(p, &fn, &blob);
	bytes_release(&blob);
	function_release(&fn);
	free(flow);
}

static bool has_body(LLVMValueRef f)
{
	return !LLVMIsDeclaration(f) &&
	       LLVMGetLinkage(f) != LLVMAvailableExternallyLinkage;
}

/* A function whose marks are chosen, and not written yet. */
struct chosen {
	struct function fn;
	struct mode mode;
};

/* Returns false if that was all. */
static bool begin_function(struct plugin *p, LLVMValueRef f, struct chosen *c)
{
	const char *reason = p->mode.trace ? trace_why_not(f) : shim_why_not(f);
	struct mode *mode = &c->mode;

	*mode = p->mode;
	if (reason) {
		leave_out(p, f, reason);
		return false;
	}
	shim_work_on(p->module, f);
	if (!mode->source)
		shim_land_gotos(p->shim, f);
	function_prepare(f, p->shim);
	if (mode->trace) {
		run_traced(p, f);
		return false;
	}
	mode->strict |= !mode->slow &&
	                (is_jumped_into(f) || shim_has_foreign_personality(f));
	if (shim_has_builtin_setjmp(f) ||
	    (!mode->slow &&
	     (shim_leaves_in_assembly(f) || shim_has_calls_without_sites(f)))) {
		/* no site says where such a call comes back; in a function that
		 * it is inlined into, neither */
		mode->strict = true;
		if (mode->source)
			shim_keep_out_of_line(f);
	}
	if (p->segs)
		segs_begin(p->segs, f, mode);
	if (mode->overlap && !mode->in_loops)
		keep_frames(p, f);
	function_import(&c->fn, f, mode, p->shim);
	if (mode->sites)
		segs_import(p->segs, &c->fn);
	if (mode->paths) {
		choose_paths(p, &c->fn);
	} else {
		choose_chords(p, &c->fn);
		number_counters(p, &c->fn);
	}
	return true;
}

static void finish_function(struct plugin *p, struct chosen *c)
{
	struct bytes blob = {0}, segments = {0};
	struct function *fn = &c->fn;

	shim_work_on(p->module, fn->f);
	describe_function(fn, &c->mode, &blob);
	if (c->mode.paths) {
		if (c->mode.sites)
			segs_describe(p->segs, fn, &segments);
		mark_paths(fn, &c->mode);
		describe_paths(fn, &blob);
		bytes_put(&blob, segments.data, segments.n);
		bytes_release(&segments);
	} else if (c->mode.source) {
		mark_function_early(fn, &c->mode);
	} else {
		mark_function(fn, &c->mode);
	}
	add_record(p, fn, &blob);
	bytes_release(&blob);
	function_release(fn);
}

/* Pairs across calls: what a call needs depends on whom it calls, so all is
 * chosen before anything is written. */
static void finish_functions(struct plugin *p, struct chosen **all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		paths_choose_calls(&all[i]->fn, &all[i]->mode);
	for (size_t i = 0; i < n; i++) {
		finish_function(p, all[i]);
		free(all[i]);
	}
}

static bool is_marked_here(struct plugin *p, LLVMValueRef f)
{
	return has_body(f) && !(p->segs && segs_is_shared(p->segs, f));
}

static void mark_functions(struct plugin *p)
{
	struct chosen **all = NULL, *c = xcalloc(1, sizeof(*c));
	size_t n = 0, cap = 0;

	if (p->mode.overlap && !p->mode.in_loops)
		tails_find_deep(p->module, &p->deep);
	for (LLVMValueRef f = LLVMGetFirstFunction(p->module); f;
	     f = LLVMGetNextFunction(f)) {
		if (!is_marked_here(p, f) || !begin_function(p, f, c))
			continue;
		if (!p->mode.overlap) {
			finish_function(p, c);
			continue;
		}
		VEC_RESERVE(all, n, cap);
		all[n++] = c;
		c = xcalloc(1, sizeof(*c));
	}
	finish_functions(p, all, n);
	ptrmap_release(&p->deep);
	free(all);
	free(c);
}

static const char *record_why_not(LLVMValueRef f)
{
	const char *reason = follow_why_not(f);

	return reason ? reason : canonical_why_not(f);
}

static void run_recorded(struct plugin *p, struct record_unit *u, size_t i,
                         const struct before *before)
{
	struct mode mode = p->mode; /* of the walk over a replay */
	struct bytes blob = {0};
	struct ir_function ir;
	struct function fn;
	uint64_t *flow;

	if (!ir_has_marks(u->globals[i]))
		return;
	shim_work_on(p->module, u->globals[i]);
	mode.trace = true;
	function_prepare(u->globals[i], p->shim);
	ir_function_init(&ir, u->globals[i]);
	function_import(&fn, ir.f, &mode, p->shim);
	fn.before = before;
	flow = xcalloc(fn.g.nedges, sizeof(*flow));
	weigh(p, &fn, flow);
	trace_choose(&fn, &mode, flow);
	free(flow);
	describe_function(&fn, &mode, &blob);
	describe_recorded(u, (uint32_t)(i - u->functions), &blob);
	describe_ways(&fn, &blob);
	fn.f = u->globals[i] = record_mark(&fn, &ir, &p->mode);
	add_record(p, &fn, &blob);
	bytes_release(&blob);
	function_release(&fn);
	ir_function_release(&ir);
}

/* What it computes is an input of those that call it. */
static void say_left_out(struct plugin *p, LLVMValueRef f, const char *reason)
{
	size_t n;
	char *text = xasprintf("cairn: %s is not recorded, and no question "
	                       "about it can be answered: %s",
	                       name_of(f, &n), reason);

	shim_say(p->module, true, text);
	free(text);
}

static void land_gotos(struct plugin *p)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(p->module); f;
	     f = LLVMGetNextFunction(f))
		if (ir_has_marks(f))
			shim_land_gotos(p->shim, f);
}

/* First the whole unit becomes definite and is put away, then it is marked. */
static void record_module(struct plugin *p)
{
	struct record_unit u;
	struct before before;

	land_gotos(p);
	before_init(&before, p->module);
	canonical_begin(p->module);
	for (LLVMValueRef f = LLVMGetFirstFunction(p->module); f;
	     f = LLVMGetNextFunction(f)) {
		const char *reason = ir_has_marks(f) ? record_why_not(f) : NULL;

		if (reason) {
			say_left_out(p, f, reason);
			leave_out(p, f, reason);
			canonical_leave_out(f);
		}
	}
	canonical_module(p->module, p->mode.segment);
	record_find_seen(p->module);
	record_number_stores(p->module);
	record_find_returns(p->module);
	record_unit_init(&u, p->module);
	for (size_t i = u.functions; i < u.aliases; i++)
		run_recorded(p, &u, i, &before);
	record_unit_leave(&u, p->module);
	record_unit_release(&u);
	before_release(&before);
}

static bool has_flag(LLVMModuleRef module, const char *name)
{
	return LLVMGetModuleFlag(module, name, strlen(name));
}

static void set_flag(LLVMModuleRef module, const char *name)
{
	LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(module));

	LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorOverride, name,
	                  strlen(name),
	                  LLVMValueAsMetadata(LLVMConstInt(i32, 1, false)));
}

/* Is the file a list of segments? */
static bool is_list(const struct plugin *p,
                    const struct plugin_options *options)
{
	return p->mode.calls && listed_is_one(options->interest);
}

static const char *file_of(const struct plugin_options *options)
{
	return options->interest[0] ? options->interest : NULL;
}

/* What the profile of a build with calls= has inlined.  Paths of other builds
 * do not end at calls: none of them would be found again. */
static int open_plan(struct plugin *p, const char *path, struct cairn_err *err)
{
	struct segment_build b;
	struct profile *profile;
	bool is_one;

	CAIRN_TRY(profile_open(&profile, &path, 1, NULL, err));
	segment_build_init(&b, profile);
	is_one = b.n;
	p->list = b.list;
	b.list = (struct segment_list){0};
	segment_build_release(&b);
	profile_free(profile);
	if (is_one)
		return CAIRN_OK;
	return cairn_fail(err, CAIRN_E_MISMATCH,
	                  "%s: %s: is the profile of a build without calls=, "
	                  "which has no segments; name a list, made of a trace "
	                  "with cairn segments --list, or the profile of a "
	                  "build with --cairn=paths,calls=D",
	                  p->mode.residual ? "tested" : "prefer", path);
}

/* calls=: what to inline, from a list or from a profile of such a build. */
static int open_list(struct plugin *p, const struct plugin_options *options,
                     struct cairn_err *err)
{
	const char *path = file_of(options);

	if (!p->mode.calls || !path)
		return CAIRN_OK;
	if (!is_list(p, options))
		return open_plan(p, path, err);
	CAIRN_TRY(segment_list_read(&p->list, path, err));
	if (!p->mode.residual || p->list.kind == SEGMENT_LIST_ALL)
		return CAIRN_OK;
	return cairn_fail(err, CAIRN_E_MISMATCH,
	                  "tested: %s: has not all segments of the tests; make "
	                  "it with cairn segments --list, without --top and "
	                  "--share",
	                  path);
}

/* How code of the module goes on upon another stack, or NULL. */
static const char *why_other_stacks(LLVMModuleRef module)
{
	if (LLVMGetNamedFunction(module, "swapcontext") ||
	    LLVMGetNamedFunction(module, "makecontext"))
		return "swapcontext, makecontext";
	return shim_hands_over(module) ? "in assembly" : NULL;
}

static int open_plugin(struct plugin *p, const struct plugin_options *options,
                       struct cairn_err *err)
{
	size_t n;

	CAIRN_TRY(parse_mode(p, options, err));
	if ((p->mode.trace || p->mode.record) && shim_is_sanitized(p->module))
		return cairn_fail(
		        err, CAIRN_E_USAGE,
		        "cairn: %s is compiled for a sanitizer, "
		        "whose runtime jumps out of functions unseen; "
		        "leave out -fsanitize or --cairn=%s",
		        LLVMGetSourceFileName(p->module, &n),
		        p->mode.trace ? "trace" : "record");
	if ((p->mode.trace || p->mode.record) && why_other_stacks(p->module))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "cairn: %s switches stacks (%s), "
		                  "which a %s cannot follow; build the program "
		                  "without --cairn=%s",
		                  LLVMGetSourceFileName(p->module, &n),
		                  why_other_stacks(p->module),
		                  p->mode.trace ? "trace" : "recording",
		                  p->mode.trace ? "trace" : "record");
	if (p->mode.record && shim_uses_gs(p->module))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "cairn: %s uses %%gs itself, which a "
		                  "recording needs; build the program without "
		                  "--cairn=record",
		                  LLVMGetSourceFileName(p->module, &n));
	if (p->mode.segment && !p->mode.trace && shim_uses_gs(p->module))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "cairn: %s uses %%gs itself, where counts "
		                  "would go; compile the whole program with "
		                  "--cairn=edges,nogs",
		                  LLVMGetSourceFileName(p->module, &n));
	p->mode.segment = p->mode.segment && shim_is_executable_only(p->module);
	p->mode.key = shim_module_key(p->module);
	p->mode.callees = &p->callees;
	/* its runtime has longjmp, vfork and _exit of its own, before ours */
	p->mode.strict |= !p->mode.slow && shim_is_sanitized(p->module);
	p->mode.apart = p->mode.paths || !p->mode.strict;
	/* nobody finds frames on a stack that is left for good */
	p->mode.strict |= !p->mode.slow && shim_hands_over(p->module);
	if (p->mode.paths)
		shim_keep_tails_apart();
	p->mode.probes = !p->mode.source && shim_may_add_probes(p->module);
	if (has_flag(p->module, PLUGIN_MARKED))
		return CAIRN_OK;
	CAIRN_TRY(open_list(p, options, err));
	p->chosen.is_tested = p->mode.residual;
	p->chosen.in_calls = p->mode.calls;
	if (p->mode.overlap && options->interest[0])
		CAIRN_TRY(pair_flow_open(options->interest,
		                         p->chosen.share ? p->chosen.share
		                                         : PAIRS_SHARE,
		                         &p->pairs, err));
	else if ((options->interest[0] && !is_list(p, options)) ||
	         p->chosen.nsets)
		CAIRN_TRY(interest_open(is_list(p, options) ? NULL
		                                            : file_of(options),
		                        &p->chosen, &p->interest, err));
	p->wanted = wanted_new(p->interest, p->module);
	if (options->feedback[0])
		return feedback_open(options->feedback, &p->feedback, err);
	/* it says how often edges are taken, too */
	if (options->interest[0] && profile_is_one(options->interest))
		return feedback_open(options->interest, &p->feedback, err);
	return CAIRN_OK;
}

static void close_plugin(struct plugin *p)
{
	wanted_free(p->wanted);
	segs_free(p->segs);
	segment_list_release(&p->list);
	feedback_free(p->feedback);
	interest_free(p->interest);
	pair_flow_free(p->pairs);
	ptrmap_release(&p->callees.index);
	free(p->callees.items);
	free(p->unknown);
	free(p->sets);
	free(p->words);
}

/* Sections are written for a module in which some function has our collector:
 * if all are left out, the map that says so needs one. */
static void see_to_sections(LLVMModuleRef m)
{
	LLVMValueRef first = NULL;

	for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
	     f = LLVMGetNextFunction(f)) {
		if (has_body(f) && LLVMGetGC(f))
			return;
		if (has_body(f) && !first)
			first = f;
	}
	if (first && LLVMGetNamedMetadataNumOperands(m, PLUGIN_FUNCTIONS))
		LLVMSetGC(first, PLUGIN_GC);
}

/* The same inlining as that of a build which counts, and nothing else. */
static void inline_module(struct plugin *p)
{
	p->segs = segs_new(p->module, p->shim, &p->list, &p->mode);
	segs_strip(p->module);
	set_flag(p->module, PLUGIN_DONE);
}

static void own_returns(LLVMModuleRef module)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
	     f = LLVMGetNextFunction(f))
		if (has_body(f))
			ir_own_returns(f);
}

static void run_on_module(struct plugin *p)
{
	own_returns(p->module);
	shim_keep_calls(p->module);
	shim_call_seen(p->module);
	shim_note_assembly(p->module);
	if (p->mode.is_inlining) {
		inline_module(p);
		return;
	}
	if (!p->mode.record)
		shim_hook_jumps(p->module);
	if (p->mode.calls)
		p->segs = segs_new(p->module, p->shim, &p->list, &p->mode);
	if (p->mode.trace && p->mode.segment)
		trace_split(p->module);
	if (p->mode.trace)
		trace_announce(p->module);
	if (p->mode.trace && p->mode.last)
		trace_say(p->module, CAIRN_RT_TRACE_LAST, p->mode.last);
	if (p->mode.trace && p->mode.memory)
		trace_say(p->module, CAIRN_RT_TRACE_MEMORY, p->mode.memory);
	if ((p->mode.windows || p->mode.chains) && p->mode.memory)
		trace_say(p->module, CAIRN_RT_FOREST_MEMORY, p->mode.memory);
	if ((p->mode.overlap && !p->mode.in_loops) || p->mode.chains)
		shim_ask_for_addresses(p->module);
	if (p->mode.record)
		record_module(p);
	if (p->mode.record && p->mode.last)
		last_say(p->module, p->mode.last);
	if (!p->mode.record)
		mark_functions(p);
	if (p->segs)
		segs_mark_shared(p->segs, &p->mode);
	see_to_sections(p->module);
	if (p->mode.calls)
		segs_strip(p->module); /* of functions that are left out */
	set_flag(p->module, p->mode.source ? PLUGIN_MARKED : PLUGIN_DONE);
}

/* The late step of --cairn-stage=source. */
static void finish_module(struct plugin *p)
{
	LLVMValueRef placeholder = shim_placeholder(p->module);

	for (LLVMValueRef f = LLVMGetFirstFunction(p->module); f;
	     f = LLVMGetNextFunction(f))
		if (has_body(f) && LLVMGetGC(f) &&
		    !strcmp(LLVMGetGC(f), PLUGIN_GC))
			mark_placeholders(f, &p->mode);
	if (!LLVMGetFirstUse(placeholder))
		LLVMDeleteFunction(placeholder);
	set_flag(p->module, PLUGIN_DONE);
}

static bool is_recorded(const char *mode)
{
	return !strncmp(mode, "record", 6) && (!mode[6] || mode[6] == ',');
}

/* Before anything looks at calls.  Returns false if nothing has changed. */
static bool begin_module(LLVMModuleRef module,
                         const struct plugin_options *options)
{
	bool has_changed = shim_find_returns_twice(module);

	has_changed |= shim_place_coroutines(module);
	if (is_recorded(options->mode))
		has_changed |= record_give_blocks(module);
	return has_changed;
}

bool cairn_plugin_run(LLVMModuleRef module, struct shim *s,
                      const struct plugin_options *options,
                      enum plugin_moment moment, char *message, size_t n)
{
	bool is_source = !strcmp(options->stage, "source");
	struct cairn_err err = {0};
	struct plugin p = {
	        .module = module,
	        .context = LLVMGetModuleContext(module),
	        .shim = s,
	};

	if (moment == PLUGIN_BEGIN)
		return !has_flag(module, PLUGIN_DONE) &&
		       begin_module(module, options);
	if (has_flag(module, PLUGIN_DONE)) {
		if (moment == PLUGIN_EARLY)
			shim_freeze(module);
		else
			shim_thaw(module);
		return true;
	}
	if (moment == PLUGIN_EARLY && is_recorded(options->mode))
		return record_copy_arguments(module);
	if ((moment == PLUGIN_EARLY &&
	     (!is_source || has_flag(module, PLUGIN_MARKED))))
		return false;
	if (open_plugin(&p, options, &err) < 0) {
		snprintf(message, n, "%s", err.text);
		close_plugin(&p);
		return false;
	}
	shim_work_on(module, NULL);
	shim_catch_errors();
	if (moment == PLUGIN_LATE && is_source)
		finish_module(&p);
	else
		run_on_module(&p);
	shim_work_on(module, NULL);
	if (p.wrong[0])
		snprintf(message, n, "%s", p.wrong);
	if (p.wanted)
		wanted_say(p.wanted, p.mode.remarks);
	say_unknown(&p, options->interest);
	close_plugin(&p);
	return true;
}
