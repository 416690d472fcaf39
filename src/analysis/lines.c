/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From counts of blocks to counts of source lines.
 *
 * A line may have code in several blocks (a for statement has three parts), in
 * several copies (inlining, templates, inline functions in two modules).
 * Copies run for different visits of the line, so they are summed.
 *
 * Within one copy the optimizer duplicates blocks and moves code between them.
 * The map says which segments have copies of one piece of the line, a place:
 * they run for different visits, too.  The places of a line run for the same
 * visits, so the greatest of their counts is taken.  Segments without a place
 * have what may have been moved there; where all places have 0 the greatest
 * segment of all is taken, so that what was executed is.  Segments that
 * unwind (CAIRN_PLACE_ASIDE) say nothing of the line; what only they have is no
 * line.
 * (src/plugin/places.c says how places are found.)
 *
 * A branch belongs to the line of the instruction that branches.  On one line
 * of one copy branches are numbered in block order; equal numbers of different
 * copies are the same source branch and are summed.
 *
 * Copies are kept, so that a reader can say where a count comes from.
 *
 * Invariant: items and branches are sorted and have no two entries for one
 * place; the copies of an item follow each other and add up to it.  Cost: O(n
 * log n) in the lines of the map.
 */
#include "analysis/lines.h"

#include "analysis/counts.h"
#include "analysis/lines_removed.h"
#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

/* A line within one copy. */
struct visit {
	uint32_t instance, file, line;
	const struct map_line *source;
	uint64_t count, instructions;
	bool known, doubtful;
};

/* What a segment adds to a place. */
struct share {
	uint32_t place;
	uint64_t count;
};

