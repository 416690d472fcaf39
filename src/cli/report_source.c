/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source with counts in front, in the manner of gcov: a line that never ran
 * shows #####, a line without code shows nothing.  Below a line: how its
 * branches went, and with --copies whose code it is.  A line counts for all
 * copies of it: above a function that has several there is a list of them.
 *
 * Cost: O(log n) per line of source for its count and for its branches.
 */
#include "cli/report.h"

#include "analysis/bodies.h"
#include "analysis/counts.h"
#include "analysis/lines.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"
#include "format/map.h"
#include "format/profile.h"
#include "format/source_file.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Functions whose source is shown unless the user picks some. */
#define SHOWN_FUNCTIONS 5
/* Copies of a line, or of a function, that are named. */
#define SHOWN_COPIES 6
/* A line is hot from this share of the hottest line of its file on. */
#define HOT 0.5

/* A source file, read when it is first needed, split into lines. */
struct source {
	char *path;
	char *text;
	char **lines;
	size_t n, cap;
	uint32_t file; /* in lines->files */
	uint64_t most; /* count of its hottest line */
	enum report_age age;
	char *why; /* there is no text; NULL: it cannot be read */
};

static void source_release(struct source *s)
{
	free(s->path);
	free(s->text);
	free(s->lines);
	free(s->why);
	*s = (struct source){0};
}

static void source_split(struct source *s, size_t size)
{
	for (char *p = s->text; p < s->text + size;) {
		char *end = strchrnul(p, '\n');

		VEC_RESERVE(s->lines, s->n, s->cap);
		s->lines[s->n++] = p;
		p = *end ? end + 1 : s->text + size;
		*end = '\0';
	}
}

/* The text that is in the profile, if it is. */
static bool source_unpack(struct source *s, const struct report *r)
{
	const struct source_text *packed =
	        sources_find(&r->profile->sources, s->path);

	if (!packed)
		return false;
	s->text = memcpy(xmalloc(packed->size + 1), packed->text,
	                 packed->size + 1);
	s->age = packed->is_newer ? REPORT_AGE_NEWER : REPORT_AGE_FINE;
	source_split(s, packed->size);
	return true;
}

/* The text on disk. */
static void source_load(struct source *s, const struct report *r,
                        uint32_t module)
{
	struct source_file f;
	struct cairn_err err;
	int rc = source_file_read(r->profile, module, s->path, &f, &err);

	if (rc < 0) {
		s->why = rc == CAIRN_E_SYSTEM ? NULL : xstrdup(err.text);
		return;
	}
	s->text = f.text;
	s->age = report_age_of(&f);
	source_split(s, f.size);
}

static void source_read(struct source *s, const struct report *r,
                        const char *path, uint32_t module)
{
	const struct lines *l = r->lines;
	const struct line_count *c;
	size_t n;

	if (s->path && !strcmp(s->path, path))
		return;
	source_release(s);
	s->path = xstrdup(path);
	s->file = strtab_find(&l->files, path, strlen(path));
	c = s->file == STRTAB_NONE ? NULL : lines_of_file(l, s->file, &n);
	for (size_t i = 0; c && i < n; i++)
		if (c[i].count > s->most)
			s->most = c[i].count;
	if (!source_unpack(s, r))
		source_load(s, r, module);
}

/* --- what stands below a line ----------------------------------------------
 */

/* Do all ways of the branch lead to lines that differ, and are known? */
static bool has_targets(const struct line_branch *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!b[i].to_line)
			return false;
		for (size_t k = 0; k < i; k++)
			if (b[k].to_file == b[i].to_file &&
			    b[k].to_line == b[i].to_line)
				return false;
	}
	return true;
}

