/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two profiles side by side, as a page: functions and files with what became of
 * them, and the source of B with both counts, in which lines that only A has
 * stand where they were.  Data and code are those of html.h: JSON that is
 * parsed when a file is looked at, text that is never markup.
 */
#include "cli/diff.h"

#include "analysis/counts.h"
#include "analysis/lines.h"
#include "base/alloc.h"
#include "base/json.h"
#include "cli/html.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

/* Text of all files, at most: a page of more opens too slowly. */
#define TEXT_LIMIT ((size_t)64 << 20)
/* No byte of UTF-8: json_string replaces it. */
#define NO_CHARACTER '\xff'

static void put_string(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_string(j, s);
}

/* --- the index ------------------------------------------------------------ */

static void put_side(const struct diff_side *s, struct json *j, const char *key)
{
	json_key(j, key);
	json_begin(j, '{');
	put_string(j, "file", report_path(&s->report, s->path));
	put_string(j, "program",
	           s->profile->program
	                   ? report_path(&s->report, s->profile->program)
	                   : NULL);
	json_key(j, "runs");
	html_number(j, profile_nruns(s->profile), true);
	json_key(j, "executions");
	html_number(j, s->counts->totals.executions, true);
	json_end(j, '}');
}

/* [ran in A, of, ran in B, of, and the number of each fate]. */
static void put_total(struct json *j, const struct diff_total *t)
{
	json_begin(j, '[');
	html_number(j, t->a.ran, true);
	html_number(j, t->a.all, true);
	html_number(j, t->b.ran, true);
	html_number(j, t->b.all, true);
	for (int i = 0; i < DIFF_NFATES; i++)
		html_number(j, t->fates[i], true);
	html_number(j, t->added.ran, true);
	json_end(j, ']');
}

static void put_limits(const struct diff *d, struct json *j)
{
	struct diff_verdict v[DIFF_NVERDICTS];
	size_t n = diff_judge(d, v);

	json_key(j, "limits");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++) {
		char *text = diff_verdict_text(&v[i]);

		json_begin(j, '[');
		json_string(j, text);
		json_bool(j, v[i].is_broken);
		json_end(j, ']');
		free(text);
	}
	json_end(j, ']');
}

/* The file of a function on the page; its number, or null. */
static void put_place(const struct diff *d, struct json *j,
                      const struct diff_function *f)
{
	const struct report_row *row = diff_row(f);
	const char *path = map_string(row->map, row->f->file);

	for (size_t i = 0; i < d->nfiles; i++) {
		const char *of = f->b ? d->files[i].path_b : d->files[i].path_a;

		if (of && !strcmp(of, path)) {
			json_u64(j, i);
			return;
		}
	}
	json_string(j, NULL);
}

/* [name, linkage name or null, file, line, executions in A and B, entries in A
 * and B, fate, doubtful]; a count is null if it is not known, and executions
 * are if the function is not there. */
static void put_function(const struct diff *d, struct json *j,
                         const struct diff_function *f)
{
	const struct report_row *row = diff_row(f);

	json_begin(j, '[');
	json_string(j, row->name);
	json_string(j,
	            row->demangled ? map_string(row->map, row->f->name) : NULL);
	put_place(d, j, f);
	json_u64(j, row->f->line);
	html_number(j, f->executions_a, f->a && f->known_a);
	html_number(j, f->executions_b, f->b && f->known_b);
	html_number(j, f->entries_a, f->a && f->entries_known_a);
	html_number(j, f->entries_b, f->b && f->entries_known_b);
	json_u64(j, f->fate);
	json_bool(j, f->doubtful_a || f->doubtful_b);
	json_end(j, ']');
}

static void put_index(const struct diff *d, struct json *j)
{
	json_begin(j, '{');
	put_side(&d->a, j, "a");
	put_side(&d->b, j, "b");
	json_key(j, "same");
	json_bool(j, d->same_build);
	diff_json_notes(d, j);
	put_limits(d, j);
	json_key(j, "totals");
	json_begin(j, '[');
	put_total(j, &d->function_total);
	put_total(j, &d->lines);
	put_total(j, &d->branches);
	json_end(j, ']');
	json_key(j, "functions");
	json_begin(j, '[');
	for (size_t i = 0; i < d->nfunctions; i++)
		put_function(d, j, &d->functions[i]);
	json_end(j, ']');
	json_key(j, "files");
	json_begin(j, '[');
	for (size_t i = 0; i < d->nfiles; i++) {
		const struct diff_file *f = &d->files[i];

		json_begin(j, '[');
		json_string(j, report_path(&d->b.report, diff_path(f)));
		json_string(j, !f->path_a   ? "only in B"
		               : !f->path_b ? "only in A"
		                            : diff_means(f->means));
		put_total(j, &f->lines);
		put_total(j, &f->ways);
		json_end(j, ']');
	}
	json_end(j, ']');
	json_end(j, '}');
}

