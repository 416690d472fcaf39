/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions as the source has them.  A function that was inlined everywhere has
 * no code of its own and so no place in the map: it is found through its
 * copies, which say what was inlined.
 *
 * Invariant: instructions of a function are those of lines of its own copy, not
 * of what was inlined into it, so that all bodies add up to what ran, but for
 * instructions without a line.  Cost: O(n log n) in copies, O(n) in lines.
 */
#include "analysis/bodies.h"

#include "analysis/counts.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

/* The copies of one function of the map: itself, then its instances. */
static struct body *begin_copies(const struct map *m, uint32_t module,
                                 uint32_t function)
{
	const struct map_function *f = &m->functions[function];
	struct body *b = xcalloc(f->ninstances + (size_t)1, sizeof(*b));

	for (uint32_t i = 0; i <= f->ninstances; i++) {
		const struct map_instance *k =
		        i ? &m->instances[f->first_instance + i - 1] : NULL;

		b[i] = (struct body){
		        .name = map_string(m, k ? k->name : f->name),
		        .file = map_string(m, k ? k->file : f->file),
		        .line = k ? k->line : f->line,
		        .last = k ? k->line : f->line,
		        .module = module,
		        .function = function,
		        .ncopies = 1,
		        .ninlined = k != NULL,
		        .is_whole = !k,
		};
	}
	return b;
}

static void add_line(struct body *b, const struct map *m,
                     const struct map_line *l, uint64_t count)
{
	b += l->instance;
	b->instructions += count * l->ninstructions;
	if (count > b->most)
		b->most = count;
	if (l->line > b->last && !strcmp(map_string(m, l->file), b->file))
		b->last = l->line;
}

static void add_lines(struct body *b, const struct map *m,
                      const struct map_function *f,
                      const struct counts_module *cm)
{
	for (uint32_t k = 1; k < f->nblocks; k++) {
		const struct map_block *mb = &m->blocks[f->first_block + k];

		for (uint32_t s = 0; s < mb->nsegments; s++) {
			uint32_t at = mb->first_segment + s;
			const struct map_segment *g = &m->segments[at];

			for (uint32_t i = 0; i < g->nlines; i++)
				add_line(b, m, &m->lines[g->first_line + i],
				         cm->segment_known[at] ? cm->segment[at]
				                               : 0);
		}
	}
}

static int by_source(const void *a, const void *b)
{
	const struct body *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (!order)
		order = x->line < y->line ? -1 : x->line > y->line;
	if (!order)
		order = strcmp(x->name, y->name);
	return order;
}

static void sum_bodies(struct bodies *b)
{
	size_t kept = 0;

	if (b->n)
		qsort(b->items, b->n, sizeof(*b->items), by_source);
	for (size_t i = 0; i < b->n; i++) {
		const struct body *x = &b->items[i];
		struct body *sum = kept ? &b->items[kept - 1] : NULL;

		if (!sum || by_source(sum, x)) {
			b->items[kept++] = *x;
			continue;
		}
		if (x->is_whole && !sum->is_whole) {
			sum->module = x->module;
			sum->function = x->function;
			sum->is_whole = true;
		}
		sum->instructions += x->instructions;
		sum->ncopies += x->ncopies;
		if (x->most > sum->most)
			sum->most = x->most;
		sum->ninlined += x->ninlined;
		if (x->last > sum->last)
			sum->last = x->last;
	}
	b->n = kept;
}

struct bodies *bodies_new(const struct counts *c)
{
	struct bodies *b = xcalloc(1, sizeof(*b));
	size_t cap = 0;

	for (uint32_t i = 0; i < c->profile->nmodules; i++) {
		const struct map *m = c->profile->modules[i].map;

		for (uint32_t k = 0; m && k < m->nfunctions; k++) {
			const struct map_function *f = &m->functions[k];
			struct body *copies = begin_copies(m, i, k);

			add_lines(copies, m, f, &c->modules[i]);
			for (uint32_t n = 0; n <= f->ninstances; n++) {
				if (!*copies[n].file || !copies[n].line)
					continue;
				VEC_RESERVE(b->items, b->n, cap);
				b->items[b->n++] = copies[n];
			}
			free(copies);
		}
	}
	sum_bodies(b);
	return b;
}

void bodies_free(struct bodies *b)
{
	if (!b)
		return;
	free(b->items);
	free(b);
}
