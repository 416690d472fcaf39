/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of a trace as other builds have them.
 *
 * A build that traces splits blocks at calls, since histories end there.  One
 * that counts paths does not: its paths run through calls (Ball and Larus,
 * "Efficient path profiling", 1996), and end at those that may come back twice,
 * which are blocks of their own.  Here the parts become blocks again, and the
 * paths are numbered as they are there.  So a count from a trace stands under
 * the same number as that of a program that was built to count it.
 *
 * A part is behind the one before it, by a call: an edge FALL.  What stands
 * between CALL and NORMAL or UNWIND is an invoke alone, the end of its block.
 * What stands between CALL and FALL comes back twice, and stays.
 *
 * Invariant: blocks and edges keep their order, so that graph and hash are
 * those of a paths build of the same code; the values along edges that stay
 * tell all paths.
 * Cost: O(V+E), and the numbers (graph/paths.c).
 */
#include "analysis/whole.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/path_counts.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "format/map.h"
#include "format/record.h"

/* --- the graph ----------------------------------------------------------- */

static const struct map_edge *whole_edges(const struct whole *w)
{
	return w->map->edges + w->f->first_edge;
}

static const struct map_block *whole_block(const struct whole *w, block_id b)
{
	return &w->map->blocks[w->f->first_block + b];
}

/* What a part is to the one before it. */
enum whole_part {
	WHOLE_NO_PART,
	WHOLE_NEXT,   /* the next segment of the same block */
	WHOLE_INVOKE, /* of the same segment */
	WHOLE_STAYS,  /* another block */
};

static int whole_bad(const struct whole *w, struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "the map of %s: a part of a block is not behind "
	                  "another; build the program again",
	                  map_string(w->map, w->f->name));
}

/* Kinds of the edges from the part before each block, and out of it: a bit per
 * kind. */
static void whole_kinds(const struct whole *w, uint32_t *in, uint32_t *out)
{
	const struct map_edge *e = whole_edges(w);

	for (uint32_t i = 0; i < w->f->nedges; i++) {
		if (e[i].src && e[i].dst == e[i].src + 1)
			in[e[i].dst] |= 1u << e[i].kind;
		out[e[i].src] |= 1u << e[i].kind;
	}
}

static enum whole_part whole_part_of(uint32_t in, uint32_t out)
{
	const uint32_t call = 1u << CAIRN_EDGE_CALL;
	const uint32_t fall = 1u << CAIRN_EDGE_FALL;

	if (in & call)
		return out & fall ? WHOLE_STAYS : WHOLE_INVOKE;
	return in & fall ? WHOLE_NEXT : WHOLE_NO_PART;
}

/* Numbers the blocks.  Returns how many there are, 0 if the map is wrong. */
static uint32_t whole_number(struct whole *w)
{
	uint32_t n = w->f->nblocks, nblocks = 1;
	uint32_t *in = xcalloc((size_t)n + 1, sizeof(*in));
	uint32_t *out = xcalloc((size_t)n + 1, sizeof(*out));
	enum whole_part last = WHOLE_NO_PART;

	whole_kinds(w, in, out);
	for (block_id b = 1; b < n; b++) {
		enum whole_part part = WHOLE_NO_PART;

		if (whole_block(w, b)->flags & CAIRN_BLOCK_PART)
			part = whole_part_of(in[b], out[b]);
		if (whole_block(w, b)->flags & CAIRN_BLOCK_PART &&
		    (part == WHOLE_NO_PART || b == 1)) {
			nblocks = 0;
			break;
		}
		if (part == WHOLE_NEXT && last == WHOLE_STAYS)
			w->block_of[b] = nblocks++;
		else if (part == WHOLE_NEXT || part == WHOLE_INVOKE)
			w->block_of[b] = nblocks - 1;
		else
			w->block_of[b] = nblocks++;
		if (w->block_of[b] == w->block_of[b - 1])
			w->segment_of[b] =
			        w->segment_of[b - 1] + (part == WHOLE_NEXT);
		w->nsegments[w->block_of[b]] = w->segment_of[b] + 1;
		last = part;
	}
	free(in);
	free(out);
	return nblocks;
}

