/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hot paths as text: a table, and below it each path in terms of the source:
 * where it begins, how its branches went, where it ends, which lines it ran.
 */
#include "cli/hot.h"

#include "abi/map.h"
#include "analysis/counts.h"
#include "base/alloc.h"
#include "base/text.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Paths that are shown in detail unless the user wants all. */
#define SHOWN_PATHS 10

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* The last part of a path: enough for somebody who knows the program. */
static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void print_place(FILE *out, const struct report_row *row, uint32_t file,
                        uint32_t line)
{
	if (line)
		text_print(out, "%s:%" PRIu32, base(map_string(row->map, file)),
		           line);
	else
		text_print(out, "?");
}

static void print_first(FILE *out, const struct report_row *row, block_id b)
{
	uint32_t file, line = hot_first_line(row, b, &file);

	print_place(out, row, file, line);
}

static void print_last(FILE *out, const struct report_row *row, block_id b,
                       uint32_t nsegments)
{
	uint32_t file, line = hot_last_line(row, b, nsegments, &file);

	print_place(out, row, file, line);
}

static void print_ranges(FILE *out, const struct report_row *row,
                         const struct hot_lines *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct hot_lines *l = &lines[i];

		if (!i || l->file != l[-1].file)
			text_print(out, "%s%s:", i ? " " : "",
			           base(map_string(row->map, l->file)));
		else
			putc(',', out);
		text_print(out, "%" PRIu32, l->first);
		if (l->last != l->first)
			text_print(out, "-%" PRIu32, l->last);
	}
}

/* From the first to the last line in the file that the path begins in. */
static void print_summary(FILE *out, const struct report_row *row,
                          const struct hot_lines *lines, size_t n)
{
	uint32_t first = 0, last = 0;

	for (size_t i = 0; i < n; i++) {
		if (lines[i].file != lines[0].file)
			continue;
		if (!first || lines[i].first < first)
			first = lines[i].first;
		if (lines[i].last > last)
			last = lines[i].last;
	}
	print_ranges(
	        out, row,
	        &(struct hot_lines){n ? lines[0].file : MAP_NONE, first, last},
	        n ? 1 : 0);
}

static void print_begin(FILE *out, const struct hot_function *f,
                        const struct path *path)
{
	switch (hot_begin_of(f, path)) {
	case HOT_FROM_ENTRY:
		text_print(out, "the entry of the function");
		return;
	case HOT_FROM_LOOP:
		text_print(out, "the loop head at ");
		break;
	case HOT_FROM_CALL:
		text_print(out, "a call that ends paths, at ");
		break;
	case HOT_FROM_GOTO:
		text_print(out, "where a computed goto led, at ");
		break;
	case HOT_FROM_CUT:
		text_print(out, "behind a cut, at ");
		break;
	}
	print_first(out, f->row, path->first);
}

static void print_end(FILE *out, const struct hot_function *f,
                      const struct hot_path *p, const struct path *path)
{
	static const char *const texts[] = {
	        [HOT_RETURN] = "returns, at ",
	        [HOT_TAIL] = "a tail call, at ",
	        [HOT_NORETURN] = "a call that never returns, at ",
	        [HOT_RESUME] = "an exception passed on, at ",
	        [HOT_BACK] = "goes back to ",
	        [HOT_CALL] = "before the call at ",
	        [HOT_GOTO] = "computed goto to ",
	        [HOT_CUT] = "cut before ",
	        [HOT_UNFINISHED] = "unfinished, at ",
	};
	enum hot_end end = hot_end_of(f, path);
	block_id to = path_block(path, f->pc.g, path->nedges);

	text_print(out, "%s", texts[end]);
	if (end == HOT_BACK || end == HOT_GOTO || end == HOT_CUT ||
	    end == HOT_CALL) {
		print_first(out, f->row, to);
		return;
	}
	if (path->nedges && to == CFG_OUTSIDE)
		to = f->pc.g->edges[path->edges[path->nedges - 1]].src;
	print_last(out, f->row, to, p->is_prefix ? p->segment + 1 : UINT32_MAX);
}

