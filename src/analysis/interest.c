/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interesting paths for the compiler (K. Vaswani, "Efficient online path
 * profiling", thesis, 2007, sections 3.2 and 3.3): those that a profile has.
 *
 * A function of the profile is the one being compiled if its name and the hash
 * of its CFG agree, as for feedback.c; then its paths have the same numbers, if
 * the same edges are cut.
 *
 * Invariant: entries are sorted by name, local file and hash, numbers ascend.
 * Cost: O(n log n) to open, O(log n) a look-up.
 */
#include "analysis/interest.h"

#include "analysis/frames.h"
#include "analysis/path_counts.h"
#include "base/alloc.h"
#include "base/err.h"
#include "format/map.h"
#include "format/profile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	const char *name;
	const char *file; /* "" unless local */
	uint64_t hash;
	struct interest_function f;
	uint64_t *counts; /* of its numbers */
	uint32_t cap;
};

struct interest {
	struct profile *profile; /* NULL: a list */
	struct entry *entries;
	size_t n, cap;
};

static int by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(x->file, y->file);
	if (!order)
		order = x->hash < y->hash ? -1 : x->hash > y->hash;
	return order;
}

/* --- reading ------------------------------------------------------------- */

static void take_paths(struct entry *e, const struct path_counts *pc)
{
	e->f.numbers = xcalloc(pc->n + 1, sizeof(*e->f.numbers));
	e->counts = xcalloc(pc->n + 1, sizeof(*e->counts));
	for (size_t i = 0; i < pc->n && e->f.n < UINT32_MAX; i++) {
		e->f.numbers[e->f.n] = pc->items[i].number;
		e->counts[e->f.n++] = pc->items[i].count;
	}
}

static void add_module(struct interest *in, uint32_t module)
{
	const struct profile_module *pm = &in->profile->modules[module];
	const struct map *m = pm->map;
	struct frame_places places;

	if (!m)
		return;
	frames_place(&places, in->profile, module);
	for (uint32_t i = 0; i < m->nfunctions; i++) {
		const struct map_function *f = &m->functions[i];
		bool local = f->flags & CAIRN_FN_LOCAL;
		struct path_counts pc;
		struct entry *e;

		if (f->paths == CAIRN_PATHS_NONE ||
		    !path_counts_init(&pc, pm, i, &places))
			continue;
		VEC_RESERVE(in->entries, in->n, in->cap);
		e = &in->entries[in->n++];
		*e = (struct entry){
		        .name = map_string(m, f->name),
		        .file = local ? map_string(m, f->file) : "",
		        .hash = f->hash,
		        .f.npaths = f->npaths,
		        .f.cuts = m->cuts + f->first_cut,
		        .f.ncuts = f->ncuts,
		};
		take_paths(e, &pc);
		path_counts_release(&pc);
	}
	frames_release(&places);
}

static void free_entry(const struct interest *in, struct entry *e)
{
	if (!in->profile)
		free((void *)(uintptr_t)e->name);
	free(e->f.numbers);
	free(e->counts);
}

/* Adds the paths of b, of the same function in another module, to a. */
static void join(struct entry *a, const struct entry *b)
{
	size_t n = (size_t)a->f.n + b->f.n, i = 0, k = 0;
	uint64_t *numbers = xcalloc(n + 1, sizeof(*numbers));
	uint64_t *counts = xcalloc(n + 1, sizeof(*counts));

	for (n = 0; i < a->f.n || k < b->f.n; n++) {
		bool from_a =
		        k == b->f.n ||
		        (i < a->f.n && a->f.numbers[i] <= b->f.numbers[k]);

		numbers[n] = from_a ? a->f.numbers[i] : b->f.numbers[k];
		while (i < a->f.n && a->f.numbers[i] == numbers[n])
			counts[n] += a->counts[i++];
		while (k < b->f.n && b->f.numbers[k] == numbers[n])
			counts[n] += b->counts[k++];
	}
	free(a->f.numbers);
	free(a->counts);
	a->f.numbers = numbers;
	a->f.n = (uint32_t)n;
	a->counts = counts;
}

static bool has_same_cuts(const struct entry *a, const struct entry *b)
{
	return a->f.ncuts == b->f.ncuts &&
	       (!a->f.ncuts ||
	        !memcmp(a->f.cuts, b->f.cuts, a->f.ncuts * sizeof(*a->f.cuts)));
}

static void join_entries(struct interest *in)
{
	size_t kept = 0;

	if (in->n)
		qsort(in->entries, in->n, sizeof(*in->entries), by_key);
	for (size_t i = 0; i < in->n; i++) {
		struct entry *e = &in->entries[i];
		struct entry *last = kept ? &in->entries[kept - 1] : NULL;

		if (!last || by_key(last, e)) {
			in->entries[kept++] = *e;
			continue;
		}
		if (has_same_cuts(last, e))
			join(last, e);
		free_entry(in, e);
	}
	in->n = kept;
}

