/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --cairn-use: the counts of a profile, for the optimizer.
 *
 * The profile is of a build with --cairn-stage=source, which marks functions
 * as they are when the optimizer begins.  Here, at the same moment, a function
 * with the same name and the same hash has the same edges, and what is known
 * of them becomes metadata (weights.cpp).  Passes keep it true from there on.
 *
 * A function that has changed is compiled as if there were no profile, and one
 * warning counts these.  A function of the profile that never ran is cold.
 *
 * Invariant: weights come from counts of the same edges of the same graph, or
 * there are none.
 * Cost: linear in the module and in the profile, times the log of its number of
 * functions.
 */
#include "plugin/function.h"

#include "analysis/feedback.h"
#include "base/alloc.h"
#include "base/err.h"
#include "plugin/shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHANGED_NAMES 5
/* How far the optimizer's sum of all counts of a function may be off. */
#define ESTIMATE_OFF 0.001

struct use {
	LLVMModuleRef module;
	struct shim *shim;
	const char *path;
	struct feedback *feedback;
	uint64_t hot, cold; /* counts from which on, and up to which */
	unsigned nfunctions, nused, nchanged;
	unsigned nothers;  /* whose names the profile has, but for main */
	unsigned ndoubted; /* as they were, but no count can be trusted */
	char *changed;     /* the names of some */
	bool has_main;
};

/* Its counts, by edge of fn; NULL (and fn is empty) if there are none, and
 * *doubted says whether there would be. */
static const uint64_t *find_counts(struct use *u, struct function *fn,
                                   LLVMValueRef f, const char *file,
                                   bool *doubted)
{
	const uint64_t *counts;
	uint32_t nedges;
	size_t n;

	*doubted = false;
	/* strictly counted functions are cut at calls; whether it was one is
	 * not known here */
	for (int strict = 0; strict < 2; strict++) {
		struct mode mode = {.source = true, .strict = strict};

		function_import(fn, f, &mode, u->shim);
		counts = feedback_edges(u->feedback, name_of(f, &n), file,
		                        function_hash(fn), &nedges);
		if (counts && nedges == fn->g.nedges)
			return counts;
		*doubted |= feedback_doubts(u->feedback, name_of(f, &n), file,
		                            function_hash(fn));
		function_release(fn);
	}
	return NULL;
}

/* The ways out of a block; cases with the same target share its count. */
static void weigh_block(const struct function *fn, block_id b,
                        const uint64_t *counts)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(fn->nodes[b].block);
	unsigned n = LLVMGetNumSuccessors(end);
	const struct cfg *g = &fn->g;
	uint64_t *weight = xcalloc(n, sizeof(*weight));
	bool ran = false;

	for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++) {
		edge_id e = g->out[i];
		unsigned first = fn->edges[e].successor, same = 0, left;
		LLVMBasicBlockRef to;

		if (g->edges[e].dst == CFG_OUTSIDE) /* a call that ended it */
			continue;
		to = LLVMGetSuccessor(end, first);
		for (unsigned k = first; k < n; k++)
			same += LLVMGetSuccessor(end, k) == to;
		left = (unsigned)(counts[e] % same);
		for (unsigned k = first; k < n; k++) {
			if (LLVMGetSuccessor(end, k) != to)
				continue;
			weight[k] = counts[e] / same + (left > 0);
			left -= left > 0;
		}
		ran |= counts[e] > 0;
	}
	if (ran)
		shim_set_weights(end, weight, n);
	free(weight);
}

static uint64_t count_of(const struct cfg *g, block_id b,
                         const uint64_t *counts)
{
	uint64_t sum = 0;

	for (uint32_t i = g->in_at[b]; i < g->in_at[b + 1]; i++)
		sum += counts[g->in[i]];
	return sum;
}

static bool ends_block(const struct function *fn, block_id b)
{
	return b + 1 == fn->g.nblocks ||
	       fn->nodes[b + 1].block != fn->nodes[b].block;
}

static bool begins_block(const struct function *fn, block_id b)
{
	return b == 1 || fn->nodes[b - 1].block != fn->nodes[b].block;
}

/*
 * In loops with several entries, and where flow ends in calls, frequencies that
 * follow from the weights are not those that were counted.  The entry count
 * makes their sum right.
 */
static void correct_entries(struct use *u, const struct function *fn,
                            const uint64_t *counts)
{
	double sum = 0, estimate = 0, scale;

	shim_forget(u->shim, fn->f);
	shim_prepare(u->shim, fn->f);
	for (block_id b = 1; b < fn->g.nblocks; b++) {
		if (!begins_block(fn, b))
			continue;
		sum += (double)count_of(&fn->g, b, counts);
		estimate += (double)shim_estimate(u->shim, fn->nodes[b].block);
	}
	if (!(estimate > 0))
		return;
	scale = sum / estimate;
	if (scale > 1 - ESTIMATE_OFF && scale < 1 + ESTIMATE_OFF)
		return;
	scale = scale * (double)counts[0] + 0.5;
	shim_set_entries(fn->f, scale < 1 ? 1 : (uint64_t)scale);
}

