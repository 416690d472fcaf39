/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile doctor: rules C9 and C10 of docs/INVARIANTS.md, about paths that
 * follow each other: pairs (graph/pairs.h, CALLS chunks) and windows.
 *
 * Pairs and windows are counted beside the counts of paths, or are parts of
 * them, by other code: what they add up to has to be these counts.  A path that
 * ends is counted, then it is the newest of a window; so windows never have
 * more, and have less only if there was no memory, which windows that were cut
 * tell, or a signal took the frame away in between.  Such frames are recorded:
 * they are the slack of their function.
 *
 * Not checked: the child of a fork, which goes on behind paths that its parent
 * counted; calls of a program that was killed, which may have counted a pair
 * and not yet its path.
 *
 * Cost: O(n log n) for n pairs, windows and their elements, and a walk along
 * each path that ran.
 */
#include "analysis/check.h"

#include "analysis/counts.h"
#include "analysis/frames.h"
#include "analysis/path_counts.h"
#include "analysis/windows.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/dag.h"
#include "graph/overlap.h"

#include <inttypes.h>
#include <stdlib.h>

/* What a path of a function has besides its count. */
struct part {
	block_id begins, goes_to; /* CFG_OUTSIDE; CFG_NONE: out of it */
	uint64_t before, behind;  /* pairs that it is the first, second of */
	uint64_t called, back; /* calls that it was the first, last path of */
	uint64_t windows;      /* that it is the newest of */
};

struct one {
	uint32_t module;
	uint64_t owner; /* first counter */
	const char *name;
	struct path_counts pc;
	struct part *parts; /* parallel to its items */
	bool *is_call;      /* per block: a call that ends paths leads there */
	uint64_t slack;     /* frames that a signal took away */
	bool has_pairs, has_windows;
};

struct joins {
	struct findings *out;
	const struct counts *c;
	bool is_child; /* of a fork */
	struct one *ones;
	size_t n, cap;
};

static const char damaged[] = "likely cause: a damaged file";

/* --- functions -------------------------------------------------------------
 */

static int by_owner(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->owner < y->owner ? -1 : x->owner > y->owner;
}

static struct one *find_one(const struct joins *x, uint32_t module,
                            uint64_t owner)
{
	const struct one key = {.module = module, .owner = owner};

	return x->n ? bsearch(&key, x->ones, x->n, sizeof(key), by_owner)
	            : NULL;
}

