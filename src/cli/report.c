/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report is about, before it takes a form: the functions that the
 * options select, in their order.  Ties are broken by name and place, so that
 * equal profiles give equal reports.
 */
#include "cli/report.h"

#include "abi/map.h"
#include "analysis/bodies.h"
#include "analysis/callgraph.h"
#include "analysis/counts.h"
#include "analysis/lines.h"
#include "analysis/totals.h"
#include "base/alloc.h"
#include "base/plain.h"
#include "base/text.h"
#include "cli/demangle.h"
#include "format/map.h"
#include "format/profile.h"
#include "format/source_file.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool report_wants_file(const struct report *r, const char *path)
{
	const char *pattern = r->options.file;
	const char *base = strrchr(path, '/');

	return !pattern || !fnmatch(pattern, path, 0) ||
	       !fnmatch(pattern, base ? base + 1 : path, 0);
}

bool report_is_system_file(const char *path)
{
	static const char *const places[] = {
	        "/usr/include/*",
	        "/usr/local/include/*",
	        "/usr/lib*/*",
	        "*/lib*/clang/*/include/*",
	};
	bool found = false;
	char *plain;

	if (*path != '/')
		return false;
	plain = plain_path(path);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		found |= !fnmatch(places[i], plain, 0);
	free(plain);
	return found;
}

bool report_knows(const struct report_row *row)
{
	return row->r->doubt != COUNTS_PATH_PARTIAL;
}

static bool wants(const struct report *r, const struct report_row *row)
{
	const char *pattern = r->options.function;
	const char *linkage = map_string(row->map, row->f->name);

	if (pattern && fnmatch(pattern, row->name, 0) &&
	    fnmatch(pattern, linkage, 0))
		return false;
	return report_wants_file(r, map_string(row->map, row->f->file));
}

static void add_rows(struct report *r, uint32_t module)
{
	const struct map *m = r->profile->modules[module].map;

	for (uint32_t i = 0; i < m->nfunctions; i++) {
		struct report_row row = {
		        .module = module,
		        .index = i,
		        .map = m,
		        .f = &m->functions[i],
		        .cm = &r->counts->modules[module],
		        .r = &r->counts->modules[module].functions[i],
		        .name = map_string(m, m->functions[i].name),
		};

		if (!r->options.no_demangle)
			row.demangled = demangle(row.name);
		if (row.demangled)
			row.name = row.demangled;
		if (!wants(r, &row)) {
			free(row.demangled);
			continue;
		}
		VEC_RESERVE(r->rows, r->nrows, r->cap);
		r->rows[r->nrows++] = row;
	}
}

static int by_place(const struct report_row *x, const struct report_row *y)
{
	int order = strcmp(map_string(x->map, x->f->file),
	                   map_string(y->map, y->f->file));

	if (!order)
		order = x->f->line < y->f->line ? -1 : x->f->line > y->f->line;
	return order;
}

static int by_identity(const struct report_row *x, const struct report_row *y)
{
	int order = strcmp(x->name, y->name);

	if (!order)
		order = by_place(x, y);
	if (!order)
		order = x->module < y->module ? -1 : x->module > y->module;
	if (!order)
		order = x->index < y->index ? -1 : x->index > y->index;
	return order;
}

static int descending(uint64_t x, uint64_t y)
{
	return x > y ? -1 : x < y;
}

static int by_options(const void *a, const void *b, void *context)
{
	const struct report_row *x = a, *y = b;
	const struct report_options *o = context;
	int order = 0;

	switch (o->sort) {
	case REPORT_BY_EXECUTIONS:
		order = descending(x->r->executions, y->r->executions);
		break;
	case REPORT_BY_ENTRIES:
		order = descending(x->r->entries, y->r->entries);
		break;
	case REPORT_BY_INSTRUCTIONS:
		order = descending(x->r->instructions, y->r->instructions);
		break;
	case REPORT_BY_LINE:
		order = by_place(x, y);
		break;
	case REPORT_BY_NAME:
		break;
	}
	return order ? order : by_identity(x, y);
}

