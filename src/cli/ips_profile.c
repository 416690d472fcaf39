/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Path segments from the profile of a build with paths,calls=: its paths, in
 * terms of the functions before calls were inlined.  And the second scheme of
 * section 3.5.2 of the thesis: call sites that may be on a segment, of a run
 * whose order nobody knows.
 */
#include "cli/ips.h"

#include "analysis/frames.h"
#include "analysis/path_counts.h"
#include "analysis/segment_build.h"
#include "base/alloc.h"
#include "base/err.h"
#include "cli/cli.h"
#include "cli/demangle.h"
#include "cli/ips_blocks.h"
#include "format/listed.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- lines --------------------------------------------------------------- */

struct place {
	struct segments_step step;
	const struct map *map;
	const struct map_function *function;
	const struct map_block *block;
};

struct ips_blocks {
	struct place *items;
	size_t n, cap;
	bool is_sorted;
};

struct ips_blocks *ips_blocks_new(void)
{
	return xcalloc(1, sizeof(struct ips_blocks));
}

void ips_blocks_free(struct ips_blocks *b)
{
	if (!b)
		return;
	free(b->items);
	free(b);
}

void ips_blocks_add(struct ips_blocks *b, const struct map *map,
                    const struct map_function *f, const uint32_t *copy)
{
	for (uint32_t i = 1; i < f->nblocks; i++) {
		const struct map_block *block =
		        &map->blocks[f->first_block + i];

		for (uint32_t k = 0; k < block->norigins; k++) {
			const struct map_origin *o =
			        &map->origins[block->first_origin + k];

			VEC_RESERVE(b->items, b->n, b->cap);
			b->items[b->n++] = (struct place){
			        {copy[o->copy], o->block}, map, f, block};
		}
	}
}

static int by_step(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->step.copy != y->step.copy)
		return x->step.copy < y->step.copy ? -1 : 1;
	return x->step.block < y->step.block ? -1
	                                     : x->step.block > y->step.block;
}

static const struct place *find_place(const struct ips_blocks *b,
                                      const struct segments_step *step)
{
	struct place key = {.step = *step};

	return bsearch(&key, b->items, b->n, sizeof(*b->items), by_step);
}

const char *ips_blocks_way_out(const struct ips_blocks *b,
                               const struct segments_step *step)
{
	const struct place *p = find_place(b, step);

	return p ? ips_way_out(p->map, p->function,
	                       (uint32_t)(p->block - p->map->blocks -
	                                  p->function->first_block))
	         : "return";
}

void ips_blocks_lines(const struct ips_blocks *b,
                      const struct segments_step *step,
                      void (*visit)(void *context, const char *file,
                                    const struct map_line *line),
                      void *context)
{
	const struct place *p = find_place(b, step);

	for (uint32_t s = 0; p && s < p->block->nsegments; s++) {
		const struct map_segment *segment =
		        &p->map->segments[p->block->first_segment + s];

		for (uint32_t i = 0; i < segment->nlines; i++) {
			const struct map_line *l =
			        &p->map->lines[segment->first_line + i];

			if (l->line)
				visit(context, map_string(p->map, l->file), l);
		}
	}
}

/* --- counts -------------------------------------------------------------- */

static void take_paths(struct ips *x, const struct segment_build_function *f,
                       const struct path_counts *pc)
{
	struct path path = {0};
	struct segments_one one;

	for (size_t i = 0; i < pc->n; i++) {
		if (paths_decode(&pc->paths, pc->items[i].number, &path, NULL) <
		    0)
			continue;
		segment_build_read(f, pc->g, &path, &one);
		one.count = pc->items[i].count;
		if (one.nsteps)
			segments_count(&x->s, &one);
		free((void *)(uintptr_t)one.steps);
	}
	path_release(&path);
}

