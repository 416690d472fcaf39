/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Residual paths: what the field does that the tests never did.
 *
 * K. Vaswani, "Efficient online path profiling", thesis, 2007, sections 3.5 and
 * 3.6: a path is untested if it ran in the field and in no test.  An edge is
 * untested likewise.  A path can be untested though all its edges are: each of
 * its choices was tested, but not all of them together.  Edge coverage never
 * shows such paths.  Table 3.1 of the thesis counts untested paths in functions
 * without any untested edge (48.9 % there); paths that have no untested edge
 * themselves are more, since they may lie in functions where another path has
 * one.  Both are counted here.
 *
 * A path that a frame died on (exit, a crash) is tested if a tested path, or
 * one that a test died on, begins like it.
 *
 * Risk, where users and counts are equal: more untested edges first; then more
 * pairs of successive choices that no tested path makes in succession, which is
 * what is new about a path whose edges are all tested; then more blocks.
 *
 * A residual build records in which order a run first took the paths that no
 * test took.  A path's number in a file is its place among those that are
 * untested here: what is tested by now does not count.
 *
 * An untested edge lies on an untested path by definition.  So nothing here
 * needs the tested paths of the field, but the totals that shares are taken of.
 *
 * Cost: O(length) per path of either side; unfinished paths are compared with
 * each tested path of their function.
 */
#include "analysis/residual.h"

#include "analysis/first.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

/* --- what the tests did in a function ----------------------------------- */

struct tested {
	const struct catalog_function *f;
	uint64_t *edge;  /* counts */
	uint64_t *pairs; /* of successive choices, sorted */
	size_t npairs, pairs_cap;
};

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Calls take for each pair of successive choices of a path. */
static void each_pair(const struct cfg *g, const struct path *path,
                      void (*take)(void *context, uint64_t pair), void *context)
{
	uint64_t last = UINT64_MAX;

	for (uint32_t i = 0; i < path->nedges; i++) {
		edge_id e = path->edges[i];
		block_id b = g->edges[e].src;

		if (b == CFG_OUTSIDE || g->out_at[b + 1] - g->out_at[b] < 2)
			continue;
		if (last != UINT64_MAX)
			take(context, last << 32 | e);
		last = e;
	}
}

static void add_pair(void *context, uint64_t pair)
{
	struct tested *t = context;

	VEC_RESERVE(t->pairs, t->npairs, t->pairs_cap);
	t->pairs[t->npairs++] = pair;
}

static void sort_pairs(struct tested *t)
{
	size_t kept = 0;

	if (t->npairs)
		qsort(t->pairs, t->npairs, sizeof(*t->pairs), by_value);
	for (size_t i = 0; i < t->npairs; i++)
		if (!kept || t->pairs[kept - 1] != t->pairs[i])
			t->pairs[kept++] = t->pairs[i];
	t->npairs = kept;
}

static void tested_init(struct tested *t, const struct catalog_function *f)
{
	const struct path_counts *pc = &f->pc;
	uint64_t *block = xcalloc(f->f->nblocks, sizeof(*block));
	struct path path = {0};

	*t = (struct tested){.f = f};
	t->edge = xcalloc((size_t)f->f->nedges + 1, sizeof(*t->edge));
	path_counts_edges(pc, f->map, f->f, t->edge, block);
	free(block);
	for (size_t i = 0; i < pc->n; i++) {
		paths_decode(&pc->paths, pc->items[i].number, &path, NULL);
		each_pair(pc->g, &path, add_pair, t);
	}
	for (size_t i = 0; i < pc->nprefixes; i++) {
		const struct path_prefix *x = &pc->prefixes[i];

		if (!x->is_pending || (int64_t)(x->out - x->in) <= 0)
			continue;
		paths_decode_prefix(&pc->paths, x->sum, x->block, &path, NULL);
		each_pair(pc->g, &path, add_pair, t);
	}
	sort_pairs(t);
	path_release(&path);
}

static void tested_release(struct tested *t)
{
	free(t->edge);
	free(t->pairs);
}

/* Does a tested path, finished or not, begin like this one? */
static bool begins_tested(const struct tested *t, const struct path *path)
{
	const struct path_counts *pc = &t->f->pc;
	struct path other = {0};
	bool found = false;

	for (size_t i = 0; !found && i < pc->n; i++) {
		paths_decode(&pc->paths, pc->items[i].number, &other, NULL);
		found = catalog_is_prefix(path, &other);
	}
	for (size_t i = 0; !found && i < pc->nprefixes; i++) {
		const struct path_prefix *x = &pc->prefixes[i];

		if (!x->is_pending || (int64_t)(x->out - x->in) <= 0)
			continue;
		paths_decode_prefix(&pc->paths, x->sum, x->block, &other, NULL);
		found = catalog_is_prefix(path, &other);
	}
	path_release(&other);
	return found;
}

/* --- what the field did in it ------------------------------------------- */

struct news {
	const struct tested *t;
	uint32_t npairs;
};

static void look_up_pair(void *context, uint64_t pair)
{
	struct news *n = context;

	n->npairs += !n->t->npairs || !bsearch(&pair, n->t->pairs, n->t->npairs,
	                                       sizeof(pair), by_value);
}

