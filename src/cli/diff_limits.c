/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits for a comparison of two profiles, and sentences about what it cannot
 * know.  A limit is broken by what is certain: lines and functions of which
 * nobody knows are in no number.
 */
#include "cli/diff.h"

#include "analysis/counts.h"
#include "base/alloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of a difference of two percentages. */
#define ROUNDING 1e-9

static void add(struct diff_verdict *out, size_t *n, const char *option,
                double limit, double value, bool is_broken)
{
	if (limit >= 0)
		out[(*n)++] = (struct diff_verdict){.option = option,
		                                    .limit = limit,
		                                    .value = value,
		                                    .is_broken = is_broken};
}

static void add_least(struct diff_verdict *out, size_t *n, const char *option,
                      double limit, const struct diff_share *s)
{
	double value = diff_percent(s);

	add(out, n, option, limit, value, value < limit);
}

static void add_most(struct diff_verdict *out, size_t *n, const char *option,
                     int64_t limit, uint64_t value)
{
	add(out, n, option, (double)limit, (double)value,
	    limit >= 0 && value > (uint64_t)limit);
}

/* Functions that ran in both, and all of them together. */
static void add_growth(const struct diff *d, struct diff_verdict *out,
                       size_t *n)
{
	const struct report_options *o = &d->options.report;
	double limit = d->options.limits.growth, worst;
	struct diff_verdict v = {.option = "--max-growth", .limit = limit};

	if (limit < 0)
		return;
	if (!o->function && !o->file)
		v.value = diff_growth(d->a.counts->totals.executions,
		                      d->b.counts->totals.executions);
	v.n = v.value > limit + ROUNDING;
	worst = v.value;
	for (size_t i = 0; i < d->nfunctions; i++) {
		const struct diff_function *f = &d->functions[i];
		double growth =
		        f->known_a && f->known_b
		                ? diff_growth(f->executions_a, f->executions_b)
		                : 0;

		v.n += growth > limit + ROUNDING;
		if (growth > worst) {
			worst = growth;
			v.function = diff_row(f)->name;
		}
	}
	v.value = worst;
	v.is_broken = v.n > 0;
	out[(*n)++] = v;
}

size_t diff_judge(const struct diff *d, struct diff_verdict *out)
{
	const struct diff_limits *l = &d->options.limits;
	double drop = diff_percent(&d->lines.a) - diff_percent(&d->lines.b);
	size_t n = 0;

	add_least(out, &n, "--fail-under-lines", l->under_lines, &d->lines.b);
	add_least(out, &n, "--fail-under-branches", l->under_branches,
	          &d->branches.b);
	add_least(out, &n, "--fail-under-new", l->under_new, &d->lines.added);
	add(out, &n, "--max-drop", l->drop, drop, drop > l->drop + ROUNDING);
	add_most(out, &n, "--max-lost-lines", l->lost_lines,
	         d->lines.fates[DIFF_LOST]);
	add_most(out, &n, "--max-lost-branches", l->lost_branches,
	         d->branches.fates[DIFF_LOST]);
	add_most(out, &n, "--max-lost-functions", l->lost_functions,
	         d->function_total.fates[DIFF_LOST]);
	add_growth(d, out, &n);
	return n;
}

char *diff_verdict_text(const struct diff_verdict *v)
{
	static const struct {
		const char *option, *what;
	} words[] = {
	        {"--fail-under-lines", "% of the lines of B ran"},
	        {"--fail-under-branches",
	         "% of the ways of branches of B were taken"},
	        {"--fail-under-new", "% of the lines that only B has ran"},
	        {"--max-drop", "points less of the lines ran"},
	        {"--max-lost-lines", "lines ran in A and not in B"},
	        {"--max-lost-branches",
	         "ways of branches were taken in A and not in B"},
	        {"--max-lost-functions", "functions ran in A and not in B"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].option, v->option))
			return xasprintf(
			        "%s %g: %s: %.*f %s", v->option, v->limit,
			        v->is_broken ? "broken" : "kept",
			        i >= 4 ? 0 : 2, v->value, words[i].what);
	return xasprintf("%s %g: %s: %+.2f %% executions in %s%s", v->option,
	                 v->limit, v->is_broken ? "broken" : "kept", v->value,
	                 v->function ? v->function : "all",
	                 v->n > 1 ? ", and beyond it in others" : "");
}

/* --- notes ---------------------------------------------------------------- */

static char *side_note(const struct diff_side *s, const char *name)
{
	char *whole = report_whole_note(&s->report), *note;

	if (!whole)
		return NULL;
	note = xasprintf("%s: %s", name, whole);
	free(whole);
	return note;
}

static char *doubt_note(const struct diff_side *s, const char *name)
{
	uint64_t n = s->counts->totals.inconsistent;

	return n ? xasprintf("%s: functions whose flow does not add up: "
	                     "%" PRIu64 "; their counts are marked ~, cairn "
	                     "check says why",
	                     name, n)
	         : NULL;
}

static char *number_note(const struct diff *d)
{
	size_t n = d->means[DIFF_BY_NUMBER];

	return n ? xasprintf("files whose lines are compared by their numbers, "
	                     "since the text of one build is not at hand: %zu; "
	                     "lines that moved look like others, --patch FILE "
	                     "says what changed",
	                     n)
	         : NULL;
}

/* A file that was renamed looks like one that is gone and one that is new. */
static char *alone_note(const struct diff *d)
{
	size_t a = 0, b = 0;

	for (size_t i = 0; i < d->nfiles; i++) {
		a += !d->files[i].path_b;
		b += !d->files[i].path_a;
	}
	return a && b ? xasprintf("files of A alone: %zu, of B alone: %zu; if "
	                          "one was renamed, its lines are told as "
	                          "removed and added, --patch FILE says what "
	                          "it is called now",
	                          a, b)
	              : NULL;
}

static char *count_note(uint64_t n, const char *what, const char *then)
{
	return n ? xasprintf("%s: %" PRIu64 "; %s", what, n, then) : NULL;
}

static char *note_of(const struct diff *d, unsigned i)
{
	switch (i) {
	case 0:
		return side_note(&d->a, "A");
	case 1:
		return side_note(&d->b, "B");
	case 2:
		return doubt_note(&d->a, "A");
	case 3:
		return doubt_note(&d->b, "B");
	case 4:
		return number_note(d);
	case 5:
		return alone_note(d);
	case 6:
		return count_note(d->nuncompared,
		                  "lines whose branches are not the same in "
		                  "both builds",
		                  "ways of them are told as removed and added");
	default:
		return count_note(d->lines.fates[DIFF_UNKNOWN],
		                  "lines of which nobody knows whether they "
		                  "ran, or how often, in A or in B",
		                  "nothing is said about them");
	}
}

char *diff_note(const struct diff *d, unsigned *state)
{
	while (*state < 8) {
		char *note = note_of(d, (*state)++);

		if (note)
			return note;
	}
	return NULL;
}
