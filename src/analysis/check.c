/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile doctor: rules F (files), M (maps) and C (counts) of
 * docs/INVARIANTS.md over a profile that could be opened.
 *
 * What flow conservation finds is a function; what the user needs is a cause.
 * The cause is guessed from what the files say about how they ended, from the
 * most to the least likely.
 */
#include "analysis/check.h"

#include "analysis/counts.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"
#include "graph/tags.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

void findings_add(struct findings *out, const char *rule, const char *where,
                  char *what)
{
	VEC_RESERVE(out->items, out->n, out->cap);
	out->items[out->n++] = (struct finding){rule, xstrdup(where), what};
}

/* Strict functions stay exact when frames were not looked at, unless they count
 * paths. */
static bool needs_frames(const struct profile *p)
{
	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;

		for (uint32_t f = 0; m && f < m->nfunctions; f++)
			if (m->functions[f].paths != CAIRN_PATHS_NONE ||
			    !(m->functions[f].flags &
			      (CAIRN_FN_STRICT | CAIRN_FN_NOT_COVERED)))
				return true;
	}
	return false;
}

/* What a trace that was never closed has not. */
static const char *missing_of(const struct profile_file *f)
{
	return f->flags & CAIRN_FILE_LAST
	               ? "what each thread did behind its last branch"
	               : "what each thread did since it last wrote to the "
	                 "trace";
}

static void check_end(struct findings *out, const struct profile_file *f)
{
	if (f->state == CAIRN_STATE_OPEN && f->has_trace)
		findings_add(
		        out, "F1", f->name,
		        xasprintf(
		                "the file was never closed, so %s is missing: "
		                "the program was killed (SIGKILL, out of "
		                "memory, "
		                "power) or still runs",
		                missing_of(f)));
	else if (f->flags & CAIRN_FILE_UNFINISHED && f->has_trace)
		findings_add(
		        out, "F1", f->name,
		        xasprintf(
		                "%s is missing: the program was killed, "
		                "crashed, ended while others of its threads "
		                "ran, or still ran; of a recording, or a "
		                "handler jumped away from what it interrupted",
		                missing_of(f)));
	else if (f->state == CAIRN_STATE_OPEN)
		findings_add(out, "F1", f->name,
		             xstrdup("the file was never closed, so derived "
		                     "counts may "
		                     "miss one per active frame, and turns of "
		                     "a loop "
		                     "that it was in: the program was killed "
		                     "(SIGKILL, "
		                     "out of memory, power) or still runs"));
	else if (f->flags & CAIRN_FILE_UNFINISHED)
		findings_add(
		        out, "F1", f->name,
		        xstrdup("it was merged or packed from a file that was "
		                "never closed, so derived counts may miss one "
		                "per "
		                "active frame: a program was killed or still "
		                "ran"));
}

static void check_file(struct findings *out, const struct profile_file *f,
                       bool frames_matter)
{
	if (f->truncated)
		findings_add(
		        out, "F5", f->name,
		        xasprintf("the file ends at byte %" PRIu64
		                  ", only what is before was read: it was cut "
		                  "when it was copied, or the disk was full",
		                  f->cut));
	if (frames_matter)
		check_end(out, f);
	if (frames_matter && (f->flags & CAIRN_FILE_FRAMES_LOST))
		findings_add(out, "F2", f->name,
		             xstrdup("frames died that could not be recorded: "
		                     "frames without unwind information, more "
		                     "places than the table holds, or a "
		                     "stack protector that found its canary "
		                     "changed"));
	if (frames_matter && f->unwalked)
		findings_add(
		        out, "F3", f->name,
		        xasprintf(
		                "%" PRIu32 " threads or frames could not be "
		                "looked at when "
		                "the program ended: a frame without unwind "
		                "information, a thread that blocks signals, or "
		                "a fiber that was not running",
		                f->unwalked));
	if (f->flags & CAIRN_FILE_TRUNCATED && f->has_trace)
		findings_add(
		        out, "F4", f->name,
		        xstrdup("the trace ended before the program did, in "
		                "some "
		                "threads or in all: the disk was full, a limit "
		                "(ulimit -f) was reached, there was no "
		                "memory, or a privileged program had given up "
		                "the right to write there"));
	else if (f->flags & CAIRN_FILE_TRUNCATED)
		findings_add(
		        out, "F4", f->name,
		        xstrdup("the file could not grow while the program "
		                "ran, "
		                "so some threads were not counted: the disk "
		                "was "
		                "full or a limit (ulimit -f) was reached"));
	if (f->nunsealed)
		findings_add(out, "F6", f->name,
		             xasprintf("%" PRIu32 " chunks have no checksum "
		                       "although the file was "
		                       "closed: a thread was still counting",
		                       f->nunsealed));
}

