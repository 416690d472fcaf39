/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as an lcov tracefile (geninfo(1), "FILES"): one section per
 * source file with its functions, branches and lines.  genhtml and most
 * coverage services read it.
 *
 * The format has no word for "not known": such counts are left out (functions,
 * lines) or shown as not reached (branches).
 */
#include "cli/report.h"

#include "analysis/lines.h"
#include "base/text.h"
#include "cli/coverage.h"

#include <inttypes.h>

static void put_functions(const struct coverage *c, const char *path, FILE *out)
{
	size_t n;
	const struct coverage_function *f = coverage_of_file(c, path, &n);
	uint64_t hit = 0;

	for (size_t i = 0; i < n; i++)
		text_print(out, "FN:%" PRIu32 ",%s\n", f[i].line, f[i].name);
	for (size_t i = 0; i < n; i++) {
		text_print(out, "FNDA:%" PRIu64 ",%s\n", f[i].entries,
		           f[i].name);
		hit += f[i].entries > 0;
	}
	text_print(out, "FNF:%zu\nFNH:%" PRIu64 "\n", n, hit);
}

/* Those of lines that put_lines has, too: both are in order. */
static void put_branches(const struct lines *l, uint32_t file, FILE *out)
{
	size_t n, nlines, found = 0;
	const struct line_branch *b = lines_branches_of_file(l, file, &n);
	const struct line_count *c = lines_of_file(l, file, &nlines);
	uint64_t hit = 0;

	for (size_t i = 0; i < n; i++) {
		while (nlines && c->line < b[i].line)
			c++, nlines--;
		if (!nlines || c->line != b[i].line || !c->known)
			continue;
		found++;
		text_print(out, "BRDA:%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",",
		           b[i].line, b[i].block, b[i].branch);
		if (b[i].reached)
			text_print(out, "%" PRIu64 "\n", b[i].taken);
		else
			text_print(out, "-\n");
		hit += b[i].reached && b[i].taken;
	}
	text_print(out, "BRF:%zu\nBRH:%" PRIu64 "\n", found, hit);
}

static void put_lines(const struct lines *l, uint32_t file, FILE *out)
{
	size_t n;
	const struct line_count *c = lines_of_file(l, file, &n);
	uint64_t found = 0, hit = 0;

	for (size_t i = 0; i < n; i++) {
		if (!c[i].known)
			continue;
		text_print(out, "DA:%" PRIu32 ",%" PRIu64 "\n", c[i].line,
		           c[i].count);
		found++;
		hit += c[i].count > 0;
	}
	text_print(out, "LF:%" PRIu64 "\nLH:%" PRIu64 "\n", found, hit);
}

void report_lcov(const struct report *r, FILE *out)
{
	struct coverage c;

	coverage_init(&c, r);
	for (uint32_t i = 0; i < r->lines->files.n; i++) {
		const char *path = r->lines->files.items[i];

		if (!report_wants_file(r, path))
			continue;
		text_print(out, "TN:\nSF:%s\n", report_path(r, path));
		put_functions(&c, path, out);
		put_branches(r->lines, i, out);
		put_lines(r->lines, i, out);
		text_print(out, "end_of_record\n");
	}
	coverage_release(&c);
}
