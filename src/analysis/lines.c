/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From counts of blocks to counts of source lines.
 *
 * A line may have code in several blocks (a for statement has three parts), in
 * several copies (inlining, templates, inline functions in two modules).
 * Blocks of one copy run for the same visits of the line, so the greatest of
 * their counts is taken; copies run for different visits, so they are summed.
 *
 * A branch belongs to the line that its block ends with.  On one line of one
 * copy branches are numbered in block order; equal numbers of different copies
 * are the same source branch and are summed.
 *
 * Invariant: items and branches are sorted and have no two entries for one
 * place.  Cost: O(n log n) in the lines of the map.
 */
#include "analysis/lines.h"

#include "analysis/counts.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

/* A line within one copy. */
struct visit {
	uint32_t instance, file, line;
	uint64_t count;
	bool known;
};

struct collector {
	struct lines *out;
	struct visit *visits; /* of one function */
	size_t nvisits, visits_cap;
	size_t items_cap, branches_cap;
	uint32_t *files; /* strings of the map to files of the result */
	const struct map *map;
	const struct map_function *f;
	const struct counts_module *cm;
	bool doubtful;
};

static uint32_t file_of(struct collector *c, uint32_t string)
{
	if (c->files[string] == STRTAB_NONE) {
		const char *path = c->map->strings.items[string];

		c->files[string] =
		        strtab_add(&c->out->files, path, strlen(path));
	}
	return c->files[string];
}

static void collect_segment(struct collector *c, uint32_t segment)
{
	const struct map_segment *s = &c->map->segments[segment];
	bool known = c->cm->segment_known[segment];

	for (uint32_t i = 0; i < s->nlines; i++) {
		const struct map_line *l = &c->map->lines[s->first_line + i];

		if (!l->line)
			continue; /* made by the compiler */
		VEC_RESERVE(c->visits, c->nvisits, c->visits_cap);
		c->visits[c->nvisits++] = (struct visit){
		        .instance = l->instance,
		        .file = file_of(c, l->file),
		        .line = l->line,
		        .count = known ? c->cm->segment[segment] : 0,
		        .known = known,
		};
	}
}

