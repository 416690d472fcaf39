/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interesting paths for the compiler (K. Vaswani, "Efficient online path
 * profiling", thesis, 2007, sections 3.2 and 3.3): those that a profile has,
 * and those that are named.
 *
 * A function of the profile is the one being compiled if their keys agree
 * (key.h); then its paths have the same numbers, if the same edges are cut.
 * Sets, all paths of a function or through a line, are only kept here: which
 * paths they have the compiler knows (graph/through.h).
 *
 * Invariant: entries are sorted by key, their numbers ascend; sets are sorted
 * by function and line, and no two are alike.
 *
 * Cost: O(n log n) to open, O(log n) a look-up.
 */
#include "analysis/interest.h"

#include "analysis/frames.h"
#include "analysis/key.h"
#include "analysis/path_counts.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/regular.h"
#include "format/map.h"
#include "format/profile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"

#define MILLION 1000000u

struct entry {
	struct key key;
	struct interest_function f;
	uint64_t *counts; /* of its numbers */
	uint32_t cap;
};

struct interest {
	struct profile *profile; /* NULL: a list */
	size_t npartial; /* functions that did not count all their paths */
	struct entry *entries;
	size_t n, cap;
	struct interest_set *sets;
	size_t nsets, sets_cap;
};

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
		struct path_counts pc;
		struct entry *e;

		if (f->paths == CAIRN_PATHS_NONE ||
		    !path_counts_init(&pc, pm, i, &places))
			continue;
		VEC_RESERVE(in->entries, in->n, in->cap);
		e = &in->entries[in->n++];
		*e = (struct entry){
		        .key = key_of(m, f),
		        .f.npaths = f->npaths,
		        .f.cuts = m->cuts + f->first_cut,
		        .f.ncuts = f->ncuts,
		};
		take_paths(e, &pc);
		in->npartial +=
		        f->paths == CAIRN_PATHS_RESIDUAL || pc.nother > 0;
		path_counts_release(&pc);
	}
	frames_release(&places);
}

static void free_entry(const struct interest *in, struct entry *e)
{
	if (!in->profile)
		free((void *)(uintptr_t)e->key.name);
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
		qsort(in->entries, in->n, sizeof(*in->entries), key_compare);
	for (size_t i = 0; i < in->n; i++) {
		struct entry *e = &in->entries[i];
		struct entry *last = kept ? &in->entries[kept - 1] : NULL;

		if (!last || key_compare(last, e)) {
			in->entries[kept++] = *e;
			continue;
		}
		if (has_same_cuts(last, e))
			join(last, e);
		free_entry(in, e);
	}
	in->n = kept;
}

/* --- sets ---------------------------------------------------------------- */

/* The function that a set is of, "" for a line. */
static const char *function_of(const struct interest_set *s)
{
	return s->function ? s->function : "";
}

static int by_place(const struct interest_set *x, const struct interest_set *y)
{
	int order = strcmp(function_of(x), function_of(y));

	return order ? order
	             : (x->spot.line > y->spot.line) -
	                       (x->spot.line < y->spot.line);
}

static int by_set(const void *a, const void *b)
{
	const struct interest_set *x = a, *y = b;
	int order = by_place(x, y);

	if (order || x->function)
		return order;
	return strcmp(x->spot.file, y->spot.file);
}

static void free_set(struct interest_set *s)
{
	free(s->function);
	spot_release(&s->spot);
}

static void add_set(struct interest *in, struct interest_set set)
{
	VEC_RESERVE(in->sets, in->nsets, in->sets_cap);
	in->sets[in->nsets++] = set;
}

/* function:NAME or line:FILE:LINE, as the driver hands it on. */
static int take_set(struct interest *in, const char *text,
                    struct cairn_err *err)
{
	struct interest_set set = {0};

	if (!strncmp(text, "function:", 9) && text[9])
		set.function = xstrdup(text + 9);
	else if (strncmp(text, "line:", 5) != 0 ||
	         !spot_parse(&set.spot, text + 5))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "prefer=%s names neither function:NAME nor "
		                  "line:FILE:LINE",
		                  text);
	add_set(in, set);
	return 0;
}

static void sort_sets(struct interest *in)
{
	size_t kept = 0;

	if (in->nsets)
		qsort(in->sets, in->nsets, sizeof(*in->sets), by_set);
	for (size_t i = 0; i < in->nsets; i++) {
		if (kept && !by_set(&in->sets[kept - 1], &in->sets[i]))
			free_set(&in->sets[i]);
		else
			in->sets[kept++] = in->sets[i];
	}
	in->nsets = kept;
}

