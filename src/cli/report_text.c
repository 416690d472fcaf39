/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as text: what ran, the hottest functions, totals of directories,
 * then source lines (report_source.c).  A number that comes from a function
 * with contradictory flow is marked with ~, one that is not known is a question
 * mark.
 */
#include "cli/report.h"

#include "abi/file.h"
#include "abi/map.h"
#include "analysis/counts.h"
#include "analysis/lines.h"
#include "analysis/totals.h"
#include "base/alloc.h"
#include "base/text.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

		text_print(out, "file      %s: %" PRIu32 " run%s, %s",
		           report_path(r, f->name), f->nruns,
		           f->nruns == 1 ? "" : "s", how_text(f));
		if (f->how == CAIRN_HOW_SIGNAL)
			text_print(out, " (%" PRIu32 ")", f->signal);
		if (f->threads_at_once)
			text_print(out, ", %s%" PRIu32 " thread%s at a time",
			           f->threads_at_once == 1 ? "" : "up to ",
			           f->threads_at_once,
			           f->threads_at_once == 1 ? "" : "s");
		if (!r->options.stable && f->pid)
			text_print(out, ", pid %" PRIu32, f->pid);
		putc('\n', out);
	}
}

static void print_totals(const struct report *r, FILE *out)
{
	const struct counts_totals *t = &r->counts->totals;
	uint64_t executed, known;

	text_print(out,
	           "functions %" PRIu64 " of %" PRIu64 " executed, %" PRIu64
	           " not covered\n",
	           t->executed, t->functions - t->uncovered - t->partial,
	           t->uncovered);
	if (t->partial)
		text_print(out,
		           "partly    %" PRIu64
		           " functions count some of their paths only; "
		           "cairn paths and cairn residual show these\n",
		           t->partial);
	text_print(out,
	           "blocks    %" PRIu64 " of %" PRIu64
	           " executed (%.1f %%), %" PRIu64 " executions in all\n",
	           t->blocks_executed, t->blocks,
	           report_percent(t->blocks_executed, t->blocks),
	           t->executions);
	if (!r->lines->n && t->functions > t->uncovered)
		text_print(out, "lines     none known; build with -g to see "
		                "them\n");
	if (!r->lines->n)
		return;
	lines_total(r->lines, &executed, &known);
	text_print(out,
	           "lines     %" PRIu64 " of %" PRIu64 " executed (%.1f %%)\n",
	           executed, known, report_percent(executed, known));
	lines_total_branches(r->lines, &executed, &known);
	if (known)
		text_print(out,
		           "branches  %" PRIu64 " of %" PRIu64
		           " ways taken (%.1f %%)\n",
		           executed, known, report_percent(executed, known));
}

static void print_head(const struct report *r, FILE *out)
{
	const char *note = report_note(r);

	if (r->profile->program)
		text_print(out, "program   %s\n",
		           report_path(r, r->profile->program));
	print_files(r, out);
	if (note)
		text_print(out, "note      %s\n", note);
	if (r->counts->totals.inconsistent)
		text_print(
		        out,
		        "note      functions whose flow does not add up: "
		        "%" PRIu64
		        "; their counts are marked ~, cairn check says why\n",
		        r->counts->totals.inconsistent);
	if (r->counts->totals.stops)
		text_print(out,
		           "note      places where frames were stopped between "
		           "calls: %" PRIu64
		           "; they ran some of the lines there, which are "
		           "marked ~\n",
		           r->counts->totals.stops);
	print_totals(r, out);
}

void report_count(FILE *out, int width, uint64_t n, bool known, bool doubtful)
{
	char text[32];

	if (known)
		snprintf(text, sizeof(text), "%s%" PRIu64, doubtful ? "~" : "",
		         n);
	else
		snprintf(text, sizeof(text), "?");
	text_print(out, "%*s", width, text);
}

static void print_row(const struct report *r, const struct report_row *row,
                      FILE *out)
{
	bool doubtful = counts_is_inconsistent(row->r->doubt);
	const char *file = map_string(row->map, row->f->file);
	const struct report_colours *c = report_colours(r);

	report_count(out, 14, row->r->entries, row->r->entries_known, doubtful);
	report_count(out, 18, row->r->executions, report_knows(row), doubtful);
	if (report_knows(row))
		text_print(out, " %6.2f  ",
		           report_percent(row->r->executions,
		                          r->counts->totals.executions));
	else
		text_print(out, " %6s  ", "?");
	report_paint(out, c->name, row->name, c);
	if (*file) {
		fputs(c->dim, out);
		text_print(out, "  %s", report_path(r, file));
	}
	if (*file && row->f->line)
		text_print(out, ":%" PRIu32, row->f->line);
	if (*file)
		fputs(c->off, out);
	if (r->profile->nmodules > 1)
		text_print(
		        out, "  [%s]",
		        report_path(r, r->profile->modules[row->module].path));
	putc('\n', out);
}

