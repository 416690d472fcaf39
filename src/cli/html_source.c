/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source files on the page: their text, as far as it can be read while the
 * page is made, and the counts of their lines.  Bytes that are no UTF-8 become
 * U+FFFD; so do NULs, which a C string could not hold.  A file without text has
 * a note that says why; one that is newer than the program has one, too, since
 * its lines may have moved.
 */
#include "cli/html.h"

#include "analysis/lines.h"
#include "base/alloc.h"
#include "base/json.h"
#include "cli/report.h"
#include "format/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Text of all files, at most: a page of more opens too slowly. */
#define TEXT_LIMIT ((size_t)64 << 20)

/* No byte of UTF-8: json_string replaces it. */
#define NO_CHARACTER '\xff'

static char *read_whole(const char *path, size_t size)
{
	char *text = xmalloc(size + 1), *nul;
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f) {
		free(text);
		return NULL;
	}
	n = fread(text, 1, size, f);
	fclose(f);
	text[n] = '\0';
	while ((nul = memchr(text, '\0', n)))
		*nul = NO_CHARACTER;
	return text;
}

static bool is_newer(const struct html *h, uint32_t source,
                     const struct stat *st)
{
	const struct profile *p = h->report->profile;
	struct stat program;

	return !stat(p->modules[h->sources[source].module].path, &program) &&
	       st->st_mtime > program.st_mtime;
}

/* The text of a file, or NULL; *note has something to say about it, or NULL.
 * Both are the caller's. */
static char *read_text(struct html *h, uint32_t source, char **note)
{
	const struct report_options *o = &h->report->options;
	const char *path = h->names.items[source];
	char *text = NULL;
	struct stat st;

	*note = NULL;
	if (o->no_source)
		*note = xstrdup("made with --no-source: counts only");
	else if (report_is_system_file(path) && !o->all_files)
		*note = xstrdup("a system header: counts only; cairn report "
		                "--html FILE --all-files has its text");
	else if (stat(path, &st))
		*note = xasprintf("counts only, the source cannot be read: %s",
		                  strerror(errno));
	else if (!S_ISREG(st.st_mode))
		*note = xstrdup("counts only: the source is no regular file");
	else if ((size_t)st.st_size > TEXT_LIMIT - h->source_bytes)
		*note = xasprintf("counts only: the page has %zu MiB of source "
		                  "at most; --function or --file selects",
		                  TEXT_LIMIT >> 20);
	else if (!(text = read_whole(path, (size_t)st.st_size)))
		*note = xasprintf("counts only, the source cannot be read: %s",
		                  strerror(errno));
	else if (is_newer(h, source, &st))
		*note = xstrdup("the source is newer than the program: lines "
		                "may have moved");
	if (text)
		h->source_bytes += (size_t)st.st_size;
	return text;
}

/* The lines of a file lie one behind the other. */
static const struct line_count *first_line(const struct lines *l,
                                           const char *path)
{
	uint32_t file = strtab_find(&l->files, path, strlen(path));
	size_t low = 0, high = l->n;

	if (file == STRTAB_NONE)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->items[middle].file < file)
			low = middle + 1;
		else
			high = middle;
	}
	return low < l->n && l->items[low].file == file ? &l->items[low] : NULL;
}

void html_put_source(struct html *h, struct json *j, uint32_t source)
{
	const struct lines *l = h->report->lines;
	const struct line_count *first = first_line(l, h->names.items[source]);
	const struct line_count *end = l->items + l->n;
	char *note, *text = read_text(h, source, &note);

	json_begin(j, '{');
	json_key(j, "note");
	json_string(j, note);
	json_key(j, "counts");
	json_begin(j, '[');
	for (const struct line_count *c = first;
	     c && c < end && c->file == first->file; c++) {
		json_u64(j, c->line);
		html_number(j, c->count, c->known);
	}
	json_end(j, ']');
	json_key(j, "doubtful");
	json_begin(j, '[');
	for (const struct line_count *c = first;
	     c && c < end && c->file == first->file; c++)
		if (c->doubtful)
			json_u64(j, c->line);
	json_end(j, ']');
	if (h->lists && h->lists->put_source)
		h->lists->put_source(h, j, source);
	json_key(j, "text");
	json_string(j, text);
	json_end(j, '}');
	free(text);
	free(note);
}