static int by_visit(const void *a, const void *b)
{
	const struct visit *x = a, *y = b;

	if (x->instance != y->instance)
		return x->instance < y->instance ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* The greatest count per line and copy becomes an item. */
static void flush_visits(struct collector *c)
{
	struct lines *out = c->out;

	if (c->nvisits)
		qsort(c->visits, c->nvisits, sizeof(*c->visits), by_visit);
	for (size_t i = 0, next; i < c->nvisits; i = next) {
		struct visit v = c->visits[i];

		for (next = i + 1;
		     next < c->nvisits && !by_visit(&v, &c->visits[next]);
		     next++) {
			if (c->visits[next].count > v.count)
				v.count = c->visits[next].count;
			v.known &= c->visits[next].known;
		}
		VEC_RESERVE(out->items, out->n, c->items_cap);
		out->items[out->n++] = (struct line_count){
		        v.file, v.line, v.count, v.known, c->doubtful};
	}
	c->nvisits = 0;
}

static bool is_branch(uint32_t kind)
{
	return kind == CAIRN_EDGE_TRUE || kind == CAIRN_EDGE_FALSE ||
	       kind == CAIRN_EDGE_CASE || kind == CAIRN_EDGE_DEFAULT ||
	       kind == CAIRN_EDGE_INDIRECT;
}

/* The line that a block ends with, NULL if it has none. */
static const struct map_line *last_line(const struct map *m,
                                        const struct map_block *b)
{
	for (uint32_t s = b->nsegments; s-- > 0;) {
		const struct map_segment *g =
		        &m->segments[b->first_segment + s];

		for (uint32_t i = g->nlines; i-- > 0;)
			if (m->lines[g->first_line + i].line)
				return &m->lines[g->first_line + i];
	}
	return NULL;
}

/* A block that branches, found through its edges. */
struct fork {
	uint32_t instance, file, line;
	uint32_t edge; /* in the map */
	uint32_t src;
};

static int by_fork(const void *a, const void *b)
{
	const struct fork *x = a, *y = b;

	if (x->instance != y->instance)
		return x->instance < y->instance ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static size_t find_forks(struct collector *c, struct fork *forks)
{
	size_t n = 0;

	for (uint32_t i = 0; i < c->f->nedges; i++) {
		const struct map_edge *e = &c->map->edges[c->f->first_edge + i];
		const struct map_line *l;

		if (!is_branch(e->kind))
			continue;
		l = last_line(c->map,
		              &c->map->blocks[c->f->first_block + e->src]);
		if (!l)
			continue;
		forks[n++] = (struct fork){
		        .instance = l->instance,
		        .file = file_of(c, l->file),
		        .line = l->line,
		        .edge = c->f->first_edge + i,
		        .src = e->src,
		};
	}
	qsort(forks, n, sizeof(*forks), by_fork);
	return n;
}

static void collect_branches(struct collector *c)
{
	struct fork *forks = xmalloc(c->f->nedges * sizeof(*forks));
	size_t n = find_forks(c, forks);
	uint32_t block = 0, branch = 0;

	for (size_t i = 0; i < n; i++) {
		const struct fork *k = &forks[i];
		bool same_line = i && k->instance == k[-1].instance &&
		                 k->file == k[-1].file && k->line == k[-1].line;
		uint32_t at = c->f->first_block + k->src;
		struct lines *out = c->out;

		if (!same_line)
			block = branch = 0;
		else if (k->src != k[-1].src)
			block++, branch = 0;
		else
			branch++;
		VEC_RESERVE(out->branches, out->nbranches, c->branches_cap);
		out->branches[out->nbranches++] = (struct line_branch){
		        .file = k->file,
		        .line = k->line,
		        .block = block,
		        .branch = branch,
		        .taken = c->cm->edge_known[k->edge]
		                         ? c->cm->edge[k->edge]
		                         : 0,
		        .reached = c->cm->block_known[at] && c->cm->block[at],
		};
	}
	free(forks);
}

static void collect_module(struct collector *c, const struct counts *counts,
                           uint32_t module)
{
	c->map = counts->profile->modules[module].map;
	c->cm = &counts->modules[module];
	c->files = xmalloc(c->map->strings.n * sizeof(*c->files));
	for (uint32_t i = 0; i < c->map->strings.n; i++)
		c->files[i] = STRTAB_NONE;
	for (uint32_t i = 0; i < c->map->nfunctions; i++) {
		const struct map_block *b;

		c->f = &c->map->functions[i];
		c->doubtful = counts_is_inconsistent(c->cm->functions[i].doubt);
		b = c->map->blocks + c->f->first_block;
		for (uint32_t k = 1; k < c->f->nblocks; k++)
			for (uint32_t s = 0; s < b[k].nsegments; s++)
				collect_segment(c, b[k].first_segment + s);
		flush_visits(c);
		if (c->cm->functions[i].doubt != COUNTS_PATH_PARTIAL)
			collect_branches(c);
	}
	free(c->files);
}

static int by_text(const void *a, const void *b, void *context)
{
	const struct strtab *t = context;

	return strcmp(t->items[*(const uint32_t *)a],
	              t->items[*(const uint32_t *)b]);
}

/* Renumbers the files in the order of their paths. */
static void sort_files(struct lines *l)
{
	uint32_t n = l->files.n;
	uint32_t *order = xmalloc(n * sizeof(*order));
	uint32_t *rank = xmalloc(n * sizeof(*rank));
	struct strtab sorted = {0};

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_text, &l->files);
	for (uint32_t i = 0; i < n; i++) {
		const char *path = l->files.items[order[i]];

		rank[order[i]] = strtab_add(&sorted, path, strlen(path));
	}
	for (size_t i = 0; i < l->n; i++)
		l->items[i].file = rank[l->items[i].file];
	for (size_t i = 0; i < l->nbranches; i++)
		l->branches[i].file = rank[l->branches[i].file];
	strtab_release(&l->files);
	l->files = sorted;
	free(order);
	free(rank);
}

static int by_line(const void *a, const void *b)
{
	const struct line_count *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void sum_lines(struct lines *l)
{
	size_t kept = 0;

	if (l->n)
		qsort(l->items, l->n, sizeof(*l->items), by_line);
	for (size_t i = 0; i < l->n; i++) {
		if (kept && !by_line(&l->items[kept - 1], &l->items[i])) {
			l->items[kept - 1].count += l->items[i].count;
			l->items[kept - 1].known &= l->items[i].known;
			l->items[kept - 1].doubtful |= l->items[i].doubtful;
		} else {
			l->items[kept++] = l->items[i];
		}
	}
	l->n = kept;
}

static int by_branch(const void *a, const void *b)
{
	const struct line_branch *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->branch < y->branch ? -1 : x->branch > y->branch;
}

static void sum_branches(struct lines *l)
{
	struct line_branch *b = l->branches;
	size_t kept = 0;

	if (l->nbranches)
		qsort(b, l->nbranches, sizeof(*b), by_branch);
	for (size_t i = 0; i < l->nbranches; i++) {
		if (kept && !by_branch(&b[kept - 1], &b[i])) {
			b[kept - 1].taken += b[i].taken;
			b[kept - 1].reached |= b[i].reached;
		} else {
			b[kept++] = b[i];
		}
	}
	l->nbranches = kept;
}

struct lines *lines_new(const struct counts *counts)
{
	struct collector c = {.out = xcalloc(1, sizeof(struct lines))};

	for (uint32_t i = 0; i < counts->profile->nmodules; i++)
		if (counts->profile->modules[i].map)
			collect_module(&c, counts, i);
	free(c.visits);
	sort_files(c.out);
	sum_lines(c.out);
	sum_branches(c.out);
	return c.out;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	strtab_release(&l->files);
	free(l->items);
	free(l->branches);
	free(l);
}

const struct line_count *lines_find(const struct lines *l, const char *file,
                                    uint32_t line)
{
	struct line_count key = {.line = line};

	key.file = strtab_find(&l->files, file, strlen(file));
	if (key.file == STRTAB_NONE || !l->n)
		return NULL;
	return bsearch(&key, l->items, l->n, sizeof(*l->items), by_line);
}

void lines_total(const struct lines *l, uint64_t *executed, uint64_t *known)
{
	*executed = *known = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct line_count *c = &l->items[i];

		*executed += c->count > 0;
		*known += c->known || c->count || c->doubtful;
	}
}