static void print_way(const struct report *r, const struct line_branch *b,
                      bool has_target, FILE *out)
{
	const struct report_colours *c = report_colours(r);
	const char *path = r->lines->files.items[b->to_file];
	const char *slash = strrchr(path, '/');
	double percent = report_percent(b->taken, b->total);

	if (!b->taken)
		report_paint(out, c->zero, "never", c);
	else if (b->taken < b->total && percent >= 99.95)
		text_print(out, ">99.9 %%");
	else if (percent < 0.05)
		text_print(out, "<0.1 %%");
	else
		text_print(out, "%.1f %%", percent);
	if (!has_target)
		text_print(out, " way %" PRIu32, b->branch + 1);
	else if (b->to_file == b->file)
		text_print(out, " to %" PRIu32, b->to_line);
	else
		text_print(out, " to %s:%" PRIu32, slash ? slash + 1 : path,
		           b->to_line);
}

/* One branch of a line, all its ways; those of a large switch that were never
 * taken are counted. */
static void print_branch(const struct report *r, const struct line_branch *b,
                         size_t n, FILE *out)
{
	bool has_target = has_targets(b, n);
	size_t never = 0, shown = 0;

	if (!b->reached)
		return;
	text_print(out, "%14s %6s    ", "", "|");
	for (size_t i = 0; i < n; i++) {
		if (!b[i].taken && n > 4) {
			never++;
			continue;
		}
		fputs(shown++ ? ", " : "", out);
		print_way(r, &b[i], has_target, out);
	}
	if (never)
		text_print(out, "%s%zu of %zu ways never", shown ? ", " : "",
		           never, n);
	putc('\n', out);
}

static void print_branches(const struct report *r, const struct source *s,
                           uint32_t line, FILE *out)
{
	size_t n, next;
	const struct line_branch *b =
	        lines_branches(r->lines, s->file, line, &n);

	for (size_t i = 0; b && i < n; i = next) {
		for (next = i + 1; next < n && b[next].block == b[i].block;
		     next++)
			;
		print_branch(r, &b[i], next - i, out);
	}
}

/* "in f", "inlined into f, line 12", "inlined into f by g, line 12, 4 times".
 */
static void print_spot(const struct report *r, const struct report_spot *s,
                       FILE *out)
{
	const struct line_copy *c = &s->copy;
	const struct map *m = r->profile->modules[c->module].map;
	const struct map_instance *k = report_instance(r, c);
	char *name =
	        report_name(r, map_string(m, m->functions[c->function].name));

	report_count(out, 12, c->count, c->known, c->doubtful);
	text_print(out, " %s %s", k ? "inlined into" : "in", name);
	free(name);
	if (k && k->parent) {
		name = report_name(r, report_caller(r, c));
		text_print(out, " by %s", name);
		free(name);
	}
	if (k && k->call_line)
		text_print(out, ", line %" PRIu32, k->call_line);
	if (s->times > 1)
		text_print(out, ", %zu times", s->times);
	putc('\n', out);
}

/* The copies of a line, the hottest first: they add up to its count. */
static void print_copies(const struct report *r, const struct line_count *c,
                         FILE *out)
{
	const struct line_copy *copies = r->lines->copies + c->first_copy;
	size_t n = c->ncopies;
	struct report_spot *spots = report_spots(r, copies, &n);
	uint64_t rest = c->count;

	for (size_t i = 0;
	     i < n && i < SHOWN_COPIES && (n > 1 || copies->instance); i++) {
		text_print(out, "%14s %6s  ", "", "|");
		print_spot(r, &spots[i], out);
		rest -= spots[i].copy.count;
	}
	if (n > SHOWN_COPIES)
		text_print(out, "%14s %6s  %12" PRIu64 " in %zu more\n", "",
		           "|", rest, n - SHOWN_COPIES);
	free(spots);
}

/* --- lines -----------------------------------------------------------------
 */

