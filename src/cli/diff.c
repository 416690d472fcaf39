/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two profiles side by side: source files, lines, ways of branches and
 * functions, each with what became of it.  Lines are matched by a map from
 * those of A to those of B (diff_files.c); functions by name, and by file if
 * they are static; ways by their numbers on their line, if both lines have as
 * many branches with as many ways.
 *
 * A line that is not known to have run, and not known not to, is DIFF_UNKNOWN
 * and in no total: nothing is called lost, or new, of which nobody knows.
 *
 * Invariant: each line with code of either side that is selected is in `items`
 * once, lines of a file in the order of both versions.  Cost: O(n log n).
 */
#include "cli/diff.h"

#include "analysis/bodies.h"
#include "analysis/counts.h"
#include "analysis/linemap.h"
#include "analysis/lines.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const char *diff_fate(enum diff_fate fate)
{
	static const char *const words[DIFF_NFATES] = {
	        [DIFF_SAME] = "same",       [DIFF_CHANGED] = "changed",
	        [DIFF_NEW] = "new",         [DIFF_LOST] = "lost",
	        [DIFF_ADDED] = "added",     [DIFF_REMOVED] = "removed",
	        [DIFF_UNKNOWN] = "unknown",
	};

	return words[fate];
}

const char *diff_means(enum diff_means means)
{
	static const char *const words[DIFF_NMEANS] = {
	        [DIFF_BY_BUILD] = "build",
	        [DIFF_BY_PATCH] = "patch",
	        [DIFF_BY_TEXT] = "text",
	        [DIFF_BY_NUMBER] = "number",
	};

	return words[means];
}

const char *diff_path(const struct diff_file *f)
{
	return f->path_b ? f->path_b : f->path_a;
}

double diff_percent(const struct diff_share *s)
{
	return s->all ? 100.0 * (double)s->ran / (double)s->all : 100.0;
}

double diff_growth(uint64_t a, uint64_t b)
{
	return a && b ? 100.0 * (double)b / (double)a - 100.0 : 0.0;
}

size_t diff_ways_of(const struct diff *d, const struct diff_line *l,
                    enum diff_fate fate)
{
	size_t n = 0;

	for (size_t i = 0; i < l->nways; i++)
		n += d->ways[l->first_way + i].fate == fate;
	return n;
}

/* What became of something that is in both. */
static enum diff_fate fate_of(uint64_t a, bool a_known, uint64_t b,
                              bool b_known)
{
	if ((!a && !a_known) || (!b && !b_known))
		return DIFF_UNKNOWN;
	if (!a != !b)
		return a ? DIFF_LOST : DIFF_NEW;
	if (!a_known || !b_known)
		return DIFF_UNKNOWN;
	return a == b ? DIFF_SAME : DIFF_CHANGED;
}

static void add_share(struct diff_share *s, bool ran, bool known)
{
	s->ran += ran;
	s->all += ran || known;
}

static void add_total(struct diff_total *to, const struct diff_total *t)
{
	to->a.ran += t->a.ran;
	to->a.all += t->a.all;
	to->b.ran += t->b.ran;
	to->b.all += t->b.all;
	to->added.ran += t->added.ran;
	to->added.all += t->added.all;
	for (int i = 0; i < DIFF_NFATES; i++)
		to->fates[i] += t->fates[i];
}

/* --- what --function selects ---------------------------------------------- */

static bool is_named(const struct diff_side *s, const char *linkage)
{
	const char *pattern = s->report.options.function;
	char *name = report_name(&s->report, linkage);
	bool is = !fnmatch(pattern, name, 0) || !fnmatch(pattern, linkage, 0);

	free(name);
	return is;
}

/* The functions that --function names. */
static const struct body **named_bodies(const struct diff_side *s, size_t *n)
{
	const struct bodies *all = s->report.bodies;
	const struct body **list = xcalloc(all->n + 1, sizeof(*list));

	*n = 0;
	for (size_t i = 0; i < all->n; i++)
		if (is_named(s, all->items[i].name))
			list[(*n)++] = &all->items[i];
	return list;
}

static bool is_within(const struct body *const *list, size_t n,
                      const char *path, const struct line_count *c)
{
	for (size_t i = 0; i < n && path && c; i++)
		if (list[i]->line <= c->line && c->line <= list[i]->last &&
		    !strcmp(list[i]->file, path))
			return true;
	return false;
}

static void find_bodies(struct diff *d)
{
	if (!d->options.report.function)
		return;
	d->bodies_a = named_bodies(&d->a, &d->nbodies_a);
	d->bodies_b = named_bodies(&d->b, &d->nbodies_b);
}

