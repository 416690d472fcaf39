/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lcov, Cobertura and gcovr have in common: source files with functions,
 * lines and branches.  Lines and branches are those of analysis/lines.h.  The
 * formats have one function per name and file: instances of one name (a static
 * function of a header, a template in two modules) are summed.
 *
 * Invariant: functions are sorted by file, and no two have the same file and
 * name.  Cost: O(n log n).
 */
#include "cli/coverage.h"

#include "analysis/counts.h"
#include "base/alloc.h"
#include "cli/report.h"
#include "format/map.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	const struct coverage_function *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (!order)
		order = strcmp(x->name, y->name);
	if (!order)
		order = x->line < y->line ? -1 : x->line > y->line;
	return order;
}

static void sum_functions(struct coverage *c)
{
	size_t kept = 0;

	if (c->n)
		qsort(c->functions, c->n, sizeof(*c->functions), by_name);
	for (size_t i = 0; i < c->n; i++) {
		struct coverage_function *f = &c->functions[i];
		struct coverage_function *last =
		        kept ? &c->functions[kept - 1] : NULL;

		if (last && !strcmp(last->file, f->file) &&
		    !strcmp(last->name, f->name))
			last->entries += f->entries;
		else
			c->functions[kept++] = *f;
	}
	c->n = kept;
}

void coverage_init(struct coverage *c, const struct report *r)
{
	size_t cap = 0;

	*c = (struct coverage){.report = r};
	for (size_t i = 0; i < r->nrows; i++) {
		const struct report_row *row = &r->rows[i];
		const char *file = map_string(row->map, row->f->file);

		if (!row->r->covered || !row->r->entries_known || !*file ||
		    !row->f->line)
			continue;
		VEC_RESERVE(c->functions, c->n, cap);
		c->functions[c->n++] = (struct coverage_function){
		        file, map_string(row->map, row->f->name), row->f->line,
		        row->r->entries};
	}
	sum_functions(c);
}

void coverage_release(struct coverage *c)
{
	free(c->functions);
	*c = (struct coverage){0};
}

const struct coverage_function *coverage_of_file(const struct coverage *c,
                                                 const char *path, size_t *n)
{
	size_t low = 0, high = c->n, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(c->functions[middle].file, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < c->n && !strcmp(c->functions[end].file, path);
	     end++)
		;
	*n = end - low;
	return *n ? c->functions + low : NULL;
}

bool coverage_wants_file(const struct report *r, const char *path)
{
	return report_wants_file(r, path) &&
	       (r->options.all_files || r->options.file ||
	        !report_is_system_file(path));
}
