/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as text: what ran, the hottest functions, then source lines with
 * their counts in front, in the manner of gcov: a line that never ran shows
 * #####, a line without code shows nothing.  A number that comes from a
 * function with contradictory flow is marked with ~, one that is not known is
 * a question mark.
 */
#include "cli/report.h"

#include "abi/file.h"
#include "abi/map.h"
#include "analysis/counts.h"
#include "analysis/lines.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Functions whose source is shown unless the user picks some. */
#define SHOWN_FUNCTIONS 5

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static const char *how_text(const struct profile_file *f)
{
	if (f->truncated)
		return "truncated file";
	if (f->state == CAIRN_STATE_OPEN)
		return "killed, or still running";
	switch (f->how) {
	case CAIRN_HOW_EXIT:
		return "exited";
	case CAIRN_HOW_SIGNAL:
		return "ended by a signal";
	case CAIRN_HOW_EXEC:
		return "replaced by exec";
	case CAIRN_HOW_UNLOAD:
		return "unloaded";
	case CAIRN_HOW_MERGED:
		return "merged";
	default:
		return "ended";
	}
}

static void print_files(const struct report *r, FILE *out)
{
	for (size_t i = 0; i < r->profile->nfiles; i++) {
		const struct profile_file *f = &r->profile->files[i];

		fprintf(out, "file      %s: %" PRIu32 " run%s, %s",
		        report_path(r, f->name), f->nruns,
		        f->nruns == 1 ? "" : "s", how_text(f));
		if (f->how == CAIRN_HOW_SIGNAL)
			fprintf(out, " (%" PRIu32 ")", f->signal);
		if (f->threads_at_once)
			fprintf(out, ", %s%" PRIu32 " thread%s at a time",
			        f->threads_at_once == 1 ? "" : "up to ",
			        f->threads_at_once,
			        f->threads_at_once == 1 ? "" : "s");
		if (!r->options.stable && f->pid)
			fprintf(out, ", pid %" PRIu32, f->pid);
		putc('\n', out);
	}
}

static void print_totals(const struct report *r, FILE *out)
{
	const struct counts_totals *t = &r->counts->totals;
	uint64_t executed, known;

	lines_total(r->lines, &executed, &known);
	fprintf(out,
	        "functions %" PRIu64 " of %" PRIu64 " executed, %" PRIu64
	        " not covered\n",
	        t->executed, t->functions - t->uncovered - t->partial,
	        t->uncovered);
	if (t->partial)
		fprintf(out,
		        "partly    %" PRIu64
		        " functions count some of their paths only; "
		        "cairn paths and cairn residual show these\n",
		        t->partial);
	fprintf(out,
	        "blocks    %" PRIu64 " of %" PRIu64
	        " executed (%.1f %%), %" PRIu64 " executions in all\n",
	        t->blocks_executed, t->blocks,
	        percent(t->blocks_executed, t->blocks), t->executions);
	if (r->lines->n)
		fprintf(out,
		        "lines     %" PRIu64 " of %" PRIu64
		        " executed (%.1f %%)\n",
		        executed, known, percent(executed, known));
	else if (t->functions > t->uncovered)
		fprintf(out, "lines     none known; build with -g to see "
		             "them\n");
}

static void print_head(const struct report *r, FILE *out)
{
	const char *note = report_note(r);

	if (r->profile->program)
		fprintf(out, "program   %s\n",
		        report_path(r, r->profile->program));
	print_files(r, out);
	if (note)
		fprintf(out, "note      %s\n", note);
	if (r->counts->totals.inconsistent)
		fprintf(out,
		        "note      functions whose flow does not add up: "
		        "%" PRIu64
		        "; their counts are marked ~, cairn check says why\n",
		        r->counts->totals.inconsistent);
	print_totals(r, out);
}

/* A count in a column: with its mark if it is in doubt. */
static void print_count(FILE *out, int width, uint64_t n, bool known,
                        bool doubtful)
{
	char text[32];

	if (known)
		snprintf(text, sizeof(text), "%s%" PRIu64, doubtful ? "~" : "",
		         n);
	else
		snprintf(text, sizeof(text), "?");
	fprintf(out, "%*s", width, text);
}

static void print_row(const struct report *r, const struct report_row *row,
                      FILE *out)
{
	bool doubtful = counts_is_inconsistent(row->r->doubt);
	const char *file = map_string(row->map, row->f->file);

	print_count(out, 14, row->r->entries, row->r->entries_known, doubtful);
	print_count(out, 18, row->r->executions, report_knows(row), doubtful);
	if (report_knows(row))
		fprintf(out, " %6.2f  %s",
		        percent(row->r->executions,
		                r->counts->totals.executions),
		        row->name);
	else
		fprintf(out, " %6s  %s", "?", row->name);
	if (*file)
		fprintf(out, "  %s", report_path(r, file));
	if (*file && row->f->line)
		fprintf(out, ":%" PRIu32, row->f->line);
	if (r->profile->nmodules > 1)
		fprintf(out, "  [%s]",
		        report_path(r, r->profile->modules[row->module].path));
	putc('\n', out);
}

static void print_table(const struct report *r, FILE *out)
{
	size_t shown = 0, more = 0;

	fprintf(out, "\n%14s%18s %6s  %s\n", "entries", "block executions", "%",
	        "function");
	for (size_t i = 0; i < r->nrows; i++) {
		if (!r->rows[i].r->covered)
			continue;
		if (shown < r->options.top) {
			print_row(r, &r->rows[i], out);
			shown++;
		} else {
			more++;
		}
	}
	if (!shown && !more)
		fprintf(out, "%14s%18s %6s  none\n", "", "", "");
	if (more)
		fprintf(out, "%14s  %zu more; --top N shows them\n", "", more);
}

