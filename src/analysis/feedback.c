/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measured counts for the compiler (the "feedback" weighting of T. Ball and
 * J. Larus, "Optimally profiling and tracing programs", TOPLAS 16(4), 1994,
 * section 5.1).
 *
 * A function of the profile is the function being compiled if their keys agree
 * (key.h); then its edges have the same numbers.  Weights only steer the
 * placement and the optimizer, so counts of a killed run serve as well; a
 * function with contradictory flow does not, and has no edges here.
 *
 * Invariant: entries are sorted by key, each there once.
 * Cost: O(n log n) to open, O(log n) a look-up.
 */
#include "analysis/feedback.h"

#include "analysis/counts.h"
#include "analysis/key.h"
#include "base/alloc.h"
#include "base/err.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct key key;
	uint64_t *edges; /* in our counts; NULL if they cannot be trusted */
	uint32_t nedges;
	const struct map_edge *shape; /* nedges of them */
	uint32_t nblocks;
};

struct feedback {
	struct profile *profile;
	struct counts *counts;
	struct entry *entries;
	size_t n, cap;
};

/*
 * A signal in code that was marked before inlining stopped some function of the
 * module, nobody knows which: all are in doubt, by one.  As the counts of a
 * killed run they will do, unless one came out below zero.
 */
static bool is_wrong(const struct counts_function *r,
                     const struct map_function *f)
{
	return counts_is_inconsistent(r->doubt) &&
	       !(r->doubt == COUNTS_UNLOCATED && f->flags & CAIRN_FN_SOURCE);
}

static bool is_usable(const struct counts_module *cm,
                      const struct counts_function *r,
                      const struct map_function *f)
{
	if (!r->covered || is_wrong(r, f))
		return false;
	for (uint32_t i = 0; i < f->nedges; i++)
		if (!cm->edge_known[f->first_edge + i])
			return false;
	return true;
}

static void add_module(struct feedback *fb, uint32_t module, uint32_t flags)
{
	const struct map *m = fb->profile->modules[module].map;
	struct counts_module *cm = &fb->counts->modules[module];

	for (uint32_t i = 0; i < m->nfunctions; i++) {
		const struct map_function *f = &m->functions[i];

		if ((f->flags & flags) != flags)
			continue;
		VEC_RESERVE(fb->entries, fb->n, fb->cap);
		fb->entries[fb->n++] = (struct entry){
		        .key = key_of(m, f),
		        .edges = is_usable(cm, &cm->functions[i], f)
		                         ? cm->edge + f->first_edge
		                         : NULL,
		        .nedges = f->nedges,
		        .shape = m->edges + f->first_edge,
		        .nblocks = f->nblocks,
		};
	}
}

/* Sums entries of the same function into the first of them. */
static void sum_entries(struct feedback *fb)
{
	size_t kept = 0;

	if (fb->n)
		qsort(fb->entries, fb->n, sizeof(*fb->entries), key_compare);
	for (size_t i = 0; i < fb->n; i++) {
		struct entry *e = &fb->entries[i];
		struct entry *last = kept ? &fb->entries[kept - 1] : NULL;

		if (!last || key_compare(last, e)) {
			fb->entries[kept++] = *e;
			continue;
		}
		if (!last->edges)
			*last = *e;
		else if (e->edges)
			for (uint32_t k = 0; k < e->nedges && k < last->nedges;
			     k++)
				last->edges[k] += e->edges[k];
	}
	fb->n = kept;
}

/* Of the functions that have all of these flags. */
static int open_some(const char *path, uint32_t flags, struct feedback **out,
                     struct cairn_err *err)
{
	struct profile *p;
	struct feedback *fb;

	*out = NULL;
	CAIRN_TRY(profile_open(&p, &path, 1, NULL, err));
	fb = xcalloc(1, sizeof(*fb));
	fb->profile = p;
	fb->counts = counts_new(p);
	for (uint32_t i = 0; i < p->nmodules; i++)
		add_module(fb, i, flags);
	sum_entries(fb);
	*out = fb;
	return 0;
}

int feedback_open(const char *path, struct feedback **out,
                  struct cairn_err *err)
{
	return open_some(path, 0, out, err);
}

int feedback_open_source(const char *path, struct feedback **out,
                         struct cairn_err *err)
{
	return open_some(path, CAIRN_FN_SOURCE, out, err);
}

void feedback_free(struct feedback *f)
{
	if (!f)
		return;
	counts_free(f->counts);
	profile_free(f->profile);
	free(f->entries);
	free(f);
}

const uint64_t *feedback_edges(struct feedback *f, const char *name,
                               const char *file, uint64_t hash,
                               uint32_t *nedges)
{
	const struct entry *e = key_find(f->entries, f->n, sizeof(*f->entries),
	                                 name, file, hash);

	*nedges = e && e->edges ? e->nedges : 0;
	return e ? e->edges : NULL;
}

bool feedback_doubts(const struct feedback *f, const char *name,
                     const char *file, uint64_t hash)
{
	const struct entry *e = key_find(f->entries, f->n, sizeof(*f->entries),
	                                 name, file, hash);

	return e && !e->edges;
}

/* The first entry with this name and file, whatever its hash; or NULL. */
static const struct entry *named(const struct feedback *f, const char *name,
                                 const char *file)
{
	struct key key = {name, file, 0};
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (key_compare(&f->entries[middle].key, &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == f->n || strcmp(f->entries[low].key.name, name) ||
	    strcmp(f->entries[low].key.file, file))
		return NULL;
	return &f->entries[low];
}

bool feedback_knows(const struct feedback *f, const char *name,
                    const char *file)
{
	return (file && named(f, name, file)) || named(f, name, "");
}

static void each_block(const struct entry *e, feedback_count *use,
                       void *context)
{
	uint64_t *counts = xcalloc(e->nblocks, sizeof(*counts));

	for (uint32_t i = 0; i < e->nedges; i++)
		counts[e->shape[i].dst] += e->edges[i];
	for (uint32_t b = 1; b < e->nblocks; b++)
		use(context, counts[b], b == 1);
	free(counts);
}

void feedback_each_block(const struct feedback *f, feedback_count *use,
                         void *context)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->entries[i].edges)
			each_block(&f->entries[i], use, context);
}
