/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as gcovr's JSON ("gcovr --json"), for gcovr --add-tracefile, which
 * makes everything of it that gcovr makes.  gcovr reads the version of its own
 * release only: this is that of 5.2, which Debian 12 has.  Newer ones read the
 * Cobertura report.
 */
#include "cli/report.h"

#include "analysis/lines.h"
#include "base/json.h"
#include "cli/coverage.h"

#define FORMAT_VERSION "0.3"

static void put_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

static void put_false(struct json *j, const char *key)
{
	json_key(j, key);
	json_bool(j, false);
}

static void put_line(struct json *j, const struct lines *l,
                     const struct line_count *c)
{
	size_t n;
	const struct line_branch *b = lines_branches(l, c->file, c->line, &n);

	json_begin(j, '{');
	put_u64(j, "line_number", c->line);
	put_u64(j, "count", c->count);
	json_key(j, "branches");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++) {
		json_begin(j, '{');
		put_u64(j, "count", b[i].taken);
		put_false(j, "fallthrough");
		put_false(j, "throw");
		json_end(j, '}');
	}
	json_end(j, ']');
	put_false(j, "gcovr/noncode");
	put_false(j, "gcovr/excluded");
	json_end(j, '}');
}

static void put_functions(const struct coverage *c, struct json *j,
                          const char *path)
{
	size_t n;
	const struct coverage_function *f = coverage_of_file(c, path, &n);

	json_key(j, "functions");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++) {
		json_begin(j, '{');
		json_key(j, "name");
		json_string(j, f[i].name);
		put_u64(j, "lineno", f[i].line);
		put_u64(j, "execution_count", f[i].entries);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_file(const struct coverage *c, struct json *j, uint32_t file)
{
	const struct report *r = c->report;
	const char *path = r->lines->files.items[file];
	size_t n;
	const struct line_count *items = lines_of_file(r->lines, file, &n);

	json_begin(j, '{');
	json_key(j, "file");
	json_string(j, report_path(r, path));
	put_functions(c, j, path);
	json_key(j, "lines");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++)
		if (items[i].known)
			put_line(j, r->lines, &items[i]);
	json_end(j, ']');
	json_end(j, '}');
}

void report_gcovr(const struct report *r, FILE *out)
{
	struct json j = {.out = out, .flat_below = 4};
	struct coverage c;

	coverage_init(&c, r);
	json_begin(&j, '{');
	json_key(&j, "gcovr/format_version");
	json_string(&j, FORMAT_VERSION);
	json_key(&j, "files");
	json_begin(&j, '[');
	for (uint32_t i = 0; i < r->lines->files.n; i++)
		if (coverage_wants_file(r, r->lines->files.items[i]))
			put_file(&c, &j, i);
	json_end(&j, ']');
	json_end(&j, '}');
	coverage_release(&c);
}