struct collector {
	struct lines *out;
	struct visit *visits; /* of one function */
	size_t nvisits, visits_cap;
	struct share *shares; /* of one line */
	size_t nshares, shares_cap;
	size_t copies_cap, branches_cap;
	uint32_t *files; /* strings of the map to files of the result */
	const struct map *map;
	const struct map_function *f;
	const struct counts_module *cm;
	uint32_t module, function;
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

static bool is_aside(const struct map *m, const struct map_line *l)
{
	return l->nplaces == 1 &&
	       m->places[l->first_place] == CAIRN_PLACE_ASIDE;
}

/* A frame was stopped in the segment: of several lines it ran some. */
static bool is_cut(const struct collector *c, uint32_t segment)
{
	switch (c->cm->stops[segment]) {
	case FRAME_STOP_NONE:
		return false;
	case FRAME_STOP_WITHIN:
		return c->map->segments[segment].nlines > 1;
	case FRAME_STOP_BEFORE:
		break;
	}
	return true;
}

static void collect_segment(struct collector *c, uint32_t segment)
{
	const struct map_segment *s = &c->map->segments[segment];
	bool known = c->cm->segment_known[segment];

	for (uint32_t i = 0; i < s->nlines; i++) {
		const struct map_line *l = &c->map->lines[s->first_line + i];

		if (!l->line || is_aside(c->map, l))
			continue; /* made by the compiler, or it unwinds */
		VEC_RESERVE(c->visits, c->nvisits, c->visits_cap);
		c->visits[c->nvisits++] = (struct visit){
		        .instance = l->instance,
		        .file = file_of(c, l->file),
		        .line = l->line,
		        .source = l,
		        .count = known ? c->cm->segment[segment] : 0,
		        .instructions = known ? c->cm->segment[segment] *
		                                        l->ninstructions
		                              : 0,
		        .known = known,
		        .doubtful = is_cut(c, segment),
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

static int by_place(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

static void add_shares(struct collector *c, const struct visit *v)
{
	const uint32_t *places = c->map->places + v->source->first_place;

	for (uint32_t i = 0; i < v->source->nplaces; i++) {
		VEC_RESERVE(c->shares, c->nshares, c->shares_cap);
		c->shares[c->nshares++] = (struct share){places[i], v->count};
	}
}

/* How often a line ran that has n visits. */
static uint64_t count_of(struct collector *c, const struct visit *v, size_t n)
{
	uint64_t best = 0, sum = 0;

	c->nshares = 0;
	for (size_t i = 0; i < n; i++)
		add_shares(c, &v[i]);
	if (c->nshares)
		qsort(c->shares, c->nshares, sizeof(*c->shares), by_place);
	for (size_t i = 0; i < c->nshares; i++) {
		const struct share *s = &c->shares[i];

		if (!i || s->place != s[-1].place ||
		    s->place == CAIRN_PLACE_ALONE)
			sum = 0;
		sum += s->count;
		best = sum > best ? sum : best;
	}
	if (best)
		return best;
	for (size_t i = 0; i < n; i++)
		best = v[i].count > best ? v[i].count : best;
	return best;
}

/* The count per line and copy; instructions add up. */
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
			v.known &= c->visits[next].known;
			v.doubtful |= c->visits[next].doubtful;
			v.instructions += c->visits[next].instructions;
		}
		v.count = count_of(c, &c->visits[i], next - i);
		VEC_RESERVE(out->copies, out->ncopies, c->copies_cap);
		out->copies[out->ncopies++] = (struct line_copy){
		        .file = v.file,
		        .line = v.line,
		        .module = c->module,
		        .function = c->function,
		        .instance = v.instance,
		        .count = v.count,
		        .instructions = v.instructions,
		        .known = v.known,
		        .doubtful = v.doubtful || c->doubtful,
		};
	}
	c->nvisits = 0;
}

static bool is_branch(uint32_t kind)
{
	return kind == CAIRN_EDGE_TRUE || kind == CAIRN_EDGE_FALSE ||
	       kind == CAIRN_EDGE_CASE || kind == CAIRN_EDGE_DEFAULT ||
	       kind == CAIRN_EDGE_INDIRECT;
}

/* The line that the segments of a block begin with, NULL if it has none. */
static const struct map_line *first_line(const struct map *m,
                                         const struct map_block *b)
{
	for (uint32_t s = 0; s < b->nsegments; s++) {
		const struct map_segment *g =
		        &m->segments[b->first_segment + s];

		for (uint32_t i = 0; i < g->nlines; i++)
			if (m->lines[g->first_line + i].line)
				return &m->lines[g->first_line + i];
	}
	return NULL;
}

/* The next part of a block that is in parts, 0: there is none. */
static uint32_t next_part(const struct collector *c, uint32_t block)
{
	for (uint32_t i = 0; i < c->f->nedges; i++) {
		const struct map_edge *e = &c->map->edges[c->f->first_edge + i];

		if (e->src == block &&
		    (e->kind == CAIRN_EDGE_FALL || e->kind == CAIRN_EDGE_CALL ||
		     e->kind == CAIRN_EDGE_SITE))
			return e->dst;
	}
	return 0;
}

/* The line that a block begins with, all its parts, NULL if it has none.  Parts
 * may follow each other in a circle: no more are looked at than there are. */
static const struct map_line *begin_of(const struct collector *c,
                                       uint32_t block)
{
	const struct map_block *b = c->map->blocks + c->f->first_block;
	const struct map_line *l = NULL;

	for (uint32_t i = 1; block && i < c->f->nblocks && !l; i++) {
		l = first_line(c->map, &b[block]);
		block = next_part(c, block);
	}
	return l;
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
		uint32_t at = c->map->blocks[c->f->first_block + e->src].branch;
		const struct map_line *l;

		if (!is_branch(e->kind) || at == MAP_NONE)
			continue;
		l = &c->map->lines[at];
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

/* A line of what was inlined there is the line of the call. */
static uint32_t seen_from(const struct collector *c, const struct map_line *to,
                          uint32_t instance)
{
	const struct map_instance *all =
	        c->map->instances + c->f->first_instance;

	for (uint32_t i = to->instance; i; i = all[i - 1].parent)
		if (all[i - 1].parent == instance && i != instance &&
		    all[i - 1].call_line)
			return all[i - 1].call_line;
	return to->line;
}

static void add_branch(struct collector *c, const struct fork *k,
                       uint32_t block, uint32_t branch)
{
	struct lines *out = c->out;
	const struct map_block *b = &c->map->blocks[c->f->first_block + k->src];
	uint32_t last = b->first_segment + b->nsegments - 1;
	const struct map_line *to = begin_of(c, c->map->edges[k->edge].dst);
	bool known = c->cm->segment_known[last];
	uint32_t line = to ? seen_from(c, to, k->instance) : 0;

	VEC_RESERVE(out->branches, out->nbranches, c->branches_cap);
	out->branches[out->nbranches++] = (struct line_branch){
	        .file = k->file,
	        .line = k->line,
	        .block = block,
	        .branch = branch,
	        .taken = c->cm->edge_known[k->edge] ? c->cm->edge[k->edge] : 0,
	        .total = known ? c->cm->segment[last] : 0,
	        .reached = known && c->cm->segment[last],
	        .to_file = !to                ? 0
	                   : line == to->line ? file_of(c, to->file)
	                                      : k->file,
	        .to_line = line,
	};
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

		if (!same_line)
			block = branch = 0;
		else if (k->src != k[-1].src)
			block++, branch = 0;
		else
			branch++;
		add_branch(c, k, block, branch);
	}
	free(forks);
}

static void collect_module(struct collector *c, const struct counts *counts,
                           uint32_t module)
{
	c->map = counts->profile->modules[module].map;
	c->cm = &counts->modules[module];
	c->module = module;
	c->files = xmalloc(c->map->strings.n * sizeof(*c->files));
	for (uint32_t i = 0; i < c->map->strings.n; i++)
		c->files[i] = STRTAB_NONE;
	for (uint32_t i = 0; i < c->map->nfunctions; i++) {
		const struct map_block *b;

		c->f = &c->map->functions[i];
		c->function = i;
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
	for (size_t i = 0; i < l->ncopies; i++)
		l->copies[i].file = rank[l->copies[i].file];
	for (size_t i = 0; i < l->nbranches; i++) {
		l->branches[i].file = rank[l->branches[i].file];
		l->branches[i].to_file = rank[l->branches[i].to_file];
	}
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

static int compare(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

static int by_copy(const void *a, const void *b)
{
	const struct line_copy *x = a, *y = b;
	int order = compare(x->file, y->file);

	if (!order)
		order = compare(x->line, y->line);
	if (!order)
		order = compare(y->count, x->count);
	if (!order)
		order = compare(x->module, y->module);
	if (!order)
		order = compare(x->function, y->function);
	return order ? order : compare(x->instance, y->instance);
}

static void sum_lines(struct lines *l)
{
	size_t cap = 0;

	if (l->ncopies)
		qsort(l->copies, l->ncopies, sizeof(*l->copies), by_copy);
	for (size_t i = 0; i < l->ncopies; i++) {
		const struct line_copy *c = &l->copies[i];
		struct line_count *t = l->n ? &l->items[l->n - 1] : NULL;

		if (!t || t->file != c->file || t->line != c->line) {
			VEC_RESERVE(l->items, l->n, cap);
			t = &l->items[l->n++];
			*t = (struct line_count){.file = c->file,
			                         .line = c->line,
			                         .known = true,
			                         .first_copy = i};
		}
		t->count += c->count;
		t->instructions += c->instructions;
		t->known &= c->known;
		t->doubtful |= c->doubtful;
		t->ncopies++;
	}
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
			b[kept - 1].total += b[i].total;
			b[kept - 1].reached |= b[i].reached;
			if (b[kept - 1].to_file != b[i].to_file ||
			    b[kept - 1].to_line != b[i].to_line)
				b[kept - 1].to_line = 0;
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
	free(c.shares);
	sort_files(c.out);
	sum_lines(c.out);
	lines_removed(c.out, counts);
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
	free(l->copies);
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

bool line_is_known(const struct line_count *c)
{
	return c->known || c->count || c->doubtful;
}

void lines_total(const struct lines *l, uint64_t *executed, uint64_t *known)
{
	*executed = *known = 0;
	for (size_t i = 0; i < l->n; i++) {
		*executed += l->items[i].count > 0;
		*known += line_is_known(&l->items[i]);
	}
}

void lines_total_branches(const struct lines *l, uint64_t *taken,
                          uint64_t *known)
{
	*taken = 0;
	*known = l->nbranches;
	for (size_t i = 0; i < l->nbranches; i++)
		*taken += l->branches[i].taken > 0;
}

/* The first branch that is not before the line. */
static size_t find_branch(const struct lines *l, uint32_t file, uint32_t line)
{
	size_t low = 0, high = l->nbranches;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct line_branch *b = &l->branches[middle];

		if (b->file < file || (b->file == file && b->line < line))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct line_branch *lines_branches_of_file(const struct lines *l,
                                                 uint32_t file, size_t *n)
{
	size_t low = find_branch(l, file, 0), end;

	for (end = low; end < l->nbranches && l->branches[end].file == file;
	     end++)
		;
	*n = end - low;
	return *n ? &l->branches[low] : NULL;
}

const struct line_branch *lines_branches(const struct lines *l, uint32_t file,
                                         uint32_t line, size_t *n)
{
	size_t low = find_branch(l, file, line), end;

	for (end = low; end < l->nbranches && l->branches[end].file == file &&
	                l->branches[end].line == line;
	     end++)
		;
	*n = end - low;
	return *n ? &l->branches[low] : NULL;
}

const struct line_count *lines_of_file(const struct lines *l, uint32_t file,
                                       size_t *n)
{
	size_t low = 0, high = l->n, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->items[middle].file < file)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < l->n && l->items[end].file == file; end++)
		;
	*n = end - low;
	return *n ? &l->items[low] : NULL;
}