/* Adds an untested path; is_new[] marks the untested edges of the function. */
static void add_path(struct residual *r, const struct tested *t,
                     struct residual_path *p, const struct path *path,
                     bool *is_new)
{
	struct catalog_range blocks = catalog_blocks(path);
	struct news news = {.t = t};

	for (uint32_t i = 0; i < path->nedges; i++) {
		edge_id e = path->edges[i];

		if ((int64_t)t->edge[e] > 0)
			continue;
		is_new[e] = true;
		p->nedges++;
	}
	each_pair(t->f->pc.g, path, look_up_pair, &news);
	p->npairs = news.npairs;
	p->nblocks = blocks.end - blocks.first;
	VEC_RESERVE(r->paths, r->n, r->cap);
	r->paths[r->n++] = *p;
}

static void add_finished(struct residual *r, const struct tested *t,
                         uint32_t function, bool *is_new)
{
	const struct path_counts *pc = &r->field->functions[function].pc;
	struct residual_function *rf = &r->functions[function];
	struct path path = {0};

	for (size_t i = 0; i < pc->n; i++) {
		struct residual_path p = {
		        .function = function,
		        .number = pc->items[i].number,
		        .count = pc->items[i].count,
		};

		if (catalog_count(t->f, p.number))
			continue;
		paths_decode(&pc->paths, p.number, &path, NULL);
		add_path(r, t, &p, &path, is_new);
		rf->npaths++;
		rf->nhidden += !r->paths[r->n - 1].nedges;
		r->totals.all.nuntested++;
		r->totals.all.untested_executions += p.count;
	}
	r->totals.all.is_partial |= r->field->functions[function].is_partial;
	r->totals.all.npaths += pc->n;
	r->totals.all.executions += r->field->functions[function].executions;
	path_release(&path);
}

static void add_unfinished(struct residual *r, const struct tested *t,
                           uint32_t function, bool *is_new)
{
	const struct path_counts *pc = &r->field->functions[function].pc;
	struct path path = {0};

	for (size_t i = 0; i < pc->nprefixes; i++) {
		const struct path_prefix *x = &pc->prefixes[i];
		struct residual_path p = {
		        .function = function,
		        .is_prefix = true,
		        .prefix = *x,
		        .count = x->out - x->in,
		};

		if (!x->is_pending || (int64_t)p.count <= 0)
			continue;
		paths_decode_prefix(&pc->paths, x->sum, x->block, &path, NULL);
		if (begins_tested(t, &path))
			continue;
		add_path(r, t, &p, &path, is_new);
		r->totals.all.ndied++;
	}
	path_release(&path);
}

static void compare_function(struct residual *r, uint32_t function)
{
	const struct catalog_function *f = &r->field->functions[function];
	struct residual_function *rf = &r->functions[function];
	struct residual_totals *sum = &r->totals;
	bool *is_new = xcalloc((size_t)f->f->nedges + 1, sizeof(*is_new));
	struct tested t;

	tested_init(&t, &r->tested->functions[rf->match.other]);
	add_finished(r, &t, function, is_new);
	add_unfinished(r, &t, function, is_new);
	for (uint32_t e = 0; e < f->f->nedges; e++)
		rf->nedges += is_new[e];
	sum->ncompared++;
	sum->nfunctions += rf->npaths > 0;
	sum->nedges += rf->nedges;
	sum->nedge_functions += rf->nedges > 0;
	sum->nquiet += rf->nedges ? 0 : rf->npaths;
	sum->nhidden += rf->nhidden;
	tested_release(&t);
	free(is_new);
}

void residual_init(struct residual *r, const struct catalog *tested,
                   const struct catalog *field)
{
	struct catalog_match *of_field =
	        xcalloc(field->n + 1, sizeof(*of_field));

	*r = (struct residual){.tested = tested, .field = field};
	r->of_tested = xcalloc(tested->n + 1, sizeof(*r->of_tested));
	r->functions = xcalloc(field->n + 1, sizeof(*r->functions));
	catalog_match(field, tested, of_field, r->of_tested);
	for (uint32_t i = 0; i < field->n; i++) {
		const struct catalog_function *f = &field->functions[i];

		r->functions[i].match = of_field[i];
		if (of_field[i].fate == CATALOG_SAME) {
			compare_function(r, i);
		} else if (f->pc.n || f->pc.nprefixes) {
			r->totals.nunmatched++;
			r->totals.unmatched_paths += f->pc.n;
			r->totals.unmatched_executions += f->executions;
		}
	}
	free(of_field);
}

void residual_release(struct residual *r)
{
	free(r->of_tested);
	free(r->functions);
	for (size_t i = 0; i < r->n; i++)
		free(r->paths[i].first);
	free(r->paths);
	*r = (struct residual){0};
}

/* --- files -------------------------------------------------------------- */