static void check_module(struct findings *out, const struct profile_module *m)
{
	if (m->missing)
		findings_add(out, "M1", m->path, xstrdup(m->missing));
	else if (!m->nid)
		findings_add(
		        out, "M2", m->path,
		        xstrdup("the module has no build id, so nobody can "
		                "tell "
		                "whether its map belongs to it: link without "
		                "--build-id=none"));
}

static const char *likely_cause(const struct counts *c,
                                const struct profile_module *m)
{
	switch (c->doubt) {
	case COUNTS_INCOMPLETE:
		return "part of the counts is missing";
	case COUNTS_OPEN:
	case COUNTS_TRACE_OPEN:
	case COUNTS_TRACE_LAST:
		return "the program was killed or still runs";
	case COUNTS_LOST:
		return "a frame without unwind information died";
	case COUNTS_UNWALKED:
		return "a frame without unwind information, or a thread that "
		       "could not be reached";
	default:
		break;
	}
	if (!m->nid)
		return "the program was rebuilt since it ran";
	return "stacks that the program switches by itself (fibers, "
	       "swapcontext), a frame without unwind information, or a damaged "
	       "file";
}

static const char *rule_of(enum counts_doubt doubt)
{
	switch (doubt) {
	case COUNTS_NEGATIVE:
		return "C2";
	case COUNTS_UNSOLVABLE:
		return "C3";
	case COUNTS_UNLOCATED:
	case COUNTS_HELD:
	case COUNTS_TRACE_CUT:
	case COUNTS_PATH_UNKNOWN:
		return "C4";
	case COUNTS_PATH_LOST:
		return "C6";
	case COUNTS_PATH_IMPOSSIBLE:
		return "C7";
	case COUNTS_PATH_MAP:
		return "M3";
	default:
		return "C1";
	}
}

static char *describe(const struct counts *c, const struct profile_module *m,
                      const struct map_function *f,
                      const struct counts_function *r)
{
	const char *reason = counts_reason(r->doubt);
	const char *cause = likely_cause(c, m);

	if (r->bad_edge != UINT32_MAX && r->doubt == COUNTS_NEGATIVE) {
		const struct map_edge *e =
		        &m->map->edges[f->first_edge + r->bad_edge];

		return xasprintf("%s (edge %" PRIu32 ", from block %" PRIu32
		                 " to %" PRIu32 "); likely cause: %s",
		                 reason, r->bad_edge, e->src, e->dst, cause);
	}
	if (r->doubt == COUNTS_HELD || r->doubt == COUNTS_UNLOCATED ||
	    r->doubt == COUNTS_TRACE_CUT || r->doubt == COUNTS_PATH_UNKNOWN)
		return xstrdup(reason);
	if (r->doubt == COUNTS_PATH_LOST)
		return xasprintf("%s (%" PRIu64 " times)", reason, r->nlost);
	if (r->doubt == COUNTS_PATH_IMPOSSIBLE)
		return xasprintf("%s (number %" PRIu64
		                 "); likely cause: a damaged file",
		                 reason, r->bad_path);
	if (r->doubt == COUNTS_PATH_MAP)
		return xasprintf("%s; likely cause: built by another version "
		                 "of cairn-cc",
		                 reason);
	if (r->bad_block != UINT32_MAX)
		return xasprintf("%s (block %" PRIu32 "); likely cause: %s",
		                 reason, r->bad_block, cause);
	return xasprintf("%s; likely cause: %s", reason, cause);
}

/* A segment that ran less than never: more frames died in a call than made
 * it. */
static bool has_hidden_segment(const struct counts_module *cm,
                               const struct map *m,
                               const struct map_function *f)
{
	for (uint32_t b = 1; b < f->nblocks; b++) {
		const struct map_block *mb = &m->blocks[f->first_block + b];

		for (uint32_t s = 0; s < mb->nsegments; s++)
			if (cm->block_known[f->first_block + b] &&
			    !cm->segment_known[mb->first_segment + s])
				return true;
	}
	return false;
}

static void check_functions(struct findings *out, const struct counts *c,
                            uint32_t module)
{
	const struct profile_module *pm = &c->profile->modules[module];
	const struct counts_module *cm = &c->modules[module];

	for (uint32_t i = 0; i < pm->map->nfunctions; i++) {
		const struct map_function *f = &pm->map->functions[i];
		const struct counts_function *r = &cm->functions[i];
		const char *name = map_string(pm->map, f->name);

		if (counts_is_inconsistent(r->doubt))
			findings_add(out, rule_of(r->doubt), name,
			             describe(c, pm, f, r));
		else if (has_hidden_segment(cm, pm->map, f))
			findings_add(
			        out, "C5", name,
			        xasprintf(
			                "more frames died in a call than made "
			                "it; likely cause: %s",
			                likely_cause(c, pm)));
	}
}