static void take_function(struct ips *x, const struct profile *p,
                          const struct segment_build_function *f)
{
	struct frame_places places;
	struct path_counts pc;

	if (f->f->paths == CAIRN_PATHS_NONE)
		return;
	frames_place(&places, p, f->module);
	if (path_counts_init(&pc, &p->modules[f->module], f->index, &places)) {
		take_paths(x, f, &pc);
		x->nother += pc.nother;
		x->nlost += pc.nlost;
		path_counts_release(&pc);
	}
	frames_release(&places);
}

static void name_functions(struct ips *x, const struct segment_list *l)
{
	x->nfunctions = l->nfunctions;
	x->keys = xcalloc((size_t)l->nfunctions + 1, sizeof(*x->keys));
	x->names = xcalloc((size_t)l->nfunctions + 1, sizeof(*x->names));
	for (uint32_t i = 0; i < l->nfunctions; i++) {
		x->keys[i] = l->functions[i].key;
		x->names[i] = x->options.no_demangle
		                      ? NULL
		                      : demangle(x->keys[i].name);
		if (!x->names[i])
			x->names[i] = xstrdup(x->keys[i].name);
	}
}

static int no_build(const struct profile *p, struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_MISMATCH,
	                  "%s: has neither a trace nor path segments; build "
	                  "the program with --cairn=trace, or with "
	                  "--cairn=paths,calls=D",
	                  p->program);
}

int ips_from_profile(struct ips *x, struct profile *p,
                     const struct ips_options *o, struct cairn_err *err)
{
	struct segment_build *b = xcalloc(1, sizeof(*b));

	*x = (struct ips){.options = *o, .is_profile = true, .build = b};
	x->program = p->program;
	segment_build_init(b, p);
	if (!b->n)
		return no_build(p, err);
	name_functions(x, &b->list);
	segments_init_planned(&x->s, NULL, x->nfunctions);
	for (uint32_t i = x->nfunctions; i < b->list.ncopies; i++)
		segments_add_copy(&x->s, b->list.copies[i].parent,
		                  b->list.copies[i].site,
		                  b->list.copies[i].function);
	x->blocks = ips_blocks_new();
	for (uint32_t i = 0; i < b->n; i++) {
		const struct segment_build_function *f = &b->functions[i];

		take_function(x, p, f);
		ips_blocks_add(x->blocks, f->map, f->f, f->copy);
	}
	if (x->blocks->n)
		qsort(x->blocks->items, x->blocks->n, sizeof(*x->blocks->items),
		      by_step);
	ips_sort(x);
	return 0;
}

void ips_forget_build(struct ips *x)
{
	if (!x->build)
		return;
	segment_build_release(x->build);
	free(x->build);
}

/* --- other builds -------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	return key_compare(*(const struct key *const *)a,
	                   *(const struct key *const *)b);
}

/* Per function of the list: the one of x, or SEGMENTS_NONE. */
static uint32_t *match(const struct ips *x, const struct segment_list *l)
{
	const struct key **sorted =
	        xcalloc((size_t)x->nfunctions + 1, sizeof(struct key *));
	uint32_t *of = xcalloc((size_t)l->nfunctions + 1, sizeof(*of));

	for (uint32_t i = 0; i < x->nfunctions; i++)
		sorted[i] = &x->keys[i];
	qsort(sorted, x->nfunctions, sizeof(struct key *), by_key);
	for (uint32_t i = 0; i < l->nfunctions; i++) {
		const struct key *key = &l->functions[i].key;
		const struct key **found =
		        bsearch(&key, sorted, x->nfunctions,
		                sizeof(struct key *), by_key);

		of[i] = found ? (uint32_t)(*found - x->keys) : SEGMENTS_NONE;
	}
	free(sorted);
	return of;
}