/* --- a file --------------------------------------------------------------- */

/* [line in A or 0, its count, line in B or 0, its count, fate, doubtful, line
 * of B that one of A alone stands before]. */
static void put_lines(const struct diff *d, struct json *j,
                      const struct diff_file *f)
{
	json_key(j, "lines");
	json_begin(j, '[');
	for (size_t i = 0; i < f->n; i++) {
		const struct diff_line *l = &d->items[f->first + i];

		json_begin(j, '[');
		json_u64(j, l->a ? l->a->line : 0);
		html_number(j, l->a ? l->a->count : 0, l->a && l->a->known);
		json_u64(j, l->b ? l->b->line : 0);
		html_number(j, l->b ? l->b->count : 0, l->b && l->b->known);
		json_u64(j, l->fate);
		json_u64(j,
		         (l->a && l->a->doubtful) || (l->b && l->b->doubtful));
		json_end(j, ']');
	}
	json_end(j, ']');
}

/* Ways that changed their fate: [number of the line in `lines`, branch, way,
 * taken in A, in B, fate, line it leads to or 0]. */
static void put_ways(const struct diff *d, struct json *j,
                     const struct diff_file *f)
{
	json_key(j, "ways");
	json_begin(j, '[');
	for (size_t i = 0; i < f->n; i++) {
		const struct diff_line *l = &d->items[f->first + i];

		for (size_t k = 0; k < l->nways; k++) {
			const struct diff_way *w = &d->ways[l->first_way + k];

			if (w->fate != DIFF_NEW && w->fate != DIFF_LOST)
				continue;
			json_begin(j, '[');
			json_u64(j, i);
			json_u64(j, w->b->block);
			json_u64(j, w->b->branch);
			html_number(j, w->a->taken, true);
			html_number(j, w->b->taken, true);
			json_u64(j, w->fate);
			json_u64(j, w->b->to_file == w->b->file ? w->b->to_line
			                                        : 0);
			json_end(j, ']');
		}
	}
	json_end(j, ']');
}

static char *read_text(const struct diff_side *s, const char *path,
                       size_t *room)
{
	size_t size = 0;
	char *text = path ? diff_source(s, path, &size) : NULL, *nul;

	if (text && size > *room) {
		free(text);
		return NULL;
	}
	if (!text)
		return NULL;
	*room -= size;
	while ((nul = memchr(text, '\0', size)))
		*nul = NO_CHARACTER;
	return text;
}

/* The text of A's lines that B does not have: [line, text] each. */
static void put_removed(const struct diff *d, struct json *j,
                        const struct diff_file *f, char *text)
{
	uint32_t line = 1;
	char *at = text;

	json_key(j, "removed");
	json_begin(j, '[');
	for (size_t i = 0; i < f->n && at; i++) {
		const struct diff_line *l = &d->items[f->first + i];
		char *end;

		if (l->b)
			continue;
		for (; at && line < l->a->line; line++) {
			at = strchr(at, '\n');
			at += at != NULL;
		}
		if (!at)
			break;
		end = strchrnul(at, '\n');
		json_begin(j, '[');
		json_u64(j, line);
		if (*end) {
			*end = '\0';
			json_string(j, at);
			*end = '\n';
		} else {
			json_string(j, at);
		}
		json_end(j, ']');
	}
	json_end(j, ']');
}

static void put_file(const struct diff *d, struct json *j,
                     const struct diff_file *f, size_t *room)
{
	char *text = read_text(&d->b, f->path_b, room);
	size_t unlimited = SIZE_MAX;
	char *old = f->lines.fates[DIFF_REMOVED]
	                    ? read_text(&d->a, f->path_a, &unlimited)
	                    : NULL;

	json_begin(j, '{');
	put_string(j, "note",
	           text || !f->path_b
	                   ? NULL
	                   : "counts only: the source is not there, or newer "
	                     "than the program, or too large for a page");
	put_lines(d, j, f);
	put_ways(d, j, f);
	put_removed(d, j, f, old);
	put_string(j, "text", text);
	json_end(j, '}');
	free(text);
	free(old);
}

static void put_title(const struct diff *d, FILE *out)
{
	html_text(out, report_path(&d->a.report, d->a.path));
	fputs(" and ", out);
	html_text(out, report_path(&d->b.report, d->b.path));
	fputs(" - cairn diff", out);
}

void diff_html(const struct diff *d, FILE *out)
{
	struct html_element e;
	size_t room = TEXT_LIMIT;

	html_head_begin(out);
	put_title(d, out);
	html_head_end(out, html_diff_css, html_diff_body);
	for (size_t i = 0; i < d->nfiles; i++) {
		put_file(d, html_element_begin(&e), &d->files[i], &room);
		html_element_end(&e, out, 's', i);
	}
	put_index(d, html_element_begin(&e));
	html_element_end(&e, out, 'i', 0);
	html_end(out, html_diff_scripts);
}
