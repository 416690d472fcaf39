/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the page knows of the program and of each function.  The same views as
 * the JSON reports (report.h, hot.h), as arrays instead of objects where there
 * are many of a kind: a page about SQLite has 10^5 blocks and edges.
 *
 * It is no exchange format: page and data are written together, and "version"
 * is there for a reader who saves a page and wonders.
 */
#include "cli/html.h"

#include "abi/map.h"
#include "analysis/counts.h"
#include "analysis/lines.h"
#include "analysis/totals.h"
#include "base/alloc.h"
#include "base/json.h"
#include "cli/hot.h"
#include "cli/report.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_VERSION 1
/* Numbers of JavaScript are exact below. */
#define EXACT_LIMIT ((uint64_t)1 << 53)

void html_number(struct json *j, uint64_t v, bool known)
{
	char text[24];

	if (!known || v < EXACT_LIMIT) {
		json_count(j, v, known);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64, v);
	json_string(j, text);
}

static void put_number(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	html_number(j, v, true);
}

static void put_string(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_string(j, s);
}

/* --- functions ------------------------------------------------------------ */

/* Source files, and inlined copies in them, that the lines of a function
 * belong to: a function has few. */
struct place {
	uint32_t file, instance; /* as in struct map_line */
};

struct places {
	struct place *items;
	size_t n, cap, last;
};

static size_t place_of(struct places *p, const struct map_line *l)
{
	struct place want = {l->file, l->instance};

	if (p->n && !memcmp(&p->items[p->last], &want, sizeof(want)))
		return p->last;
	for (p->last = 0; p->last < p->n; p->last++)
		if (!memcmp(&p->items[p->last], &want, sizeof(want)))
			return p->last;
	VEC_RESERVE(p->items, p->n, p->cap);
	p->items[p->n++] = want;
	return p->last;
}

/* The lines of a segment: [place, line, line, ...], [...] each. */
static void put_segment(struct json *j, const struct map *m,
                        const struct map_segment *s, struct places *places)
{
	size_t place = SIZE_MAX;

	json_begin(j, '[');
	for (uint32_t i = 0; i < s->nlines; i++) {
		const struct map_line *l = &m->lines[s->first_line + i];
		size_t now;

		if (!l->line)
			continue; /* made by the compiler */
		now = place_of(places, l);
		if (now != place && place != SIZE_MAX)
			json_end(j, ']');
		if (now != place) {
			json_begin(j, '[');
			json_u64(j, now);
		}
		place = now;
		json_u64(j, l->line);
	}
	if (place != SIZE_MAX)
		json_end(j, ']');
	json_end(j, ']');
}

static void put_blocks(struct json *j, const struct report_row *row,
                       struct places *places)
{
	const struct map *m = row->map;

	json_key(j, "blocks");
	json_begin(j, '[');
	for (uint32_t b = 1; b < row->f->nblocks; b++) {
		uint32_t at = row->f->first_block + b;
		const struct map_block *mb = &m->blocks[at];

		json_begin(j, '[');
		html_number(j, row->cm->block[at], row->cm->block_known[at]);
		json_u64(j, mb->ninstructions);
		json_u64(j, mb->flags & CAIRN_BLOCK_LANDING_PAD);
		for (uint32_t s = 0; s < mb->nsegments; s++)
			put_segment(j, m, &m->segments[mb->first_segment + s],
			            places);
		json_end(j, ']');
	}
	json_end(j, ']');
}

static void put_places(struct html *h, struct json *j,
                       const struct report_row *row, const struct places *p)
{
	const struct map_instance *copies =
	        row->map->instances + row->f->first_instance;

	json_key(j, "places");
	json_begin(j, '[');
	for (size_t i = 0; i < p->n; i++) {
		const struct place *at = &p->items[i];

		json_begin(j, '[');
		json_u64(j, html_source_of(h, map_string(row->map, at->file),
		                           row->module));
		json_string(j,
		            at->instance
		                    ? map_string(row->map,
		                                 copies[at->instance - 1].name)
		                    : NULL);
		json_end(j, ']');
	}
	json_end(j, ']');
}