/* What there is to say about a kind of edge but where it goes. */
static const char *way_name(uint32_t kind)
{
	return kind == CAIRN_EDGE_TRUE || kind == CAIRN_EDGE_FALSE
	               ? ""
	               : hot_edge_name(kind);
}

void hot_text_way(const struct hot_function *f, FILE *out, edge_id e)
{
	const struct map_edge *edge =
	        &f->row->map->edges[f->row->f->first_edge + e];
	const char *name = way_name(edge->kind);
	uint32_t file, from, line = hot_way_line(f, e, &file);

	text_print(out, "%s", name);
	/* a call returns by one way only */
	if (!edge->src || !edge->dst || edge->kind == CAIRN_EDGE_NORMAL)
		return;
	text_print(out, "%sto ", *name ? " " : "");
	hot_last_line(f->row, edge->src, UINT32_MAX, &from);
	if (!line)
		text_print(out, "block %" PRIu32, edge->dst);
	else if (file == from)
		text_print(out, "%" PRIu32, line);
	else
		print_place(out, f->row, file, line);
}

static void print_branches(FILE *out, const struct hot_function *f,
                           const struct path *path)
{
	const struct map_edge *edges =
	        f->row->map->edges + f->row->f->first_edge;
	bool any = false;

	text_print(out, "    branches ");
	for (uint32_t i = 0; i < path->nedges; i++) {
		const struct map_edge *e = &edges[path->edges[i]];

		if (!hot_is_choice(f, path->edges[i]))
			continue;
		text_print(out, "%s", any ? ", " : "");
		print_last(out, f->row, e->src, UINT32_MAX);
		putc(' ', out);
		hot_text_way(f, out, path->edges[i]);
		any = true;
	}
	text_print(out, "%s\n", any ? "" : "none");
}

void hot_text_path(const struct hot *h, FILE *out, const struct hot_path *p)
{
	const struct hot_function *f = &h->functions[p->function];
	struct hot_lines *lines;
	struct path path = {0};
	size_t n;

	hot_decode(h, p, &path);
	n = hot_list_lines(h, p, &path, &lines);
	text_print(out, "    begins   ");
	print_begin(out, f, &path);
	text_print(out, "\n");
	print_branches(out, f, &path);
	text_print(out, "    ends     ");
	print_end(out, f, p, &path);
	text_print(out, "\n    lines    ");
	print_ranges(out, f->row, lines, n);
	text_print(out, "%s\n", n ? "" : "none known");
	free(lines);
	path_release(&path);
}

static void print_details(const struct hot *h, FILE *out,
                          const struct hot_path *p, size_t number)
{
	const struct hot_function *f = &h->functions[p->function];

	text_print(out, "\n");
	if (number)
		text_print(out, "#%zu %s, path %" PRIu64 " of %" PRIu64 "\n",
		           number, f->row->name, p->number, f->row->f->npaths);
	else
		text_print(out, "%s, %" PRId64 " frame%s\n", f->row->name,
		           (int64_t)p->count, p->count == 1 ? "" : "s");
	hot_text_path(h, out, p);
}

void hot_text_summary(const struct hot *h, FILE *out, const struct hot_path *p)
{
	struct hot_lines *lines;
	struct path path = {0};
	size_t n;

	hot_decode(h, p, &path);
	n = hot_list_lines(h, p, &path, &lines);
	print_summary(out, h->functions[p->function].row, lines, n);
	free(lines);
	path_release(&path);
}

void hot_text_lines(const struct hot *h, FILE *out, const struct hot_path *p)
{
	struct hot_lines *lines;
	struct path path = {0};
	size_t n;

	hot_decode(h, p, &path);
	n = hot_list_lines(h, p, &path, &lines);
	print_ranges(out, h->functions[p->function].row, lines, n);
	free(lines);
	path_release(&path);
}