static void add_list(struct ips *x, const struct segment_list *l)
{
	uint32_t *of = match(x, l);
	uint32_t *copy = xcalloc((size_t)l->ncopies + 1, sizeof(*copy));

	for (uint32_t i = 0; i < l->ncopies; i++) {
		const struct segments_copy *c = &l->copies[i];

		if (c->parent == SEGMENTS_NONE)
			copy[i] = of[i];
		else if (copy[c->parent] == SEGMENTS_NONE ||
		         of[c->function] == SEGMENTS_NONE)
			copy[i] = SEGMENTS_NONE;
		else
			copy[i] = segments_add_copy(&x->s, copy[c->parent],
			                            c->site, of[c->function]);
	}
	for (uint32_t i = 0; i < l->ncuts; i++) {
		struct segments_cut cut = l->cuts[i];

		cut.from.copy = copy[cut.from.copy];
		cut.to.copy = copy[cut.to.copy];
		if (cut.from.copy != SEGMENTS_NONE &&
		    cut.to.copy != SEGMENTS_NONE)
			segments_add_cut(&x->s, cut);
	}
	free(of);
	free(copy);
}

int ips_add_copies(struct ips *x, struct cli_inputs *inputs, const char *path,
                   struct cairn_err *err)
{
	struct segment_list list;
	struct segment_build b;
	struct profile *p;

	if (listed_is_one(path)) {
		CAIRN_TRY(segment_list_read(&list, path, err));
		add_list(x, &list);
		segment_list_release(&list);
		return 0;
	}
	CAIRN_TRY(profile_open(&p, &path, 1, &inputs->options, err));
	segment_build_init(&b, p);
	add_list(x, &b.list);
	if (!b.n)
		cairn_fail(err, CAIRN_E_MISMATCH,
		           "--like %s: is no profile of a build with "
		           "--cairn=paths,calls=D, nor a list of cairn "
		           "segments",
		           path);
	profile_free(p);
	if (!b.n) {
		segment_build_release(&b);
		return CAIRN_E_MISMATCH;
	}
	segment_build_release(&b);
	return 0;
}

/* --- call sites ---------------------------------------------------------- */

static bool *executed_blocks(const struct profile *p,
                             const struct segment_build_function *f)
{
	bool *executed = xcalloc((size_t)f->f->nblocks + 1, sizeof(*executed));
	struct frame_places places;
	struct path_counts pc;
	struct path path = {0};

	frames_place(&places, p, f->module);
	if (path_counts_init(&pc, &p->modules[f->module], f->index, &places)) {
		for (size_t i = 0; i < pc.n; i++) {
			if (paths_decode(&pc.paths, pc.items[i].number, &path,
			                 NULL) < 0)
				continue;
			for (uint32_t k = 0; k <= path.nedges; k++)
				executed[path_block(&path, pc.g, k)] = true;
		}
		path_release(&path);
		path_counts_release(&pc);
	}
	frames_release(&places);
	return executed;
}

int ips_sites(struct profile *p, uint32_t depth, struct segment_list *l,
              struct cairn_err *err)
{
	struct segment_build b;
	bool **executed;
	int rc = 0;

	segment_build_init(&b, p);
	if (!b.n || b.list.ncopies > b.list.nfunctions) {
		segment_build_release(&b);
		return cairn_fail(err, CAIRN_E_MISMATCH,
		                  "%s: call sites are chosen by a profile of a "
		                  "build in which none is inlined; build the "
		                  "program with --cairn=paths,calls=0",
		                  p->program);
	}
	executed = xcalloc(b.n, sizeof(*executed));
	for (uint32_t i = 0; i < b.n; i++)
		executed[i] = executed_blocks(p, &b.functions[i]);
	if (!segment_build_chain(&b, depth, executed))
		rc = cairn_fail(err, CAIRN_E_LIMIT,
		                "%s: chains of %" PRIu32
		                " calls are more than %u; use a smaller "
		                "--depth",
		                p->program, depth, SEGMENT_BUILD_MAX);
	for (uint32_t i = 0; i < b.n; i++)
		free(executed[i]);
	free(executed);
	if (rc == 0) {
		*l = b.list;
		b.list = (struct segment_list){0};
	}
	segment_build_release(&b);
	return rc;
}
