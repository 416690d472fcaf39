/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two profiles side by side, as text: shares of what ran, the functions that
 * changed most, then the lines of each file that ran in one of them only, with
 * the ways of branches that did.  Marks: + runs now, - no longer runs, > code
 * of B alone, < code of A alone, * ran in both but not equally often.
 */
#include "cli/diff.h"

#include "analysis/counts.h"
#include "analysis/lines.h"
#include "base/alloc.h"
#include "base/text.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The text of a version, split into lines. */
struct version {
	char *text;
	const char **lines;
	size_t n, cap;
};

static void version_read(struct version *v, const struct diff_side *s,
                         const char *path)
{
	size_t size;
	char *end;

	*v = (struct version){0};
	v->text = path ? diff_source(s, path, &size) : NULL;
	for (char *p = v->text; p && p < v->text + size; p = end + 1) {
		end = memchr(p, '\n', (size_t)(v->text + size - p));
		if (!end)
			end = v->text + size;
		*end = '\0';
		VEC_RESERVE(v->lines, v->n, v->cap);
		v->lines[v->n++] = p;
	}
}

static void version_release(struct version *v)
{
	free(v->text);
	free(v->lines);
}

/* --- head ----------------------------------------------------------------- */

static const struct report_colours *colours(const struct diff *d)
{
	return report_colours(&d->b.report);
}

static void print_side(const struct diff *d, FILE *out, bool is_b)
{
	const struct diff_side *s = is_b ? &d->b : &d->a;
	uint64_t runs = profile_nruns(s->profile);

	text_print(out, "%s          %s: %" PRIu64 " run%s", is_b ? "B" : "A",
	           report_path(&s->report, s->path), runs,
	           runs == 1 ? "" : "s");
	if (s->profile->program)
		text_print(out, " of %s",
		           report_path(&s->report, s->profile->program));
	putc('\n', out);
}

static void print_builds(const struct diff *d, FILE *out)
{
	const char *comma = "; lines matched ";

	text_print(out, "builds     %s",
	           d->same_build ? "the same" : "different");
	for (int i = 0; i < DIFF_NMEANS && !d->same_build; i++)
		if (d->means[i]) {
			text_print(out, "%sby %s in %zu file%s", comma,
			           diff_means((enum diff_means)i), d->means[i],
			           d->means[i] == 1 ? "" : "s");
			comma = ", ";
		}
	putc('\n', out);
}

static void print_share(FILE *out, const struct diff_share *s)
{
	char text[48];

	snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64, s->ran, s->all);
	if (s->all)
		text_print(out, "%20s %6.2f %%", text, diff_percent(s));
	else
		text_print(out, "%29s", "none");
}

static void print_total(const struct diff *d, FILE *out, const char *name,
                        const struct diff_total *t)
{
	double change = diff_percent(&t->b) - diff_percent(&t->a);
	const struct report_colours *c = colours(d);

	if (!t->a.all && !t->b.all)
		return;
	text_print(out, "%-10s", name);
	print_share(out, &t->a);
	print_share(out, &t->b);
	if (t->a.all && t->b.all) {
		fputs(change < 0 ? c->zero : "", out);
		text_print(out, "%+9.2f", change);
		fputs(change < 0 ? c->off : "", out);
	}
	putc('\n', out);
}

/* "3 new, 4 lost, 5 added (2 of them ran), 6 removed, 7 changed, 8 same". */
static void print_fates(FILE *out, const char *name, const struct diff_total *t)
{
	static const enum diff_fate order[] = {
	        DIFF_NEW,     DIFF_LOST, DIFF_ADDED,  DIFF_REMOVED,
	        DIFF_CHANGED, DIFF_SAME, DIFF_UNKNOWN};
	const char *comma = "";
	uint64_t all = 0;

	for (int i = 0; i < DIFF_NFATES; i++)
		all += t->fates[i];
	if (!all)
		return;
	text_print(out, "%-10s ", name);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (!t->fates[order[i]])
			continue;
		text_print(out, "%s%" PRIu64 " %s", comma, t->fates[order[i]],
		           diff_fate(order[i]));
		if (order[i] == DIFF_ADDED)
			text_print(out, " (%" PRIu64 " of them ran)",
			           t->added.ran);
		comma = ", ";
	}
	putc('\n', out);
}

