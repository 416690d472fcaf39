/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paths of a profile under names that outlive a rebuild, so that two
 * profiles can be compared.
 *
 * A function is the same in two builds if its name, its CFG and where its paths
 * are cut agree, and, if it is local (static), its source file: then equal
 * numbers are equal paths.  The hash of the CFG is only the quick part of that
 * comparison; blocks and edges are compared as well, so no collision can mix up
 * paths.  Builds in two directories have other paths to their sources: a local
 * function that no file matches is matched by the last part of its file's name
 * if that leaves one candidate on each side.
 *
 * Copies of a function (inline functions in several modules, a file that was
 * compiled into two) are one function, and their counts are summed.
 *
 * Invariant: no two functions of a catalog are the same.
 * Cost: as path_counts_init for every function, O(n log n) to match.
 */
#include "analysis/catalog.h"

#include "analysis/frames.h"
#include "analysis/key.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* --- the order of functions --------------------------------------------- */

static int compare_u64(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

static int by_edges(const struct catalog_function *x,
                    const struct catalog_function *y)
{
	const struct map_edge *a = x->map->edges + x->f->first_edge;
	const struct map_edge *b = y->map->edges + y->f->first_edge;
	int order = 0;

	for (uint32_t i = 0; !order && i < x->f->nedges; i++) {
		order = compare_u64(a[i].src, b[i].src);
		if (!order)
			order = compare_u64(a[i].dst, b[i].dst);
		if (!order)
			order = compare_u64(a[i].kind, b[i].kind);
	}
	return order;
}

static int by_graph(const struct catalog_function *x,
                    const struct catalog_function *y)
{
	int order = compare_u64(x->f->hash, y->f->hash);

	if (!order)
		order = compare_u64(x->f->nblocks, y->f->nblocks);
	if (!order)
		order = compare_u64(x->f->nedges, y->f->nedges);
	return order ? order : by_edges(x, y);
}

/* Equal: equal numbers are equal paths. */
static int by_shape(const struct catalog_function *x,
                    const struct catalog_function *y)
{
	const uint32_t *a = x->map->cuts + x->f->first_cut;
	const uint32_t *b = y->map->cuts + y->f->first_cut;
	int order = by_graph(x, y);

	if (!order)
		order = compare_u64(x->f->npaths, y->f->npaths);
	if (!order)
		order = compare_u64(x->f->ncuts, y->f->ncuts);
	for (uint32_t i = 0; !order && i < x->f->ncuts; i++)
		order = compare_u64(a[i], b[i]);
	return order;
}

static int by_key(const void *a, const void *b)
{
	const struct catalog_function *x = a, *y = b;
	struct key of_x = key_of(x->map, x->f), of_y = key_of(y->map, y->f);
	int order = key_compare(&of_x, &of_y);

	return order ? order : by_shape(x, y);
}

static int by_key_and_place(const void *a, const void *b)
{
	const struct catalog_function *x = a, *y = b;
	int order = by_key(x, y);

	if (!order)
		order = compare_u64(x->module, y->module);
	return order ? order : compare_u64(x->index, y->index);
}

/* --- what there is ------------------------------------------------------ */

static void add_module(struct catalog *c, uint32_t module)
{
	const struct profile_module *m = &c->profile->modules[module];
	struct frame_places places;

	frames_place(&places, c->profile, module);
	for (uint32_t i = 0; i < m->map->nfunctions; i++) {
		const struct map_function *mf = &m->map->functions[i];
		struct catalog_function f = {
		        .name = map_string(m->map, mf->name),
		        .file = map_string(m->map, mf->file),
		        .is_local = mf->flags & CAIRN_FN_LOCAL,
		        .module = module,
		        .index = i,
		        .map = m->map,
		        .f = mf,
		        .is_partial = mf->paths == CAIRN_PATHS_RESIDUAL,
		};

		if (mf->paths == CAIRN_PATHS_NONE)
			continue;
		if (!path_counts_init(&f.pc, m, i, &places)) {
			c->nwrong++;
			continue;
		}
		f.is_partial |= f.pc.nother > 0;
		VEC_RESERVE(c->functions, c->n, c->cap);
		c->functions[c->n++] = f;
	}
	frames_release(&places);
}

static int by_number(const void *a, const void *b)
{
	const struct path_count *x = a, *y = b;

	return compare_u64(x->number, y->number);
}

static int by_place(const void *a, const void *b)
{
	const struct path_prefix *x = a, *y = b;
	int order = compare_u64(x->block, y->block);

	if (!order)
		order = compare_u64(x->segment, y->segment);
	if (!order)
		order = compare_u64(x->is_pending, y->is_pending);
	return order ? order : compare_u64(x->sum, y->sum);
}

static void sum_items(struct path_counts *pc)
{
	size_t kept = 0;

	if (pc->n)
		qsort(pc->items, pc->n, sizeof(*pc->items), by_number);
	for (size_t i = 0; i < pc->n; i++)
		if (kept && pc->items[kept - 1].number == pc->items[i].number)
			pc->items[kept - 1].count += pc->items[i].count;
		else
			pc->items[kept++] = pc->items[i];
	pc->n = kept;
}

static void sum_prefixes(struct path_counts *pc)
{
	size_t kept = 0;

	if (pc->nprefixes)
		qsort(pc->prefixes, pc->nprefixes, sizeof(*pc->prefixes),
		      by_place);
	for (size_t i = 0; i < pc->nprefixes; i++) {
		struct path_prefix *last =
		        kept ? &pc->prefixes[kept - 1] : NULL;

		if (last && !by_place(last, &pc->prefixes[i])) {
			last->in += pc->prefixes[i].in;
			last->out += pc->prefixes[i].out;
		} else {
			pc->prefixes[kept++] = pc->prefixes[i];
		}
	}
	pc->nprefixes = kept;
}

/* Adds the counts of a copy. */
static void add_copy(struct path_counts *pc, const struct path_counts *more)
{
	for (size_t i = 0; i < more->n; i++) {
		VEC_RESERVE(pc->items, pc->n, pc->cap);
		pc->items[pc->n++] = more->items[i];
	}
	for (size_t i = 0; i < more->nprefixes; i++) {
		VEC_RESERVE(pc->prefixes, pc->nprefixes, pc->prefixes_cap);
		pc->prefixes[pc->nprefixes++] = more->prefixes[i];
	}
	sum_items(pc);
	sum_prefixes(pc);
	pc->nlost += more->nlost;
	pc->nother += more->nother;
	pc->nunknown += more->nunknown;
	if (pc->doubt < more->doubt) {
		pc->doubt = more->doubt;
		pc->bad_number = more->bad_number;
	}
}

static void join_copies(struct catalog *c)
{
	size_t kept = 0;

	if (c->n)
		qsort(c->functions, c->n, sizeof(*c->functions),
		      by_key_and_place);
	for (size_t i = 0; i < c->n; i++) {
		struct catalog_function *f = &c->functions[i];
		struct catalog_function *last =
		        kept ? &c->functions[kept - 1] : NULL;

		if (!last || by_key(last, f)) {
			c->functions[kept++] = *f;
			continue;
		}
		add_copy(&last->pc, &f->pc);
		last->is_partial |= f->is_partial;
		path_counts_release(&f->pc);
	}
	c->n = kept;
}

void catalog_init(struct catalog *c, const struct profile *p)
{
	*c = (struct catalog){.profile = p};
	for (uint32_t i = 0; i < p->nmodules; i++)
		if (p->modules[i].map)
			add_module(c, i);
	join_copies(c);
	for (size_t i = 0; i < c->n; i++) {
		struct catalog_function *f = &c->functions[i];

		for (size_t k = 0; k < f->pc.n; k++)
			f->executions += f->pc.items[k].count;
		c->executions += f->executions;
		c->npaths += f->pc.n;
		c->npartial += f->is_partial;
	}
}

void catalog_release(struct catalog *c)
{
	for (size_t i = 0; i < c->n; i++)
		path_counts_release(&c->functions[i].pc);
	free(c->functions);
	*c = (struct catalog){0};
}

uint64_t catalog_count(const struct catalog_function *f, uint64_t number)
{
	struct path_count key = {.number = number};
	const struct path_count *found =
	        f->pc.n ? bsearch(&key, f->pc.items, f->pc.n, sizeof(key),
	                          by_number)
	                : NULL;

	return found ? found->count : 0;
}

int64_t catalog_died(const struct catalog_function *f,
                     const struct path_prefix *prefix)
{
	const struct path_prefix *found =
	        f->pc.nprefixes
	                ? bsearch(prefix, f->pc.prefixes, f->pc.nprefixes,
	                          sizeof(*prefix), by_place)
	                : NULL;

	return found ? (int64_t)(found->out - found->in) : 0;
}

/* --- two of them -------------------------------------------------------- */

struct matching {
	const struct catalog *a, *b;
	struct catalog_match *of_a, *of_b;
};

static void join(struct matching *m, size_t i, size_t k)
{
	m->of_a[i] = (struct catalog_match){CATALOG_SAME, (uint32_t)k};
	m->of_b[k] = (struct catalog_match){CATALOG_SAME, (uint32_t)i};
}

static void match_keys(struct matching *m)
{
	size_t i = 0, k = 0;

	while (i < m->a->n && k < m->b->n) {
		int order = by_key(&m->a->functions[i], &m->b->functions[k]);

		if (!order)
			join(m, i, k);
		i += order <= 0;
		k += order >= 0;
	}
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The first function of this name or a later one. */
static size_t find_name(const struct catalog *c, const char *name)
{
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(c->functions[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The file's last part is enough to take them for the same one. */
static bool is_alike(const struct catalog_function *x,
                     const struct catalog_function *y)
{
	return !strcmp(x->name, y->name) &&
	       ((!x->is_local && !y->is_local) ||
	        !strcmp(base(x->file), base(y->file)));
}

/*
 * The only function of c without a match that is alike f and has its shape;
 * NONE if there is no such one, or more.
 */
static uint32_t find_only(const struct catalog *c,
                          const struct catalog_match *of_c,
                          const struct catalog_function *f)
{
	uint32_t found = NONE;

	for (size_t k = find_name(c, f->name);
	     k < c->n && !strcmp(c->functions[k].name, f->name); k++) {
		if (of_c[k].fate == CATALOG_SAME ||
		    !is_alike(&c->functions[k], f) ||
		    by_shape(&c->functions[k], f))
			continue;
		if (found != NONE)
			return NONE;
		found = (uint32_t)k;
	}
	return found;
}

static void match_moved(struct matching *m)
{
	for (uint32_t i = 0; i < m->a->n; i++) {
		uint32_t k;

		if (m->of_a[i].fate == CATALOG_SAME)
			continue;
		k = find_only(m->b, m->of_b, &m->a->functions[i]);
		if (k != NONE &&
		    find_only(m->a, m->of_a, &m->b->functions[k]) == i)
			join(m, i, k);
	}
}

/* What there is of this name although nothing matches. */
static void explain(struct catalog_match *out, const struct catalog_function *f,
                    const struct catalog *c, const struct catalog_match *of_c)
{
	for (size_t k = find_name(c, f->name);
	     k < c->n && !strcmp(c->functions[k].name, f->name); k++) {
		if (of_c[k].fate == CATALOG_SAME ||
		    !is_alike(&c->functions[k], f))
			continue;
		if (!by_graph(&c->functions[k], f)) {
			*out = (struct catalog_match){CATALOG_RENUMBERED,
			                              (uint32_t)k};
			return;
		}
		if (out->fate == CATALOG_ABSENT)
			*out = (struct catalog_match){CATALOG_CHANGED,
			                              (uint32_t)k};
	}
}

void catalog_match(const struct catalog *a, const struct catalog *b,
                   struct catalog_match *of_a, struct catalog_match *of_b)
{
	struct matching m = {a, b, of_a, of_b};

	for (size_t i = 0; i < a->n; i++)
		of_a[i] = (struct catalog_match){CATALOG_ABSENT, NONE};
	for (size_t k = 0; k < b->n; k++)
		of_b[k] = (struct catalog_match){CATALOG_ABSENT, NONE};
	match_keys(&m);
	match_moved(&m);
	for (size_t i = 0; i < a->n; i++)
		if (of_a[i].fate == CATALOG_ABSENT)
			explain(&of_a[i], &a->functions[i], b, of_b);
	for (size_t k = 0; k < b->n; k++)
		if (of_b[k].fate == CATALOG_ABSENT)
			explain(&of_b[k], &b->functions[k], a, of_a);
}

/* --- one path ----------------------------------------------------------- */

struct catalog_range catalog_blocks(const struct path *path)
{
	bool is_left = path->end == PATH_LEAVES || path->end == PATH_ENDED;

	return (struct catalog_range){path->enters ? 1 : 0,
	                              path->nedges + (is_left ? 0 : 1)};
}

void catalog_lines(const struct catalog_function *f, const struct path *path,
                   uint32_t nsegments,
                   void (*visit)(void *context, const struct map_line *line),
                   void *context)
{
	struct catalog_range r = catalog_blocks(path);

	for (uint32_t i = r.first; i < r.end; i++) {
		block_id b = path_block(path, f->pc.g, i);
		const struct map_block *mb =
		        &f->map->blocks[f->f->first_block + b];
		bool is_last = path->end == PATH_UNFINISHED && i + 1 == r.end;
		uint32_t n = is_last ? nsegments : mb->nsegments;

		for (uint32_t s = 0; s < n; s++) {
			const struct map_segment *g =
			        &f->map->segments[mb->first_segment + s];

			for (uint32_t k = 0; k < g->nlines; k++)
				if (f->map->lines[g->first_line + k].line)
					visit(context,
					      &f->map->lines[g->first_line +
					                     k]);
		}
	}
}

bool catalog_is_prefix(const struct path *path, const struct path *whole)
{
	return path->enters == whole->enters && path->first == whole->first &&
	       path->nedges <= whole->nedges &&
	       (!path->nedges || !memcmp(path->edges, whole->edges,
	                                 path->nedges * sizeof(*path->edges)));
}
