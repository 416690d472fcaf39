/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paths that walks have met, with their blocks and edges.
 *
 * A path is looked up once, by where it begins and its code or witness, and
 * then remembered: in a table for each place where paths begin, or, where codes
 * are too wide for that, by hash.
 *
 * Cost: O(1) for a path that is known, its length for a new one; memory is that
 * of the paths, and of the tables where one was asked for.
 */
#include "walk/ways.h"

#include <stdlib.h>
#include <string.h>

#include "abi/trace.h"
#include "base/alloc.h"
#include "base/err.h"
#include "graph/witness.h"

#define WALK_TABLE_BITS 12u /* wider ones have no table */

const struct cfg *walk_graph(const struct walk_function *f)
{
	return f->codes ? f->codes->paths.dag.g : f->witness->graph.g;
}

uint32_t walk_nplaces(const struct walk_function *f)
{
	return (f->codes ? 1 : 2) * walk_graph(f)->nblocks;
}

uint32_t walk_swap_place(const struct walk_function *f, uint32_t at)
{
	uint32_t n = walk_graph(f)->nblocks;

	return at == CFG_OUTSIDE ? at : at < n ? at + n : at - n;
}

static void walk_free_way(struct walk_way *way)
{
	free((void *)way->blocks);
	free((void *)way->edges);
}

static void walk_free_start(struct walk_start *s)
{
	for (size_t i = 0; s->table && i < s->size; i++)
		walk_free_way(&s->table[i]);
	free(s->table);
}

static void walk_free_wide(struct walk_wide *wide)
{
	for (size_t i = 0; i < wide->cap; i++) {
		if (!wide->slots[i].way)
			continue;
		walk_free_way(wide->slots[i].way);
		free(wide->slots[i].way);
	}
	free(wide->slots);
}

void walk_program_release(struct walk_program *p)
{
	for (uint32_t i = 0; i < p->nfunctions; i++) {
		struct walk_function *f = &p->functions[i];

		if (!f->ways)
			continue;
		for (uint32_t at = 0; at < walk_nplaces(f); at++)
			walk_free_start(&f->ways->starts[at]);
		walk_free_wide(&f->ways->wide);
		path_release(&f->ways->path);
		free(f->ways->starts);
		free(f->ways);
		f->ways = NULL;
	}
}

struct walk_wide_slot *walk_wide_slot(const struct walk_wide *wide,
                                      block_id first, uint64_t code)
{
	uint64_t h = (code ^ (uint64_t)first << 32) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h >> 32) & (wide->cap - 1);

	while (wide->slots[i].way &&
	       (wide->slots[i].first != first || wide->slots[i].code != code))
		i = (i + 1) & (wide->cap - 1);
	return &wide->slots[i];
}

static void walk_grow_wide(struct walk_wide *wide)
{
	struct walk_wide old = *wide;

	wide->cap = old.cap ? 2 * old.cap : 64;
	wide->slots = xcalloc(wide->cap, sizeof(*wide->slots));
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].way)
			*walk_wide_slot(wide, old.slots[i].first,
			                old.slots[i].code) = old.slots[i];
	free(old.slots);
}

/* The entry of a path, which may not be known yet. */
static struct walk_way *walk_entry(struct walk_ways *ways, block_id first,
                                   uint64_t code)
{
	struct walk_start *s = &ways->starts[first];
	struct walk_wide_slot *slot;

	if (s->size) {
		if (!s->table)
			s->table = xcalloc(s->size, sizeof(*s->table));
		return &s->table[code];
	}
	if (2 * ways->wide.n >= ways->wide.cap)
		walk_grow_wide(&ways->wide);
	slot = walk_wide_slot(&ways->wide, first, code);
	if (!slot->way) {
		ways->wide.n++;
		*slot = (struct walk_wide_slot){xcalloc(1, sizeof(*slot->way)),
		                                first, code};
	}
	return slot->way;
}

static void walk_list_blocks(struct walk_way *way, const struct path *path,
                             const struct cfg *g)
{
	block_id *blocks = xcalloc((size_t)path->nedges + 1, sizeof(*blocks));
	uint32_t i = 0, n = path->nedges;

	if (!path->enters)
		blocks[way->nblocks++] = path->first;
	if (path->end != PATH_STOPS && n)
		n--; /* leads to where the next one begins, or out */
	for (; i < n; i++)
		blocks[way->nblocks++] = g->edges[path->edges[i]].dst;
	way->blocks = blocks;
}

