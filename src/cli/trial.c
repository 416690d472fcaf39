/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test suite as text and as JSON: what each test adds, the fewest that do,
 * the order to run them in, and lines and paths that go with failure.
 */
#include "cli/trial.h"

#include "base/json.h"
#include "base/text.h"
#include "format/map.h"

#include <inttypes.h>
#include <string.h>

#define JSON_VERSION 1

struct hot_path trial_path(const struct trial *t, size_t path)
{
	const struct suite_path *p = &t->suite.paths[path];
	const struct catalog_function *f =
	        &t->all.catalog.functions[p->function];

	if (p->is_prefix)
		return side_path(p->function, 0, &p->prefix,
		                 (uint64_t)catalog_died(f, &p->prefix));
	return side_path(p->function, p->number, NULL,
	                 catalog_count(f, p->number));
}

uint64_t trial_nchanged(const struct trial *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->suite.npaths; i++)
		n += t->is_changed && t->is_changed[i];
	return n;
}

/* Lines and paths that no failed test ran are no suspects. */
size_t trial_nlines(const struct trial *t)
{
	size_t n = 0;

	while (n < t->lines.n && t->lines.items[n].own.nfailed)
		n++;
	return n;
}

/* --- text --------------------------------------------------------------- */

static void print_more(FILE *out, size_t shown, size_t n)
{
	if (shown < n)
		text_print(out, "%10s (%zu more; --top 0 shows all)\n", "",
		           n - shown);
}

static void print_tests(const struct trial *t, FILE *out)
{
	const struct suite *s = &t->suite;
	size_t needless = 0;

	text_print(
	        out,
	        "\ntests that add no path, each by itself: others take all of "
	        "theirs\n");
	for (size_t i = 0; i < s->ntests; i++) {
		if (s->nalone_of[i])
			continue;
		text_print(out, "%10" PRIu64 " paths  %s\n", s->npaths_of[i],
		           t->files[i]);
		needless++;
	}
	if (!needless)
		text_print(out, "%10s\n", "none");
}

static void print_cover(const struct trial *t, FILE *out)
{
	const struct cover *c = &t->cover;

	text_print(out, "\n%zu of %zu tests take the same paths: ", c->n,
	           t->suite.ntests);
	if (c->at_least == c->n)
		text_print(out, "no fewer do\n");
	else
		text_print(out, "found greedily; it takes %zu at least\n",
		           c->at_least);
	for (size_t i = 0; i < c->n; i++)
		text_print(out, "%10" PRIu64 " paths  %s\n",
		           t->suite.npaths_of[c->sets[i]],
		           t->files[c->sets[i]]);
}