const struct interest_set *interest_sets(const struct interest *in, size_t *n)
{
	*n = in->nsets;
	return in->sets;
}

/* Those that by_place finds equal to the key. */
static struct interest_range find_sets(const struct interest *in,
                                       const struct interest_set *key)
{
	struct interest_range r;
	size_t lo = 0, hi = in->nsets;

	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;

		if (by_place(&in->sets[middle], key) < 0)
			lo = middle + 1;
		else
			hi = middle;
	}
	r = (struct interest_range){lo, lo};
	while (r.end < in->nsets && !by_place(&in->sets[r.end], key))
		r.end++;
	return r;
}

struct interest_range interest_of_function(const struct interest *in,
                                           const char *name)
{
	struct interest_set key = {.function = (char *)(uintptr_t)name};

	return find_sets(in, &key);
}

struct interest_range interest_of_line(const struct interest *in, uint32_t line)
{
	struct interest_set key = {.spot.line = line};

	return find_sets(in, &key);
}

/* --- lists --------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Each once. */
static void sort_numbers(struct interest_function *f)
{
	uint32_t kept = 0;

	qsort(f->numbers, f->n, sizeof(*f->numbers), by_value);
	for (uint32_t i = 0; i < f->n; i++)
		if (!kept || f->numbers[kept - 1] != f->numbers[i])
			f->numbers[kept++] = f->numbers[i];
	f->n = kept;
}

/* The numbers of a line, from `word` on: false if something else is there. */
static bool take_numbers(struct interest *in, const char *name, char *word,
                         char *rest)
{
	struct entry e = {.key.file = ""};

	for (; word; word = strtok_r(NULL, BLANKS, &rest)) {
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
	sort_numbers(&e.f);
	e.counts = xcalloc(e.f.n, sizeof(*e.counts));
	e.key.name = xstrdup(name);
	VEC_RESERVE(in->entries, in->n, in->cap);
	in->entries[in->n++] = e;
	return true;
}

/* A line without its comment: false if it is not of the form of a list. */
static bool take_line(struct interest *in, char *line)
{
	char *rest = line, *name = strtok_r(line, BLANKS, &rest), *word;
	struct interest_set set = {0};
	bool is_spot, ok;

	if (!name)
		return true;
	is_spot = spot_parse(&set.spot, name);
	word = strtok_r(NULL, BLANKS, &rest);
	if (word && !strcmp(word, "*") && !strtok_r(NULL, BLANKS, &rest)) {
		if (!is_spot)
			set.function = xstrdup(name);
		add_set(in, set);
		return true;
	}
	ok = !is_spot && take_numbers(in, name, word, rest);
	free_set(&set);
	return ok;
}

static int read_list(struct interest *in, const char *path,
                     struct cairn_err *err)
{
	FILE *f = regular_stream(path, "name a profile or a list", err);
	size_t cap = 0, number = 0;
	char *line = NULL;
	bool ok = true;

	if (!f)
		return CAIRN_E_ABSENT;
	while (ok && getline(&line, &cap, f) >= 0) {
		line[strcspn(line, "#")] = 0;
		ok = take_line(in, line);
		number++;
	}
	free(line);
	if (ferror(f)) {
		fclose(f);
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "%s: %s; name a profile or a list", path,
		                  strerror(errno));
	}
	fclose(f);
	if (ok)
		return 0;
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "%s:%zu: no profile, and no list either: a line has "
	                  "a function and then numbers of its paths, or a "
	                  "function or FILE:LINE and then a *",
	                  path, number);
}

/* --- choosing ------------------------------------------------------------ */

/* A path of the profile. */
struct choice {
	uint64_t count, number;
	size_t entry;
};