static void print_line(const struct report *r, const struct source *s,
                       uint32_t line, FILE *out)
{
	const struct line_count *c = lines_find(r->lines, s->path, line);
	const struct report_colours *colour = report_colours(r);
	const char *begin = "";

	if (c && c->known && !c->count && !c->doubtful)
		begin = colour->zero;
	else if (c && (double)c->count > HOT * (double)s->most)
		begin = colour->hot;
	fputs(begin, out);
	if (!c)
		text_print(out, "%14s", "");
	else if (c->count || c->doubtful || !c->known)
		report_count(out, 14, c->count, c->known, c->doubtful);
	else
		text_print(out, "%14s", "#####");
	fputs(*begin ? colour->off : "", out);
	fputs(colour->dim, out);
	text_print(out, " %6" PRIu32, line);
	fputs(colour->off, out);
	fputs("  ", out);
	text_put_source(out, line <= s->n ? s->lines[line - 1] : "");
	putc('\n', out);
	if (c && !r->options.no_branches)
		print_branches(r, s, line, out);
	if (c && r->options.copies)
		print_copies(r, c, out);
}

/* Lines of a range; without the source only those that have code. */
static void print_range(const struct report *r, const struct source *s,
                        uint32_t first, uint32_t last, FILE *out)
{
	if (!s->text && s->why)
		text_print(out, "  (%s is not shown: %s; counts only)\n",
		           report_path(r, s->path), s->why);
	else if (!s->text)
		text_print(out, "  (cannot read %s: counts only)\n",
		           report_path(r, s->path));
	else if (s->age != REPORT_AGE_FINE)
		text_print(out, "  (%s %s: lines may have moved)\n",
		           report_path(r, s->path),
		           s->age == REPORT_AGE_NEWER
		                   ? "is newer than the program"
		                   : "is not the text that was compiled");
	for (uint32_t line = first; line <= last; line++) {
		if (!s->text ? lines_find(r->lines, s->path, line) != NULL
		             : line <= s->n)
			print_line(r, s, line, out);
		if (line == UINT32_MAX)
			break;
	}
}

/* --- functions -------------------------------------------------------------
 */

static int by_copy(const void *a, const void *b)
{
	const struct line_copy *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->instance < y->instance ? -1 : x->instance > y->instance;
}

/* Of each copy the line that ran most. */
static void keep_hottest(struct line_copy *copies, size_t *n)
{
	size_t kept = 0;

	if (*n)
		qsort(copies, *n, sizeof(*copies), by_copy);
	for (size_t i = 0; i < *n; i++)
		if (!kept || by_copy(&copies[kept - 1], &copies[i]))
			copies[kept++] = copies[i];
		else if (copies[i].count > copies[kept - 1].count)
			copies[kept - 1] = copies[i];
	*n = kept;
}

/* Copies of the code between two lines of a file; for the caller to free. */
static struct line_copy *copies_between(const struct report *r, uint32_t file,
                                        uint32_t first, uint32_t last,
                                        size_t *n)
{
	const struct lines *l = r->lines;
	struct line_copy *copies = NULL;
	size_t cap = 0, nlines = 0;
	const struct line_count *c =
	        file == STRTAB_NONE ? NULL : lines_of_file(l, file, &nlines);

	*n = 0;
	for (size_t i = 0; c && i < nlines; i++) {
		if (c[i].line < first || c[i].line > last)
			continue;
		for (size_t k = 0; k < c[i].ncopies; k++) {
			VEC_RESERVE(copies, *n, cap);
			copies[(*n)++] = l->copies[c[i].first_copy + k];
		}
	}
	keep_hottest(copies, n);
	return copies;
}

/* Says whose counts are added up below, if they are not one function's. */
static void print_where(const struct report *r, const struct body *b,
                        const struct source *s, FILE *out)
{
	size_t n, nspots;
	struct line_copy *copies =
	        copies_between(r, s->file, b->line, b->last, &n);
	struct report_spot *spots;

	nspots = n;
	spots = report_spots(r, copies, &nspots);
	if (n > 1)
		text_print(out, "  %zu copies add up to the counts below:\n",
		           n);
	for (size_t i = 0;
	     i < nspots && i < SHOWN_COPIES && (n > 1 || !b->is_whole); i++) {
		fputs("  ", out);
		print_spot(r, &spots[i], out);
	}
	if (nspots > SHOWN_COPIES)
		text_print(out, "  %12s %zu more\n", "", nspots - SHOWN_COPIES);
	free(spots);
	free(copies);
}

