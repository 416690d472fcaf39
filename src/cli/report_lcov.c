/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as an lcov tracefile (geninfo(1), "FILES"): one section per
 * source file with its functions, branches and lines.  genhtml and most
 * coverage services read it.
 *
 * The format has one function per name and file: instances of one name (a
 * template in two modules) are summed.  It has no word for "not known": such
 * counts are left out (functions, lines) or shown as not reached (branches).
 */
#include "cli/report.h"

#include "analysis/counts.h"
#include "analysis/lines.h"
#include "base/alloc.h"
#include "format/map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct lcov_function {
	const char *file, *name;
	uint32_t line;
	uint64_t entries;
};

struct tracefile {
	const struct report *r;
	FILE *out;
	struct lcov_function *functions; /* by file, name */
	size_t n, cap;
	/* what was written so far */
	size_t function, branch, line;
};

static int by_name(const void *a, const void *b)
{
	const struct lcov_function *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (!order)
		order = strcmp(x->name, y->name);
	if (!order)
		order = x->line < y->line ? -1 : x->line > y->line;
	return order;
}

static void collect_functions(struct tracefile *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->r->nrows; i++) {
		const struct report_row *row = &t->r->rows[i];
		const char *file = map_string(row->map, row->f->file);

		if (!row->r->covered || !row->r->entries_known || !*file ||
		    !row->f->line)
			continue;
		VEC_RESERVE(t->functions, t->n, t->cap);
		t->functions[t->n++] = (struct lcov_function){
		        file, map_string(row->map, row->f->name), row->f->line,
		        row->r->entries};
	}
	if (t->n)
		qsort(t->functions, t->n, sizeof(*t->functions), by_name);
	for (size_t i = 0; i < t->n; i++) {
		struct lcov_function *f = &t->functions[i];
		struct lcov_function *last =
		        kept ? &t->functions[kept - 1] : NULL;

		if (last && !strcmp(last->file, f->file) &&
		    !strcmp(last->name, f->name))
			last->entries += f->entries;
		else
			t->functions[kept++] = *f;
	}
	t->n = kept;
}

static void put_functions(struct tracefile *t, const char *path)
{
	size_t first, end;
	uint64_t hit = 0;

	while (t->function < t->n &&
	       strcmp(t->functions[t->function].file, path) < 0)
		t->function++;
	first = t->function;
	for (end = first; end < t->n && !strcmp(t->functions[end].file, path);
	     end++)
		fprintf(t->out, "FN:%" PRIu32 ",%s\n", t->functions[end].line,
		        t->functions[end].name);
	for (size_t i = first; i < end; i++) {
		fprintf(t->out, "FNDA:%" PRIu64 ",%s\n",
		        t->functions[i].entries, t->functions[i].name);
		hit += t->functions[i].entries > 0;
	}
	fprintf(t->out, "FNF:%zu\nFNH:%" PRIu64 "\n", end - first, hit);
	t->function = end;
}

static void put_branches(struct tracefile *t, uint32_t file)
{
	const struct lines *l = t->r->lines;
	uint64_t found = 0, hit = 0;

	for (; t->branch < l->nbranches && l->branches[t->branch].file <= file;
	     t->branch++) {
		const struct line_branch *b = &l->branches[t->branch];

		if (b->file < file)
			continue;
		fprintf(t->out, "BRDA:%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",",
		        b->line, b->block, b->branch);
		if (b->reached)
			fprintf(t->out, "%" PRIu64 "\n", b->taken);
		else
			fprintf(t->out, "-\n");
		found++;
		hit += b->reached && b->taken;
	}
	fprintf(t->out, "BRF:%" PRIu64 "\nBRH:%" PRIu64 "\n", found, hit);
}

static void put_lines(struct tracefile *t, uint32_t file)
{
	const struct lines *l = t->r->lines;
	uint64_t found = 0, hit = 0;

	for (; t->line < l->n && l->items[t->line].file <= file; t->line++) {
		const struct line_count *c = &l->items[t->line];

		if (c->file < file || !c->known)
			continue;
		fprintf(t->out, "DA:%" PRIu32 ",%" PRIu64 "\n", c->line,
		        c->count);
		found++;
		hit += c->count > 0;
	}
	fprintf(t->out, "LF:%" PRIu64 "\nLH:%" PRIu64 "\n", found, hit);
}

void report_lcov(const struct report *r, FILE *out)
{
	struct tracefile t = {.r = r, .out = out};

	collect_functions(&t);
	for (uint32_t i = 0; i < r->lines->files.n; i++) {
		const char *path = r->lines->files.items[i];

		if (!report_wants_file(r, path))
			continue;
		fprintf(out, "TN:\nSF:%s\n", report_path(r, path));
		put_functions(&t, path);
		put_branches(&t, i);
		put_lines(&t, i);
		fprintf(out, "end_of_record\n");
	}
	free(t.functions);
}