static void walk_learn(struct walk_way *way, const struct walk_function *f,
                       const struct path *path)
{
	const struct cfg *g = walk_graph(f);
	edge_id *edges = xcalloc((size_t)path->nedges + 1, sizeof(*edges));

	*way = (struct walk_way){
	        .is_known = true,
	        .enters = path->enters,
	        .leaves = path->end == PATH_LEAVES,
	        .stops = path->end == PATH_STOPS,
	        .end = f->codes ? codes_end_of(f->codes, path) : CODES_GOES_ON,
	        .callee = WALK_NOTHING,
	        .nedges = path->nedges,
	        .edges = edges,
	};
	if (path->nedges)
		memcpy(edges, path->edges, path->nedges * sizeof(*edges));
	for (uint32_t i = 0; f->is_branch && i < path->nedges; i++)
		way->nbranches += f->is_branch[path->edges[i]];
	walk_list_blocks(way, path, g);
	if (path->nedges) {
		edge_id last = path->edges[path->nedges - 1];

		way->next = g->edges[last].dst;
		way->callee = f->callee[last];
		way->stops |= way->leaves && f->is_final[last];
		way->leaves &= !way->stops;
		way->resumes =
		        way->leaves && f->is_resumed && f->is_resumed[last];
	}
	way->is_plain = !way->leaves && !way->stops &&
	                way->end != CODES_IS_SILENT &&
	                way->callee == WALK_NOTHING;
}

/* A table has the silent path under 0, and others under their codes. */
static void walk_begin_witnesses(struct walk_function *f)
{
	const struct witness *w = f->witness;

	for (uint32_t at = 0; at < walk_nplaces(f); at++) {
		uint32_t v = walk_swap_place(f, at), most = 0;

		for (uint32_t i = 0; i < w->nways[v]; i++)
			if (w->ways[w->ways_at[v] + i].code > most)
				most = w->ways[w->ways_at[v] + i].code;
		if (most <= WITNESS_LAST)
			f->ways->starts[at].size = most + 1;
	}
}

static void walk_begin_ways(struct walk_function *f)
{
	const struct codes *c = f->codes;
	uint32_t n = walk_nplaces(f);

	f->ways = xcalloc(1, sizeof(*f->ways));
	f->ways->starts = xcalloc(n, sizeof(*f->ways->starts));
	if (!c) {
		walk_begin_witnesses(f);
		return;
	}
	for (block_id b = 0; b < n; b++) {
		struct walk_start *s = &f->ways->starts[b];
		unsigned bits = c->width[b];

		s->width = c->width[b];
		if (c->loop_of[b]) { /* a turn, or one of its exits */
			bits = c->loops[c->loop_of[b] - 1].bits;
			s->width = WALK_COUNTED;
			s->exits = (uint8_t)bits;
		}
		if (bits <= WALK_TABLE_BITS)
			s->size = (1u << bits) + (c->loop_of[b] != 0);
	}
}

/* What a decoder says of a trace, with what to do. */
static int walk_damaged(int rc, struct cairn_err *err)
{
	struct cairn_err why = *err;

	return cairn_fail(err, rc,
	                  "%s; the trace is damaged, or the program was built "
	                  "anew: run it again",
	                  why.text);
}

int walk_look_up(struct walk_function *f, block_id first, uint64_t code,
                 const struct walk_way **out, struct cairn_err *err)
{
	struct walk_way *way;

	if (!f->ways)
		walk_begin_ways(f);
	way = walk_entry(f->ways, first, code);
	if (!way->is_known) {
		int rc = codes_decode(f->codes, first, code, &f->ways->path,
		                      err);

		if (rc < 0)
			return walk_damaged(rc, err);
		walk_learn(way, f, &f->ways->path);
	}
	*out = way;
	return 0;
}

int walk_find_witness(struct walk_function *f, uint32_t at, uint32_t code,
                      const struct walk_way **out, struct cairn_err *err)
{
	struct walk_way *way;
	witness_place_id next = CFG_OUTSIDE;
	int rc;

	if (!f->ways)
		walk_begin_ways(f);
	if (f->ways->starts[at].size && code >= f->ways->starts[at].size) {
		rc = witness_decode(f->witness, walk_swap_place(f, at), code,
		                    &f->ways->path, &next, err);
		return rc < 0 ? walk_damaged(rc, err) : rc;
	}
	way = walk_entry(f->ways, at, code);
	if (!way->is_known) {
		rc = witness_decode(f->witness, walk_swap_place(f, at),
		                    code ? code : WITNESS_NONE, &f->ways->path,
		                    &next, err);
		if (rc < 0)
			return walk_damaged(rc, err);
		walk_learn(way, f, &f->ways->path);
		way->next = walk_swap_place(f, next);
	}
	*out = way;
	return 0;
}

/* As a code, of a path that is one edge, or none. */
#define WALK_PLACE_CODE (UINT64_C(1) << 63)

