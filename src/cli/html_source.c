/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source files on the page: their text, as far as it can be read while the
 * page is made, and the counts of their lines.  Bytes that are no UTF-8 become
 * U+FFFD; so do NULs, which a C string could not hold.  A file without text has
 * a note that says why; one that is newer than the program, or not what was
 * compiled, has one, too, since its lines may have moved.
 */
#include "cli/html.h"

#include "analysis/lines.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/json.h"
#include "cli/report.h"
#include "format/map.h"
#include "format/profile.h"
#include "format/source_file.h"

#include <stdlib.h>
#include <string.h>

/* Spots of a line on the page. */
#define SPOTS_LIMIT 8

/* Text of all files, at most: a page of more opens too slowly. */
#define TEXT_LIMIT ((size_t)64 << 20)

/* No byte of UTF-8: json_string replaces it. */
#define NO_CHARACTER '\xff'

/* A C string: no NUL in it. */
static void replace_nuls(char *text, size_t n)
{
	char *nul;

	while ((nul = memchr(text, '\0', n)))
		*nul = NO_CHARACTER;
}

/* The text that the profile has, or that of the file; the sentence is a reason.
 */
static int load_text(const struct html *h, uint32_t source,
                     struct source_file *f, struct cairn_err *err)
{
	const char *path = h->names.items[source];
	const struct source_text *packed =
	        sources_find(&h->report->profile->sources, path);

	if (!packed)
		return source_file_read(h->report->profile,
		                        h->sources[source].module, path, f,
		                        err);
	*f = (struct source_file){
	        .text = memcpy(xmalloc(packed->size + 1), packed->text,
	                       packed->size + 1),
	        .size = packed->size,
	        .state = packed->is_newer ? SOURCE_NEWER : SOURCE_COMPILED,
	};
	return 0;
}

/* What there is to say about a text; for the caller to free, or NULL. */
static char *note_of(const struct source_file *f)
{
	switch (report_age_of(f)) {
	case REPORT_AGE_NEWER:
		return xstrdup("the source is newer than the program: lines "
		               "may have moved");
	case REPORT_AGE_CHANGED:
		return xstrdup("the source is not the text that was compiled: "
		               "lines may have moved");
	default:
		return NULL;
	}
}

/* The text of a file, or NULL; *note has something to say about it, or NULL.
 * Both are the caller's. */
static char *read_text(struct html *h, uint32_t source, char **note)
{
	const struct report_options *o = &h->report->options;
	const char *path = h->names.items[source];
	struct source_file f = {0};
	struct cairn_err err;

	*note = NULL;
	if (o->no_source) {
		*note = xstrdup("made with --no-source: counts only");
	} else if (report_is_system_file(path) && !o->all_files) {
		*note = xstrdup("a system header: counts only; cairn report "
		                "--html FILE --all-files has its text");
	} else if (load_text(h, source, &f, &err)) {
		*note = xasprintf("counts only, the source cannot be read: %s",
		                  err.text);
	} else if (f.size > TEXT_LIMIT - h->source_bytes) {
		*note = xasprintf("counts only: the page has %zu MiB of source "
		                  "at most; --function or --file selects",
		                  TEXT_LIMIT >> 20);
		free(f.text);
		f.text = NULL;
	} else {
		*note = note_of(&f);
		replace_nuls(f.text, f.size);
		h->source_bytes += f.size;
	}
	return f.text;
}

/* The branches of a file: [line, total, taken, to, taken, to, ...] each, where
 * `to` is a line of the same file, or 0. */
static void put_branches(const struct lines *l, struct json *j, uint32_t file)
{
	size_t n = 0, next;
	const struct line_branch *b = lines_branches_of_file(l, file, &n);

	json_key(j, "branches");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i = next) {
		json_begin(j, '[');
		json_u64(j, b[i].line);
		html_number(j, b[i].total, b[i].reached || !b[i].taken);
		for (next = i; next < n && b[next].line == b[i].line &&
		               b[next].block == b[i].block;
		     next++) {
			html_number(j, b[next].taken, true);
			json_u64(j,
			         b[next].to_file == file ? b[next].to_line : 0);
		}
		json_end(j, ']');
	}
	json_end(j, ']');
}

/* Where the counts of lines come from that are not one function's own: [line,
 * spots in all, then for each of the first: function, its caller that was
 * inlined or null, line of the call, copies, count]. */
static void put_copies(struct html *h, struct json *j,
                       const struct line_count *c)
{
	const struct report *r = h->report;
	size_t n = c->ncopies;
	struct report_spot *spots =
	        report_spots(r, r->lines->copies + c->first_copy, &n);

	json_begin(j, '[');
	json_u64(j, c->line);
	json_u64(j, n);
	for (size_t i = 0; i < n && i < SPOTS_LIMIT; i++) {
		const struct line_copy *k = &spots[i].copy;
		const struct report_row *row =
		        report_row_of(r, k->module, k->function);
		const char *caller = report_caller(r, k);
		char *name = *caller ? report_name(r, caller) : NULL;

		if (row) {
			json_u64(j, (uint64_t)(row - r->rows));
		} else {
			const struct map *m =
			        r->profile->modules[k->module].map;

			json_string(
			        j,
			        map_string(m, m->functions[k->function].name));
		}
		json_string(j, name);
		free(name);
		json_u64(j, report_call_line(r, k));
		json_u64(j, spots[i].times);
		html_number(j, k->count, k->known);
	}
	json_end(j, ']');
	free(spots);
}

/* Counts of lines: the line and its count each. */
static void put_counts(struct json *j, const struct line_count *c, size_t n)
{
	json_key(j, "counts");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++) {
		json_u64(j, c[i].line);
		html_number(j, c[i].count, c[i].known);
	}
	json_end(j, ']');
	json_key(j, "doubtful");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++)
		if (c[i].doubtful)
			json_u64(j, c[i].line);
	json_end(j, ']');
}

void html_put_source(struct html *h, struct json *j, uint32_t source)
{
	const struct lines *l = h->report->lines;
	const char *path = h->names.items[source];
	uint32_t file = strtab_find(&l->files, path, strlen(path));
	size_t n = 0;
	const struct line_count *c =
	        file == STRTAB_NONE ? NULL : lines_of_file(l, file, &n);
	char *note, *text = read_text(h, source, &note);

	json_begin(j, '{');
	json_key(j, "note");
	json_string(j, note);
	put_counts(j, c, n);
	if (c)
		put_branches(l, j, file);
	if (c && h->report->row_of) {
		json_key(j, "copies");
		json_begin(j, '[');
		for (size_t i = 0; i < n; i++)
			if (c[i].ncopies > 1 ||
			    l->copies[c[i].first_copy].instance)
				put_copies(h, j, &c[i]);
		json_end(j, ']');
	}
	if (h->lists && h->lists->put_source)
		h->lists->put_source(h, j, source);
	json_key(j, "text");
	json_string(j, text);
	json_end(j, '}');
	free(text);
	free(note);
}