/* --- the order of first occurrences --------------------------------------- */

static int by_path(const void *a, const void *b)
{
	const struct profile_first *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* The function with a table whose words are at this address; NULL if there is
 * none. */
static const struct map_function *table_function(const struct map *m,
                                                 uint64_t owner)
{
	for (uint32_t i = 0; i < m->nfunctions; i++) {
		const struct map_function *f = &m->functions[i];

		if (f->counters == owner && f->ncounters &&
		    f->paths != CAIRN_PATHS_NONE &&
		    f->paths != CAIRN_PATHS_DIRECT)
			return f;
	}
	return NULL;
}

static const char *owner_name(const struct profile *p, uint32_t module,
                              uint64_t owner)
{
	const struct map *m = p->modules[module].map;
	const struct map_function *f = table_function(m, owner);

	return f ? map_string(m, f->name) : p->modules[module].path;
}

/* 1 + the greatest number that a function may count in its table; of one that
 * counts pairs, with tags, no number is too great for a path. */
static uint64_t last_key(const struct map_function *f)
{
	return f->pairs ? TAGS_LIMIT : f->npaths;
}

/* Records, sorted by path, of paths that are none. */
static void check_records(struct findings *out, const struct profile *p,
                          const struct profile_first *items)
{
	const struct map_function *f = NULL;

	for (size_t i = 0; i < p->order.n; i++) {
		const struct profile_first *x = &items[i];
		const struct map *m = p->modules[x->module].map;

		if (!m)
			continue;
		if (!i || x[-1].module != x->module || x[-1].owner != x->owner)
			f = table_function(m, x->owner);
		if (!f || x->key > last_key(f))
			findings_add(
			        out, "C8", owner_name(p, x->module, x->owner),
			        xasprintf("the order of first occurrences has "
			                  "path %" PRIu64
			                  ", and there is no such path; likely "
			                  "cause: a damaged file",
			                  x->key - 1));
	}
}

/* Paths of a module that were counted and have no record. */
static void check_recorded(struct findings *out, const struct profile *p,
                           const struct profile_first *items, uint32_t module)
{
	const struct profile_module *m = &p->modules[module];
	uint64_t nmissing = 0;

	for (size_t i = 0; i < m->npaths; i++) {
		const struct profile_path *path = &m->paths[i];
		const struct profile_first key = {.module = module,
		                                  .owner = path->owner,
		                                  .key = path->key};

		nmissing += path->key &&
		            (!p->order.n || !bsearch(&key, items, p->order.n,
		                                     sizeof(key), by_path));
		if (!nmissing ||
		    (i + 1 < m->npaths && m->paths[i + 1].owner == path->owner))
			continue;
		findings_add(
		        out, "C8", owner_name(p, module, path->owner),
		        xasprintf(
		                "%" PRIu64
		                " of its paths were counted and are not in the "
		                "order of first occurrences, which was not "
		                "full; "
		                "likely cause: a damaged file",
		                nmissing));
		nmissing = 0;
	}
}

static void check_order(struct findings *out, const struct profile *p)
{
	const struct profile_order *o = &p->order;
	struct profile_first *items = xcalloc(o->n + 1, sizeof(*items));

	for (size_t i = 0; i < o->n; i++)
		items[i] = o->items[i];
	qsort(items, o->n, sizeof(*items), by_path);
	check_records(out, p, items);
	for (uint32_t i = 0; !o->nleft_out && i < p->nmodules; i++)
		if (p->modules[i].map)
			check_recorded(out, p, items, i);
	free(items);
}

static void add_contradictions(struct findings *out, const struct counts *c)
{
	if (c->profile->order.is_there)
		check_order(out, c->profile);
	check_joins(out, c);
}

void check_profile(struct findings *out, const struct counts *c)
{
	const struct profile *p = c->profile;
	bool frames_matter = needs_frames(p);

	*out = (struct findings){0};
	for (size_t i = 0; i < p->nfiles; i++)
		check_file(out, &p->files[i], frames_matter);
	if (!p->nmodules)
		findings_add(out, "F7", p->files[0].name,
		             xstrdup("it is an empty run: the process ended "
		                     "before it counted anything, or has only "
		                     "just begun"));
	for (uint32_t i = 0; i < p->nmodules; i++) {
		check_module(out, &p->modules[i]);
		if (p->modules[i].map)
			check_functions(out, c, i);
	}
	add_contradictions(out, c);
}

void check_contradictions(struct findings *out, const struct counts *c)
{
	*out = (struct findings){0};
	add_contradictions(out, c);
}

void findings_release(struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->items[i].where);
		free(f->items[i].what);
	}
	free(f->items);
	*f = (struct findings){0};
}