static void print_order(const struct trial *t, FILE *out)
{
	if (t->diff)
		text_print(out,
		           "\norder for %s: paths through its lines first\n"
		           "%10s %10s %10s  test\n",
		           t->diff, "changed", "+changed", "+paths");
	else
		text_print(out, "\norder: most new paths first\n%10s  test\n",
		           "+paths");
	for (size_t i = 0; i < t->suite.ntests; i++) {
		const struct suite_step *s = &t->order[i];

		if (t->diff)
			text_print(out, "%10" PRIu64 " %10" PRIu64, s->nchanged,
			           s->nadded_changed);
		text_print(out, "%s%10" PRIu64 "  %s\n", t->diff ? " " : "",
		           s->nadded, t->files[s->test]);
	}
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void print_lines(const struct trial *t, FILE *out)
{
	size_t n = trial_nlines(t), shown = n < t->top ? n : t->top;

	text_print(out,
	           "\nlines that go with failure: by themselves, or the path "
	           "through them that does most\n"
	           "%6s %6s %9s %6s %6s %6s %9s  line\n",
	           "score", "line", "tarantula", "failed", "passed", "path",
	           "tarantula");
	for (size_t i = 0; i < shown; i++) {
		const struct suite_line *l = &t->lines.items[i];

		text_print(out,
		           "%6.4f %6.4f %9.4f %6" PRIu32 " %6" PRIu32
		           " %6.4f %9.4f  %s:%" PRIu32 "  %s\n",
		           l->score, l->own.ochiai, l->own.tarantula,
		           l->own.nfailed, l->own.npassed, l->best.ochiai,
		           l->best.tarantula,
		           base(t->lines.files.items[l->file]), l->line,
		           side_function(&t->all,
		                         t->suite.paths[l->path].function));
	}
	print_more(out, shown, n);
	if (t->nsystem)
		text_print(out,
		           "%10s (lines of system headers left out: %zu)\n", "",
		           t->nsystem);
}

static void print_suspects(const struct trial *t, FILE *out)
{
	size_t n = t->nsuspects, shown = n < t->top ? n : t->top;

	text_print(
	        out,
	        "\npaths that go with failure\n%8s %9s %6s %6s  path  lines\n",
	        "ochiai", "tarantula", "failed", "passed");
	for (size_t i = 0; i < shown; i++) {
		size_t path = t->suspects[i];
		const struct suite_score *s = &t->scores[path];
		struct hot_path h = trial_path(t, path);

		text_print(out, "%8.4f %9.4f %6" PRIu32 " %6" PRIu32 "  %s ",
		           s->ochiai, s->tarantula, s->nfailed, s->npassed,
		           side_function(&t->all, h.function));
		if (h.is_prefix)
			text_print(out, "unfinished  ");
		else
			text_print(out, "%" PRIu64 "  ", h.number);
		hot_text_summary(&t->all.view, out, &h);
		text_print(out, "\n");
	}
	print_more(out, shown, n);
	for (size_t i = 0; i < shown && i < 3; i++) {
		struct hot_path h = trial_path(t, t->suspects[i]);

		text_print(out, "\n#%zu %s\n", i + 1,
		           side_function(&t->all, h.function));
		hot_text_path(&t->all.view, out, &h);
	}
}

void trial_text(const struct trial *t, FILE *out)
{
	text_print(out, "tests      %zu", t->suite.ntests);
	if (t->nfailed)
		text_print(out, ", %zu failed", t->nfailed);
	text_print(out, "\npaths      %zu\n", t->suite.npaths);
	if (t->diff)
		text_print(out,
		           "changed    %zu lines; %" PRIu64 " paths through "
		           "them\n",
		           t->patch.n, trial_nchanged(t));
	for (uint32_t i = 0; t->diff && i < t->patch.files.n; i++)
		if (!t->used[i])
			text_print(out,
			           "note       %s: no code of it in the "
			           "profiles\n",
			           t->patch.files.items[i]);
	side_text_notes(&t->all, out);
	print_tests(t, out);
	print_cover(t, out);
	print_order(t, out);
	if (!t->nfailed)
		return;
	print_lines(t, out);
	print_suspects(t, out);
}

/* --- JSON --------------------------------------------------------------- */

static void put_tests(const struct trial *t, struct json *j)
{
	json_key(j, "tests");
	json_begin(j, '[');
	for (size_t i = 0; i < t->suite.ntests; i++) {
		json_begin(j, '{');
		side_json_string(j, "file", t->files[i]);
		side_json_u64(j, "paths", t->suite.npaths_of[i]);
		side_json_u64(j, "alone", t->suite.nalone_of[i]);
		json_key(j, "failed");
		json_bool(j, t->failed[i]);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_key(j, "smallest");
	json_begin(j, '{');
	json_key(j, "tests");
	json_begin(j, '[');
	for (size_t i = 0; i < t->cover.n; i++)
		json_string(j, t->files[t->cover.sets[i]]);
	json_end(j, ']');
	side_json_u64(j, "at_least", t->cover.at_least);
	json_key(j, "exact");
	json_bool(j, t->cover.at_least == t->cover.n);
	json_end(j, '}');
}

static void put_order(const struct trial *t, struct json *j)
{
	json_key(j, "order");
	json_begin(j, '[');
	for (size_t i = 0; i < t->suite.ntests; i++) {
		const struct suite_step *s = &t->order[i];

		json_begin(j, '{');
		side_json_string(j, "file", t->files[s->test]);
		if (t->diff) {
			side_json_u64(j, "changed", s->nchanged);
			side_json_u64(j, "added_changed", s->nadded_changed);
		}
		side_json_u64(j, "added", s->nadded);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_diff(const struct trial *t, struct json *j)
{
	json_key(j, "diff");
	json_begin(j, '{');
	side_json_string(j, "file", t->diff);
	side_json_u64(j, "lines", t->patch.n);
	side_json_u64(j, "paths", trial_nchanged(t));
	json_key(j, "without_code");
	json_begin(j, '[');
	for (uint32_t i = 0; i < t->patch.files.n; i++)
		if (!t->used[i])
			json_string(j, t->patch.files.items[i]);
	json_end(j, ']');
	json_end(j, '}');
}

static void put_score(struct json *j, const char *key,
                      const struct suite_score *s)
{
	json_key(j, key);
	json_begin(j, '{');
	side_json_real(j, "ochiai", s->ochiai);
	side_json_real(j, "tarantula", s->tarantula);
	side_json_u64(j, "failed", s->nfailed);
	side_json_u64(j, "passed", s->npassed);
	json_end(j, '}');
}

static void put_failure(const struct trial *t, struct json *j)
{
	size_t n = trial_nlines(t);

	json_key(j, "lines");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++) {
		const struct suite_line *l = &t->lines.items[i];

		json_begin(j, '{');
		side_json_string(j, "file",
		                 report_path(&t->all.report,
		                             t->lines.files.items[l->file]));
		side_json_u64(j, "line", l->line);
		side_json_real(j, "score", l->score);
		put_score(j, "path", &l->best);
		put_score(j, "line_itself", &l->own);
		json_end(j, '}');
	}
	json_end(j, ']');
	side_json_u64(j, "system_lines_left_out", t->nsystem);
	json_key(j, "paths");
	json_begin(j, '[');
	for (size_t i = 0; i < t->nsuspects; i++) {
		struct hot_path h = trial_path(t, t->suspects[i]);

		hot_json_begin(&t->all.view, j, &h);
		side_json_string(j, "function",
		                 t->all.catalog.functions[h.function].name);
		put_score(j, "score", &t->scores[t->suspects[i]]);
		json_end(j, '}');
	}
	json_end(j, ']');
}

void trial_json(const struct trial *t, FILE *out)
{
	struct json j = {.out = out, .flat_below = 3};

	json_begin(&j, '{');
	side_json_u64(&j, "version", JSON_VERSION);
	side_json_notes(&t->all, &j, "profile");
	side_json_u64(&j, "distinct_paths", t->suite.npaths);
	put_tests(t, &j);
	if (t->diff)
		put_diff(t, &j);
	put_order(t, &j);
	if (t->nfailed)
		put_failure(t, &j);
	json_end(&j, '}');
}
