/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report in the format of callgrind (its manual, "Callgrind Format
 * Specification"), for callgrind_annotate and KCachegrind: costs by line, calls
 * with how often they were made, jumps.  The event Ir is an executed
 * instruction of LLVM's IR.  What a call cost with all that it called is shared
 * out by calls (analysis/inclusive.h).
 *
 * Calls through pointers have no callee: they are left out.
 */
#include "cli/costs.h"

#include "abi/map.h"
#include "analysis/callgraph.h"
#include "analysis/counts.h"
#include "analysis/inclusive.h"
#include "base/alloc.h"
#include "base/text.h"
#include "cli/report.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	const struct report *r;
	struct inclusive *x;
	FILE *out;
	const struct report_row *row;
	uint32_t file; /* that lines belong to now */
};

static const char *file_name(const struct writer *w, const struct map *m,
                             uint32_t file)
{
	const char *path = map_string(m, file);

	return *path ? report_path(w->r, path) : "???";
}

/* Lines that follow are of this file. */
static void set_file(struct writer *w, uint32_t file)
{
	if (file == w->file)
		return;
	text_print(w->out, "%s=%s\n", file == w->row->f->file ? "fe" : "fi",
	           file_name(w, w->row->map, file));
	w->file = file;
}

static int by_file(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void put_costs(struct writer *w)
{
	size_t n, next;
	struct cost *c = costs_of(w->row, &n);

	if (n)
		qsort(c, n, sizeof(*c), by_file);
	for (size_t i = 0; i < n; i = next) {
		uint64_t sum = 0;

		for (next = i; next < n && !by_file(&c[i], &c[next]); next++)
			sum += c[next].instructions;
		if (!sum)
			continue;
		set_file(w, c[i].file);
		text_print(w->out, "%" PRIu32 " %" PRIu64 "\n", c[i].line, sum);
	}
	free(c);
}

static void put_call(struct writer *w, const struct call *c)
{
	const struct map_outcall *o = &w->row->map->outcalls[c->outcall];
	const struct map *m = NULL;
	const struct map_function *f = NULL;
	char *name = report_name(w->r, c->name);

	if (c->to.module != CALLGRAPH_NONE) {
		m = w->r->profile->modules[c->to.module].map;
		f = &m->functions[c->to.function];
	}
	set_file(w, o->line ? o->file : w->row->f->file);
	if (!f || m != w->row->map || f->file != w->file)
		text_print(w->out, "cfi=%s\n",
		           f ? file_name(w, m, f->file) : "???");
	text_print(w->out, "cfn=%s\n", name);
	text_print(w->out,
	           "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32 " %" PRIu64 "\n",
	           c->count, f ? f->line : 0,
	           o->line ? o->line : w->row->f->line,
	           inclusive_call(w->x, c));
	free(name);
}

static void put_calls(struct writer *w)
{
	const struct callgraph *c = w->r->calls;
	size_t n, first = callgraph_from(
	                  c, (struct call_end){w->row->module, w->row->index},
	                  &n);

	for (size_t i = first; i < first + n; i++)
		if (c->items[i].name && c->items[i].known && c->items[i].count)
			put_call(w, &c->items[i]);
}

/* --- jumps -----------------------------------------------------------------
 */

/* The first or last line of a block that is of the function's own code. */
static uint32_t line_of(const struct report_row *row, uint32_t block, bool last)
{
	const struct map *m = row->map;
	const struct map_block *b = &m->blocks[row->f->first_block + block];
	const struct map_segment *s = &m->segments[b->first_segment];
	const struct map_segment *end = s + b->nsegments - 1;
	uint32_t n = end->first_line + end->nlines - s->first_line;
	uint32_t found = 0;

	for (uint32_t i = 0; i < n && (last || !found); i++) {
		const struct map_line *l = &m->lines[s->first_line + i];

		if (!l->instance && l->file == row->f->file && l->line)
			found = l->line;
	}
	return found;
}

static bool is_choice(uint32_t kind)
{
	return kind == CAIRN_EDGE_TRUE || kind == CAIRN_EDGE_FALSE ||
	       kind == CAIRN_EDGE_CASE || kind == CAIRN_EDGE_DEFAULT ||
	       kind == CAIRN_EDGE_INDIRECT;
}

/* Jumps between lines of the function itself: the format has no place for
 * those within one line. */
static void put_jump(struct writer *w, uint32_t e)
{
	const struct report_row *row = w->row;
	uint32_t at = row->f->first_edge + e;
	const struct map_edge *me = &row->map->edges[at];
	uint32_t from, to, block = row->f->first_block + me->src;

	if (!me->src || !me->dst || !row->cm->edge_known[at] ||
	    !row->cm->edge[at] || !row->cm->block_known[block])
		return;
	from = line_of(row, me->src, true);
	to = line_of(row, me->dst, false);
	if (!from || !to || from == to)
		return;
	set_file(w, row->f->file);
	if (is_choice(me->kind))
		text_print(w->out, "jcnd=%" PRIu64 "/%" PRIu64,
		           row->cm->edge[at], row->cm->block[block]);
	else
		text_print(w->out, "jump=%" PRIu64, row->cm->edge[at]);
	text_print(w->out, " %" PRIu32 "\n%" PRIu32 "\n", to, from);
}

static void put_function(struct writer *w, const struct report_row *row)
{
	w->row = row;
	w->file = row->f->file;
	text_print(w->out, "\nfl=%s\nfn=%s\n",
	           file_name(w, row->map, row->f->file), row->name);
	put_costs(w);
	put_calls(w);
	for (uint32_t e = 0; e < row->f->nedges; e++)
		put_jump(w, e);
}

void report_callgrind(const struct report *r, FILE *out)
{
	struct writer w = {.r = r, .out = out};
	const char *command = r->profile->command;
	uint64_t total = 0;

	w.x = inclusive_new(r->counts, r->calls);
	for (size_t i = 0; i < r->nrows; i++)
		total += r->rows[i].r->instructions;
	text_print(out, "# callgrind format\nversion: 1\ncreator: cairn %s\n",
	           CAIRN_VERSION);
	if (command && !r->options.stable)
		text_print(out, "cmd: %s\n", command);
	text_print(out,
	           "desc: Trigger: Program termination\npositions: line\n"
	           "event: Ir : executed instructions of LLVM IR\nevents: Ir\n"
	           "summary: %" PRIu64 "\n",
	           total);
	for (size_t i = 0; i < r->nrows; i++)
		if (r->rows[i].r->instructions)
			put_function(&w, &r->rows[i]);
	text_print(out, "\ntotals: %" PRIu64 "\n", total);
	inclusive_free(w.x);
}