static void whole_link(struct whole *w, uint32_t nblocks)
{
	const struct map_edge *e = whole_edges(w);

	cfg_init(&w->g, nblocks);
	for (uint32_t i = 0; i < w->f->nedges; i++) {
		block_id src = w->block_of[e[i].src];
		block_id dst = w->block_of[e[i].dst];
		bool is_inside = e[i].dst == e[i].src + 1 && src == dst &&
		                 (e[i].kind == CAIRN_EDGE_FALL ||
		                  e[i].kind == CAIRN_EDGE_CALL);

		w->edge_of[i] =
		        is_inside ? CFG_NONE : cfg_add_edge(&w->g, src, dst);
	}
	cfg_link(&w->g);
}

static int whole_number_paths(struct whole *w, struct cairn_err *err)
{
	const struct map_edge *e = whole_edges(w);
	enum dag_how *asked = xcalloc((size_t)w->g.nedges + 1, sizeof(*asked));
	uint64_t *weight = xcalloc((size_t)w->g.nedges + 1, sizeof(*weight));
	struct paths_options options = {.asked = asked, .weight = weight};
	int rc;

	for (uint32_t i = 0; i < w->f->nedges; i++) {
		if (w->edge_of[i] == CFG_NONE)
			continue;
		asked[w->edge_of[i]] = path_counts_ask(e[i].kind);
		weight[w->edge_of[i]] = e[i].weight;
	}
	rc = paths_init(&w->paths, &w->g, &options, err);
	free(asked);
	free(weight);
	return rc;
}

/* Fills w up to the numbers of the blocks; how many there are, 0 if the map is
 * wrong. */
static uint32_t whole_begin(struct whole *w, const struct map *map,
                            const struct map_function *f)
{
	size_t n = (size_t)f->nblocks + 1;

	*w = (struct whole){.map = map, .f = f};
	w->block_of = xcalloc(n, sizeof(*w->block_of));
	w->segment_of = xcalloc(n, sizeof(*w->segment_of));
	w->nsegments = xcalloc(n, sizeof(*w->nsegments));
	return whole_number(w);
}

int whole_init(struct whole *w, const struct map *map,
               const struct map_function *f, struct cairn_err *err)
{
	uint32_t nblocks = whole_begin(w, map, f);
	int rc;

	w->edge_of = xcalloc((size_t)f->nedges + 1, sizeof(*w->edge_of));
	if (nblocks)
		whole_link(w, nblocks);
	rc = nblocks ? whole_number_paths(w, err) : whole_bad(w, err);
	if (rc < 0)
		whole_release(w);
	return rc;
}

void whole_release(struct whole *w)
{
	paths_release(&w->paths);
	cfg_release(&w->g);
	free(w->block_of);
	free(w->segment_of);
	free(w->nsegments);
	free(w->edge_of);
	*w = (struct whole){0};
}

block_id *whole_block_of(const struct map *map, const struct map_function *f)
{
	struct whole w;
	block_id *block_of = NULL;

	if (whole_begin(&w, map, f)) {
		block_of = w.block_of;
		w.block_of = NULL;
	}
	whole_release(&w);
	return block_of;
}

/* --- its record in a map ------------------------------------------------- */

struct whole_writer {
	const struct whole *w;
	struct bytes *b;
	uint32_t *files; /* strings of the map */
	uint32_t nfiles, files_cap;
	int64_t line;
};

static uint32_t whole_file(struct whole_writer *x, uint32_t string)
{
	uint32_t i = 0;

	while (i < x->nfiles && x->files[i] != string)
		i++;
	if (i == x->nfiles) {
		VEC_RESERVE(x->files, x->nfiles, x->files_cap);
		x->files[x->nfiles++] = string;
	}
	return i;
}

static void whole_put_str(struct bytes *b, const char *s)
{
	bytes_put_str(b, s, strlen(s));
}

