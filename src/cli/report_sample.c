/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as a sample profile of LLVM, in its text form, for clang
 * -fprofile-sample-use and llvm-profdata merge --sample (llvm/ProfileData/
 * SampleProfReader.h has the grammar).  A count of a line is how often it ran,
 * exactly, where a sampler has a number of samples.
 *
 * A function is its own lines, by distance from its first one, and below the
 * lines that called them what was inlined: the compiler inlines the same calls
 * again and finds their counts there.  Copies of one call (of an unrolled loop)
 * are listed one by one; the reader adds them up.
 *
 * Two static functions of one name are one to the reader.
 */
#include "cli/costs.h"

#include "analysis/callgraph.h"
#include "analysis/counts.h"
#include "base/alloc.h"
#include "base/text.h"
#include "cli/report.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>

/* Distances of lines have 16 bits (SampleProf.h, getOffset). */
#define OFFSET_MASK 0xffffu

struct sampler {
	const struct report *r;
	const struct report_row *row;
	FILE *out;
	struct cost *costs; /* of the row, by instance */
	size_t n;
	size_t first_call, ncalls; /* of the row, in r->calls */
};

static const struct map_instance *instance(const struct sampler *s, uint32_t i)
{
	return &s->row->map->instances[s->row->f->first_instance + i - 1];
}

static uint32_t line_of(const struct sampler *s, uint32_t i)
{
	return i ? instance(s, i)->line : s->row->f->line;
}

/* Samples of an instance and of all that was inlined into it. */
static uint64_t total_of(const struct sampler *s, uint32_t i)
{
	uint64_t total = 0;

	for (size_t k = 0; k < s->n; k++)
		if (s->costs[k].instance == i)
			total += s->costs[k].count;
	for (uint32_t k = i + 1; k <= s->row->f->ninstances; k++)
		if (instance(s, k)->parent == i)
			total += total_of(s, k);
	return total;
}

/* " callee:count" for all calls by name of a line. */
static void put_targets(const struct sampler *s, const struct cost *c)
{
	for (size_t i = 0; i < s->ncalls; i++) {
		const struct call *call =
		        &s->r->calls->items[s->first_call + i];
		const struct map_outcall *o =
		        &s->row->map->outcalls[call->outcall];

		if (call->name && call->known && call->count &&
		    o->instance == c->instance && o->file == c->file &&
		    o->line == c->line)
			text_print(s->out, " %s:%" PRIu64, call->name,
			           call->count);
	}
}

static void indent(const struct sampler *s, unsigned depth)
{
	for (unsigned i = 0; i < depth; i++)
		putc(' ', s->out);
}

/* The body of an instance, then what was inlined into it.  The recursion is as
 * deep as calls were inlined into each other. */
static void put_body(const struct sampler *s, uint32_t i, unsigned depth)
{
	uint32_t begin = line_of(s, i);

	for (size_t k = 0; k < s->n; k++) {
		const struct cost *c = &s->costs[k];

		if (c->instance != i || c->line < begin)
			continue;
		indent(s, depth);
		text_print(s->out, "%" PRIu32 ": %" PRIu64,
		           (c->line - begin) & OFFSET_MASK, c->count);
		put_targets(s, c);
		putc('\n', s->out);
	}
	for (uint32_t k = i + 1; k <= s->row->f->ninstances; k++) {
		const struct map_instance *copy = instance(s, k);

		if (copy->parent != i || copy->call_line < begin || !copy->line)
			continue;
		indent(s, depth);
		text_print(s->out, "%" PRIu32 ": %s:%" PRIu64 "\n",
		           (copy->call_line - begin) & OFFSET_MASK,
		           map_string(s->row->map, copy->name), total_of(s, k));
		put_body(s, k, depth + 1);
	}
}

static void put_function(const struct report *r, const struct report_row *row,
                         FILE *out)
{
	struct sampler s = {.r = r, .row = row, .out = out};

	s.costs = costs_of(row, &s.n);
	s.first_call = callgraph_from(
	        r->calls, (struct call_end){row->module, row->index},
	        &s.ncalls);
	text_print(out, "%s:%" PRIu64 ":%" PRIu64 "\n",
	           map_string(row->map, row->f->name), total_of(&s, 0),
	           row->r->entries);
	put_body(&s, 0, 1);
	free(s.costs);
}

void report_sample(const struct report *r, FILE *out)
{
	for (size_t i = 0; i < r->nrows; i++) {
		const struct report_row *row = &r->rows[i];

		if (row->r->executions && row->f->line)
			put_function(r, row, out);
	}
}