static void print_uncovered(const struct report *r, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < r->nrows; i++) {
		const struct report_row *row = &r->rows[i];
		const char *reason = map_string(row->map, row->f->reason);

		if (row->r->covered)
			continue;
		if (!any)
			fprintf(out, "\nnot covered:\n");
		any = true;
		fprintf(out, "  %s: %s\n", row->name,
		        *reason ? reason : "no reason given");
	}
}

/* A source file, read when it is first needed, split into lines. */
struct source {
	char *path;
	char *text;
	char **lines;
	size_t n, cap;
};

static void source_release(struct source *s)
{
	free(s->path);
	free(s->text);
	free(s->lines);
	*s = (struct source){0};
}

static void source_read(struct source *s, const char *path)
{
	FILE *f;
	size_t size = 0, cap = 0, got;

	if (s->path && !strcmp(s->path, path))
		return;
	source_release(s);
	s->path = xstrdup(path);
	f = fopen(path, "r");
	if (!f)
		return;
	do {
		cap = cap ? 2 * cap : 65536;
		s->text = xrealloc(s->text, cap + 1, 1);
		got = fread(s->text + size, 1, cap - size, f);
		size += got;
	} while (size == cap);
	fclose(f);
	s->text[size] = '\0';
	for (char *p = s->text; p < s->text + size;) {
		char *end = strchrnul(p, '\n');

		VEC_RESERVE(s->lines, s->n, s->cap);
		s->lines[s->n++] = p;
		p = *end ? end + 1 : s->text + size;
		*end = '\0';
	}
}

static void print_line(const struct report *r, const struct source *s,
                       uint32_t line, FILE *out)
{
	const struct line_count *c = lines_find(r->lines, s->path, line);

	if (!c)
		fprintf(out, "%14s", "");
	else if (c->count || c->doubtful || !c->known)
		print_count(out, 14, c->count, c->known, c->doubtful);
	else
		fprintf(out, "%14s", "#####");
	fprintf(out, " %6" PRIu32 "  %s\n", line,
	        line <= s->n ? s->lines[line - 1] : "");
}

/* Lines of a range; without the source only those that have code. */
static void print_range(const struct report *r, const struct source *s,
                        uint32_t first, uint32_t last, FILE *out)
{
	if (!s->text)
		fprintf(out, "  (cannot read %s: counts only)\n",
		        report_path(r, s->path));
	for (uint32_t line = first; line <= last; line++) {
		if (!s->text ? lines_find(r->lines, s->path, line) != NULL
		             : line <= s->n)
			print_line(r, s, line, out);
		if (line == UINT32_MAX)
			break;
	}
}

/* The last line of the function's own code in the file that defines it. */
static uint32_t last_line(const struct report_row *row)
{
	const struct map *m = row->map;
	uint32_t last = row->f->line;

	for (uint32_t b = 1; b < row->f->nblocks; b++) {
		const struct map_block *mb =
		        &m->blocks[row->f->first_block + b];

		for (uint32_t s = 0; s < mb->nsegments; s++) {
			const struct map_segment *g =
			        &m->segments[mb->first_segment + s];
			const struct map_line *l = m->lines + g->first_line;

			for (uint32_t i = 0; i < g->nlines; i++)
				if (!l[i].instance &&
				    l[i].file == row->f->file &&
				    l[i].line > last)
					last = l[i].line;
		}
	}
	return last;
}

static void print_function_sources(const struct report *r, FILE *out)
{
	size_t limit = r->options.function || r->options.file ? r->options.top
	                                                      : SHOWN_FUNCTIONS;
	struct source s = {0};
	size_t shown = 0;

	for (size_t i = 0; i < r->nrows && shown < limit; i++) {
		const struct report_row *row = &r->rows[i];
		const char *file = map_string(row->map, row->f->file);

		if (!row->r->covered || !*file || !row->f->line ||
		    (!row->r->executions && !r->options.function))
			continue;
		source_read(&s, file);
		fprintf(out, "\n%s  %s:%" PRIu32 "\n", row->name,
		        report_path(r, file), row->f->line);
		print_range(r, &s, row->f->line, last_line(row), out);
		shown++;
	}
	source_release(&s);
}

/* Whole files.  Unless the user asked for them, not those of the system, which
 * are long and not his: a vector brings twenty thousand lines. */
static void print_files_sources(const struct report *r, FILE *out)
{
	const struct lines *l = r->lines;
	bool all = r->options.all_files || r->options.file;
	struct source s = {0};
	size_t left_out = 0;

	for (size_t i = 0, next; i < l->n; i = next) {
		uint32_t file = l->items[i].file;
		const char *path = l->files.items[file];
		uint32_t last = 0;

		for (next = i; next < l->n && l->items[next].file == file;
		     next++)
			last = l->items[next].line;
		if (!report_wants_file(r, path))
			continue;
		if (!all && report_is_system_file(path)) {
			left_out++;
			continue;
		}
		source_read(&s, path);
		fprintf(out, "\n%s\n", report_path(r, path));
		print_range(r, &s, 1, s.text ? (uint32_t)s.n : last, out);
	}
	if (left_out)
		fprintf(out,
		        "\n%zu system header%s left out; --all-files shows "
		        "%s\n",
		        left_out, left_out == 1 ? "" : "s",
		        left_out == 1 ? "it" : "them");
	source_release(&s);
}

void report_text(const struct report *r, FILE *out)
{
	print_head(r, out);
	print_table(r, out);
	print_uncovered(r, out);
	if (r->options.no_source)
		return;
	if (r->options.all_lines)
		print_files_sources(r, out);
	else
		print_function_sources(r, out);
}