/* The hash of the plugin (function_hash): how a build knows its functions. */
static uint64_t whole_mix(uint64_t h, uint64_t v)
{
	h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
	return h * 0xff51afd7ed558ccdu;
}

static uint64_t whole_hash(const struct whole *w)
{
	const struct map_edge *e = whole_edges(w);
	uint64_t h = whole_mix(0, w->g.nblocks);

	for (uint32_t i = 0; i < w->f->nedges; i++) {
		if (w->edge_of[i] == CFG_NONE)
			continue;
		h = whole_mix(h, w->block_of[e[i].src]);
		h = whole_mix(h, w->block_of[e[i].dst]);
		h = whole_mix(h, e[i].kind);
	}
	return h;
}

static void whole_put_file(struct whole_writer *x, uint32_t string)
{
	bytes_put_uv(x->b, string == MAP_NONE
	                           ? 0
	                           : 1 + (uint64_t)whole_file(x, string));
}

static void whole_put_head(struct whole_writer *x)
{
	const struct whole *w = x->w;
	const struct map *m = w->map;
	struct bytes *b = x->b;

	bytes_put_uv(b, CAIRN_BLOB_VERSION);
	bytes_put_uv(b, (w->f->flags & ~(CAIRN_FN_TAILS | CAIRN_FN_ALIASES)) |
	                        CAIRN_FN_TRACED);
	whole_put_str(b, map_string(m, w->f->name));
	whole_put_str(b, "");
	bytes_put_u64(b, whole_hash(w));
	bytes_put_uv(b, x->nfiles);
	for (uint32_t i = 0; i < x->nfiles; i++)
		whole_put_str(b, map_string(m, x->files[i]));
	whole_put_file(x, w->f->file);
	bytes_put_uv(b, w->f->line);
	bytes_put_uv(b, w->f->ninstances);
	for (uint32_t i = 0; i < w->f->ninstances; i++) {
		const struct map_instance *k =
		        &m->instances[w->f->first_instance + i];

		whole_put_str(b, map_string(m, k->name));
		whole_put_file(x, k->file);
		bytes_put_uv(b, k->line);
		bytes_put_uv(b, k->parent);
		bytes_put_uv(b, k->call_line);
	}
}

/* A segment that is made of parts. */
struct whole_segment {
	const struct map *map;
	struct map_line *lines;
	const struct map_line *current;
	uint32_t *places; /* of the current line */
	size_t n, cap, nplaces, places_cap;
};

static bool whole_is_same_line(const struct map_line *a,
                               const struct map_line *b)
{
	return a->instance == b->instance && a->file == b->file &&
	       a->line == b->line;
}

/* Calls visit for every line of some blocks. */
static void whole_each_line(const struct whole *w, block_id first, block_id end,
                            void (*visit)(struct whole_segment *s,
                                          const struct map_line *l),
                            struct whole_segment *s)
{
	for (block_id b = first; b < end; b++) {
		const struct map_block *mb = whole_block(w, b);

		for (uint32_t k = 0; k < mb->nsegments; k++) {
			const struct map_segment *seg =
			        &w->map->segments[mb->first_segment + k];

			for (uint32_t i = 0; i < seg->nlines; i++)
				visit(s, &w->map->lines[seg->first_line + i]);
		}
	}
}

static void whole_add_line(struct whole_segment *s, const struct map_line *l)
{
	for (size_t k = 0; k < s->n; k++)
		if (whole_is_same_line(&s->lines[k], l)) {
			s->lines[k].ninstructions += l->ninstructions;
			return;
		}
	VEC_RESERVE(s->lines, s->n, s->cap);
	s->lines[s->n++] = *l;
}

/* Places of the current line, each once. */
static void whole_add_places(struct whole_segment *s, const struct map_line *l)
{
	if (!whole_is_same_line(s->current, l))
		return;
	for (uint32_t i = 0; i < l->nplaces; i++) {
		uint32_t place = s->map->places[l->first_place + i];
		size_t k = 0;

		while (k < s->nplaces && s->places[k] != place)
			k++;
		if (k < s->nplaces)
			continue;
		VEC_RESERVE(s->places, s->nplaces, s->places_cap);
		s->places[s->nplaces++] = place;
	}
}