static void add_users(struct residual *r, const struct catalog *file,
                      const struct catalog_match *of_field,
                      struct residual_row *row)
{
	for (size_t i = 0; i < r->n; i++) {
		struct residual_path *p = &r->paths[i];
		const struct catalog_match *m = &of_field[p->function];
		const struct catalog_function *f;
		uint64_t count;

		if (m->fate != CATALOG_SAME)
			continue;
		f = &file->functions[m->other];
		if (p->is_prefix) {
			bool died = catalog_died(f, &p->prefix) > 0;

			p->nusers += died;
			row->ndied += died;
			continue;
		}
		count = catalog_count(f, p->number);
		p->nusers += count > 0;
		row->nuntested += count > 0;
		row->untested_executions += count;
	}
}

static int by_path(const void *a, const void *b)
{
	const struct residual_path *x = *(struct residual_path *const *)a;
	const struct residual_path *y = *(struct residual_path *const *)b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* The finished paths by function and number, for the caller to free. */
static struct residual_path **sort_paths(const struct residual *r, size_t *n)
{
	struct residual_path **sorted =
	        xcalloc(r->n + 1, sizeof(struct residual_path *));

	*n = 0;
	for (size_t i = 0; i < r->n; i++)
		if (!r->paths[i].is_prefix)
			sorted[(*n)++] = &r->paths[i];
	qsort(sorted, *n, sizeof(*sorted), by_path);
	return sorted;
}

static bool is_numbered(const struct residual_path *p, uint32_t file)
{
	return p->nfirst && p->first[p->nfirst - 1].file == file;
}

/* Numbers the untested paths of a file in the order of its run. */
static void add_order(struct residual *r, const struct catalog *file,
                      const struct catalog_match *of_file,
                      struct residual_row *row)
{
	struct first_path *list;
	size_t n, nlist = first_paths(file, &list);
	struct residual_path **sorted = sort_paths(r, &n);

	row->has_order = first_is_known(file->profile);
	row->nleft_out = row->has_order ? file->profile->order.nleft_out : 0;
	for (size_t i = 0; i < nlist; i++) {
		const struct catalog_match *m = &of_file[list[i].function];
		struct residual_path key = {.function = m->other,
		                            .number = list[i].number};
		const struct residual_path *at = &key;
		struct residual_path **found, *p;

		found = n && m->fate == CATALOG_SAME
		                ? bsearch(&at, sorted, n, sizeof(*sorted),
		                          by_path)
		                : NULL;
		if (!found || is_numbered(*found, r->nfiles))
			continue;
		p = *found;
		VEC_RESERVE(p->first, p->nfirst, p->first_cap);
		p->first[p->nfirst++] =
		        (struct residual_first){r->nfiles, ++row->nordered};
	}
	free(sorted);
	free(list);
}

const struct residual_first *residual_first(const struct residual_path *p)
{
	const struct residual_first *best = NULL;

	for (uint32_t i = 0; i < p->nfirst; i++)
		if (!best || p->first[i].number < best->number)
			best = &p->first[i];
	return best;
}

void residual_add_file(struct residual *r, const struct catalog *file,
                       struct residual_row *row)
{
	struct catalog_match *of_field, *of_file;

	of_field = xcalloc(r->field->n + 1, sizeof(*of_field));
	of_file = xcalloc(file->n + 1, sizeof(*of_file));
	catalog_match(r->field, file, of_field, of_file);
	*row = (struct residual_row){0};
	for (size_t i = 0; i < r->field->n; i++) {
		const struct catalog_function *f;

		if (r->functions[i].match.fate != CATALOG_SAME ||
		    of_field[i].fate != CATALOG_SAME)
			continue;
		f = &file->functions[of_field[i].other];
		row->is_partial |= f->is_partial;
		row->npaths += f->pc.n;
		row->executions += f->executions;
	}
	add_users(r, file, of_field, row);
	add_order(r, file, of_file, row);
	r->nfiles++;
	free(of_field);
	free(of_file);
}

/* --- ranking ------------------------------------------------------------ */

static int descending(uint64_t x, uint64_t y)
{
	return x > y ? -1 : x < y;
}

static int by_risk(const struct residual_path *x, const struct residual_path *y)
{
	int order = descending(x->nedges, y->nedges);

	if (!order)
		order = descending(x->npairs, y->npairs);
	return order ? order : descending(x->nblocks, y->nblocks);
}

static int by_rank(const void *a, const void *b)
{
	const struct residual_path *x = a, *y = b;
	int order = descending(x->nusers, y->nusers);

	if (!order)
		order = descending(x->count, y->count);
	if (!order)
		order = by_risk(x, y);
	if (!order)
		order = descending(y->function, x->function);
	if (!order)
		order = descending(y->is_prefix, x->is_prefix);
	if (!order)
		order = descending(y->prefix.block, x->prefix.block);
	if (!order)
		order = descending(y->prefix.segment, x->prefix.segment);
	if (!order)
		order = descending(y->prefix.sum, x->prefix.sum);
	return order ? order : descending(y->number, x->number);
}

void residual_rank(struct residual *r)
{
	if (r->n)
		qsort(r->paths, r->n, sizeof(*r->paths), by_rank);
}

bool residual_is_any(const struct residual *r)
{
	return r->n || r->totals.nunmatched;
}