static void print_share(FILE *out, uint64_t part, uint64_t whole, bool is_known)
{
	if (is_known)
		text_print(out, " %6.2f", percent(part, whole));
	else
		text_print(out, " %6s", "-");
}

static void print_row(const struct hot *h, FILE *out, const struct hot_path *p)
{
	bool is_known = (int64_t)p->count >= 0; /* or it contradicts others */

	if (is_known)
		text_print(out, "%20" PRIu64, p->count);
	else
		text_print(out, "%20s", "?");
	print_share(out, p->count, h->executions,
	            is_known && hot_knows_executions(h));
	print_share(out, p->count * p->nblocks, h->blocks,
	            is_known && hot_knows_blocks(h));
	text_print(out, " %6" PRIu64 "  %s  ", p->nblocks,
	           h->functions[p->function].row->name);
	hot_text_summary(h, out, p);
	text_print(out, "\n");
}

/* Paths that there are, or UINT64_MAX if they are more than can be counted. */
static uint64_t count_possible(const struct hot *h)
{
	uint64_t n = 0;

	for (size_t i = 0; i < h->nfunctions; i++) {
		uint64_t more = h->functions[i].row->f->npaths;

		n = n > UINT64_MAX - more ? UINT64_MAX : n + more;
	}
	return n;
}

static void print_doubts(const struct hot *h, FILE *out)
{
	const char *note = report_note(h->report);
	uint64_t ndoubtful = 0;

	for (size_t i = 0; i < h->nfunctions; i++)
		ndoubtful +=
		        counts_is_inconsistent(h->functions[i].row->r->doubt);
	if (note)
		text_print(out, "note       %s\n", note);
	if (ndoubtful)
		text_print(out,
		           "note       functions whose counts are in doubt: "
		           "%" PRIu64 "; cairn check says why\n",
		           ndoubtful);
}

/* What was counted, and what was not counted one by one. */
static void print_executions(const struct hot *h, FILE *out)
{
	uint64_t selected = 0;

	text_print(out,
	           "executions %" PRIu64 " of paths, %" PRIu64 " of blocks%s\n",
	           h->executions, h->blocks,
	           hot_knows_blocks(h) ? "" : " that are known");
	for (size_t i = 0; i < h->npaths; i++)
		selected += h->paths[i].count;
	if (selected + h->others < h->executions && !h->is_residual)
		text_print(out,
		           "selected   %" PRIu64
		           " of these executions of paths, %.2f %%\n",
		           selected, percent(selected, h->executions));
	if (h->others)
		text_print(
		        out,
		        "other      %" PRIu64
		        " of these executions, %.2f %%, are of paths that are "
		        "not preferred\n",
		        h->others, percent(h->others, h->executions));
	if (h->is_residual)
		text_print(
		        out,
		        "note       functions of a residual build count only "
		        "paths that no test took: shares are not known\n");
}

static void print_head(const struct hot *h, FILE *out)
{
	uint64_t executed = 0, ncuts = 0, cut = 0, unknown = 0;
	uint64_t died = 0, begun = 0, others = 0;

	for (size_t i = 0; i < h->nprefixes; i++) {
		died += h->prefixes[i].count + h->prefixes[i].begun;
		begun += h->prefixes[i].begun;
	}
	for (size_t i = 0; i < h->nfunctions; i++) {
		executed += h->functions[i].pc.n;
		ncuts += h->functions[i].row->f->ncuts;
		cut += h->functions[i].row->f->ncuts > 0;
		unknown += h->functions[i].pc.nunknown;
		others += hot_only(&h->functions[i]) != NULL;
	}
	text_print(out,
	           "functions  %zu\n"
	           "paths      %" PRIu64 " executed of %" PRIu64 "%s\n",
	           h->nfunctions, executed, count_possible(h),
	           others ? ", and others that are not counted one by one"
	                  : "");
	print_executions(h, out);
	if (died || unknown)
		text_print(out,
		           "unfinished %" PRId64 " frames on known paths, "
		           "%" PRIu64 " on unknown ones\n",
		           (int64_t)died, unknown);
	if (begun)
		text_print(out,
		           "resumed    %" PRId64 " frames began in the middle "
		           "(setjmp, fork)\n",
		           (int64_t)begun);
	if (ncuts)
		text_print(out,
		           "cut        %" PRIu64 " edges in %" PRIu64
		           " functions\n",
		           ncuts, cut);
	print_doubts(h, out);
}

