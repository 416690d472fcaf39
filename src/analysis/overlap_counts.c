/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a profile with pairs to what overlap.h wants.
 *
 * A build with --cairn=paths,overlap counts whole pairs (graph/pairs.h, CALLS
 * chunks), so that all of their second halves is known; bounds of a lower
 * degree are projections.  What has only one half follows from what the paths
 * add up to:
 *
 *   - a path that ended where a loop turns, and is before none: the next one
 *     was never completed;
 *   - a path from the entry that is behind no call: nobody known made the call;
 *   - a call whose callee did not come back to it, or came back and the
 * caller's path did not end.
 *
 * Where a build has no marks (prefer=) a path that begins there is in no pair,
 * and neither is a call: paths that end there, and calls by the counts of their
 * blocks, say how many there were.  Whom a call through a pointer entered
 * nobody knows: it is one of these as long as there are entries that no known
 * call has made.
 *
 * A program that is killed may have counted a pair and not its path: then
 * nothing of the kind is missing.  A child of fork ends paths that its parent
 * has begun, behind paths that only the parent counts: there the sums are not
 * those of the pairs, bounds would be wrong, and it is refused.
 *
 * Calls of what may have marks that were made, by the counts of their blocks,
 * and are in no pair are those of functions without marks, but for callees that
 * have not completed their first path (overlap_unfinished.c).  A tail call
 * (musttail) is none of a known caller: its callee is among those that nobody
 * known entered, and does not come back.
 *
 * Oracle: tests/paths/run.py has the same counts from a log; tests/overlap has
 * a trace of the same program. Cost: O(n log n) for n counts.
 */
#include "analysis/overlap_counts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/counts.h"
#include "analysis/frames.h"
#include "analysis/overlap_plain.h"
#include "analysis/overlap_unfinished.h"
#include "analysis/tagged_calls.h"
#include "base/alloc.h"
#include "base/err.h"
#include "format/calls.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/dag.h"
#include "graph/pairs.h"

static const struct map_function *function_of(const struct profile *p,
                                              const struct overlap_counted *f)
{
	return &p->modules[f->module].map->functions[f->index];
}

/* --- functions and sites ---------------------------------------------------
 */

/* Does it count what is wanted: pairs, or all of its paths? */
static bool is_wanted(const struct overlap_counts *x,
                      const struct map_function *f)
{
	if (!x->profile.is_plain)
		return f->pairs;
	return f->paths == CAIRN_PATHS_DIRECT || f->paths == CAIRN_PATHS_HASHED;
}

/* Bounds are sums of all paths. */
static bool is_sound(const struct path_counts *pc)
{
	return !pc->nlost && !pc->nother && pc->doubt == COUNTS_EXACT;
}

static void add_module(struct overlap_counts *x, const struct profile *p,
                       uint32_t module)
{
	const struct map *map = p->modules[module].map;
	struct frame_places places;

	if (!map)
		return;
	frames_place(&places, p, module);
	for (uint32_t i = 0; i < map->nfunctions; i++) {
		struct overlap_counted f = {.module = module, .index = i};

		if (!is_wanted(x, &map->functions[i]) ||
		    !path_counts_init(&f.pc, &p->modules[module], i, &places))
			continue;
		path_counts_reopen(&f.pc);
		if (x->profile.is_plain && !is_sound(&f.pc)) {
			path_counts_release(&f.pc);
			x->nleft++;
			continue;
		}
		VEC_RESERVE(x->functions, x->n, x->cap);
		x->functions[x->n++] = f;
	}
	frames_release(&places);
}

static void add_sites(struct overlap_counts *x, const struct profile *p)
{
	struct overlap_profile *to = &x->profile;

	for (uint32_t i = 0; i < x->n; i++) {
		const struct map_function *f = function_of(p, &x->functions[i]);
		const struct map *map = p->modules[x->functions[i].module].map;

		x->functions[i].first_site = to->nsites;
		for (uint32_t k = 0; k < f->ncalls; k++) {
			const struct map_site *s =
			        &map->calls[f->first_call + k];

			to->left_out.any |= s->left_out;
			if (!s->cell)
				continue;
			VEC_RESERVE(to->sites, to->nsites, to->sites_cap);
			to->sites[to->nsites++] =
			        (struct overlap_site){i, s->block};
		}
	}
}

/* The function with an address among its counters; x->n if there is none. */
static uint32_t find_function(const struct overlap_counts *x,
                              const struct profile *p, uint32_t module,
                              uint64_t at)
{
	const struct map *map = p->modules[module].map;
	const struct map_function *f = map ? calls_function(map, at) : NULL;
	uint32_t i = 0;

	while (f && i < x->n &&
	       (x->functions[i].module != module ||
	        &map->functions[x->functions[i].index] != f))
		i++;
	return f ? i : x->n;
}

