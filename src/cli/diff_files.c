/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which source file of one profile is which of the other, and which line of it
 * is which.
 *
 * Files are paired by equal paths; what is left then by the names in --patch;
 * what is left then by the most last parts of their paths that are equal, if no
 * other file has as many: a project that was built in another directory.
 *
 * Lines of the same build have the same numbers.  Else --patch says what
 * moved, or the two texts are compared (analysis/linemap.c), if each is known
 * to be the one that was compiled: in the profile (cairn pack --sources), or on
 * disk, not newer than the program, and the program still the one that ran.
 * One file on disk can be both versions only if both
 * programs are there and neither is older than it.  What remains is compared by
 * number, which the reader is told.
 *
 * Cost: O(a b) comparisons of paths for files that are not on both sides.
 */
#include "cli/diff.h"

#include "analysis/linemap.h"
#include "analysis/lines.h"
#include "analysis/patch.h"
#include "base/alloc.h"
#include "cli/coverage.h"
#include "format/elf.h"
#include "format/profile.h"
#include "format/source_file.h"
#include "format/sources.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- pairs of files ------------------------------------------------------- */

struct candidate {
	const char *path;
	const char *partner; /* NULL: none yet */
};

struct candidates {
	struct candidate *items;
	size_t n;
};

static int by_path(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static struct candidates candidates_of(const struct diff_side *s)
{
	struct candidates c = {
	        xcalloc((size_t)s->lines->files.n + 1, sizeof(*c.items)), 0};
	size_t n;

	for (uint32_t i = 0; i < s->lines->files.n; i++) {
		const char *path = s->lines->files.items[i];

		if (coverage_wants_file(&s->report, path) &&
		    lines_of_file(s->lines, i, &n))
			c.items[c.n++].path = path;
	}
	if (c.n)
		qsort(c.items, c.n, sizeof(*c.items), by_path);
	return c;
}

static void join(struct candidate *a, struct candidate *b)
{
	a->partner = b->path;
	b->partner = a->path;
}

static void join_equal(struct candidates *a, struct candidates *b)
{
	for (size_t i = 0; i < a->n; i++) {
		struct candidate *k =
		        b->n ? bsearch(&a->items[i], b->items, b->n,
		                       sizeof(*b->items), by_path)
		             : NULL;

		if (k)
			join(&a->items[i], k);
	}
}

static struct candidate *find_named(struct candidates *c, const char *name)
{
	struct candidate *found = NULL;

	for (size_t i = 0; i < c->n; i++)
		if (!c->items[i].partner &&
		    patch_is_file(c->items[i].path, name)) {
			if (found)
				return NULL;
			found = &c->items[i];
		}
	return found;
}

/* Files that the patch renames. */
static void join_patched(struct candidates *a, struct candidates *b,
                         const struct patch *p)
{
	for (size_t i = 0; i < p->nchanges; i++) {
		const struct patch_change *c = &p->changes[i];
		struct candidate *x, *y;

		if (c->old_file == STRTAB_NONE || c->new_file == STRTAB_NONE)
			continue;
		x = find_named(a, p->others.items[c->old_file]);
		y = find_named(b, p->files.items[c->new_file]);
		if (x && y)
			join(x, y);
	}
}

/* How many last parts of two paths are equal. */
static size_t common_parts(const char *x, const char *y)
{
	size_t i = strlen(x), k = strlen(y), parts = 0;

	while (i && k && x[i - 1] == y[k - 1]) {
		i--;
		k--;
		parts += x[i] == '/';
	}
	/* the part before the difference is whole if both begin there */
	return parts + ((!i || x[i - 1] == '/') && (!k || y[k - 1] == '/') &&
	                x[i] != '/' && x[i]);
}

/* The candidate with the most parts in common; NULL if there are two. */
static struct candidate *find_alike(struct candidates *c, const char *path)
{
	struct candidate *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < c->n; i++) {
		size_t n = c->items[i].partner
		                   ? 0
		                   : common_parts(c->items[i].path, path);

		if (n && n == most)
			best = NULL;
		if (n > most) {
			best = &c->items[i];
			most = n;
		}
	}
	return best;
}

static void join_alike(struct candidates *a, struct candidates *b)
{
	/* all are looked up before any is joined: the order does not matter */
	struct candidate **of = xcalloc(a->n + 1, sizeof(struct candidate *));

	for (size_t i = 0; i < a->n; i++)
		if (!a->items[i].partner) {
			of[i] = find_alike(b, a->items[i].path);
			if (of[i] && find_alike(a, of[i]->path) != &a->items[i])
				of[i] = NULL;
		}
	for (size_t i = 0; i < a->n; i++)
		if (of[i])
			join(&a->items[i], of[i]);
	free(of);
}

static int by_file(const void *a, const void *b)
{
	return strcmp(diff_path(a), diff_path(b));
}

void diff_pair_files(struct diff *d)
{
	struct candidates a = candidates_of(&d->a), b = candidates_of(&d->b);

	join_equal(&a, &b);
	if (d->patch)
		join_patched(&a, &b, d->patch);
	join_alike(&a, &b);
	d->files = xcalloc(a.n + b.n + 1, sizeof(*d->files));
	for (size_t i = 0; i < b.n; i++)
		d->files[d->nfiles++] =
		        (struct diff_file){.path_a = b.items[i].partner,
		                           .path_b = b.items[i].path};
	for (size_t i = 0; i < a.n; i++)
		if (!a.items[i].partner)
			d->files[d->nfiles++] =
			        (struct diff_file){.path_a = a.items[i].path};
	if (d->nfiles)
		qsort(d->files, d->nfiles, sizeof(*d->files), by_file);
	free(a.items);
	free(b.items);
}

