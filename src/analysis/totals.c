/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals of source files and directories.
 *
 * Invariant: the files of a directory are next to each other in the order of
 * paths only if no directory lies between them ("a/b.c", "a/b/c.c"), so that
 * directories are looked up by name.  Cost: O(n log n) in files and functions,
 * O(n) in lines and branches.
 */
#include "analysis/totals.h"

#include "analysis/counts.h"
#include "analysis/lines.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"
#include "format/strtab.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/")
	                     : xstrndup(path, (size_t)(slash - path));
}

static void add_lines(struct totals *t, const struct lines *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct total *f = &t->files[l->items[i].file];

		f->lines += line_is_known(&l->items[i]);
		f->lines_executed += l->items[i].count > 0;
		f->instructions += l->items[i].instructions;
	}
	for (size_t i = 0; i < l->nbranches; i++) {
		struct total *f = &t->files[l->branches[i].file];

		f->branches++;
		f->branches_taken += l->branches[i].taken > 0;
	}
}

static void add_functions(struct totals *t, const struct lines *l,
                          const struct map *m, const struct counts_module *cm)
{
	for (uint32_t i = 0; i < m->nfunctions; i++) {
		const struct counts_function *f = &cm->functions[i];
		const char *path = map_string(m, m->functions[i].file);
		uint32_t file = strtab_find(&l->files, path, strlen(path));

		if (!f->covered || !f->entries_known || file == STRTAB_NONE)
			continue;
		t->files[file].functions++;
		t->files[file].functions_executed +=
		        f->entries || f->executions;
	}
}

static void add_total(struct total *sum, const struct total *f)
{
	sum->lines += f->lines;
	sum->lines_executed += f->lines_executed;
	sum->branches += f->branches;
	sum->branches_taken += f->branches_taken;
	sum->functions += f->functions;
	sum->functions_executed += f->functions_executed;
	sum->instructions += f->instructions;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_directories(struct totals *t)
{
	char **names = xcalloc(t->nfiles, sizeof(*names));
	char **sorted = xcalloc(t->nfiles, sizeof(*sorted));

	for (size_t i = 0; i < t->nfiles; i++)
		sorted[i] = names[i] = directory_of(t->files[i].path);
	if (t->nfiles)
		qsort(sorted, t->nfiles, sizeof(*sorted), by_name);
	t->directories = xcalloc(t->nfiles, sizeof(*t->directories));
	t->directory_of = xcalloc(t->nfiles, sizeof(*t->directory_of));
	for (size_t i = 0; i < t->nfiles; i++) {
		size_t n = t->ndirectories;

		if (n && !strcmp(sorted[i], t->directories[n - 1].path))
			continue;
		t->directories[t->ndirectories++].path = xstrdup(sorted[i]);
	}
	for (size_t i = 0; i < t->nfiles; i++) {
		/* path is the first member */
		struct total *d =
		        bsearch(&names[i], t->directories, t->ndirectories,
		                sizeof(*t->directories), by_name);

		add_total(d, &t->files[i]);
		t->directory_of[i] = (uint32_t)(d - t->directories);
		free(names[i]);
	}
	free(names);
	free(sorted);
}

struct totals *totals_new(const struct counts *c, const struct lines *l)
{
	struct totals *t = xcalloc(1, sizeof(*t));

	t->nfiles = l->files.n;
	t->files = xcalloc(t->nfiles, sizeof(*t->files));
	for (uint32_t i = 0; i < l->files.n; i++)
		t->files[i].path = xstrdup(l->files.items[i]);
	add_lines(t, l);
	for (uint32_t i = 0; i < c->profile->nmodules; i++)
		if (c->profile->modules[i].map)
			add_functions(t, l, c->profile->modules[i].map,
			              &c->modules[i]);
	add_directories(t);
	return t;
}

void totals_free(struct totals *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nfiles; i++)
		free(t->files[i].path);
	for (size_t i = 0; i < t->ndirectories; i++)
		free(t->directories[i].path);
	free(t->files);
	free(t->directories);
	free(t->directory_of);
	free(t);
}
