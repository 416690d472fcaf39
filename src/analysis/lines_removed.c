/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of which an inlined copy that ran has no code.
 *
 * The optimizer removes what it can compute from arguments, and what cannot
 * run.  If a function was inlined and its own code, which is there for other
 * files, was never called, a line may have code only where it did not run.  It
 * may have run in the inlined copy, where nothing is left to count.  Its count
 * is then not known.
 *
 * An inlined copy ran if a line of it has a count, or of one inlined into it.
 * Copies are of one function if their definitions are the same.
 *
 * Invariant: a line with a count keeps it.
 * Breaks when: nothing at all is left of a copy, or only code that did not run:
 * the map does not say then that there was one, or that it ran.
 * Cost: O(n) in copies of lines and in inlined copies.
 */
#include "analysis/lines_removed.h"

#include "analysis/counts.h"
#include "analysis/lines.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct finder {
	struct lines *lines;
	const struct profile *profile;
	struct strtab definitions;
	size_t *first;        /* per module: its instances, in has_run */
	bool *has_run;        /* per instance */
	uint32_t n;           /* definitions of which an instance ran */
	uint64_t *copies_run; /* per definition: instances that ran */
	uint64_t *with_line;  /* the same, of those with code of one line */
};

static const struct map *map_of(const struct finder *x, uint32_t module)
{
	return x->profile->modules[module].map;
}

static uint32_t definition(struct finder *x, const struct map *m, uint32_t name,
                           uint32_t file, uint32_t line)
{
	char *text = xasprintf("%s\n%s\n%" PRIu32, map_string(m, name),
	                       map_string(m, file), line);
	uint32_t id = strtab_add(&x->definitions, text, strlen(text));

	free(text);
	return id;
}

/* The definition of which a copy of a line is. */
static uint32_t definition_of(struct finder *x, const struct line_copy *c)
{
	const struct map *m = map_of(x, c->module);
	const struct map_function *f = &m->functions[c->function];
	const struct map_instance *k;

	if (!c->instance)
		return definition(x, m, f->name, f->file, f->line);
	k = &m->instances[f->first_instance + c->instance - 1];
	return definition(x, m, k->name, k->file, k->line);
}

static bool *has_run(const struct finder *x, const struct line_copy *c)
{
	const struct map_function *f =
	        &map_of(x, c->module)->functions[c->function];

	return &x->has_run[x->first[c->module] + f->first_instance +
	                   c->instance - 1];
}

/* What ran has run in what it was inlined into. */
static void find_callers(struct finder *x, uint32_t module)
{
	const struct map *m = map_of(x, module);

	for (uint32_t i = 0; m && i < m->nfunctions; i++) {
		const struct map_function *f = &m->functions[i];
		bool *ran = x->has_run + x->first[module] + f->first_instance;

		for (uint32_t k = f->ninstances; k--;) {
			uint32_t parent =
			        m->instances[f->first_instance + k].parent;

			if (parent && parent <= k)
				ran[parent - 1] |= ran[k];
		}
	}
}

static void find_run(struct finder *x)
{
	uint32_t nmodules = x->profile->nmodules;
	size_t n = 0;

	x->first = xcalloc((size_t)nmodules + 1, sizeof(*x->first));
	for (uint32_t i = 0; i < nmodules; i++) {
		x->first[i] = n;
		n += map_of(x, i) ? map_of(x, i)->ninstances : 0;
	}
	x->has_run = xcalloc(n + 1, sizeof(*x->has_run));
	for (size_t i = 0; i < x->lines->ncopies; i++) {
		const struct line_copy *c = &x->lines->copies[i];

		if (c->instance && c->count)
			*has_run(x, c) = true;
	}
	for (uint32_t i = 0; i < nmodules; i++)
		find_callers(x, i);
}

/* Counts copies of each definition that ran. */
static void count_run(struct finder *x)
{
	uint32_t nmodules = x->profile->nmodules, *of = NULL;
	size_t n = 0, cap = 0;

	for (uint32_t i = 0; i < nmodules; i++) {
		const struct map *m = map_of(x, i);

		for (uint32_t k = 0; m && k < m->ninstances; k++) {
			const struct map_instance *at = &m->instances[k];

			if (!x->has_run[x->first[i] + k])
				continue;
			VEC_RESERVE(of, n, cap);
			of[n++] =
			        definition(x, m, at->name, at->file, at->line);
		}
	}
	x->n = x->definitions.n;
	x->copies_run = xcalloc((size_t)x->n + 1, sizeof(*x->copies_run));
	x->with_line = xcalloc((size_t)x->n + 1, sizeof(*x->with_line));
	for (size_t i = 0; i < n; i++)
		x->copies_run[of[i]]++;
	free(of);
}

/* Is there one that ran and has no code of the line? */
static bool is_removed(struct finder *x, const struct line_count *l)
{
	const struct line_copy *c = x->lines->copies + l->first_copy;
	uint32_t *of = xcalloc(l->ncopies, sizeof(*of));
	bool found = false;

	for (size_t i = 0; i < l->ncopies; i++) {
		of[i] = definition_of(x, &c[i]);
		if (of[i] < x->n && c[i].instance && *has_run(x, &c[i]))
			x->with_line[of[i]]++;
	}
	for (size_t i = 0; i < l->ncopies; i++)
		found |= of[i] < x->n &&
		         x->with_line[of[i]] < x->copies_run[of[i]];
	for (size_t i = 0; i < l->ncopies; i++)
		if (of[i] < x->n)
			x->with_line[of[i]] = 0;
	free(of);
	return found;
}

void lines_removed(struct lines *l, const struct counts *c)
{
	struct finder x = {.lines = l, .profile = c->profile};

	find_run(&x);
	count_run(&x);
	for (size_t i = 0; i < l->n; i++)
		if (!l->items[i].count && l->items[i].known &&
		    is_removed(&x, &l->items[i]))
			l->items[i].known = false;
	strtab_release(&x.definitions);
	free(x.first);
	free(x.has_run);
	free(x.copies_run);
	free(x.with_line);
}
