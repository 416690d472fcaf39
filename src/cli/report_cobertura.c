/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as Cobertura XML (coverage-04.dtd), which GitLab, Jenkins, Azure
 * and others read: a package per directory, a class per source file.  Names of
 * files are relative to the directory that all of them are in, which is the
 * <source>.
 *
 * The format has no word for "not known": such lines are left out.
 */
#include "cli/report.h"

#include "analysis/lines.h"
#include "analysis/totals.h"
#include "base/alloc.h"
#include "cli/coverage.h"
#include "cli/html.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct cobertura {
	const struct report *r;
	struct coverage c;
	FILE *out;
	size_t root; /* bytes of every path that are the source's */
	char *source;
};

static double rate(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 1.0;
}

static void put_rates(FILE *out, const struct total *t)
{
	fprintf(out, " line-rate=\"%.4f\" branch-rate=\"%.4f\"",
	        rate(t->lines_executed, t->lines),
	        rate(t->branches_taken, t->branches));
	fputs(" complexity=\"0\"", out);
}

static void add_total(struct total *sum, const struct total *t)
{
	sum->lines += t->lines;
	sum->lines_executed += t->lines_executed;
	sum->branches += t->branches;
	sum->branches_taken += t->branches_taken;
}

/* The directory that all files are in. */
static void find_source(struct cobertura *x)
{
	const struct lines *l = x->r->lines;
	const char *first = NULL;
	size_t n = 0;

	for (uint32_t i = 0; i < l->files.n; i++) {
		const char *path = report_path(x->r, l->files.items[i]);
		size_t same = 0;

		if (!coverage_wants_file(x->r, l->files.items[i]))
			continue;
		if (!first) {
			first = path;
			n = strlen(path);
		}
		while (same < n && path[same] == first[same])
			same++;
		n = same;
	}
	while (n && first[n - 1] != '/')
		n--;
	x->root = n;
	x->source = n > 1 ? xstrndup(first, n - 1) : xstrdup(n ? "/" : ".");
}

static const char *name_of(const struct cobertura *x, uint32_t file)
{
	return report_path(x->r, x->r->lines->files.items[file]) + x->root;
}

static void put_branches(FILE *out, const struct line_branch *b, size_t n)
{
	size_t taken = 0, next;

	for (size_t i = 0; i < n; i++)
		taken += b[i].taken > 0;
	fprintf(out, " branch=\"true\" condition-coverage=\"%zu%% (%zu/%zu)\">",
	        100 * taken / n, taken, n);
	fputs("<conditions>", out);
	for (size_t i = 0; i < n; i = next) {
		size_t ways = 0;

		taken = 0;
		for (next = i; next < n && b[next].block == b[i].block;
		     next++) {
			ways++;
			taken += b[next].taken > 0;
		}
		fprintf(out,
		        "<condition number=\"%" PRIu32
		        "\" type=\"%s\" coverage=\"%zu%%\"/>",
		        b[i].block, ways > 2 ? "switch" : "jump",
		        100 * taken / ways);
	}
	fputs("</conditions></line>\n", out);
}

static void put_lines(const struct cobertura *x, uint32_t file)
{
	const struct lines *l = x->r->lines;
	size_t n, nbranches;
	const struct line_count *c = lines_of_file(l, file, &n);

	fputs("<lines>\n", x->out);
	for (size_t i = 0; i < n; i++) {
		const struct line_branch *b =
		        lines_branches(l, file, c[i].line, &nbranches);

		if (!c[i].known)
			continue;
		fprintf(x->out,
		        "<line number=\"%" PRIu32 "\" hits=\"%" PRIu64 "\"",
		        c[i].line, c[i].count);
		if (b)
			put_branches(x->out, b, nbranches);
		else
			fputs(" branch=\"false\"/>\n", x->out);
	}
	fputs("</lines>\n", x->out);
}