static void print_body(const struct report *r, const struct body *b,
                       struct source *s, FILE *out)
{
	const struct report_colours *c = report_colours(r);
	char *name = report_name(r, b->name);

	source_read(s, r, b->file, b->module);
	putc('\n', out);
	report_paint(out, c->head, name, c);
	text_print(out, "  %s:%" PRIu32 "\n", report_path(r, b->file), b->line);
	print_where(r, b, s, out);
	print_range(r, s, b->line, b->last, out);
	free(name);
}

static int by_instructions(const void *a, const void *b)
{
	const struct body *x = *(const struct body *const *)a;
	const struct body *y = *(const struct body *const *)b;

	if (x->instructions != y->instructions)
		return x->instructions > y->instructions ? -1 : 1;
	if (x->most != y->most)
		return x->most > y->most ? -1 : 1;
	/* those of bodies_new have an order */
	return x < y ? -1 : x > y;
}

static bool wants_body(const struct report *r, const struct body *b)
{
	const char *pattern = r->options.function;
	char *name = report_name(r, b->name);
	bool wanted = !pattern || !fnmatch(pattern, name, 0) ||
	              !fnmatch(pattern, b->name, 0);

	free(name);
	return wanted && report_wants_file(r, b->file) &&
	       (b->most || pattern) &&
	       (r->options.threshold <= 0 ||
	        report_percent(b->instructions, r->instructions) >=
	                r->options.threshold);
}

bool report_has_body(const struct report *r)
{
	for (size_t i = 0; i < r->bodies->n; i++)
		if (wants_body(r, &r->bodies->items[i]))
			return true;
	return false;
}

/* The functions whose own code ran most, wherever it was put. */
void report_source_functions(const struct report *r, FILE *out)
{
	bool picks = r->options.function || r->options.file ||
	             r->options.threshold > 0;
	size_t limit = picks ? r->options.top : SHOWN_FUNCTIONS, n = 0;
	const struct body **list = xcalloc(r->bodies->n, sizeof(*list));
	struct source s = {0};

	for (size_t i = 0; i < r->bodies->n; i++)
		if (wants_body(r, &r->bodies->items[i]))
			list[n++] = &r->bodies->items[i];
	if (n)
		qsort(list, n, sizeof(*list), by_instructions);
	for (size_t i = 0; i < n && i < limit; i++)
		print_body(r, list[i], &s, out);
	source_release(&s);
	free(list);
}

/* --- whole files -----------------------------------------------------------
 */

/* Unless the user asked for them, not those of the system, which are long and
 * not his: a vector brings twenty thousand lines. */
void report_source_files(const struct report *r, FILE *out)
{
	const struct lines *l = r->lines;
	bool all = r->options.all_files || r->options.file;
	const struct report_colours *colour = report_colours(r);
	struct source s = {0};
	size_t left_out = 0, n = 0;

	for (uint32_t file = 0; file < l->files.n; file++) {
		const char *path = l->files.items[file];
		const struct line_count *c = lines_of_file(l, file, &n);

		if (!c || !report_wants_file(r, path))
			continue;
		if (!all && report_is_system_file(path)) {
			left_out++;
			continue;
		}
		source_read(&s, r, path, l->copies[c->first_copy].module);
		putc('\n', out);
		report_paint(out, colour->head, report_path(r, path), colour);
		putc('\n', out);
		print_range(r, &s, 1, s.text ? (uint32_t)s.n : c[n - 1].line,
		            out);
	}
	if (left_out)
		text_print(out,
		           "\n%zu system header%s left out; --all-files shows "
		           "%s\n",
		           left_out, left_out == 1 ? "" : "s",
		           left_out == 1 ? "it" : "them");
	source_release(&s);
}