/* --- versions of a file --------------------------------------------------- */

static bool has_id(const char *path, const struct profile_module *m)
{
	struct elf_file f;
	struct elf_view v;
	bool is_it;

	if (elf_open(&f, path, NULL))
		return false;
	is_it = !elf_parse(f.data, f.size, path, &v, NULL) && v.build_id &&
	        v.build_id_size == m->nid && !memcmp(v.build_id, m->id, m->nid);
	elf_close(&f);
	return is_it;
}

enum version { VERSION_OTHER, VERSION_UNSURE, VERSION_SURE };

/* The text that is in the profile, if it is. */
static const struct source_text *packed_text(const struct diff_side *s,
                                             const char *path)
{
	return sources_find(&s->profile->sources, path);
}

/* Is the file on disk the one that was compiled? */
static enum version version_on_disk(const struct profile_module *m,
                                    const struct source_file *f)
{
	struct stat program;

	if (f->state == SOURCE_COMPILED)
		return VERSION_SURE;
	if (source_file_is_newer(f))
		return VERSION_OTHER;
	if (stat(m->path, &program))
		return VERSION_UNSURE;
	return has_id(m->path, m) ? VERSION_SURE : VERSION_OTHER;
}

/* The text in the profile, or else the file on disk, and whether it is the one
 * that was compiled.  *text is the caller's; NULL if it is another one. */
static enum version read_version(const struct diff_side *s, const char *path,
                                 char **text, size_t *size)
{
	uint32_t file = diff_file_number(s, path);
	const struct source_text *packed = packed_text(s, path);
	enum version version = VERSION_OTHER;
	const struct line_count *c;
	struct source_file f;
	uint32_t module;
	size_t n;

	*text = NULL;
	if (packed && packed->is_newer)
		return VERSION_OTHER;
	if (packed) {
		*size = packed->size;
		*text = memcpy(xmalloc(packed->size + 1), packed->text,
		               packed->size + 1);
		return VERSION_SURE;
	}
	c = lines_of_file(s->lines, file, &n);
	if (!c)
		return VERSION_OTHER;
	module = s->lines->copies[c->first_copy].module;
	if (source_file_read(s->profile, module, path, &f, NULL))
		return VERSION_OTHER;
	version = version_on_disk(&s->profile->modules[module], &f);
	if (version == VERSION_OTHER) {
		free(f.text);
		return version;
	}
	*text = f.text;
	*size = f.size;
	return version;
}

char *diff_source(const struct diff_side *s, const char *path, size_t *size)
{
	char *text = NULL;

	if (!s->report.options.no_source)
		read_version(s, path, &text, size);
	return text;
}

uint32_t diff_file_number(const struct diff_side *s, const char *path)
{
	return path ? strtab_find(&s->lines->files, path, strlen(path))
	            : STRTAB_NONE;
}

/* --- lines --------------------------------------------------------------- */

static bool has_module(const struct profile *p, const struct profile_module *m)
{
	for (uint32_t i = 0; i < p->nmodules; i++)
		if (m->nid && p->modules[i].nid == m->nid &&
		    !memcmp(p->modules[i].id, m->id, m->nid))
			return true;
	return false;
}

/* Is all code of a file in modules that the other side has, too? */
static bool is_of_other(const struct diff_side *s, const char *path,
                        const struct diff_side *other)
{
	size_t n = 0;
	const struct line_count *c =
	        lines_of_file(s->lines, diff_file_number(s, path), &n);
	uint32_t known = UINT32_MAX;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < c[i].ncopies; k++) {
			uint32_t module =
			        s->lines->copies[c[i].first_copy + k].module;

			if (module == known)
				continue;
			if (!has_module(other->profile,
			                &s->profile->modules[module]))
				return false;
			known = module;
		}
	return true;
}

static uint32_t named(const struct strtab *names, const char *path)
{
	for (uint32_t i = 0; i < names->n; i++)
		if (patch_is_file(path, names->items[i]))
			return i;
	return STRTAB_NONE;
}

/* By the two texts; false if they are not at hand. */
static bool map_texts(const struct diff *d, const struct diff_file *f,
                      struct linemap *m)
{
	bool is_one = !strcmp(f->path_a, f->path_b) &&
	              !packed_text(&d->a, f->path_a) &&
	              !packed_text(&d->b, f->path_b);
	size_t old_size = 0, now_size = 0;
	char *old, *now;
	enum version a = read_version(&d->a, f->path_a, &old, &old_size);
	enum version b = read_version(&d->b, f->path_b, &now, &now_size);
	bool is_there = old && now;

	if (is_one) {
		linemap_init_identity(m);
		is_there = a == VERSION_SURE && b == VERSION_SURE;
	} else if (is_there) {
		linemap_init_text(m, old, old_size, now, now_size);
	}
	free(old);
	free(now);
	return is_there;
}

void diff_map_lines(const struct diff *d, struct diff_file *f,
                    struct linemap *m)
{
	linemap_init_identity(m);
	if (!f->path_a || !f->path_b ||
	    (!strcmp(f->path_a, f->path_b) &&
	     is_of_other(&d->a, f->path_a, &d->b) &&
	     is_of_other(&d->b, f->path_b, &d->a))) {
		f->means = DIFF_BY_BUILD;
	} else if (d->patch) {
		linemap_init_patch(m, d->patch,
		                   named(&d->patch->others, f->path_a),
		                   named(&d->patch->files, f->path_b));
		f->means = DIFF_BY_PATCH;
	} else if (map_texts(d, f, m)) {
		f->means = DIFF_BY_TEXT;
	} else {
		linemap_init_identity(m);
		f->means = DIFF_BY_NUMBER;
	}
}