static bool is_selected(const struct diff *d, const struct diff_file *f,
                        const struct line_count *a, const struct line_count *b)
{
	return !d->options.report.function ||
	       is_within(d->bodies_b, d->nbodies_b, f->path_b, b) ||
	       (!b && is_within(d->bodies_a, d->nbodies_a, f->path_a, a));
}

/* --- lines --------------------------------------------------------------- */

static enum diff_fate fate_of_line(const struct line_count *a,
                                   const struct line_count *b)
{
	if (!a)
		return line_is_known(b) ? DIFF_ADDED : DIFF_UNKNOWN;
	if (!b)
		return line_is_known(a) ? DIFF_REMOVED : DIFF_UNKNOWN;
	return fate_of(a->count, a->known || a->doubtful, b->count,
	               b->known || b->doubtful);
}

static void add_way(struct diff *d, struct diff_file *f, struct diff_line *l,
                    const struct line_branch *a, const struct line_branch *b)
{
	bool a_known = a && l->a->known, b_known = b && l->b->known;
	struct diff_way w = {a, b, DIFF_SAME};

	if (a)
		add_share(&f->ways.a, a->taken, a_known);
	if (b)
		add_share(&f->ways.b, b->taken, b_known);
	if (!a)
		w.fate = b->taken || b_known ? DIFF_ADDED : DIFF_UNKNOWN;
	else if (!b)
		w.fate = a->taken || a_known ? DIFF_REMOVED : DIFF_UNKNOWN;
	else
		w.fate = fate_of(a->taken, a_known, b->taken, b_known);
	if (!a)
		add_share(&f->ways.added, b->taken, b_known);
	f->ways.fates[w.fate]++;
	VEC_RESERVE(d->ways, d->nways, d->ways_cap);
	d->ways[d->nways++] = w;
	l->nways++;
}

/* Have both as many branches with as many ways? */
static bool are_alike(const struct line_branch *a, size_t na,
                      const struct line_branch *b, size_t nb)
{
	if (na != nb)
		return false;
	for (size_t i = 0; i < na; i++)
		if (a[i].block != b[i].block || a[i].branch != b[i].branch)
			return false;
	return true;
}

static void add_ways(struct diff *d, struct diff_file *f, struct diff_line *l)
{
	size_t na = 0, nb = 0;
	const struct line_branch *a = NULL, *b = NULL;

	l->first_way = d->nways;
	if (l->a)
		a = lines_branches(d->a.lines, l->a->file, l->a->line, &na);
	if (l->b)
		b = lines_branches(d->b.lines, l->b->file, l->b->line, &nb);
	if (l->a && l->b && are_alike(a, na, b, nb)) {
		for (size_t i = 0; i < na; i++)
			add_way(d, f, l, &a[i], &b[i]);
		return;
	}
	f->nuncompared += l->a && l->b;
	for (size_t i = 0; i < na; i++)
		add_way(d, f, l, &a[i], NULL);
	for (size_t i = 0; i < nb; i++)
		add_way(d, f, l, NULL, &b[i]);
}

static void add_line(struct diff *d, struct diff_file *f,
                     const struct line_count *a, const struct line_count *b,
                     uint32_t place)
{
	struct diff_line l = {
	        .a = a, .b = b, .place = place, .fate = fate_of_line(a, b)};

	if (!is_selected(d, f, a, b))
		return;
	if (a)
		add_share(&f->lines.a, a->count, line_is_known(a));
	if (b)
		add_share(&f->lines.b, b->count, line_is_known(b));
	if (!a)
		add_share(&f->lines.added, b->count, line_is_known(b));
	f->lines.fates[l.fate]++;
	add_ways(d, f, &l);
	VEC_RESERVE(d->items, d->nlines, d->lines_cap);
	d->items[d->nlines++] = l;
	f->n++;
}

/* Where a line of A stands in B: there, or behind the nearest line before it
 * that is in both.  `last` is the line of A before it that has code, and
 * `place` where that stands. */
static uint32_t place_of(const struct linemap *m, uint32_t line, uint32_t last,
                         uint32_t place)
{
	uint32_t now = linemap_now(m, line);

	if (now)
		return now;
	for (line--; line > last; line--) {
		now = linemap_now(m, line);
		if (now)
			return now + 1;
	}
	return linemap_now(m, last) ? place + 1 : place;
}