static void apply(struct use *u, struct function *fn, const uint64_t *counts)
{
	uint64_t most = 0;

	for (block_id b = 1; b < fn->g.nblocks; b++) {
		LLVMBasicBlockRef block = fn->nodes[b].block;
		uint64_t count = count_of(&fn->g, b, counts);

		if (count > most)
			most = count;
		if (ends_block(fn, b) &&
		    LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(block)) >
		            1)
			weigh_block(fn, b, counts);
	}
	shim_set_entries(fn->f, counts[0]);
	if (counts[0] >= u->hot)
		shim_set_temperature(fn->f, true);
	else if (most <= u->cold)
		shim_set_temperature(fn->f, false);
	if (most)
		correct_entries(u, fn, counts);
}

static void note_changed(struct use *u, const char *name)
{
	char *more;

	if (u->nchanged++ >= CHANGED_NAMES)
		return;
	more = xasprintf("%s%s%s", u->changed ? u->changed : "",
	                 u->changed ? ", " : "", name);
	free(u->changed);
	u->changed = more;
}

static void use_function(struct use *u, LLVMValueRef f)
{
	size_t n;
	const char *name = name_of(f, &n);
	char *file = path_of_function(f);
	bool is_main = !strcmp(name, "main");
	bool known = feedback_knows(u->feedback, name, file);
	const uint64_t *counts = NULL;
	bool doubted = false;
	struct function fn;

	u->nfunctions++;
	u->has_main |= is_main;
	u->nothers += known && !is_main;
	if (known) {
		function_prepare(f, u->shim);
		counts = find_counts(u, &fn, f, file, &doubted);
	}
	if (counts) {
		u->nused++;
		apply(u, &fn, counts);
		function_release(&fn);
	} else if (doubted) {
		u->ndoubted++;
	} else if (known) {
		note_changed(u, name);
	}
	free(file);
}

static void add_count(void *context, uint64_t count, bool is_entry)
{
	shim_summary_add(context, count, is_entry);
}

static int set_summary(struct use *u, struct cairn_err *err)
{
	struct shim_summary *s = shim_summary_new();
	bool any;

	feedback_each_block(u->feedback, add_count, s);
	any = shim_summary_set(s, u->module, &u->hot, &u->cold);
	shim_summary_free(s);
	if (any)
		return CAIRN_OK;
	return cairn_fail(err, CAIRN_E_MISMATCH,
	                  "cairn: %s: has no count to go by: nothing that it "
	                  "counts ran, or cairn check finds it wrong; run the "
	                  "program on typical input",
	                  u->path);
}

/*
 * Every program has a main, and a file may be new, or its one function changed.
 * But if no function of a file with main is as it was, and most are not even
 * known by name, then the profile is of another program.
 */
static bool is_of_another(const struct use *u)
{
	return u->has_main && !u->nused && !u->ndoubted && u->nfunctions > 1 &&
	       2 * u->nothers < u->nfunctions - 1;
}

static void warn(struct use *u, char *text)
{
	shim_say(u->module, true, text);
	free(text);
}

static int conclude(struct use *u, struct cairn_err *err)
{
	size_t n;
	const char *source = LLVMGetSourceFileName(u->module, &n);

	if (is_of_another(u))
		return cairn_fail(err, CAIRN_E_MISMATCH,
		                  "cairn: %s: is the profile of another "
		                  "program, for it has no function of %s as it "
		                  "is now; make a new one, or leave out "
		                  "--cairn-use",
		                  u->path, source);
	if (u->ndoubted)
		warn(u,
		     xasprintf("cairn: %s: the counts of %u of %u functions of "
		               "%s contradict each other (cairn check says "
		               "where): they are compiled without it",
		               u->path, u->ndoubted, u->nfunctions, source));
	if (u->nchanged)
		warn(u, xasprintf("cairn: %u of %u functions of %s changed "
		                  "since %s was made: they are compiled "
		                  "without it (%s%s)",
		                  u->nchanged, u->nfunctions, source, u->path,
		                  u->changed,
		                  u->nchanged > CHANGED_NAMES ? ", ..." : ""));
	else if (!u->nused && !u->ndoubted && u->nfunctions)
		warn(u, xasprintf("cairn: %s has none of the %u functions of "
		                  "%s: they are compiled without it",
		                  u->path, u->nfunctions, source));
	return CAIRN_OK;
}

static int use_module(struct use *u, struct cairn_err *err)
{
	CAIRN_TRY(feedback_open_source(u->path, &u->feedback, err));
	CAIRN_TRY(set_summary(u, err));
	shim_note_assembly(u->module); /* as in the build that counted */
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f;
	     f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f) && !shim_why_not(f))
			use_function(u, f);
	return conclude(u, err);
}

bool cairn_plugin_use(LLVMModuleRef module, struct shim *s, const char *path,
                      char *message, size_t n)
{
	struct use u = {.module = module, .shim = s, .path = path};
	struct cairn_err err = {0};

	if (shim_has_summary(module)) /* bitcode that has been here before */
		return false;
	if (use_module(&u, &err) < 0)
		snprintf(message, n, "%s", err.text);
	feedback_free(u.feedback);
	free(u.changed);
	return true;
}