bool walk_is_place(const struct walk_function *f, uint32_t place)
{
	const struct dag *d = f->codes ? &f->codes->paths.dag : NULL;
	uint32_t where = place & CAIRN_PLACE_WHERE;

	if (!d) /* no recorder has witnesses */
		return false;
	switch (place >> CAIRN_PLACE_KIND_SHIFT) {
	case CAIRN_PLACE_EDGE:
		return where < d->g->nedges &&
		       d->g->edges[where].src != CFG_OUTSIDE &&
		       d->edge_of[where] != CFG_NONE &&
		       (d->g->edges[where].dst == CFG_OUTSIDE ||
		        dag_is_ended(d, where));
	case CAIRN_PLACE_END:
		return where && where < d->g->nblocks &&
		       d->g->out_at[where] == d->g->out_at[where + 1] &&
		       d->out_at[where] < d->out_at[where + 1];
	case CAIRN_PLACE_TOP:
		return where && where < d->g->nblocks &&
		       d->begin_of[where] != CFG_NONE;
	default:
		return false;
	}
}

block_id walk_block_of(const struct walk_function *f, uint32_t place)
{
	uint32_t where = place & CAIRN_PLACE_WHERE;

	return place >> CAIRN_PLACE_KIND_SHIFT == CAIRN_PLACE_EDGE
	               ? f->codes->paths.dag.g->edges[where].src
	               : where;
}

/* The entry of what is no whole path. */
static struct walk_way **walk_part(struct walk_function *f, block_id first,
                                   uint64_t place)
{
	struct walk_wide *wide;
	struct walk_wide_slot *slot;

	if (!f->ways)
		walk_begin_ways(f);
	wide = &f->ways->wide;
	if (2 * wide->n >= wide->cap)
		walk_grow_wide(wide);
	slot = walk_wide_slot(wide, first, WALK_PLACE_CODE | place);
	if (!slot->way) {
		wide->n++;
		slot->first = first;
		slot->code = WALK_PLACE_CODE | place;
	}
	return &slot->way;
}

/* The rest of a path from an edge on, or from the end of a last block. */
const struct walk_way *walk_find_rest(struct walk_function *f, uint32_t place)
{
	block_id first = walk_block_of(f, place);
	edge_id e = place & CAIRN_PLACE_WHERE;
	struct path path = {.first = first, .end = PATH_STOPS};
	struct walk_way **way = walk_part(f, first, place);

	if (*way)
		return *way;
	*way = xcalloc(1, sizeof(**way));
	if (place >> CAIRN_PLACE_KIND_SHIFT == CAIRN_PLACE_EDGE) {
		path.nedges = 1;
		path.edges = &e;
		path.end = f->codes->paths.dag.g->edges[e].dst == CFG_OUTSIDE
		                   ? PATH_LEAVES
		                   : PATH_ENDED;
	}
	walk_learn(*way, f, &path);
	return *way;
}

/* One block, behind an edge if there is one. */
static struct walk_way *walk_new_part(const struct walk_function *f,
                                      block_id block, edge_id e)
{
	struct walk_way *way = xcalloc(1, sizeof(*way));
	block_id *blocks = xcalloc(1, sizeof(*blocks));
	edge_id *edges = xcalloc(1, sizeof(*edges));

	*blocks = block;
	*edges = e;
	*way = (struct walk_way){
	        .blocks = blocks,
	        .edges = edges,
	        .nblocks = 1,
	        .nedges = e != CFG_NONE,
	        .is_known = true,
	        .is_part = true,
	        .end = CODES_GOES_ON,
	        .next = block,
	        .callee = WALK_NOTHING,
	};
	if (way->nedges) {
		way->enters = walk_graph(f)->edges[e].src == CFG_OUTSIDE;
		way->nbranches = f->is_branch && f->is_branch[e];
	}
	return way;
}

/* As the kind of a place: what a part of a path comes by. */
#define WALK_PLACE_PART (UINT64_C(1) << 33)

const struct walk_way *walk_find_stand(struct walk_function *f, block_id block)
{
	struct walk_way **way = walk_part(f, block, WALK_PLACE_PART);

	if (!*way)
		*way = walk_new_part(f, block, CFG_NONE);
	return *way;
}

const struct walk_way *walk_find_step(struct walk_function *f, block_id from,
                                      edge_id e)
{
	const struct cfg *g = walk_graph(f);
	struct walk_way **way;

	if (e >= g->nedges || g->edges[e].src != from ||
	    g->edges[e].dst == CFG_OUTSIDE || f->callee[e] != WALK_NOTHING)
		return NULL;
	way = walk_part(f, from, WALK_PLACE_PART | (1 + (uint64_t)e));
	if (!*way)
		*way = walk_new_part(f, g->edges[e].dst, e);
	return *way;
}
