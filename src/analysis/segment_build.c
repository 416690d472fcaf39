/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a build with paths,calls= has inlined, from its map: which copies of
 * functions are in which, and what a path of a function with copies is in terms
 * of the functions before that.
 *
 * Functions are known by their keys, as traces have them, and those that only
 * exist as copies are functions, too.
 *
 * Cost: O(n log n) for n functions and copies.
 */
#include "analysis/segment_build.h"

#include "base/alloc.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

static struct key key_of_function(const struct map *m,
                                  const struct map_function *f)
{
	struct key key = key_of(m, f);

	key.hash = f->traced_hash;
	return key;
}

static struct key key_of_copy(const struct map *m, const struct map_copy *c)
{
	return (struct key){map_string(m, c->name), map_string(m, c->file),
	                    c->hash};
}

static const struct map_block *block_of(const struct segment_build_function *f,
                                        block_id b)
{
	return &f->map->blocks[f->f->first_block + b];
}

/* --- keys ---------------------------------------------------------------- */

struct keys {
	struct key *items;
	size_t n, cap;
};

static void add_key(struct keys *k, struct key key)
{
	VEC_RESERVE(k->items, k->n, k->cap);
	k->items[k->n++] = key;
}

static void add_keys(struct keys *k, const struct segment_build *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct segment_build_function *f = &b->functions[i];

		add_key(k, key_of_function(f->map, f->f));
		for (uint32_t c = 0; c < f->f->ncopies; c++)
			add_key(k,
			        key_of_copy(
			                f->map,
			                &f->map->copies[f->f->first_copy + c]));
	}
}

static void sort_keys(struct keys *k)
{
	size_t kept = 0;

	if (k->n)
		qsort(k->items, k->n, sizeof(*k->items), key_compare);
	for (size_t i = 0; i < k->n; i++)
		if (!kept || key_compare(&k->items[kept - 1], &k->items[i]))
			k->items[kept++] = k->items[i];
	k->n = kept;
}

static uint32_t find_key(const struct keys *k, struct key key)
{
	const struct key *found =
	        bsearch(&key, k->items, k->n, sizeof(*k->items), key_compare);

	return (uint32_t)(found - k->items);
}

/* --- copies -------------------------------------------------------------- */

static void collect(struct segment_build *b, const struct profile *p)
{
	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;

		for (uint32_t k = 0; m && k < m->nfunctions; k++) {
			const struct map_function *f = &m->functions[k];

			if (!(f->flags & CAIRN_FN_SEGMENTS))
				continue;
			VEC_RESERVE(b->functions, b->n, b->cap);
			b->functions[b->n++] = (struct segment_build_function){
			        .module = i,
			        .index = k,
			        .map = m,
			        .f = f,
			};
		}
	}
}

/* The copy, if it is there: two modules may have one function. */
static uint32_t find_copy(const struct segment_list *l, uint32_t parent,
                          block_id site, uint32_t function)
{
	for (uint32_t i = l->nfunctions; i < l->ncopies; i++)
		if (l->copies[i].parent == parent &&
		    l->copies[i].site == site &&
		    l->copies[i].function == function)
			return i;
	return SEGMENTS_NONE;
}

static void add_copies_of(struct segment_build *b,
                          struct segment_build_function *f,
                          const struct keys *keys, bool is_again)
{
	struct segment_list *l = &b->list;

	for (uint32_t k = 0; k < f->f->ncopies; k++) {
		const struct map_copy *c =
		        &f->map->copies[f->f->first_copy + k];
		uint32_t parent = f->copy[c->parent];
		uint32_t function = find_key(keys, key_of_copy(f->map, c));
		uint32_t copy = SEGMENTS_NONE;

		if (is_again)
			copy = find_copy(l, parent, c->block, function);
		if (copy == SEGMENTS_NONE)
			copy = segment_list_add_copy(l, parent, c->block,
			                             function);
		f->copy[k + 1] = copy;
	}
}

static void add_copies(struct segment_build *b, const struct keys *keys)
{
	bool *seen = xcalloc(keys->n + 1, sizeof(*seen));

	for (uint32_t i = 0; i < b->n; i++) {
		struct segment_build_function *f = &b->functions[i];

		f->copy = xcalloc((size_t)f->f->ncopies + 1, sizeof(*f->copy));
		f->copy[0] = find_key(keys, key_of_function(f->map, f->f));
		add_copies_of(b, f, keys, seen[f->copy[0]]);
		seen[f->copy[0]] = true;
	}
	free(seen);
}

/* Edges at which paths were cut that are no calls. */
static void add_cuts(struct segment_list *l,
                     const struct segment_build_function *f)
{
	const struct map *m = f->map;

	for (uint32_t i = 0; i < f->f->ncuts; i++) {
		const struct map_edge *e =
		        &m->edges[f->f->first_edge +
		                  m->cuts[f->f->first_cut + i]];
		const struct map_block *src = block_of(f, e->src);
		const struct map_block *dst = block_of(f, e->dst);
		const struct map_origin *from, *to;

		if (e->kind == CAIRN_EDGE_SITE || !src->norigins ||
		    !dst->norigins)
			continue;
		from = &m->origins[src->first_origin + src->norigins - 1];
		to = &m->origins[dst->first_origin];
		segment_list_add_cut(l,
		                     (struct segments_cut){
		                             {f->copy[from->copy], from->block},
		                             {f->copy[to->copy], to->block}});
	}
}