static int by_number(const void *a, const void *b)
{
	const struct path_count *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* NULL: the path never ran. */
static struct part *find_part(const struct one *f, uint64_t number)
{
	const struct path_count key = {.number = number};
	const struct path_count *found = NULL;

	if (f->pc.n)
		found = bsearch(&key, f->pc.items, f->pc.n, sizeof(key),
		                by_number);
	return found ? &f->parts[found - f->pc.items] : NULL;
}

static void find_ends(struct one *f, const struct map_edge *edges)
{
	const struct cfg *g = f->pc.g;
	struct overlap_graph graph;

	overlap_graph_init(&graph, &f->pc.paths);
	f->parts = xcalloc(f->pc.n + 1, sizeof(*f->parts));
	for (size_t i = 0; i < f->pc.n; i++) {
		uint64_t number = f->pc.items[i].number;

		f->parts[i].begins = overlap_begins(&graph, number);
		f->parts[i].goes_to = overlap_goes_to(&graph, number);
	}
	overlap_graph_release(&graph);
	f->is_call = xcalloc(g->nblocks, sizeof(*f->is_call));
	for (edge_id e = 0; e < g->nedges; e++)
		f->is_call[g->edges[e].dst] |= edges[e].kind == CAIRN_EDGE_CALL;
}

/* Frames of a function that were stopped between calls. */
static uint64_t slack_of(const struct frame_places *places, uint32_t function)
{
	uint64_t n = 0;

	for (size_t i = 0; i < places->npaths; i++)
		if (places->paths[i].function == function &&
		    places->paths[i].kind == FRAME_PATH_UNKNOWN)
			n += places->paths[i].in + places->paths[i].out;
	return n;
}

static void add_module(struct joins *x, uint32_t module)
{
	const struct profile_module *pm = &x->c->profile->modules[module];
	const struct map *m = pm->map;
	struct frame_places places;

	if (!m)
		return;
	frames_place(&places, x->c->profile, module);
	for (uint32_t i = 0; i < m->nfunctions; i++) {
		const struct map_function *f = &m->functions[i];
		struct one one = {.module = module, .owner = f->counters};

		if ((f->paths != CAIRN_PATHS_DIRECT &&
		     f->paths != CAIRN_PATHS_HASHED) ||
		    counts_is_inconsistent(
		            x->c->modules[module].functions[i].doubt) ||
		    !path_counts_init(&one.pc, pm, i, &places))
			continue;
		path_counts_reopen(&one.pc);
		one.name = map_string(m, f->name);
		one.has_pairs = f->pairs;
		one.slack = slack_of(&places, i);
		find_ends(&one, m->edges + f->first_edge);
		VEC_RESERVE(x->ones, x->n, x->cap);
		x->ones[x->n++] = one;
	}
	frames_release(&places);
}

/* Does a path lead to where another one begins? */
static bool are_joined(const struct part *before, const struct part *behind)
{
	return before && behind && before->goes_to != CFG_NONE &&
	       before->goes_to == behind->begins;
}

/* --- pairs -----------------------------------------------------------------
 */

static void add_pairs(struct joins *x, struct one *f)
{
	for (size_t i = 0; i < f->pc.npairs; i++) {
		const struct path_pair *pair = &f->pc.pairs[i];
		struct part *before = find_part(f, pair->before);
		struct part *behind = find_part(f, pair->number);

		if (behind)
			behind->behind += pair->count;
		if (before)
			before->before += pair->count;
		if ((!before && x->is_child) || are_joined(before, behind))
			continue;
		findings_add(
		        x->out, "C9", f->name,
		        xasprintf("path %" PRIu64
		                  " is counted behind path %" PRIu64
		                  ", which %s; %s",
		                  pair->number, pair->before,
		                  before ? "does not lead there" : "never ran",
		                  damaged));
	}
}

/* Has every execution of a path another one before it, that is counted? */
static bool is_always_behind(const struct one *f, const struct part *p)
{
	return p->begins != CFG_OUTSIDE && !f->is_call[p->begins] &&
	       !(f->pc.left_out && f->pc.left_out[p->begins]);
}

static void check_pairs(struct joins *x, const struct one *f)
{
	for (size_t i = 0; i < f->pc.n; i++) {
		const struct part *p = &f->parts[i];
		uint64_t number = f->pc.items[i].number;
		uint64_t count = f->pc.items[i].count;

		if (p->before > count)
			findings_add(x->out, "C9", f->name,
			             xasprintf("path %" PRIu64 " ran %" PRIu64
			                       " times, and is counted "
			                       "before another %" PRIu64
			                       " times; %s",
			                       number, count, p->before,
			                       damaged));
		if (is_always_behind(f, p) && p->behind < count &&
		    count - p->behind > f->slack)
			findings_add(x->out, "C9", f->name,
			             xasprintf("path %" PRIu64 " ran %" PRIu64
			                       " times, and only %" PRIu64
			                       " times behind another; %s",
			                       number, count, p->behind,
			                       damaged));
	}
}

static void add_calls(struct joins *x)
{
	const struct profile *p = x->c->profile;

	for (size_t i = 0; i < p->ncalls; i++) {
		const struct profile_call *c = &p->calls[i];
		struct one *f = find_one(x, c->callee_module, c->callee);
		uint64_t number =
		        c->is_return ? c->paths >> 32 : c->paths & UINT32_MAX;
		struct part *part = f ? find_part(f, number) : NULL;

		if (!f)
			continue;
		if (!part || (c->is_return ? part->goes_to != CFG_NONE
		                           : part->begins != CFG_OUTSIDE)) {
			findings_add(x->out, "C9", f->name,
			             xasprintf("a call is counted with path "
			                       "%" PRIu64 ", which %s; %s",
			                       number,
			                       !part ? "never ran"
			                       : c->is_return
			                               ? "does not return"
			                               : "does not begin "
			                                 "at the entry",
			                       damaged));
			continue;
		}
		*(c->is_return ? &part->back : &part->called) += c->count;
	}
}

static void check_calls(struct joins *x, const struct one *f)
{
	for (size_t i = 0; i < f->pc.n; i++) {
		const struct part *p = &f->parts[i];
		uint64_t count = f->pc.items[i].count;
		uint64_t most = p->called > p->back ? p->called : p->back;

		if (most <= count || most - count <= f->slack)
			continue;
		findings_add(x->out, "C9", f->name,
		             xasprintf("path %" PRIu64 " ran %" PRIu64
		                       " times, and %" PRIu64
		                       " calls are counted with it; %s",
		                       f->pc.items[i].number, count, most,
		                       damaged));
	}
}

/* --- windows ---------------------------------------------------------------
 */

/* The function and the path of an element. */
struct element {
	struct one *f; /* NULL: nobody knows its paths */
	struct part *part;
};

static struct element *find_elements(struct joins *x, bool *is_cut)
{
	const struct profile_windows *w = &x->c->profile->windows;
	struct window_sums *sums = windows_known(w, w->longest);
	struct element *all = xcalloc((size_t)w->nelements + 1, sizeof(*all));

	*is_cut = false;
	for (uint32_t i = 0; i < w->nelements; i++) {
		const struct profile_element *e = &w->elements[i];

		all[i].f = find_one(x, e->module, e->owner);
		*is_cut |= sums[i].lost != 0;
		if (!all[i].f || e->link) /* or it is a call */
			continue;
		all[i].f->has_windows = true;
		all[i].part = find_part(all[i].f, e->number);
		if (all[i].part)
			all[i].part->windows =
			        sums[i].known + sums[i].first + sums[i].lost;
	}
	free(sums);
	return all;
}

/* What is wrong with the elements of a window; NULL: nothing. */
static const char *wrong_with(const struct profile_windows *w,
                              const struct profile_window *x,
                              const struct element *all)
{
	const struct element *e = &all[w->pool[x->first]];

	for (unsigned i = 0; i < x->len; i++) {
		const struct element *next = &all[w->pool[x->first + i]];

		if (!next->part)
			return "has a path that never ran";
		if (w->of_chains) /* the rest are calls */
			return NULL;
		if (i && (next->f != e->f || !are_joined(next->part, e->part)))
			return "has a path that does not lead to the next";
		e = next;
	}
	/* there was none before the oldest one */
	if (x->is_anchored && x->len < w->longest &&
	    e->part->begins != CFG_OUTSIDE && !e->f->is_call[e->part->begins])
		return "begins with a path that does not begin at the entry";
	return NULL;
}

static void check_elements(struct joins *x, const struct element *all)
{
	const struct profile_windows *w = &x->c->profile->windows;

	for (size_t i = 0; i < w->n && !x->is_child; i++) {
		const struct profile_window *window = &w->items[i];
		const struct element *e = &all[w->pool[window->first]];
		const char *wrong = e->f ? wrong_with(w, window, all) : NULL;

		if (wrong)
			findings_add(
			        x->out, "C10", e->f->name,
			        xasprintf("a sequence of %u paths that ends "
			                  "with path %" PRIu64 " %s; %s",
			                  window->len,
			                  w->elements[w->pool[window->first]]
			                          .number,
			                  wrong, damaged));
	}
}

/* Sums of windows and of paths; `is_all`: none was lost. */
static void check_sums(struct joins *x, const struct one *f, bool is_all)
{
	uint64_t nlost = 0;

	for (size_t i = 0; i < f->pc.n; i++) {
		uint64_t count = f->pc.items[i].count, n = f->parts[i].windows;

		if (n <= count) {
			nlost += count - n;
			continue;
		}
		findings_add(x->out, "C10", f->name,
		             xasprintf("path %" PRIu64 " ran %" PRIu64
		                       " times, and %" PRIu64
		                       " sequences end with it; %s",
		                       f->pc.items[i].number, count, n,
		                       damaged));
	}
	if (is_all && nlost > f->slack)
		findings_add(x->out, "C10", f->name,
		             xasprintf("%" PRIu64 " executions of its paths "
		                       "end no sequence, and there was "
		                       "memory for all; %s",
		                       nlost, damaged));
}

static void check_windows(struct joins *x)
{
	bool is_cut;
	struct element *all = find_elements(x, &is_cut);
	bool is_all = !is_cut && !x->is_child && x->c->doubt == COUNTS_EXACT;

	/* what chains have lost is what is missing */
	is_all &= !x->c->profile->windows.of_chains;
	check_elements(x, all);
	for (size_t i = 0; i < x->n; i++)
		if (x->ones[i].has_windows)
			check_sums(x, &x->ones[i], is_all);
	free(all);
}

/* --- all of it -------------------------------------------------------------
 */

static bool has_joins(const struct profile *p)
{
	if (p->windows.longest || p->ncalls)
		return true;
	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;

		for (uint32_t k = 0; m && k < m->nfunctions; k++)
			if (m->functions[k].pairs)
				return true;
	}
	return false;
}

static void release(struct joins *x)
{
	for (size_t i = 0; i < x->n; i++) {
		path_counts_release(&x->ones[i].pc);
		free(x->ones[i].parts);
		free(x->ones[i].is_call);
	}
	free(x->ones);
}

void check_joins(struct findings *out, const struct counts *c)
{
	const struct profile *p = c->profile;
	struct joins x = {.out = out, .c = c};

	if (!has_joins(p))
		return;
	x.is_child = profile_flags(p) & CAIRN_FILE_FORKED;
	for (uint32_t i = 0; i < p->nmodules; i++)
		add_module(&x, i);
	if (x.n)
		qsort(x.ones, x.n, sizeof(*x.ones), by_owner);
	for (size_t i = 0; i < x.n; i++)
		if (x.ones[i].has_pairs)
			add_pairs(&x, &x.ones[i]);
	if (!x.is_child && c->doubt == COUNTS_EXACT)
		add_calls(&x);
	for (size_t i = 0; i < x.n && !x.is_child; i++) {
		if (x.ones[i].has_pairs)
			check_pairs(&x, &x.ones[i]);
		check_calls(&x, &x.ones[i]);
	}
	if (p->windows.longest)
		check_windows(&x);
	release(&x);
}