/* Lines of a segment, each once: those of all parts that make it.  Returns 1 +
 * the number of the line that is the branch's, 0 if that is none. */
static size_t whole_put_segment(struct whole_writer *x, block_id first,
                                block_id end, const struct map_line *branch)
{
	struct whole_segment s = {.map = x->w->map};
	size_t at = 0;

	whole_each_line(x->w, first, end, whole_add_line, &s);
	bytes_put_uv(x->b, s.n);
	for (size_t i = 0; i < s.n; i++) {
		const struct map_line *l = s.current = &s.lines[i];

		bytes_put_uv(x->b, l->instance);
		bytes_put_uv(x->b, whole_file(x, l->file));
		bytes_put_sv(x->b, (int64_t)l->line - x->line);
		bytes_put_uv(x->b, l->ninstructions);
		s.nplaces = 0;
		whole_each_line(x->w, first, end, whole_add_places, &s);
		bytes_put_uv(x->b, s.nplaces);
		for (size_t k = 0; k < s.nplaces; k++)
			bytes_put_uv(x->b, s.places[k]);
		x->line = l->line;
		if (branch && whole_is_same_line(l, branch))
			at = i + 1;
	}
	free(s.lines);
	free(s.places);
	return at;
}

/* The blocks `first` .. `end` - 1 of the map, as one. */
static void whole_put_block(struct whole_writer *x, block_id first,
                            block_id end)
{
	const struct whole *w = x->w;
	uint32_t flags = 0, branch = whole_block(w, end - 1)->branch;
	uint64_t ninstructions = 0;
	size_t at = 0;

	for (block_id b = first; b < end; b++) {
		flags |= whole_block(w, b)->flags;
		ninstructions += whole_block(w, b)->ninstructions;
	}
	bytes_put_uv(x->b, flags & ~CAIRN_BLOCK_PART);
	bytes_put_uv(x->b, ninstructions);
	bytes_put_uv(x->b, 0);
	bytes_put_uv(x->b, w->nsegments[w->block_of[first]]);
	while (first < end) {
		block_id next = first + 1;

		while (next < end &&
		       w->segment_of[next] == w->segment_of[first])
			next++;
		at = whole_put_segment(
		        x, first, next,
		        branch == MAP_NONE ? NULL : &w->map->lines[branch]);
		first = next;
	}
	bytes_put_uv(x->b, at);
}

static void whole_put_blocks(struct whole_writer *x)
{
	const struct whole *w = x->w;
	block_id b = 1;

	bytes_put_uv(x->b, w->g.nblocks);
	while (b < w->f->nblocks) {
		block_id next = b + 1;

		while (next < w->f->nblocks &&
		       w->block_of[next] == w->block_of[b])
			next++;
		whole_put_block(x, b, next);
		b = next;
	}
}

static void whole_put_edges(struct whole_writer *x)
{
	const struct whole *w = x->w;
	const struct map_edge *e = whole_edges(w);

	bytes_put_uv(x->b, w->g.nedges);
	for (uint32_t i = 0; i < w->f->nedges; i++) {
		if (w->edge_of[i] == CFG_NONE)
			continue;
		bytes_put_uv(x->b, w->block_of[e[i].src]);
		bytes_put_uv(x->b, w->block_of[e[i].dst]);
		bytes_put_uv(x->b, e[i].kind);
		bytes_put_uv(x->b, 0);
		bytes_put_uv(x->b, e[i].weight);
	}
}

/* A site for every block of the trace's map but the outside. */
static void whole_put_sites(struct whole_writer *x)
{
	const struct whole *w = x->w;

	bytes_put_uv(x->b, w->f->nblocks - 1);
	for (block_id b = 1; b < w->f->nblocks; b++) {
		bytes_put_uv(x->b, w->block_of[b]);
		bytes_put_uv(x->b, w->segment_of[b]);
	}
}