static void print_executions(const struct diff *d, FILE *out)
{
	uint64_t a = d->a.counts->totals.executions;
	uint64_t b = d->b.counts->totals.executions;

	text_print(out, "%-10s%29" PRIu64 "%29" PRIu64, "executions", a, b);
	if (a && b)
		text_print(out, "%+9.2f %%", diff_growth(a, b));
	putc('\n', out);
}

static void print_head(const struct diff *d, FILE *out)
{
	const struct report_colours *c = colours(d);
	unsigned state = 0;
	char *note;

	print_side(d, out, false);
	print_side(d, out, true);
	print_builds(d, out);
	while ((note = diff_note(d, &state))) {
		text_print(out, "note       %s\n", note);
		free(note);
	}
	putc('\n', out);
	fputs(c->head, out);
	text_print(out, "%-10s%29s%29s%9s", "", "A", "B", "change");
	fputs(c->off, out);
	putc('\n', out);
	print_total(d, out, "functions", &d->function_total);
	print_total(d, out, "lines", &d->lines);
	print_total(d, out, "branches", &d->branches);
	print_executions(d, out);
	putc('\n', out);
	print_fates(out, "functions", &d->function_total);
	print_fates(out, "lines", &d->lines);
	print_fates(out, "branches", &d->branches);
}

static void print_limits(const struct diff *d, FILE *out)
{
	struct diff_verdict v[DIFF_NVERDICTS];
	size_t n = diff_judge(d, v);

	if (n)
		putc('\n', out);
	for (size_t i = 0; i < n; i++) {
		char *text = diff_verdict_text(&v[i]);

		text_print(out, "limit      %s\n", text);
		free(text);
	}
}

/* --- functions ------------------------------------------------------------ */

static void print_function(const struct diff *d, const struct diff_function *f,
                           FILE *out)
{
	const struct report_row *row = diff_row(f);
	const struct report *r = f->b ? &d->b.report : &d->a.report;
	const char *file = map_string(row->map, row->f->file);
	const struct report_colours *c = colours(d);

	if (f->a)
		report_count(out, 16, f->executions_a, f->known_a,
		             f->doubtful_a);
	else
		text_print(out, "%16s", "-");
	if (f->b)
		report_count(out, 16, f->executions_b, f->known_b,
		             f->doubtful_b);
	else
		text_print(out, "%16s", "-");
	if (f->fate == DIFF_CHANGED || f->fate == DIFF_SAME)
		text_print(out, " %+11.2f",
		           diff_growth(f->executions_a, f->executions_b));
	else
		text_print(out, " %11s", diff_fate(f->fate));
	fputs("  ", out);
	report_paint(out, c->name, row->name, c);
	if (*file) {
		fputs(c->dim, out);
		text_print(out, "  %s:%" PRIu32, report_path(r, file),
		           row->f->line);
		fputs(c->off, out);
	}
	putc('\n', out);
}

static void print_functions(const struct diff *d, FILE *out)
{
	const struct report_colours *c = colours(d);
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < d->nfunctions; i++) {
		if (d->functions[i].fate == DIFF_SAME)
			continue;
		if (!shown && !more) {
			putc('\n', out);
			fputs(c->head, out);
			text_print(out, "%16s%16s %11s  function",
			           "executions in A", "in B", "change %");
			fputs(c->off, out);
			putc('\n', out);
		}
		if (shown < d->options.report.top) {
			print_function(d, &d->functions[i], out);
			shown++;
		} else {
			more++;
		}
	}
	if (more)
		text_print(out, "%16s  %zu more; --top N shows them\n", "",
		           more);
}

/* --- lines ---------------------------------------------------------------- */

