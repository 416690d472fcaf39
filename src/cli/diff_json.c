/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two profiles side by side, as JSON: docs/FORMAT.md, section 9, is its schema.
 */
#include "cli/diff.h"

#include "analysis/counts.h"
#include "analysis/lines.h"
#include "base/json.h"
#include "cli/side.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>

#define JSON_VERSION 1
#define EXACT_LIMIT (UINT64_C(1) << 53)

static void put_count(struct json *j, const char *key, uint64_t v, bool known)
{
	if (known && v >= EXACT_LIMIT) {
		side_json_u64(j, key, v);
		return;
	}
	json_key(j, key);
	json_count(j, v, known);
}

static void put_side(const struct diff_side *s, struct json *j, const char *key)
{
	char *note = report_whole_note(&s->report);

	json_key(j, key);
	json_begin(j, '{');
	side_json_string(j, "file", report_path(&s->report, s->path));
	side_json_u64(j, "runs", profile_nruns(s->profile));
	side_json_string(j, "program",
	                 s->profile->program
	                         ? report_path(&s->report, s->profile->program)
	                         : NULL);
	side_json_u64(j, "executions", s->counts->totals.executions);
	json_key(j, "exact");
	json_bool(j, !note && !s->counts->totals.inconsistent);
	side_json_string(j, "note", note);
	json_end(j, '}');
	free(note);
}

static void put_share(struct json *j, const char *key,
                      const struct diff_share *s)
{
	json_key(j, key);
	json_begin(j, '{');
	side_json_u64(j, "ran", s->ran);
	side_json_u64(j, "all", s->all);
	json_end(j, '}');
}

static void put_total(struct json *j, const char *key,
                      const struct diff_total *t)
{
	json_key(j, key);
	json_begin(j, '{');
	put_share(j, "a", &t->a);
	put_share(j, "b", &t->b);
	side_json_u64(j, "added_ran", t->added.ran);
	for (int i = 0; i < DIFF_NFATES; i++)
		side_json_u64(j, diff_fate((enum diff_fate)i), t->fates[i]);
	json_end(j, '}');
}

static void put_limits(const struct diff *d, struct json *j)
{
	struct diff_verdict v[DIFF_NVERDICTS];
	size_t n = diff_judge(d, v);

	json_key(j, "limits");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++) {
		json_begin(j, '{');
		side_json_string(j, "option", v[i].option);
		side_json_real(j, "limit", v[i].limit);
		side_json_real(j, "value", v[i].value);
		if (v[i].function)
			side_json_string(j, "function", v[i].function);
		json_key(j, "broken");
		json_bool(j, v[i].is_broken);
		json_end(j, '}');
	}
	json_end(j, ']');
}

void diff_json_notes(const struct diff *d, struct json *j)
{
	unsigned state = 0;
	char *note;

	json_key(j, "notes");
	json_begin(j, '[');
	while ((note = diff_note(d, &state))) {
		json_string(j, note);
		free(note);
	}
	json_end(j, ']');
}

static void put_function(const struct diff *d, const struct diff_function *f,
                         struct json *j)
{
	const struct report_row *row = diff_row(f);
	const struct report *r = f->b ? &d->b.report : &d->a.report;
	const char *file = map_string(row->map, row->f->file);

	json_begin(j, '{');
	side_json_string(j, "name", map_string(row->map, row->f->name));
	side_json_string(j, "demangled", row->demangled);
	side_json_string(j, "file", *file ? report_path(r, file) : NULL);
	side_json_u64(j, "line", row->f->line);
	side_json_string(j, "fate", diff_fate(f->fate));
	put_count(j, "entries_a", f->entries_a, f->a && f->entries_known_a);
	put_count(j, "entries_b", f->entries_b, f->b && f->entries_known_b);
	put_count(j, "executions_a", f->executions_a, f->a && f->known_a);
	put_count(j, "executions_b", f->executions_b, f->b && f->known_b);
	json_key(j, "consistent");
	json_bool(j, !f->doubtful_a && !f->doubtful_b);
	json_end(j, '}');
}

static void put_ways(const struct diff *d, const struct diff_line *l,
                     struct json *j)
{
	json_key(j, "branches");
	json_begin(j, '[');
	for (size_t i = 0; i < l->nways; i++) {
		const struct diff_way *w = &d->ways[l->first_way + i];
		const struct line_branch *b = w->b ? w->b : w->a;

		json_begin(j, '{');
		side_json_u64(j, "branch", b->block);
		side_json_u64(j, "way", b->branch);
		side_json_string(j, "fate", diff_fate(w->fate));
		put_count(j, "taken_a", w->a ? w->a->taken : 0, w->a != NULL);
		put_count(j, "taken_b", w->b ? w->b->taken : 0, w->b != NULL);
		if (b->to_line && b->to_file == b->file)
			side_json_u64(j, "to", b->to_line);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_line(const struct diff *d, const struct diff_line *l,
                     struct json *j)
{
	json_begin(j, '{');
	json_key(j, "line_a");
	json_count(j, l->a ? l->a->line : 0, l->a != NULL);
	json_key(j, "line_b");
	json_count(j, l->b ? l->b->line : 0, l->b != NULL);
	side_json_string(j, "fate", diff_fate(l->fate));
	put_count(j, "count_a", l->a ? l->a->count : 0, l->a && l->a->known);
	put_count(j, "count_b", l->b ? l->b->count : 0, l->b && l->b->known);
	if ((l->a && l->a->doubtful) || (l->b && l->b->doubtful)) {
		json_key(j, "consistent");
		json_bool(j, false);
	}
	if (l->nways)
		put_ways(d, l, j);
	json_end(j, '}');
}

static void put_file(const struct diff *d, const struct diff_file *f,
                     struct json *j)
{
	json_begin(j, '{');
	side_json_string(j, "file_a",
	                 f->path_a ? report_path(&d->a.report, f->path_a)
	                           : NULL);
	side_json_string(j, "file_b",
	                 f->path_b ? report_path(&d->b.report, f->path_b)
	                           : NULL);
	side_json_string(j, "matched",
	                 f->path_a && f->path_b ? diff_means(f->means) : NULL);
	put_total(j, "lines_total", &f->lines);
	put_total(j, "branches_total", &f->ways);
	json_key(j, "lines");
	json_begin(j, '[');
	for (size_t i = 0; i < f->n; i++)
		put_line(d, &d->items[f->first + i], j);
	json_end(j, ']');
	json_end(j, '}');
}

void diff_json(const struct diff *d, FILE *out)
{
	struct json j = {.out = out, .flat_below = 4};

	json_begin(&j, '{');
	side_json_u64(&j, "version", JSON_VERSION);
	put_side(&d->a, &j, "a");
	put_side(&d->b, &j, "b");
	json_key(&j, "same_build");
	json_bool(&j, d->same_build);
	diff_json_notes(d, &j);
	put_limits(d, &j);
	json_key(&j, "totals");
	json_begin(&j, '{');
	put_total(&j, "functions", &d->function_total);
	put_total(&j, "lines", &d->lines);
	put_total(&j, "branches", &d->branches);
	json_end(&j, '}');
	json_key(&j, "functions");
	json_begin(&j, '[');
	for (size_t i = 0; i < d->nfunctions; i++)
		put_function(d, &d->functions[i], &j);
	json_end(&j, ']');
	json_key(&j, "sources");
	json_begin(&j, '[');
	for (size_t i = 0; i < d->nfiles; i++)
		put_file(d, &d->files[i], &j);
	json_end(&j, ']');
	json_end(&j, '}');
}