static void add_lines(struct diff *d, struct diff_file *f)
{
	size_t na = 0, nb = 0, k = 0;
	uint32_t file_a = diff_file_number(&d->a, f->path_a);
	uint32_t file_b = diff_file_number(&d->b, f->path_b);
	const struct line_count *a = NULL, *b = NULL;
	uint32_t last = 0, place = 1;
	struct linemap m;

	if (file_a != STRTAB_NONE)
		a = lines_of_file(d->a.lines, file_a, &na);
	if (file_b != STRTAB_NONE)
		b = lines_of_file(d->b.lines, file_b, &nb);
	f->first = d->nlines;
	diff_map_lines(d, f, &m);
	for (size_t i = 0; i < na; i++) {
		uint32_t now = linemap_now(&m, a[i].line);

		place = place_of(&m, a[i].line, last, place);
		last = a[i].line;
		while (k < nb && b[k].line < place)
			add_line(d, f, NULL, &b[k++], 0);
		if (now && k < nb && b[k].line == now)
			add_line(d, f, &a[i], &b[k++], 0);
		else
			add_line(d, f, &a[i], NULL, place);
	}
	while (k < nb)
		add_line(d, f, NULL, &b[k++], 0);
	linemap_release(&m);
}

/* --- functions ------------------------------------------------------------ */

struct named_row {
	char *key;
	const struct report_row *row;
};

static int by_key(const void *a, const void *b)
{
	const struct named_row *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : x->row < y->row ? -1 : x->row > y->row;
}

/* The path by which both sides know a file: B's. */
static const char *shared_path(const struct diff *d, const char *path)
{
	for (size_t i = 0; i < d->nfiles; i++)
		if (d->files[i].path_a && d->files[i].path_b &&
		    !strcmp(d->files[i].path_a, path))
			return d->files[i].path_b;
	return path;
}

/* What both sides call a function: ThinLTO puts a hash behind the names of
 * static ones. */
static char *key_of(const char *name, const char *file, bool is_local)
{
	const char *suffix = strstr(name, ".llvm.");
	int n = (int)(suffix ? (size_t)(suffix - name) : strlen(name));

	return is_local || suffix ? xasprintf("%.*s\n%s", n, name, file)
	                          : xstrdup(name);
}

static struct named_row *name_rows(const struct diff *d,
                                   const struct diff_side *s, size_t *n)
{
	const struct report *r = &s->report;
	struct named_row *rows = xcalloc(r->nrows + 1, sizeof(*rows));

	*n = 0;
	for (size_t i = 0; i < r->nrows; i++) {
		const struct report_row *row = &r->rows[i];
		const char *name = map_string(row->map, row->f->name);
		const char *file = map_string(row->map, row->f->file);

		if (!row->r->covered)
			continue;
		if (s == &d->a)
			file = shared_path(d, file);
		rows[*n].key =
		        key_of(name, file, row->f->flags & CAIRN_FN_LOCAL);
		rows[(*n)++].row = row;
	}
	if (*n)
		qsort(rows, *n, sizeof(*rows), by_key);
	return rows;
}

static void add_row(struct diff_function *f, const struct report_row *row,
                    bool is_b)
{
	const struct report_row **first = is_b ? &f->b : &f->a;
	bool *known = is_b ? &f->known_b : &f->known_a;
	bool *entries_known = is_b ? &f->entries_known_b : &f->entries_known_a;

	*known = report_knows(row) && (*known || !*first);
	*entries_known = row->r->entries_known && (*entries_known || !*first);
	*(is_b ? &f->doubtful_b : &f->doubtful_a) |=
	        counts_is_inconsistent(row->r->doubt);
	*(is_b ? &f->executions_b : &f->executions_a) += row->r->executions;
	*(is_b ? &f->entries_b : &f->entries_a) += row->r->entries;
	if (!*first)
		*first = row;
}

static enum diff_fate fate_of_function(const struct diff_function *f)
{
	if (!f->a)
		return f->known_b ? DIFF_ADDED : DIFF_UNKNOWN;
	if (!f->b)
		return f->known_a ? DIFF_REMOVED : DIFF_UNKNOWN;
	return fate_of(f->executions_a, f->known_a, f->executions_b,
	               f->known_b);
}

const struct report_row *diff_row(const struct diff_function *f)
{
	return f->b ? f->b : f->a;
}

static bool is_wanted_row(const struct diff_side *s,
                          const struct report_row *row)
{
	return row &&
	       report_wants_file(&s->report,
	                         map_string(row->map, row->f->file)) &&
	       (!s->report.options.function ||
	        is_named(s, map_string(row->map, row->f->name)));
}

bool diff_wants_function(const struct diff *d, const struct diff_function *f)
{
	double least = d->options.report.threshold;

	return (is_wanted_row(&d->a, f->a) || is_wanted_row(&d->b, f->b)) &&
	       (least <= 0 ||
	        report_percent(f->executions_a,
	                       d->a.counts->totals.executions) >= least ||
	        report_percent(f->executions_b,
	                       d->b.counts->totals.executions) >= least);
}