/* True if paths end at the edge and others begin behind it. */
static bool ends_paths(const struct html *h, size_t row, uint32_t edge)
{
	uint32_t function = h->hot_of[row];

	return function != UINT32_MAX &&
	       h->hot->functions[function].has_paths &&
	       dag_is_ended(&h->hot->functions[function].pc.paths.dag, edge);
}

static void put_edges(const struct html *h, struct json *j, size_t at)
{
	const struct report_row *row = &h->report->rows[at];

	json_key(j, "edges");
	json_begin(j, '[');
	for (uint32_t e = 0; e < row->f->nedges; e++) {
		uint32_t k = row->f->first_edge + e;
		const struct map_edge *me = &row->map->edges[k];

		json_begin(j, '[');
		json_u64(j, me->src);
		json_u64(j, me->dst);
		json_u64(j, me->kind);
		html_number(j, row->cm->edge[k], row->cm->edge_known[k]);
		if (ends_paths(h, at, e))
			json_u64(j, 1);
		json_end(j, ']');
	}
	json_end(j, ']');
}

/* Why the counts are not exact, or not there; NULL if they are. */
static const char *doubt_of(const struct report_row *row)
{
	const char *reason = map_string(row->map, row->f->reason);

	if (row->r->covered)
		return counts_reason(row->r->doubt);
	return *reason ? reason : "no reason given";
}

void html_put_function(struct html *h, struct json *j, size_t at)
{
	const struct report_row *row = &h->report->rows[at];
	struct places places = {0};

	json_begin(j, '{');
	put_string(j, "reason", doubt_of(row));
	put_blocks(j, row, &places);
	put_places(h, j, row, &places);
	put_edges(h, j, at);
	html_put_paths(h, j, at);
	html_put_calls(h, j, at);
	if (h->lists && h->lists->put_function)
		h->lists->put_function(h, j, at);
	json_end(j, '}');
	free(places.items);
	/* its own file belongs on the page even if no line is known */
	if (row->f->file != MAP_NONE)
		html_source_of(h, map_string(row->map, row->f->file),
		               row->module);
}

/* --- the index ------------------------------------------------------------ */

enum state { STATE_FINE, STATE_INCONSISTENT, STATE_UNCOVERED };

static enum state state_of(const struct report_row *row)
{
	if (!row->r->covered)
		return STATE_UNCOVERED;
	return counts_is_inconsistent(row->r->doubt) ? STATE_INCONSISTENT
	                                             : STATE_FINE;
}

static void put_row(const struct html *h, struct json *j, size_t at)
{
	const struct report_row *row = &h->report->rows[at];
	const char *file = map_string(row->map, row->f->file);
	uint32_t source = strtab_find(&h->names, file, strlen(file));
	uint64_t npaths = 0;
	bool has_paths = html_count_paths(h, at, &npaths);

	json_begin(j, '[');
	json_string(j, row->name);
	json_string(j,
	            row->demangled ? map_string(row->map, row->f->name) : NULL);
	json_count(j, source, row->f->file != MAP_NONE);
	json_u64(j, row->f->line);
	html_number(j, row->r->entries, row->r->entries_known);
	html_number(j, row->r->executions,
	            row->r->covered && report_knows(row));
	json_u64(j, row->f->nblocks ? row->f->nblocks - 1 : 0);
	json_count(j, npaths, has_paths);
	json_u64(j, state_of(row));
	json_u64(j, row->module);
	json_end(j, ']');
}