static void print_table(const struct report *r, FILE *out)
{
	size_t shown = 0, more = 0, below = 0;
	const struct report_colours *c = report_colours(r);

	putc('\n', out);
	fputs(c->head, out);
	text_print(out, "%14s%18s %6s  function", "entries", "block executions",
	           "%");
	fputs(c->off, out);
	putc('\n', out);
	for (size_t i = 0; i < r->nrows; i++) {
		if (!r->rows[i].r->covered)
			continue;
		if (!report_is_above(r, &r->rows[i])) {
			below++;
		} else if (shown < r->options.top) {
			print_row(r, &r->rows[i], out);
			shown++;
		} else {
			more++;
		}
	}
	if (!shown && !more)
		text_print(out, "%14s%18s %6s  none\n", "", "", "");
	if (more)
		text_print(out, "%14s  %zu more; --top N shows them\n", "",
		           more);
	if (below)
		text_print(out, "%14s  %zu below %g %%\n", "", below,
		           r->options.threshold);
}

/* "12 of 34  35.3 %", or spaces. */
static void print_share(const struct report *r, FILE *out, uint64_t part,
                        uint64_t whole)
{
	const struct report_colours *c = report_colours(r);

	if (!whole) {
		text_print(out, "%*s", 23, "");
		return;
	}
	text_print(out, "%7" PRIu64 " of %-6" PRIu64, part, whole);
	fputs(part ? "" : c->zero, out);
	text_print(out, "%5.1f", report_percent(part, whole));
	fputs(part ? "" : c->off, out);
	putc(' ', out);
}

static void print_total(const struct report *r, const struct total *t,
                        const char *indent, FILE *out)
{
	print_share(r, out, t->lines_executed, t->lines);
	print_share(r, out, t->branches_taken, t->branches);
	print_share(r, out, t->functions_executed, t->functions);
	text_print(out, " %s%s\n", indent, report_path(r, t->path));
}

static bool shows_file(const struct report *r, const char *path)
{
	return report_wants_file(r, path) &&
	       (r->options.all_files || r->options.file ||
	        !report_is_system_file(path));
}

/* Does it show a file of the directory? */
static bool shows_directory(const struct report *r, uint32_t directory)
{
	const struct totals *t = r->totals;

	for (size_t i = 0; i < t->nfiles; i++)
		if (t->directory_of[i] == directory &&
		    shows_file(r, t->files[i].path))
			return true;
	return false;
}

static void print_directories(const struct report *r, FILE *out)
{
	const struct totals *t = r->totals;
	const struct report_colours *c = report_colours(r);
	bool any = false;

	for (uint32_t d = 0; d < t->ndirectories; d++)
		any |= t->directories[d].lines && shows_directory(r, d);
	if (!any)
		return;
	putc('\n', out);
	fputs(c->head, out);
	text_print(out, "%-23s%-23s%-23s directory", "   lines            %",
	           "   branches         %", "   functions        %");
	fputs(c->off, out);
	putc('\n', out);
	for (uint32_t d = 0; d < t->ndirectories; d++) {
		if (!t->directories[d].lines || !shows_directory(r, d))
			continue;
		if (!r->options.file)
			print_total(r, &t->directories[d], "", out);
		for (size_t i = 0; i < t->nfiles; i++)
			if ((r->options.files || r->options.file) &&
			    t->directory_of[i] == d &&
			    shows_file(r, t->files[i].path))
				print_total(r, &t->files[i],
				            r->options.file ? "" : "  ", out);
	}
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
			text_print(out, "\nnot covered:\n");
		any = true;
		text_print(out, "  %s: %s\n", row->name,
		           *reason ? reason : "no reason given");
	}
}

void report_text(const struct report *r, FILE *out)
{
	print_head(r, out);
	print_table(r, out);
	print_directories(r, out);
	print_uncovered(r, out);
	if (r->options.no_source)
		return;
	if (r->options.all_lines)
		report_source_files(r, out);
	else
		report_source_functions(r, out);
}