static void number_rows(struct report *r)
{
	const struct profile *p = r->profile;

	r->nmodules = p->nmodules;
	r->row_of = xcalloc(p->nmodules, sizeof(*r->row_of));
	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;
		uint32_t n = m ? m->nfunctions : 0;

		r->row_of[i] = xmalloc((n + (size_t)1) * sizeof(uint32_t));
		for (uint32_t k = 0; k < n; k++) {
			r->row_of[i][k] = UINT32_MAX;
			r->instructions +=
			        r->counts->modules[i].functions[k].instructions;
		}
	}
	for (size_t i = 0; i < r->nrows; i++)
		r->row_of[r->rows[i].module][r->rows[i].index] = (uint32_t)i;
}

void report_init(struct report *r, const struct counts *c,
                 const struct lines *l, const struct report_options *o)
{
	*r = (struct report){
	        .profile = c->profile, .counts = c, .lines = l, .options = *o};
	for (uint32_t i = 0; i < r->profile->nmodules; i++)
		if (r->profile->modules[i].map)
			add_rows(r, i);
	if (l) {
		r->totals = totals_new(c, l);
		r->calls = callgraph_new(c);
		r->bodies = bodies_new(c);
	}
	if (r->nrows)
		qsort_r(r->rows, r->nrows, sizeof(*r->rows), by_options,
		        &r->options);
	number_rows(r);
}

void report_release(struct report *r)
{
	for (size_t i = 0; i < r->nrows; i++)
		free(r->rows[i].demangled);
	free(r->rows);
	totals_free(r->totals);
	callgraph_free(r->calls);
	bodies_free(r->bodies);
	for (uint32_t i = 0; r->row_of && i < r->nmodules; i++)
		free(r->row_of[i]);
	free(r->row_of);
	*r = (struct report){0};
}

const char *report_path(const struct report *r, const char *path)
{
	const char *root = r->profile->directory;
	size_t n = root ? strlen(root) : 0;
	const char *slash;

	if (!r->options.stable || *path != '/')
		return path;
	if (n > 1 && !strncmp(path, root, n) && !path[n])
		return ".";
	if (n > 1 && !strncmp(path, root, n) && path[n] == '/')
		return path + n + 1;
	slash = strrchr(path, '/');
	return slash + 1;
}

double report_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

bool report_is_above(const struct report *r, const struct report_row *row)
{
	double least = r->options.threshold;

	return least <= 0 ||
	       report_percent(row->r->executions,
	                      r->counts->totals.executions) >= least;
}

const struct report_row *report_row_of(const struct report *r, uint32_t module,
                                       uint32_t function)
{
	uint32_t row = r->row_of[module][function];

	return row == UINT32_MAX ? NULL : &r->rows[row];
}

char *report_name(const struct report *r, const char *linkage)
{
	char *name = r->options.no_demangle ? NULL : demangle(linkage);

	return name ? name : xstrdup(linkage);
}

enum report_age report_age_of(const struct source_file *f)
{
	switch (f->state) {
	case SOURCE_NEWER:
		return REPORT_AGE_NEWER;
	case SOURCE_CHANGED:
		return REPORT_AGE_CHANGED;
	default:
		return REPORT_AGE_FINE;
	}
}

const struct report_colours *report_colours(const struct report *r)
{
	static const struct report_colours none = {"", "", "", "", "", ""};
	static const struct report_colours ansi = {
	        .head = "\033[1m",
	        .name = "\033[36m",
	        .dim = "\033[2m",
	        .zero = "\033[31m",
	        .hot = "\033[1;33m",
	        .off = "\033[0m",
	};

	return r->options.colour ? &ansi : &none;
}

void report_paint(FILE *out, const char *colour, const char *name,
                  const struct report_colours *c)
{
	fputs(colour, out);
	text_put(out, name);
	fputs(c->off, out);
}

const char *report_note(const struct report *r)
{
	return counts_reason(r->counts->doubt);
}

char *report_whole_note(const struct report *r)
{
	const char *note = report_note(r);
	uint64_t n = r->counts->totals.partial;

	if (!n)
		return note ? xstrdup(note) : NULL;
	return xasprintf("%s%sfunctions that count only some of their paths, "
	                 "as the build asked for: %" PRIu64
	                 "; what else they did is not known",
	                 note ? note : "", note ? "; " : "", n);
}
