/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions cost, by line and by stack: what formats of profilers are made
 * of.  The unit is the executed instruction of LLVM's IR, which is exact and
 * the same in every run, unlike time.
 *
 * Invariant: the costs of a function add up to counts_function.instructions,
 * but for what is not known.  Cost: O(n log n) in the lines of a function.
 */
#include "cli/costs.h"

#include "analysis/counts.h"
#include "analysis/inclusive.h"
#include "base/alloc.h"
#include "cli/report.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>

static int by_line(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	if (x->instance != y->instance)
		return x->instance < y->instance ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static size_t sum_costs(struct cost *c, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(c, n, sizeof(*c), by_line);
	for (size_t i = 0; i < n; i++) {
		struct cost *sum = kept ? &c[kept - 1] : NULL;

		if (!sum || by_line(sum, &c[i])) {
			c[kept++] = c[i];
			continue;
		}
		sum->instructions += c[i].instructions;
		if (c[i].count > sum->count)
			sum->count = c[i].count;
	}
	return kept;
}

struct cost *costs_of(const struct report_row *row, size_t *n)
{
	const struct map *m = row->map;
	uint64_t rest = row->r->instructions;
	struct cost *c = NULL;
	size_t cap = 0;

	*n = 0;
	for (uint32_t k = 1; k < row->f->nblocks; k++) {
		const struct map_block *b = &m->blocks[row->f->first_block + k];

		for (uint32_t s = b->first_segment;
		     s < b->first_segment + b->nsegments; s++) {
			const struct map_segment *g = &m->segments[s];
			uint64_t count = row->cm->segment_known[s]
			                         ? row->cm->segment[s]
			                         : 0;

			for (uint32_t i = 0; i < g->nlines; i++) {
				const struct map_line *l =
				        &m->lines[g->first_line + i];
				uint64_t own = count * l->ninstructions;

				if (!l->line)
					continue;
				VEC_RESERVE(c, *n, cap);
				c[(*n)++] = (struct cost){l->instance, l->file,
				                          l->line, own, count};
				rest -= own < rest ? own : rest;
			}
		}
	}
	VEC_RESERVE(c, *n, cap);
	if (rest)
		c[(*n)++] = (struct cost){0, row->f->file, row->f->line, rest,
		                          row->r->entries};
	*n = sum_costs(c, *n);
	return c;
}

struct frame_name *costs_chain(const struct report_row *row, uint32_t instance,
                               size_t *n)
{
	const struct map *m = row->map;
	const struct map_instance *all = m->instances + row->f->first_instance;
	struct frame_name *frames;

	*n = 1;
	for (uint32_t i = instance; i; i = all[i - 1].parent)
		++*n;
	frames = xcalloc(*n, sizeof(*frames));
	frames[0] =
	        (struct frame_name){map_string(m, row->f->name),
	                            map_string(m, row->f->file), row->f->line};
	for (size_t at = *n - 1; instance; instance = all[instance - 1].parent)
		frames[at--] = (struct frame_name){
		        map_string(m, all[instance - 1].name),
		        map_string(m, all[instance - 1].file),
		        all[instance - 1].line};
	return frames;
}

/* --- stacks ----------------------------------------------------------------
 */

struct stacks {
	const struct report *r;
	struct inclusive *x;
	struct call_end *ends; /* by number */
	void (*take)(void *, const struct frame_name *, size_t, uint64_t);
	void *context;
};

/* The functions above one, the outermost first; for the caller to free. */
static struct frame_name *stack_above(const struct stacks *s, uint32_t f,
                                      size_t *n)
{
	struct frame_name *frames;

	*n = 0;
	for (uint32_t i = s->x->parent[f]; i != CALLGRAPH_NONE;
	     i = s->x->parent[i])
		++*n;
	frames = xcalloc(*n, sizeof(*frames));
	for (size_t at = *n; at--;) {
		const struct map *m;
		const struct map_function *k;

		f = s->x->parent[f];
		m = s->r->profile->modules[s->ends[f].module].map;
		k = &m->functions[s->ends[f].function];
		frames[at] =
		        (struct frame_name){map_string(m, k->name),
		                            map_string(m, k->file), k->line};
	}
	return frames;
}

static void take_instance(const struct stacks *s, const struct report_row *row,
                          uint32_t instance, uint64_t instructions)
{
	uint32_t number = s->x->first[row->module] + row->index;
	size_t nabove, nchain;
	struct frame_name *above = stack_above(s, number, &nabove);
	struct frame_name *chain = costs_chain(row, instance, &nchain);

	above = xrealloc(above, nabove + nchain, sizeof(*above));
	for (size_t i = 0; i < nchain; i++)
		above[nabove + i] = chain[i];
	s->take(s->context, above, nabove + nchain, instructions);
	free(above);
	free(chain);
}

static void take_row(const struct stacks *s, const struct report_row *row)
{
	size_t n, next;
	struct cost *c = costs_of(row, &n);

	for (size_t i = 0; i < n; i = next) {
		uint64_t sum = 0;

		for (next = i; next < n && c[next].instance == c[i].instance;
		     next++)
			sum += c[next].instructions;
		if (sum)
			take_instance(s, row, c[i].instance, sum);
	}
	free(c);
}

void costs_stacks(const struct report *r,
                  void (*take)(void *context, const struct frame_name *frames,
                               size_t n, uint64_t instructions),
                  void *context)
{
	struct stacks s = {.r = r, .take = take, .context = context};

	s.x = inclusive_new(r->counts, r->calls);
	s.ends = xcalloc(s.x->n, sizeof(*s.ends));
	for (uint32_t i = 0; i < r->profile->nmodules; i++) {
		const struct map *m = r->profile->modules[i].map;

		for (uint32_t f = 0; m && f < m->nfunctions; f++)
			s.ends[s.x->first[i] + f] = (struct call_end){i, f};
	}
	for (size_t i = 0; i < r->nrows; i++)
		if (r->rows[i].r->instructions)
			take_row(&s, &r->rows[i]);
	free(s.ends);
	inclusive_free(s.x);
}