uint32_t overlap_counts_find(const struct overlap_counts *x, struct call_end f)
{
	uint32_t low = 0, high = x->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct overlap_counted *at = &x->functions[middle];

		if (at->module < f.module ||
		    (at->module == f.module && at->index < f.function))
			low = middle + 1;
		else
			high = middle;
	}
	return low < x->n && x->functions[low].module == f.module &&
	                       x->functions[low].index == f.function
	               ? low
	               : x->n;
}

/* --- counts --------------------------------------------------------------- */

static void add_count(struct overlap_counts *x, struct overlap_count c)
{
	struct overlap_profile *to = &x->profile;

	VEC_RESERVE(to->counts, to->ncounts, to->counts_cap);
	to->counts[to->ncounts++] = c;
}

static struct overlap_end end_of(uint32_t function, uint32_t site,
                                 uint64_t number, block_id block)
{
	return (struct overlap_end){function, site, number, block};
}

/* Does the path end where a build without marks would have joined a pair? */
static bool is_left_out(const struct overlap_counts *x, uint32_t i,
                        uint64_t before)
{
	block_id head = overlap_goes_to(&x->graphs[i], before);

	return head != CFG_NONE && overlap_is_left_out(&x->graphs[i], head);
}

static uint64_t rest_of(uint64_t all, uint64_t some)
{
	return all > some ? all - some : 0;
}

/* Pairs of one function, and its paths; adds how many began at the entry. */
static int add_function(struct overlap_counts *x, uint32_t i,
                        uint64_t *nentries, struct cairn_err *err)
{
	const struct path_counts *pc = &x->functions[i].pc;
	struct overlap_profile *to = &x->profile;
	uint64_t before = 0, behind = 0, first = pairs_first(&pc->paths);

	for (size_t k = 0; k < pc->npairs; k++) {
		const struct path_pair *pair = &pc->pairs[k];

		if (is_left_out(x, i, pair->before))
			return cairn_fail(err, CAIRN_E_CORRUPT,
			                  "a pair of paths is counted where "
			                  "there are no marks; run the program "
			                  "again");
		if (overlap_turns(&x->graphs[i], pair->before))
			behind += pair->count;
		to->nin_loops += pair->count;
		if (pair->before < first)
			to->nin_loops += pair->count;
		add_count(x,
		          (struct overlap_count){
		                  OVERLAP_LOOP,
		                  end_of(i, CFG_NONE, pair->before, CFG_NONE),
		                  end_of(i, CFG_NONE, pair->number, CFG_NONE),
		                  pair->count});
	}
	for (size_t k = 0; k < pc->n; k++) {
		const struct path_count *c = &pc->items[k];

		x->npaths += c->count;
		if (is_left_out(x, i, c->number))
			to->left_out.nloops += c->count;
		else if (overlap_turns(&x->graphs[i], c->number))
			before += c->count;
		if (c->number < first)
			*nentries += c->count;
		VEC_RESERVE(to->paths, to->npaths, to->paths_cap);
		to->paths[to->npaths++] =
		        (struct overlap_path){i, CFG_NONE, c->number, c->count};
	}
	to->excluded.nunfinished[OVERLAP_LOOP] += rest_of(before, behind);
	for (size_t k = 0; k < pc->nprefixes; k++) {
		const struct path_prefix *u = &pc->prefixes[k];

		if (!u->is_pending || (int64_t)(u->out - u->in) <= 0)
			continue;
		VEC_RESERVE(to->paths, to->npaths, to->paths_cap);
		to->paths[to->npaths++] = (struct overlap_path){
		        i, u->block, u->sum, u->out - u->in};
	}
	to->left_out.any |= pc->left_out != NULL;
	return 0;
}

static void add_calls(struct overlap_profile *to, uint32_t site,
                      uint32_t callee, const struct profile_call *c)
{
	struct overlap_calls *last =
	        to->ncalls ? &to->calls[to->ncalls - 1] : NULL;

	for (size_t k = to->ncalls; k-- && to->calls[k].site == site;)
		if (to->calls[k].callee == callee)
			last = &to->calls[k];
	if (!last || last->site != site || last->callee != callee) {
		VEC_RESERVE(to->calls, to->ncalls, to->calls_cap);
		last = &to->calls[to->ncalls++];
		*last = (struct overlap_calls){.site = site, .callee = callee};
	}
	if (c->is_return)
		last->nreturns += c->count;
	else
		last->ncalls += c->count;
}

static int add_call(struct overlap_counts *x, const struct profile *p,
                    const struct profile_call *c, struct cairn_err *err)
{
	uint32_t from = find_function(x, p, c->site_module, c->site);
	uint32_t to = find_function(x, p, c->callee_module, c->callee);
	uint64_t high = c->paths >> 32, low = c->paths & UINT32_MAX, cell;
	const struct map_function *f;
	struct overlap_end caller, callee;
	uint32_t site;

	if (from == x->n || to == x->n)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "a call is counted of a function that counts "
		                  "none; run the program again");
	f = function_of(p, &x->functions[from]);
	cell = calls_cell(f, c->site);
	if (cell >= f->ncells)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "a call is counted at no call site; run the "
		                  "program again");
	site = x->functions[from].first_site + (uint32_t)cell;
	add_calls(&x->profile, site, to, c);
	if (c->is_return) {
		caller = end_of(from, site, low, CFG_NONE);
		callee = end_of(to, CFG_NONE, high, CFG_NONE);
		add_count(x, (struct overlap_count){OVERLAP_RETURN, callee,
		                                    caller, c->count});
		return 0;
	}
	caller = end_of(from, site, high, x->profile.sites[site].block);
	callee = end_of(to, CFG_NONE, low, CFG_NONE);
	add_count(x, (struct overlap_count){OVERLAP_CALL, caller, callee,
	                                    c->count});
	return 0;
}

