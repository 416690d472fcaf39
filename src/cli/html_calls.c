/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a function calls, who calls it, and what was inlined into it: three
 * lists, the greatest first.  A function is its number on the page, or its name
 * if it is not on it.
 *
 * Cost: O(n log n) in the calls of the function.
 */
#include "cli/html.h"

#include "analysis/callgraph.h"
#include "analysis/counts.h"
#include "base/alloc.h"
#include "base/json.h"
#include "cli/report.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

/* All calls from one function to one other. */
struct group {
	struct call_end at; /* the other */
	const char *name;   /* linkage name; NULL: a pointer's */
	uint64_t count;
	bool known;
	uint32_t line; /* of the hottest of them, in the caller; 0: unknown */
	uint64_t most;
	size_t n;
};

static int by_other(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->at.module != y->at.module)
		return x->at.module < y->at.module ? -1 : 1;
	if (x->at.function != y->at.function)
		return x->at.function < y->at.function ? -1 : 1;
	if (!x->name || !y->name)
		return !y->name - !x->name;
	return strcmp(x->name, y->name);
}

static int by_count(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return by_other(a, b);
}

static size_t sum_groups(struct group *g, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(g, n, sizeof(*g), by_other);
	for (size_t i = 0; i < n; i++) {
		struct group *sum = kept ? &g[kept - 1] : NULL;

		if (!sum || by_other(sum, &g[i])) {
			g[kept++] = g[i];
			continue;
		}
		sum->count += g[i].count;
		sum->known &= g[i].known;
		sum->n += g[i].n;
		if (g[i].most > sum->most) {
			sum->most = g[i].most;
			sum->line = g[i].line;
		}
	}
	if (kept)
		qsort(g, kept, sizeof(*g), by_count);
	return kept;
}

static void put_groups(const struct html *h, struct json *j, const char *key,
                       struct group *g, size_t n)
{
	n = sum_groups(g, n);
	json_key(j, key);
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++) {
		const struct report_row *row =
		        g[i].at.module == CALLGRAPH_NONE
		                ? NULL
		                : report_row_of(h->report, g[i].at.module,
		                                g[i].at.function);

		json_begin(j, '[');
		if (row) {
			json_u64(j, (uint64_t)(row - h->report->rows));
		} else {
			char *name = g[i].name
			                     ? report_name(h->report, g[i].name)
			                     : NULL;

			json_string(j, name);
			free(name);
		}
		html_number(j, g[i].count, g[i].known);
		json_u64(j, g[i].n);
		json_u64(j, g[i].line);
		json_end(j, ']');
	}
	json_end(j, ']');
}

static struct group group_of(const struct html *h, const struct call *c)
{
	const struct map *m = h->report->profile->modules[c->from.module].map;

	return (struct group){
	        .at = c->to,
	        .name = c->name,
	        .count = c->count,
	        .known = c->known,
	        .line = m->outcalls[c->outcall].line,
	        .most = c->count,
	        .n = 1,
	};
}

static void put_callers(const struct html *h, struct json *j,
                        const struct report_row *row)
{
	const struct callgraph *c = h->report->calls;
	size_t n, first = callgraph_to(
	                  c, (struct call_end){row->module, row->index}, &n);
	struct group *g = xcalloc(n, sizeof(*g));

	for (size_t i = 0; i < n; i++) {
		const struct call *call = &c->items[c->by_callee[first + i]];
		const struct map *m =
		        h->report->profile->modules[call->from.module].map;

		g[i] = group_of(h, call);
		g[i].at = call->from;
		g[i].name =
		        map_string(m, m->functions[call->from.function].name);
	}
	put_groups(h, j, "callers", g, n);
	free(g);
}

static void put_callees(const struct html *h, struct json *j,
                        const struct report_row *row)
{
	const struct callgraph *c = h->report->calls;
	size_t n, first = callgraph_from(
	                  c, (struct call_end){row->module, row->index}, &n);
	struct group *g = xcalloc(n, sizeof(*g));

	for (size_t i = 0; i < n; i++)
		g[i] = group_of(h, &c->items[first + i]);
	put_groups(h, j, "callees", g, n);
	free(g);
}

/* --- what was inlined ------------------------------------------------------
 */

/* All copies of one function in another. */
struct inlined {
	uint32_t name, file, line; /* strings of the map */
	uint64_t instructions;
	size_t n;
};

static void add_lines(const struct report_row *row, uint64_t *instructions)
{
	const struct map *m = row->map;

	for (uint32_t k = 1; k < row->f->nblocks; k++) {
		const struct map_block *b = &m->blocks[row->f->first_block + k];

		for (uint32_t s = b->first_segment;
		     s < b->first_segment + b->nsegments; s++) {
			const struct map_segment *g = &m->segments[s];
			const struct map_line *l = m->lines + g->first_line;

			for (uint32_t i = 0; i < g->nlines; i++)
				if (row->cm->segment_known[s])
					instructions[l[i].instance] +=
					        row->cm->segment[s] *
					        l[i].ninstructions;
		}
	}
}

static int by_function(const void *a, const void *b)
{
	const struct inlined *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int by_instructions(const void *a, const void *b)
{
	const struct inlined *x = a, *y = b;

	if (x->instructions != y->instructions)
		return x->instructions > y->instructions ? -1 : 1;
	return by_function(a, b);
}

/* Those of one function become one; the number of those that are left. */
static size_t sum_inlined(struct inlined *all, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(all, n, sizeof(*all), by_function);
	for (size_t i = 0; i < n; i++)
		if (kept && !by_function(&all[kept - 1], &all[i])) {
			all[kept - 1].instructions += all[i].instructions;
			all[kept - 1].n++;
		} else {
			all[kept++] = all[i];
		}
	if (kept)
		qsort(all, kept, sizeof(*all), by_instructions);
	return kept;
}

/* Name, source and line, copies, executed instructions of their own code. */
static void put_inlined(struct html *h, struct json *j,
                        const struct report_row *row)
{
	const struct map *m = row->map;
	size_t n = row->f->ninstances;
	uint64_t *instructions = xcalloc(n + 1, sizeof(*instructions));
	struct inlined *all = xcalloc(n, sizeof(*all));

	add_lines(row, instructions);
	for (size_t i = 0; i < n; i++) {
		const struct map_instance *k =
		        &m->instances[row->f->first_instance + i];

		all[i] = (struct inlined){k->name, k->file, k->line,
		                          instructions[i + 1], 1};
	}
	n = sum_inlined(all, n);
	json_key(j, "inlined");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++) {
		char *name = report_name(h->report, map_string(m, all[i].name));

		json_begin(j, '[');
		json_string(j, name);
		if (all[i].file == MAP_NONE)
			json_count(j, 0, false);
		else
			json_u64(j,
			         html_source_of(h, map_string(m, all[i].file),
			                        row->module));
		json_u64(j, all[i].line);
		json_u64(j, all[i].n);
		html_number(j, all[i].instructions, true);
		json_end(j, ']');
		free(name);
	}
	json_end(j, ']');
	free(all);
	free(instructions);
}

void html_put_calls(struct html *h, struct json *j, size_t at)
{
	const struct report_row *row = &h->report->rows[at];

	/* old maps have no calls */
	if (!h->report->calls || !h->report->calls->n)
		return;
	put_callers(h, j, row);
	put_callees(h, j, row);
	put_inlined(h, j, row);
	json_key(j, "instructions");
	html_number(j, row->r->instructions, true);
}