/* --- functions with preferred paths ------------------------------------- */

static uint64_t sum_counts(const struct hot_function *f)
{
	uint64_t sum = f->pc.nother;

	for (size_t i = 0; i < f->pc.n; i++)
		sum += f->pc.items[i].count;
	return sum;
}

static int by_other(const void *a, const void *b)
{
	const struct hot_function *x = *(struct hot_function *const *)a;
	const struct hot_function *y = *(struct hot_function *const *)b;

	if (x->pc.nother != y->pc.nother)
		return x->pc.nother > y->pc.nother ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void print_function(FILE *out, const struct hot_function *f)
{
	uint64_t sum = sum_counts(f);

	text_print(out,
	           "%20" PRIu64 " %6.2f %20" PRIu64 " %9" PRIu32 " %8" PRIu32
	           " %6.2f  %s\n",
	           f->pc.nother, percent(f->pc.nother, sum), sum,
	           f->row->f->nslots, f->row->f->slots_size, hot_delta(f),
	           f->row->name);
}

/* What the functions did not count one by one, and how much room the rest
 * took. */
static void print_preferred(const struct hot *h, FILE *out)
{
	const struct hot_function **list =
	        xcalloc(h->nfunctions + 1, sizeof(struct hot_function *));
	size_t n = 0, shown;

	for (size_t i = 0; i < h->nfunctions; i++)
		if (h->functions[i].row->f->paths == CAIRN_PATHS_PREFERRED)
			list[n++] = &h->functions[i];
	qsort(list, n, sizeof(*list), by_other);
	shown = n < h->options.top ? n : h->options.top;
	if (n)
		text_print(out,
		           "\nfunctions with preferred paths: executions of "
		           "others; delta is counters / preferred\n"
		           "%20s %6s %20s %9s %8s %6s  function\n",
		           "other", "other%", "executions", "preferred",
		           "counters", "delta");
	for (size_t i = 0; i < shown; i++)
		print_function(out, list[i]);
	if (shown < n)
		text_print(out, "%20s (%zu more; --top 0 shows all)\n", "",
		           n - shown);
	free(list);
}

void hot_text(const struct hot *h, FILE *out)
{
	const struct hot_options *o = &h->options;
	size_t shown = h->npaths < o->top ? h->npaths : o->top;

	print_head(h, out);
	text_print(out, "\n%20s %6s %6s %6s  function  lines\n", "count",
	           "paths%", "block%", "blocks");
	for (size_t i = 0; i < shown; i++)
		print_row(h, out, &h->paths[i]);
	if (shown < h->npaths)
		text_print(out, "%20s (%zu more; --top 0 shows all)\n", "",
		           h->npaths - shown);
	if (!h->npaths && h->nprefixes && !o->unfinished)
		text_print(
		        out,
		        "%20s (only unfinished paths: %zu; --unfinished shows "
		        "them)\n",
		        "", h->nprefixes);
	print_preferred(h, out);
	for (size_t i = 0; i < shown && (o->all_details || i < SHOWN_PATHS);
	     i++)
		print_details(h, out, &h->paths[i], i + 1);
	if (o->unfinished)
		text_print(out, "\nunfinished paths:%s\n",
		           h->nprefixes ? "" : " none");
	for (size_t i = 0; o->unfinished && i < h->nprefixes; i++)
		print_details(h, out, &h->prefixes[i], 0);
	if (o->model)
		hot_model_text(h, out);
}