/* --- lists --------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A line without its comment: false if it is not of the form of a list. */
static bool take_line(struct interest *in, char *line)
{
	char *rest = line, *name = strtok_r(line, " \t\r\n", &rest), *word;
	struct entry e = {.file = ""};

	if (!name)
		return true;
	while ((word = strtok_r(NULL, " \t\r\n", &rest))) {
		char *end;

		VEC_RESERVE(e.f.numbers, e.f.n, e.cap);
		errno = 0;
		e.f.numbers[e.f.n++] = strtoull(word, &end, 10);
		if (!isdigit((unsigned char)*word) || *end || errno)
			break;
	}
	if (word || !e.f.n) {
		free(e.f.numbers);
		return false;
	}
	qsort(e.f.numbers, e.f.n, sizeof(*e.f.numbers), by_value);
	e.counts = xcalloc(e.f.n, sizeof(*e.counts));
	e.name = xstrdup(name);
	VEC_RESERVE(in->entries, in->n, in->cap);
	in->entries[in->n++] = e;
	return true;
}

static int read_list(struct interest *in, const char *path,
                     struct cairn_err *err)
{
	FILE *f = fopen(path, "r");
	size_t cap = 0, number = 0;
	char *line = NULL;
	bool ok = true;

	if (!f)
		return cairn_fail(err, CAIRN_E_ABSENT, "%s: %s", path,
		                  strerror(errno));
	while (ok && getline(&line, &cap, f) >= 0) {
		line[strcspn(line, "#")] = 0;
		ok = take_line(in, line);
		number++;
	}
	free(line);
	fclose(f);
	if (ok)
		return 0;
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "%s:%zu: no profile, and no list either: a line has "
	                  "a function and then numbers of its paths",
	                  path, number);
}

/* --- choosing ------------------------------------------------------------ */

static int by_count(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* The count that a path needs to be interesting. */
static uint64_t least_count(const struct interest *in,
                            const struct interest_options *o)
{
	size_t n = 0, kept = 0;
	uint64_t *all, flow = 0, sum = 0, least;

	for (size_t i = 0; i < in->n; i++)
		n += in->entries[i].f.n;
	all = xcalloc(n + 1, sizeof(*all));
	for (size_t i = 0; i < in->n; i++)
		for (uint32_t k = 0; k < in->entries[i].f.n; k++)
			flow += all[kept++] = in->entries[i].counts[k];
	if (n)
		qsort(all, n, sizeof(*all), by_count);
	if (o->top && o->top < n)
		n = o->top;
	for (kept = 0; kept < n; kept++) {
		if (o->share && sum >= flow / 1000000 * o->share)
			break;
		sum += all[kept];
	}
	least = kept ? all[kept - 1] : 0;
	free(all);
	return least ? least : 1;
}

static void drop_cold(struct interest *in, uint64_t least)
{
	for (size_t i = 0; i < in->n; i++) {
		struct entry *e = &in->entries[i];
		uint32_t kept = 0;

		for (uint32_t k = 0; k < e->f.n; k++)
			if (e->counts[k] >= least)
				e->f.numbers[kept++] = e->f.numbers[k];
		e->f.n = kept;
	}
}

static int read_profile(struct interest *in, const char *path,
                        struct cairn_err *err)
{
	CAIRN_TRY(profile_open(&in->profile, &path, 1, NULL, err));
	for (uint32_t i = 0; i < in->profile->nmodules; i++)
		add_module(in, i);
	return 0;
}

int interest_open(const char *path, const struct interest_options *options,
                  struct interest **out, struct cairn_err *err)
{
	struct interest *in = xcalloc(1, sizeof(*in));
	int rc;

	*out = NULL;
	rc = !profile_is_one(path) ? read_list(in, path, err)
	                           : read_profile(in, path, err);
	if (rc == 0 && !in->n)
		rc = cairn_fail(err, CAIRN_E_MISMATCH,
		                "%s: has no paths; run a program that was "
		                "compiled with --cairn=paths",
		                path);
	if (rc < 0) {
		interest_free(in);
		return rc;
	}
	join_entries(in);
	if (options->top || options->share)
		drop_cold(in, least_count(in, options));
	*out = in;
	return 0;
}

void interest_free(struct interest *in)
{
	if (!in)
		return;
	for (size_t i = 0; i < in->n; i++)
		free_entry(in, &in->entries[i]);
	free(in->entries);
	profile_free(in->profile);
	free(in);
}

static const struct entry *find(const struct interest *in, const char *name,
                                const char *file, uint64_t hash)
{
	struct entry key = {.name = name, .file = file, .hash = hash};

	return in->n ? bsearch(&key, in->entries, in->n, sizeof(key), by_key)
	             : NULL;
}

const struct interest_function *interest_find(const struct interest *in,
                                              const char *name,
                                              const char *file, uint64_t hash)
{
	const struct entry *e = NULL;

	if (!in->profile)
		hash = 0;
	if (file)
		e = find(in, name, file, hash);
	if (!e)
		e = find(in, name, "", hash);
	return e ? &e->f : NULL;
}
