/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which calls may be of functions with marks.
 *
 * The map has the names of callees, and the maps of all modules those of the
 * functions with marks, and their aliases.
 *
 * Cost: O(n log n) for n functions; a question O(outcalls of the function).
 */
#include "analysis/reach.h"

#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void reach_init(struct reach *r, const struct profile *p)
{
	size_t cap = 0;

	*r = (struct reach){0};
	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;

		for (uint32_t k = 0; m && k < m->nfunctions; k++) {
			const struct map_function *f = &m->functions[k];

			if (f->flags & CAIRN_FN_NOT_COVERED)
				continue;
			VEC_RESERVE(r->names, r->n, cap);
			r->names[r->n++] = map_string(m, f->name);
			for (uint32_t a = 0; a < f->naliases; a++) {
				VEC_RESERVE(r->names, r->n, cap);
				r->names[r->n++] = map_string(
				        m, m->aliases[f->first_alias + a]);
			}
		}
	}
	if (r->n)
		qsort(r->names, r->n, sizeof(*r->names), by_name);
}

void reach_release(struct reach *r)
{
	free(r->names);
	*r = (struct reach){0};
}

bool reach_call(const struct reach *r, const struct map *m,
                const struct map_function *f, uint32_t block, uint32_t segment)
{
	for (uint32_t i = 0; i < f->noutcalls; i++) {
		const struct map_outcall *o =
		        &m->outcalls[f->first_outcall + i];
		const char *name;

		if (o->block != block || o->segment != segment)
			continue;
		if (o->callee == MAP_NONE)
			return true;
		name = map_string(m, m->callees[o->callee].name);
		if (r->n &&
		    bsearch(&name, r->names, r->n, sizeof(*r->names), by_name))
			return true;
	}
	return false;
}