/* Totals of source files, in the order of their names. */
static void put_files(const struct html *h, struct json *j)
{
	json_key(j, "files");
	json_begin(j, '[');
	for (uint32_t i = 0; i < h->names.n; i++) {
		static const struct total none;
		const char *path = h->names.items[i];
		uint32_t file = strtab_find(&h->report->lines->files, path,
		                            strlen(path));
		const struct total *t =
		        file == STRTAB_NONE ? &none
		                            : &h->report->totals->files[file];

		json_begin(j, '[');
		json_u64(j, t->lines);
		json_u64(j, t->lines_executed);
		json_u64(j, t->branches);
		json_u64(j, t->branches_taken);
		json_u64(j, t->functions);
		json_u64(j, t->functions_executed);
		html_number(j, t->instructions, true);
		json_u64(j, report_is_system_file(path));
		json_end(j, ']');
	}
	json_end(j, ']');
}

static void put_names(const struct html *h, struct json *j)
{
	json_key(j, "sources");
	json_begin(j, '[');
	for (uint32_t i = 0; i < h->names.n; i++)
		json_string(j, report_path(h->report, h->names.items[i]));
	json_end(j, ']');
	if (h->report->totals)
		put_files(h, j);
	json_key(j, "modules");
	json_begin(j, '[');
	for (uint32_t i = 0; i < h->report->profile->nmodules; i++)
		json_string(j,
		            report_path(h->report,
		                        h->report->profile->modules[i].path));
	json_end(j, ']');
	json_key(j, "kinds");
	json_begin(j, '[');
	for (uint32_t i = 0; i < CAIRN_NEDGE_KINDS; i++)
		json_string(j, hot_edge_name(i));
	json_end(j, ']');
}

static void put_totals(const struct html *h, struct json *j)
{
	const struct counts_totals *t = &h->report->counts->totals;
	const struct lines *l = h->report->lines;
	uint64_t executed, known;

	lines_total(l, &executed, &known);
	json_key(j, "totals");
	json_begin(j, '{');
	put_number(j, "functions", t->functions - t->uncovered - t->partial);
	put_number(j, "functions_executed", t->executed);
	put_number(j, "uncovered", t->uncovered);
	put_number(j, "inconsistent", t->inconsistent);
	put_number(j, "blocks", t->blocks);
	put_number(j, "blocks_executed", t->blocks_executed);
	put_number(j, "executions", t->executions);
	put_number(j, "lines", known);
	put_number(j, "lines_executed", executed);
	lines_total_branches(l, &executed, &known);
	put_number(j, "branches", known);
	put_number(j, "branches_taken", executed);
	put_number(j, "instructions", h->report->instructions);
	if (h->hot) {
		put_number(j, "path_executions", h->hot->executions);
		put_number(j, "other_executions", h->hot->others);
	}
	json_end(j, '}');
}

/* What the options have left off: the page says so. */
static void put_selection(const struct html *h, struct json *j)
{
	const struct report_options *o = &h->report->options;

	put_string(j, "function", o->function);
	put_string(j, "file", o->file);
	if (h->hot && h->hot->options.file) {
		char *line = xasprintf("%s:%" PRIu32, h->hot->options.file,
		                       h->hot->options.line);

		put_string(j, "line", line);
		free(line);
	}
}

void html_put_index(const struct html *h, struct json *j)
{
	const struct report *r = h->report;
	const char *program = r->profile->program;
	char *note = report_whole_note(r);

	json_begin(j, '{');
	put_number(j, "version", PAGE_VERSION);
	put_string(j, "cairn", CAIRN_VERSION);
	put_string(j, "kind", h->lists ? h->lists->kind : NULL);
	put_string(j, "headline", h->lists ? h->lists->headline : NULL);
	put_string(j, "program", program ? report_path(r, program) : NULL);
	if (!r->options.stable)
		put_string(j, "command", r->profile->command);
	put_number(j, "runs", profile_nruns(r->profile));
	put_string(j, "note", note);
	put_selection(h, j);
	put_totals(h, j);
	put_names(h, j);
	json_key(j, "functions");
	json_begin(j, '[');
	for (size_t i = 0; i < r->nrows; i++)
		put_row(h, j, i);
	json_end(j, ']');
	json_end(j, '}');
	free(note);
}