static void put_methods(const struct cobertura *x, uint32_t file)
{
	size_t n;
	const struct coverage_function *f =
	        coverage_of_file(&x->c, x->r->lines->files.items[file], &n);

	fputs("<methods>\n", x->out);
	for (size_t i = 0; i < n; i++) {
		char *name = report_name(x->r, f[i].name);

		fputs("<method name=\"", x->out);
		html_text(x->out, name);
		fprintf(x->out,
		        "\" signature=\"\" line-rate=\"%d\" branch-rate=\"%d\" "
		        "complexity=\"0\"><lines><line number=\"%" PRIu32
		        "\" hits=\"%" PRIu64
		        "\" branch=\"false\"/></lines></method>\n",
		        f[i].entries > 0, f[i].entries > 0, f[i].line,
		        f[i].entries);
		free(name);
	}
	fputs("</methods>\n", x->out);
}

static void put_class(const struct cobertura *x, uint32_t file)
{
	const char *name = name_of(x, file), *slash = strrchr(name, '/');

	fputs("<class name=\"", x->out);
	html_text(x->out, slash ? slash + 1 : name);
	fputs("\" filename=\"", x->out);
	html_text(x->out, name);
	fputs("\"", x->out);
	put_rates(x->out, &x->r->totals->files[file]);
	fputs(">\n", x->out);
	put_methods(x, file);
	put_lines(x, file);
	fputs("</class>\n", x->out);
}

static void put_package(const struct cobertura *x, uint32_t directory)
{
	const struct totals *t = x->r->totals;
	struct total sum = {0};
	bool any = false;
	uint32_t first = 0;

	for (uint32_t i = (uint32_t)t->nfiles; i-- > 0;)
		if (t->directory_of[i] == directory &&
		    coverage_wants_file(x->r, t->files[i].path)) {
			add_total(&sum, &t->files[i]);
			any = true;
			first = i;
		}
	if (!any)
		return;
	const char *name = name_of(x, first), *slash = strrchr(name, '/');
	char *package =
	        slash ? xstrndup(name, (size_t)(slash - name)) : xstrdup(".");

	fputs("<package name=\"", x->out);
	html_text(x->out, package);
	fputs("\"", x->out);
	put_rates(x->out, &sum);
	fputs(">\n<classes>\n", x->out);
	for (uint32_t i = 0; i < t->nfiles; i++)
		if (t->directory_of[i] == directory &&
		    coverage_wants_file(x->r, t->files[i].path))
			put_class(x, i);
	fputs("</classes>\n</package>\n", x->out);
	free(package);
}

/* When the program ended, in seconds; of a stable report no time. */
static uint64_t timestamp(const struct report *r)
{
	uint64_t end = 0;

	for (size_t i = 0; i < r->profile->nfiles; i++)
		if (r->profile->files[i].end > end)
			end = r->profile->files[i].end;
	return r->options.stable ? 0 : end / 1000000000;
}

void report_cobertura(const struct report *r, FILE *out)
{
	struct cobertura x = {.r = r, .out = out};
	struct total sum = {0};

	coverage_init(&x.c, r);
	find_source(&x);
	for (size_t i = 0; i < r->totals->nfiles; i++)
		if (coverage_wants_file(r, r->totals->files[i].path))
			add_total(&sum, &r->totals->files[i]);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<!DOCTYPE coverage SYSTEM "
	      "\"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n"
	      "<coverage",
	      out);
	put_rates(out, &sum);
	fprintf(out,
	        " lines-covered=\"%" PRIu64 "\" lines-valid=\"%" PRIu64
	        "\" branches-covered=\"%" PRIu64 "\" branches-valid=\"%" PRIu64
	        "\" version=\"cairn " CAIRN_VERSION "\" timestamp=\"%" PRIu64
	        "\">\n",
	        sum.lines_executed, sum.lines, sum.branches_taken, sum.branches,
	        timestamp(r));
	fputs("<sources><source>", out);
	html_text(out, x.source);
	fputs("</source></sources>\n<packages>\n", out);
	for (uint32_t i = 0; i < r->totals->ndirectories; i++)
		put_package(&x, i);
	fputs("</packages>\n</coverage>\n", out);
	free(x.source);
	coverage_release(&x.c);
}