/* All pairs across calls: those of a site follow each other. */
static int add_all_calls(struct overlap_counts *x, const struct profile *p,
                         struct cairn_err *err)
{
	struct tagged_calls calls;
	int rc = 0;

	tagged_calls_begin(&calls, p);
	for (uint32_t i = 0; i < x->n; i++)
		tagged_calls_add(&calls, p, x->functions[i].module,
		                 x->functions[i].index, &x->functions[i].pc);
	tagged_calls_end(&calls);
	for (size_t i = 0; !rc && i < calls.n; i++)
		rc = add_call(x, p, &calls.items[i], err);
	tagged_calls_release(&calls);
	return rc;
}

/* --- all of it -------------------------------------------------------------
 */

static int fill_plain(struct overlap_counts *x, const struct counts *c,
                      struct cairn_err *err)
{
	uint64_t nentries = 0;

	for (uint32_t i = 0; i < x->n; i++)
		CAIRN_TRY(add_function(x, i, &nentries, err));
	overlap_plain_fill(x, c);
	return overlap_profile_check(&x->profile, err);
}

static int fill(struct overlap_counts *x, const struct counts *c,
                struct cairn_err *err)
{
	const struct profile *p = c->profile;
	struct overlap_excluded *excluded = &x->profile.excluded;
	uint64_t nentries = 0, ncalls = 0;
	struct overlap_made made;

	add_sites(x, p);
	for (uint32_t i = 0; i < x->n; i++)
		CAIRN_TRY(add_function(x, i, &nentries, err));
	overlap_note_irreducible(&x->profile);
	CAIRN_TRY(add_all_calls(x, p, err));
	overlap_note_cuts(&x->profile);
	for (size_t i = 0; i < x->profile.ncalls; i++) {
		const struct overlap_calls *k = &x->profile.calls[i];

		ncalls += k->ncalls;
		excluded->nunfinished[OVERLAP_RETURN] +=
		        rest_of(k->ncalls, k->nreturns);
	}
	made = overlap_unfinished_calls(x, c);
	excluded->nunmarked = rest_of(
	        made.nmade, ncalls + excluded->nunfinished[OVERLAP_CALL]);
	excluded->nentered = rest_of(nentries, ncalls) + made.nentries;
	x->profile.left_out.ncalls = made.nleft < excluded->nentered
	                                     ? made.nleft
	                                     : excluded->nentered;
	excluded->nentered -= x->profile.left_out.ncalls;
	return overlap_profile_check(&x->profile, err);
}

int overlap_counts_init(struct overlap_counts *x, const struct counts *c,
                        struct cairn_err *err)
{
	const struct profile *p = c->profile;
	int rc;

	*x = (struct overlap_counts){0};
	if (profile_flags(p) & CAIRN_FILE_FORKED)
		return cairn_fail(
		        err, CAIRN_E_MISMATCH,
		        "it is of a child of fork, which ends paths that "
		        "its parent began, and bounds do not hold for "
		        "it; use a build with --cairn=trace");
	for (uint32_t i = 0; i < p->nmodules; i++)
		add_module(x, p, i);
	x->profile.is_plain = !x->n;
	for (uint32_t i = 0; i < p->nmodules && x->profile.is_plain; i++)
		add_module(x, p, i);
	if (!x->n)
		return cairn_fail(err, CAIRN_E_ABSENT,
		                  "no function of it counts all paths or pairs "
		                  "of them; build the program with "
		                  "--cairn=paths,overlap or --cairn=trace");
	x->graphs = xcalloc(x->n, sizeof(*x->graphs));
	for (uint32_t i = 0; i < x->n; i++) {
		overlap_graph_init(&x->graphs[i], &x->functions[i].pc.paths);
		x->graphs[i].left_out = x->functions[i].pc.left_out;
	}
	x->profile.graphs = x->graphs;
	x->profile.nfunctions = x->n;
	x->profile.is_finished = true;
	rc = x->profile.is_plain ? fill_plain(x, c, err) : fill(x, c, err);
	if (rc < 0)
		overlap_counts_release(x);
	return rc;
}

void overlap_counts_release(struct overlap_counts *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		if (x->graphs)
			overlap_graph_release(&x->graphs[i]);
		path_counts_release(&x->functions[i].pc);
	}
	free(x->graphs);
	free(x->functions);
	overlap_profile_release(&x->profile);
	*x = (struct overlap_counts){0};
}