/* Outcalls, each with a callee of its own: nobody keeps these records. */
static void whole_put_outcalls(struct whole_writer *x)
{
	const struct map *m = x->w->map;
	const struct map_outcall *o = m->outcalls + x->w->f->first_outcall;
	uint32_t n = x->w->f->noutcalls, ncallees = 0;
	int64_t line = 0;

	for (uint32_t i = 0; i < n; i++)
		ncallees += o[i].callee != MAP_NONE;
	bytes_put_uv(x->b, ncallees);
	for (uint32_t i = 0; i < n; i++)
		if (o[i].callee != MAP_NONE) {
			const struct map_callee *c = &m->callees[o[i].callee];

			whole_put_str(x->b, map_string(m, c->name));
			whole_put_file(x, c->file);
			bytes_put_uv(x->b, c->line);
		}
	bytes_put_uv(x->b, n);
	ncallees = 0;
	for (uint32_t i = 0; i < n; i++) {
		bytes_put_uv(x->b, x->w->block_of[o[i].block]);
		bytes_put_uv(x->b, x->w->segment_of[o[i].block]);
		bytes_put_uv(x->b, o[i].callee == MAP_NONE ? 0 : ++ncallees);
		bytes_put_uv(x->b, o[i].instance);
		whole_put_file(x, o[i].file);
		if (o[i].file == MAP_NONE)
			continue;
		bytes_put_sv(x->b, (int64_t)o[i].line - line);
		line = o[i].line;
	}
}

static void whole_put_paths(struct whole_writer *x)
{
	const struct whole *w = x->w;

	bytes_put_uv(x->b, CAIRN_PATHS_HASHED);
	bytes_put_uv(x->b, w->paths.n);
	bytes_put_uv(x->b, w->paths.ncuts);
	for (uint32_t i = 0; i < w->paths.ncuts; i++)
		bytes_put_uv(x->b, w->paths.cuts[i]);
	bytes_put_uv(x->b, 0); /* turns */
	for (block_id b = 1; b < w->f->nblocks; b++) {
		bytes_put_uv(x->b, CAIRN_PENDING_REGISTER);
		bytes_put_sv(x->b, 0);
	}
}

uint32_t whole_code_size(const struct whole *w)
{
	return w->f->nblocks;
}

void whole_record(const struct whole *w, uint64_t address, uint64_t counters,
                  struct bytes *out)
{
	struct bytes head = {0}, rest = {0};
	struct whole_writer x = {.w = w, .b = &rest};

	if (w->f->file != MAP_NONE)
		whole_file(&x, w->f->file);
	whole_put_blocks(&x);
	whole_put_edges(&x);
	whole_put_sites(&x);
	whole_put_outcalls(&x);
	whole_put_paths(&x);
	/* their files, before the head says how many there are */
	for (uint32_t i = 0; i < w->f->ninstances; i++) {
		const struct map_instance *k =
		        &w->map->instances[w->f->first_instance + i];

		if (k->file != MAP_NONE)
			whole_file(&x, k->file);
	}
	x.b = &head;
	whole_put_head(&x);
	bytes_put(&head, rest.data, rest.n);
	record_put(out,
	           &(struct record){
	                   .address = address,
	                   .counters = counters,
	                   .code_size = whole_code_size(w),
	                   .nsites = w->f->nblocks - 1,
	           },
	           &head);
	bytes_release(&head);
	bytes_release(&rest);
	free(x.files);
}

/* --- and back ------------------------------------------------------------ */

block_id *whole_first_part(const struct map *map, const struct map_function *f)
{
	const struct map_site *site = map->sites + f->first_site;
	block_id *first;

	if (!(f->flags & CAIRN_FN_TRACED))
		return NULL;
	first = xcalloc((size_t)f->nblocks + 1, sizeof(*first));
	for (uint32_t i = f->nsites; i > 0; i--)
		first[site[i - 1].block] = i;
	return first;
}