static void take_function(struct diff *d, struct diff_function *f)
{
	struct diff_total *t = &d->function_total;

	f->fate = fate_of_function(f);
	if (!diff_wants_function(d, f))
		return;
	if (f->a)
		add_share(&t->a, f->executions_a, f->known_a);
	if (f->b)
		add_share(&t->b, f->executions_b, f->known_b);
	if (!f->a)
		add_share(&t->added, f->executions_b, f->known_b);
	t->fates[f->fate]++;
	d->functions[d->nfunctions++] = *f;
}

static void match_functions(struct diff *d)
{
	size_t na, nb, i = 0, k = 0;
	struct named_row *a = name_rows(d, &d->a, &na);
	struct named_row *b = name_rows(d, &d->b, &nb);

	d->functions = xcalloc(na + nb + 1, sizeof(*d->functions));
	while (i < na || k < nb) {
		struct diff_function f = {0};
		int order = i == na   ? 1
		            : k == nb ? -1
		                      : strcmp(a[i].key, b[k].key);
		const char *key = order <= 0 ? a[i].key : b[k].key;

		for (; i < na && !strcmp(a[i].key, key); i++)
			add_row(&f, a[i].row, false);
		for (; k < nb && !strcmp(b[k].key, key); k++)
			add_row(&f, b[k].row, true);
		take_function(d, &f);
	}
	for (i = 0; i < na; i++)
		free(a[i].key);
	for (k = 0; k < nb; k++)
		free(b[k].key);
	free(a);
	free(b);
}

/* --- order ---------------------------------------------------------------- */

static uint64_t change_of(const struct diff_function *f)
{
	return f->executions_a > f->executions_b
	               ? f->executions_a - f->executions_b
	               : f->executions_b - f->executions_a;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int descending(uint64_t x, uint64_t y)
{
	return x > y ? -1 : x < y;
}

static int by_place(const struct report_row *x, const struct report_row *y)
{
	int order = strcmp(map_string(x->map, x->f->file),
	                   map_string(y->map, y->f->file));

	return order                     ? order
	       : x->f->line < y->f->line ? -1
	                                 : x->f->line > y->f->line;
}

static int by_options(const void *a, const void *b, void *context)
{
	const struct diff_function *x = a, *y = b;
	const struct diff *d = context;
	double growth = diff_growth(y->executions_a, y->executions_b) -
	                diff_growth(x->executions_a, x->executions_b);
	int order = 0;

	switch (d->options.sort) {
	case DIFF_BY_CHANGE:
		order = descending(change_of(x), change_of(y));
		break;
	case DIFF_BY_GROWTH:
		order = growth < 0 ? -1 : growth > 0;
		break;
	case DIFF_BY_EXECUTIONS:
		order = descending(larger(x->executions_a, x->executions_b),
		                   larger(y->executions_a, y->executions_b));
		break;
	case DIFF_BY_ENTRIES:
		order = descending(larger(x->entries_a, x->entries_b),
		                   larger(y->entries_a, y->entries_b));
		break;
	case DIFF_BY_LINE:
		order = by_place(diff_row(x), diff_row(y));
		break;
	case DIFF_BY_NAME:
		break;
	}
	if (!order)
		order = strcmp(diff_row(x)->name, diff_row(y)->name);
	return order ? order : by_place(diff_row(x), diff_row(y));
}

/* --- all of it ------------------------------------------------------------ */

static bool has_modules(const struct profile *p, const struct profile *of)
{
	for (uint32_t i = 0; i < of->nmodules; i++) {
		const struct profile_module *m = &of->modules[i];
		bool found = false;

		for (uint32_t k = 0; k < p->nmodules; k++)
			found |= m->nid && p->modules[k].nid == m->nid &&
			         !memcmp(p->modules[k].id, m->id, m->nid);
		if (!found)
			return false;
	}
	return true;
}

void diff_init(struct diff *d)
{
	d->same_build = has_modules(d->a.profile, d->b.profile) &&
	                has_modules(d->b.profile, d->a.profile);
	diff_pair_files(d);
	find_bodies(d);
	for (size_t i = 0; i < d->nfiles; i++) {
		struct diff_file *f = &d->files[i];

		add_lines(d, f);
		add_total(&d->lines, &f->lines);
		add_total(&d->branches, &f->ways);
		d->nuncompared += f->nuncompared;
		if (f->path_a && f->path_b)
			d->means[f->means]++;
	}
	match_functions(d);
	if (d->nfunctions)
		qsort_r(d->functions, d->nfunctions, sizeof(*d->functions),
		        by_options, d);
}

void diff_release(struct diff *d)
{
	free(d->files);
	free(d->items);
	free(d->ways);
	free(d->functions);
	free(d->bodies_a);
	free(d->bodies_b);
}