static char mark_of(enum diff_fate fate)
{
	switch (fate) {
	case DIFF_NEW:
		return '+';
	case DIFF_LOST:
		return '-';
	case DIFF_ADDED:
		return '>';
	case DIFF_REMOVED:
		return '<';
	case DIFF_CHANGED:
		return '*';
	default:
		return ' ';
	}
}

static void print_count(FILE *out, const struct line_count *c)
{
	if (c)
		report_count(out, 14, c->count, c->known, c->doubtful);
	else
		text_print(out, "%14s", "");
}

static void print_way(const struct diff_way *w, FILE *out)
{
	const struct line_branch *b = w->b ? w->b : w->a;

	text_print(out, "%14" PRIu64 "%14" PRIu64 " %c          way %" PRIu32,
	           w->a->taken, w->b->taken, mark_of(w->fate), b->branch + 1);
	if (b->block)
		text_print(out, " of branch %" PRIu32, b->block + 1);
	if (b->to_line && b->to_file == b->file)
		text_print(out, ", to line %" PRIu32, b->to_line);
	putc('\n', out);
}

static bool is_shown_way(const struct diff_way *w)
{
	return w->fate == DIFF_NEW || w->fate == DIFF_LOST;
}

static bool is_shown(const struct diff *d, const struct diff_line *l)
{
	if (l->fate == DIFF_NEW || l->fate == DIFF_LOST ||
	    l->fate == DIFF_ADDED)
		return true;
	if (d->options.changed &&
	    (l->fate == DIFF_CHANGED || l->fate == DIFF_REMOVED))
		return true;
	return diff_ways_of(d, l, DIFF_NEW) || diff_ways_of(d, l, DIFF_LOST);
}

static void print_line(const struct diff *d, const struct diff_line *l,
                       const struct version *a, const struct version *b,
                       FILE *out)
{
	const struct report_colours *c = colours(d);
	uint32_t line = l->b ? l->b->line : l->a->line;
	const struct version *v = l->b ? b : a;
	bool is_bad =
	        l->fate == DIFF_LOST || (l->fate == DIFF_ADDED && !l->b->count);

	fputs(is_bad ? c->zero : "", out);
	print_count(out, l->a);
	print_count(out, l->b);
	text_print(out, " %c", mark_of(l->fate));
	fputs(is_bad ? c->off : "", out);
	fputs(c->dim, out);
	text_print(out, " %6" PRIu32, line);
	fputs(c->off, out);
	fputs("  ", out);
	text_put_source(out, line <= v->n ? v->lines[line - 1] : "");
	putc('\n', out);
	for (size_t i = 0; i < l->nways; i++)
		if (is_shown_way(&d->ways[l->first_way + i]))
			print_way(&d->ways[l->first_way + i], out);
}

static void print_file(const struct diff *d, const struct diff_file *f,
                       FILE *out)
{
	const struct report_colours *c = colours(d);
	struct version a = {0}, b = {0};
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct diff_line *l = &d->items[f->first + i];

		if (!is_shown(d, l))
			continue;
		if (shown == d->options.report.top) {
			more++;
			continue;
		}
		if (!shown++) {
			version_read(&a, &d->a, f->path_a);
			version_read(&b, &d->b, f->path_b);
			putc('\n', out);
			fputs(c->head, out);
			text_print(out, "%s%s",
			           report_path(&d->b.report, diff_path(f)),
			           f->path_b ? "" : "  (only in A)");
			fputs(c->off, out);
			text_print(out, "\n%14s%14s\n", "A", "B");
		}
		print_line(d, l, &a, &b, out);
	}
	if (more)
		text_print(out, "%28s  %zu more; --top N shows them\n", "",
		           more);
	version_release(&a);
	version_release(&b);
}

void diff_text(const struct diff *d, FILE *out)
{
	print_head(d, out);
	print_limits(d, out);
	print_functions(d, out);
	if (d->options.report.no_source)
		return;
	for (size_t i = 0; i < d->nfiles; i++)
		print_file(d, &d->files[i], out);
}