/* The hottest first; equal ones in an order that is always the same. */
static int by_count(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_entry(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* How many of the hottest paths are interesting. */
static size_t count_chosen(const struct choice *all, size_t n,
                           const struct interest_options *o)
{
	uint64_t flow = 0, sum = 0, want;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		flow += all[i].count;
	/* flow times share, in whole executions, rounded up */
	want = flow / MILLION * o->share +
	       (flow % MILLION * o->share + MILLION - 1) / MILLION;
	if (o->top && o->top < n)
		n = o->top;
	while (kept < n && (!o->share || sum < want))
		sum += all[kept++].count;
	return kept;
}

static void choose(struct interest *in, const struct interest_options *o)
{
	struct choice *all;
	size_t n = 0;

	for (size_t i = 0; i < in->n; i++)
		n += in->entries[i].f.n;
	all = xcalloc(n + 1, sizeof(*all));
	n = 0;
	for (size_t i = 0; i < in->n; i++) {
		struct entry *e = &in->entries[i];

		for (uint32_t k = 0; k < e->f.n; k++)
			all[n++] = (struct choice){e->counts[k],
			                           e->f.numbers[k], i};
		e->f.n = 0;
	}
	qsort(all, n, sizeof(*all), by_count);
	n = count_chosen(all, n, o);
	qsort(all, n, sizeof(*all), by_entry);
	for (size_t i = 0; i < n; i++) {
		struct interest_function *f = &in->entries[all[i].entry].f;

		f->numbers[f->n++] = all[i].number;
	}
	free(all);
}

/* What a test ran and did not count would look untested. */
static int check_whole(const struct interest *in, const char *path,
                       struct cairn_err *err)
{
	if (!in->npartial)
		return 0;
	return cairn_fail(err, CAIRN_E_MISMATCH,
	                  "%s: %zu functions did not count all of their paths, "
	                  "so nobody knows what was tested; run the tests with "
	                  "a build of --cairn=paths",
	                  path, in->npartial);
}

/* Paths of a build with calls= end where those of others go on. */
static int check_paths(const struct profile *p, const char *path,
                       const struct interest_options *o, struct cairn_err *err)
{
	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *map = p->modules[i].map;

		for (uint32_t k = 0; map && k < map->nfunctions; k++)
			if (map->functions[k].flags & CAIRN_FN_SEGMENTS)
				return cairn_fail(
				        err, CAIRN_E_MISMATCH,
				        "%s: %s: is the profile of a build "
				        "with calls=, whose paths end at "
				        "calls; add calls=D, or name the "
				        "profile of a build with "
				        "--cairn=paths alone",
				        o->is_tested ? "tested" : "prefer",
				        path);
	}
	return 0;
}

static int read_profile(struct interest *in, const char *path,
                        const struct interest_options *o, struct cairn_err *err)
{
	CAIRN_TRY(profile_open(&in->profile, &path, 1, NULL, err));
	if (!o->in_calls)
		CAIRN_TRY(check_paths(in->profile, path, o, err));
	for (uint32_t i = 0; i < in->profile->nmodules; i++)
		add_module(in, i);
	return o->is_tested ? check_whole(in, path, err) : 0;
}

/* The file, if there is one, and the sets. */
static int read_all(struct interest *in, const char *path,
                    const struct interest_options *o, struct cairn_err *err)
{
	bool is_profile = path && profile_is_one(path);

	if (is_profile)
		CAIRN_TRY(read_profile(in, path, o, err));
	else if (o->top || o->share)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "%s: top and share are about the counts of a "
		                  "profile, and this is none",
		                  path ? path : "prefer");
	else if (path)
		CAIRN_TRY(read_list(in, path, err));
	if (path && !in->n && !in->nsets)
		return cairn_fail(err, CAIRN_E_MISMATCH,
		                  "%s: has no paths; run a program that was "
		                  "compiled with --cairn=paths",
		                  path);
	for (size_t i = 0; i < o->nsets; i++)
		CAIRN_TRY(take_set(in, o->sets[i], err));
	return 0;
}

int interest_open(const char *path, const struct interest_options *options,
                  struct interest **out, struct cairn_err *err)
{
	struct interest *in = xcalloc(1, sizeof(*in));
	int rc = read_all(in, path, options, err);

	*out = NULL;
	if (rc < 0) {
		interest_free(in);
		return rc;
	}
	join_entries(in);
	sort_sets(in);
	if (options->top || options->share)
		choose(in, options);
	*out = in;
	return 0;
}

void interest_free(struct interest *in)
{
	if (!in)
		return;
	for (size_t i = 0; i < in->n; i++)
		free_entry(in, &in->entries[i]);
	for (size_t i = 0; i < in->nsets; i++)
		free_set(&in->sets[i]);
	free(in->entries);
	free(in->sets);
	profile_free(in->profile);
	free(in);
}

bool interest_is_profile(const struct interest *in)
{
	return in->profile != NULL;
}

const struct interest_function *interest_find(const struct interest *in,
                                              const char *name,
                                              const char *file, uint64_t hash)
{
	/* a list has no hashes */
	const struct entry *e =
	        key_find(in->entries, in->n, sizeof(*in->entries), name, file,
	                 in->profile ? hash : 0);

	return e ? &e->f : NULL;
}