void segment_build_init(struct segment_build *b, const struct profile *p)
{
	struct keys keys = {0};

	*b = (struct segment_build){.list.kind = SEGMENT_LIST_PLAN};
	collect(b, p);
	add_keys(&keys, b);
	sort_keys(&keys);
	for (size_t i = 0; i < keys.n; i++)
		segment_list_add_function(&b->list, keys.items[i]);
	add_copies(b, &keys);
	for (uint32_t i = 0; i < b->n; i++)
		add_cuts(&b->list, &b->functions[i]);
	free(keys.items);
}

void segment_build_release(struct segment_build *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		free(b->functions[i].copy);
	free(b->functions);
	segment_list_release(&b->list);
	*b = (struct segment_build){0};
}

/* --- paths --------------------------------------------------------------- */

static void read_end(const struct segment_build_function *f,
                     const struct cfg *g, const struct path *path,
                     struct segments_one *one)
{
	edge_id last = path->nedges ? path->edges[path->nedges - 1] : CFG_NONE;
	const struct map_block *to;
	uint32_t kind;

	one->end = SEGMENTS_LEAVES;
	if (path->end != PATH_ENDED || last == CFG_NONE)
		return;
	kind = f->map->edges[f->f->first_edge + last].kind;
	if (kind == CAIRN_EDGE_SITE || kind == CAIRN_EDGE_CALL) {
		one->end = SEGMENTS_CALLS;
		return;
	}
	one->end = SEGMENTS_BACK;
	to = block_of(f, g->edges[last].dst);
	if (to->norigins) {
		const struct map_origin *o = &f->map->origins[to->first_origin];

		one->to = (struct segments_step){f->copy[o->copy], o->block};
	}
}

void segment_build_read(const struct segment_build_function *f,
                        const struct cfg *g, const struct path *path,
                        struct segments_one *one)
{
	bool is_left = path->end == PATH_LEAVES || path->end == PATH_ENDED;
	uint32_t end = path->nedges + (is_left ? 0 : 1), cap = 0;
	struct segments_step *steps = NULL;

	*one = (struct segments_one){0};
	for (uint32_t i = path->enters ? 1 : 0; i < end; i++) {
		const struct map_block *b = block_of(f, path_block(path, g, i));

		for (uint32_t k = 0; k < b->norigins; k++) {
			const struct map_origin *o =
			        &f->map->origins[b->first_origin + k];

			VEC_RESERVE(steps, one->nsteps, cap);
			steps[one->nsteps++] = (struct segments_step){
			        f->copy[o->copy], o->block};
		}
	}
	one->steps = steps;
	read_end(f, g, path, one);
}

/* --- chains of call sites ------------------------------------------------ */

/* The function of the build with this name and file, or CFG_NONE. */
static uint32_t find_function(const struct segment_build *b, const char *name,
                              const char *file)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct key key = key_of(b->functions[i].map, b->functions[i].f);

		if (!strcmp(key.name, name) && !strcmp(key.file, file))
			return i;
	}
	return CFG_NONE;
}

/* Has it executed the block of the trace's graph that ends in a call? */
static bool has_called(const struct segment_build_function *f,
                       const bool *executed, block_id site)
{
	for (uint32_t b = 1; b < f->f->nblocks; b++) {
		const struct map_block *mb = block_of(f, b);

		for (uint32_t k = 0; executed[b] && k < mb->norigins; k++) {
			const struct map_origin *o =
			        &f->map->origins[mb->first_origin + k];

			if (!o->copy && o->block == site)
				return true;
		}
	}
	return false;
}

static void chain(struct segment_build *b, uint32_t function, uint32_t copy,
                  uint32_t depth, bool *const *executed)
{
	const struct segment_build_function *f = &b->functions[function];

	for (uint32_t i = 0;
	     depth && i < f->f->nlefts && b->list.ncopies < SEGMENT_BUILD_MAX;
	     i++) {
		const struct map_copy *c = &f->map->lefts[f->f->first_left + i];
		uint32_t callee = find_function(b, map_string(f->map, c->name),
		                                map_string(f->map, c->file));

		if (callee == CFG_NONE || c->parent ||
		    !has_called(f, executed[function], c->block))
			continue;
		chain(b, callee,
		      segment_list_add_copy(&b->list, copy, c->block,
		                            b->functions[callee].copy[0]),
		      depth - 1, executed);
	}
}

bool segment_build_chain(struct segment_build *b, uint32_t depth,
                         bool *const *executed)
{
	b->list.depth = depth;
	for (uint32_t i = 0; i < b->n; i++)
		chain(b, i, b->functions[i].copy[0], depth, executed);
	return b->list.ncopies < SEGMENT_BUILD_MAX;
}
