/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cairn paths is about, before it takes a form: the executed paths that
 * the options select, hottest first, and what there is to say about each in
 * terms of the source.  Ties are broken by function and number, so that equal
 * profiles give equal lists.
 *
 * Paths are decoded again for each use: a list of them takes little memory,
 * however long they are.
 */
#include "cli/hot.h"

#include "abi/map.h"
#include "analysis/counts.h"
#include "analysis/frames.h"
#include "base/alloc.h"
#include "base/spot.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>
#include <string.h>

bool hot_has_paths(const struct profile *p)
{
	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;

		for (uint32_t k = 0; m && k < m->nfunctions; k++)
			if (m->functions[k].paths != CAIRN_PATHS_NONE)
				return true;
	}
	return false;
}

const char *hot_only(const struct hot_function *f)
{
	if (f->row->f->paths == CAIRN_PATHS_RESIDUAL)
		return "untested";
	return f->pc.nother ? "preferred" : NULL;
}

double hot_delta(const struct hot_function *f)
{
	const struct map_function *mf = f->row->f;

	return mf->nslots ? (double)mf->slots_size / mf->nslots : 0;
}

/* --- one path ----------------------------------------------------------- */

void hot_decode(const struct hot *h, const struct hot_path *p,
                struct path *path)
{
	const struct paths *paths = &h->functions[p->function].pc.paths;

	if (p->is_prefix)
		paths_decode_prefix(paths, p->number, p->block, path, NULL);
	else
		paths_decode(paths, p->number, path, NULL);
}

struct hot_range hot_blocks(const struct path *path)
{
	bool is_left = path->end == PATH_LEAVES || path->end == PATH_ENDED;

	/* the block behind an ended edge belongs to the next path */
	return (struct hot_range){path->enters ? 1 : 0,
	                          path->nedges + (is_left ? 0 : 1)};
}

static uint64_t count_blocks(const struct path *path)
{
	struct hot_range r = hot_blocks(path);

	return r.end - r.first;
}

/* Segments of the i-th block that the path executes. */
static uint32_t count_segments(const struct hot_path *p,
                               const struct map_block *b, uint32_t i,
                               uint32_t end)
{
	return p->is_prefix && i + 1 == end ? p->segment + 1 : b->nsegments;
}

static void add_line(struct hot_lines **out, size_t *n, size_t *cap,
                     const struct map_line *l)
{
	struct hot_lines *last = *n ? &(*out)[*n - 1] : NULL;

	if (!l->line)
		return; /* made by the compiler */
	if (last && last->file == l->file && l->line >= last->first &&
	    l->line <= last->last + 1) {
		if (l->line > last->last)
			last->last = l->line;
		return;
	}
	VEC_RESERVE(*out, *n, *cap);
	(*out)[(*n)++] = (struct hot_lines){l->file, l->line, l->line};
}

size_t hot_list_lines(const struct hot *h, const struct hot_path *p,
                      const struct path *path, struct hot_lines **out)
{
	const struct hot_function *f = &h->functions[p->function];
	const struct map *m = f->row->map;
	struct hot_range r = hot_blocks(path);
	size_t n = 0, cap = 0;

	*out = NULL;
	for (uint32_t i = r.first; i < r.end; i++) {
		block_id block = path_block(path, f->pc.g, i);
		const struct map_block *b =
		        &m->blocks[f->row->f->first_block + block];
		uint32_t nsegments = count_segments(p, b, i, r.end);

		for (uint32_t s = 0; s < nsegments; s++) {
			const struct map_segment *g =
			        &m->segments[b->first_segment + s];

			for (uint32_t k = 0; k < g->nlines; k++)
				add_line(out, &n, &cap,
				         &m->lines[g->first_line + k]);
		}
	}
	return n;
}

static const struct map_block *block_of(const struct report_row *row,
                                        block_id b)
{
	return &row->map->blocks[row->f->first_block + b];
}

uint32_t hot_first_line(const struct report_row *row, block_id b,
                        uint32_t *file)
{
	const struct map_block *mb = block_of(row, b);

	*file = MAP_NONE;
	for (uint32_t s = 0; s < mb->nsegments; s++) {
		const struct map_segment *g =
		        &row->map->segments[mb->first_segment + s];

		for (uint32_t i = 0; i < g->nlines; i++) {
			const struct map_line *l =
			        &row->map->lines[g->first_line + i];

			if (!l->line)
				continue;
			*file = l->file;
			return l->line;
		}
	}
	return 0;
}

uint32_t hot_last_line(const struct report_row *row, block_id b,
                       uint32_t nsegments, uint32_t *file)
{
	const struct map_block *mb = block_of(row, b);

	*file = MAP_NONE;
	if (nsegments > mb->nsegments)
		nsegments = mb->nsegments;
	for (uint32_t s = nsegments; s-- > 0;) {
		const struct map_segment *g =
		        &row->map->segments[mb->first_segment + s];

		for (uint32_t i = g->nlines; i-- > 0;) {
			const struct map_line *l =
			        &row->map->lines[g->first_line + i];

			if (!l->line)
				continue;
			*file = l->file;
			return l->line;
		}
	}
	return 0;
}

static uint32_t kind_of(const struct hot_function *f, edge_id e)
{
	return f->row->map->edges[f->row->f->first_edge + e].kind;
}

static bool is_call(uint32_t kind)
{
	return kind == CAIRN_EDGE_CALL || kind == CAIRN_EDGE_SITE;
}

enum hot_begin hot_begin_of(const struct hot_function *f,
                            const struct path *path)
{
	const struct cfg *g = f->pc.g;
	enum hot_begin begin = HOT_FROM_CUT;

	if (path->enters)
		return HOT_FROM_ENTRY;
	for (uint32_t i = g->in_at[path->first]; i < g->in_at[path->first + 1];
	     i++) {
		enum dag_how how = f->pc.paths.dag.how[g->in[i]];
		enum hot_begin by = HOT_FROM_CUT;

		if (how == DAG_BACK)
			by = HOT_FROM_LOOP;
		else if (how == DAG_INDIRECT)
			by = HOT_FROM_GOTO;
		else if (is_call(kind_of(f, g->in[i])))
			by = HOT_FROM_CALL;
		if (by < begin)
			begin = by;
	}
	return begin;
}

static bool ends_with_tail_call(const struct hot_function *f, edge_id e)
{
	const struct map_block *b =
	        &f->row->map->blocks[f->row->f->first_block];

	return b[f->pc.g->edges[e].src].flags & CAIRN_BLOCK_TAIL;
}

enum hot_end hot_end_of(const struct hot_function *f, const struct path *path)
{
	edge_id last = path->nedges ? path->edges[path->nedges - 1] : CFG_NONE;

	if (path->end == PATH_UNFINISHED || last == CFG_NONE)
		return path->end == PATH_STOPS ? HOT_NORETURN : HOT_UNFINISHED;
	if (path->end == PATH_STOPS)
		return HOT_NORETURN;
	if (path->end == PATH_LEAVES)
		return kind_of(f, last) == CAIRN_EDGE_NORETURN ? HOT_NORETURN
		       : kind_of(f, last) == CAIRN_EDGE_RESUME ? HOT_RESUME
		       : ends_with_tail_call(f, last)          ? HOT_TAIL
		                                               : HOT_RETURN;
	if (f->pc.paths.dag.how[last] == DAG_BACK)
		return HOT_BACK;
	if (f->pc.paths.dag.how[last] == DAG_INDIRECT)
		return HOT_GOTO;
	return is_call(kind_of(f, last)) ? HOT_CALL : HOT_CUT;
}

const char *hot_begin_name(enum hot_begin b)
{
	static const char *const names[] = {
	        [HOT_FROM_ENTRY] = "entry", [HOT_FROM_LOOP] = "loop",
	        [HOT_FROM_CALL] = "call",   [HOT_FROM_GOTO] = "goto",
	        [HOT_FROM_CUT] = "cut",
	};

	return names[b];
}

const char *hot_end_name(enum hot_end e)
{
	static const char *const names[] = {
	        [HOT_RETURN] = "return",
	        [HOT_TAIL] = "tail",
	        [HOT_NORETURN] = "noreturn",
	        [HOT_RESUME] = "resume",
	        [HOT_BACK] = "back",
	        [HOT_CALL] = "call",
	        [HOT_GOTO] = "goto",
	        [HOT_CUT] = "cut",
	        [HOT_UNFINISHED] = "unfinished",
	};

	return names[e];
}

bool hot_is_choice(const struct hot_function *f, edge_id e)
{
	const struct cfg *g = f->pc.g;
	block_id b = g->edges[e].src;

	if (b == CFG_OUTSIDE || g->out_at[b + 1] - g->out_at[b] < 2)
		return false;
	/* that a call came back is no decision of the function */
	return kind_of(f, e) != CAIRN_EDGE_FALL;
}

const char *hot_edge_name(uint32_t kind)
{
	static const char *const names[CAIRN_NEDGE_KINDS] = {
	        [CAIRN_EDGE_ENTRY] = "entry",
	        [CAIRN_EDGE_RETURN] = "return",
	        [CAIRN_EDGE_NORETURN] = "noreturn",
	        [CAIRN_EDGE_RESUME] = "resume",
	        [CAIRN_EDGE_JUMP] = "jump",
	        [CAIRN_EDGE_TRUE] = "true",
	        [CAIRN_EDGE_FALSE] = "false",
	        [CAIRN_EDGE_CASE] = "case",
	        [CAIRN_EDGE_DEFAULT] = "default",
	        [CAIRN_EDGE_INDIRECT] = "goto",
	        [CAIRN_EDGE_NORMAL] = "returned",
	        [CAIRN_EDGE_UNWIND] = "unwind",
	        [CAIRN_EDGE_FALL] = "fall",
	        [CAIRN_EDGE_ABNORMAL] = "abnormal",
	        [CAIRN_EDGE_CALL] = "call",
	        [CAIRN_EDGE_SITE] = "site",
	};

	return names[kind];
}

/* Does another way out of the block of e lead to a block that begins with this
 * line, too? */
static bool is_shared(const struct hot_function *f, edge_id e, uint32_t file,
                      uint32_t line)
{
	const struct cfg *g = f->pc.g;
	block_id b = g->edges[e].src;

	for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++) {
		block_id to = g->edges[g->out[i]].dst;
		uint32_t other;

		if (to == CFG_OUTSIDE || to == g->edges[e].dst)
			continue;
		if (hot_first_line(f->row, to, &other) == line && other == file)
			return true;
	}
	return false;
}

uint32_t hot_way_line(const struct hot_function *f, edge_id e, uint32_t *file)
{
	const struct cfg_edge *edge = &f->pc.g->edges[e];
	uint32_t from, line, at;

	*file = MAP_NONE;
	if (edge->src == CFG_OUTSIDE || edge->dst == CFG_OUTSIDE)
		return 0;
	line = hot_first_line(f->row, edge->dst, file);
	at = hot_last_line(f->row, edge->src, UINT32_MAX, &from);
	if (!line || (line == at && *file == from) ||
	    is_shared(f, e, *file, line))
		return 0;
	return line;
}

/* --- all paths ---------------------------------------------------------- */

static bool wants(const struct hot *h, const struct hot_path *p,
                  const struct path *path)
{
	const struct hot_options *o = &h->options;
	struct hot_lines *lines;
	bool found = false;
	size_t n;

	if (!o->file)
		return true;
	n = hot_list_lines(h, p, path, &lines);
	for (size_t i = 0; i < n && !found; i++)
		found = o->line >= lines[i].first && o->line <= lines[i].last &&
		        spot_is_file(
		                map_string(h->functions[p->function].row->map,
		                           lines[i].file),
		                o->file);
	free(lines);
	return found;
}

static void add_paths(struct hot *h, uint32_t function)
{
	const struct path_counts *pc = &h->functions[function].pc;
	struct path path = {0};

	for (size_t i = 0; i < pc->n; i++) {
		struct hot_path p = {
		        .function = function,
		        .number = pc->items[i].number,
		        .count = pc->items[i].count,
		};

		hot_decode(h, &p, &path);
		p.nblocks = count_blocks(&path);
		if (!wants(h, &p, &path))
			continue;
		VEC_RESERVE(h->paths, h->npaths, h->paths_cap);
		h->paths[h->npaths++] = p;
	}
	for (size_t i = 0; i < pc->nprefixes; i++) {
		const struct path_prefix *x = &pc->prefixes[i];
		struct hot_path p = {
		        .function = function,
		        .is_prefix = true,
		        .number = x->sum,
		        .block = x->block,
		        .segment = x->segment,
		        .count = x->out - x->in,
		        .begun = x->in,
		};

		if (!x->is_pending || !p.count)
			continue;
		hot_decode(h, &p, &path);
		p.nblocks = count_blocks(&path);
		if (!wants(h, &p, &path))
			continue;
		VEC_RESERVE(h->prefixes, h->nprefixes, h->prefixes_cap);
		h->prefixes[h->nprefixes++] = p;
	}
	path_release(&path);
}

/* Adds a function to what shares are taken of. */
static void add_totals(struct hot *h, const struct path_counts *pc)
{
	struct path path = {0};

	h->executions += pc->nother;
	h->others += pc->nother;
	for (size_t i = 0; i < pc->n; i++) {
		paths_decode(&pc->paths, pc->items[i].number, &path, NULL);
		h->executions += pc->items[i].count;
		h->blocks += pc->items[i].count * count_blocks(&path);
	}
	for (size_t i = 0; i < pc->nprefixes; i++) {
		const struct path_prefix *x = &pc->prefixes[i];

		if (!x->is_pending)
			continue;
		paths_decode_prefix(&pc->paths, x->sum, x->block, &path, NULL);
		h->blocks += (x->out - x->in) * count_blocks(&path);
	}
	path_release(&path);
}

static int descending(uint64_t x, uint64_t y)
{
	return x > y ? -1 : x < y;
}

static int by_heat(const void *a, const void *b, void *context)
{
	const struct hot_path *x = a, *y = b;
	const struct hot *h = context;
	int order = h->options.by_blocks ? descending(x->count * x->nblocks,
	                                              y->count * y->nblocks)
	                                 : descending(x->count, y->count);

	if (!order)
		order = strcmp(h->functions[x->function].row->name,
		               h->functions[y->function].row->name);
	if (!order)
		order = x->function < y->function ? -1
		                                  : x->function > y->function;
	if (!order)
		order = x->number < y->number ? -1 : x->number > y->number;
	return order;
}

/* The rows of a module by function; NULL for those not selected. */
static const struct report_row **rows_of(const struct report *r,
                                         uint32_t module)
{
	const struct map *m = r->profile->modules[module].map;
	const struct report_row **rows = xcalloc(m->nfunctions, sizeof(*rows));

	for (size_t i = 0; i < r->nrows; i++)
		if (r->rows[i].module == module)
			rows[r->rows[i].index] = &r->rows[i];
	return rows;
}

static void add_module(struct hot *h, uint32_t module)
{
	const struct profile *p = h->report->profile;
	const struct map *m = p->modules[module].map;
	const struct report_row **rows = rows_of(h->report, module);
	struct frame_places places;

	frames_place(&places, p, module);
	for (uint32_t i = 0; i < m->nfunctions; i++) {
		struct hot_function f = {.row = rows[i]};

		if (m->functions[i].paths == CAIRN_PATHS_NONE)
			continue;
		h->is_residual |= m->functions[i].paths == CAIRN_PATHS_RESIDUAL;
		f.has_paths = path_counts_init(&f.pc, &p->modules[module], i,
		                               &places);
		if (f.has_paths)
			add_totals(h, &f.pc);
		if (!f.row) {
			path_counts_release(&f.pc);
			continue;
		}
		VEC_RESERVE(h->functions, h->nfunctions, h->functions_cap);
		h->functions[h->nfunctions++] = f;
	}
	frames_release(&places);
	free(rows);
}

void hot_init(struct hot *h, const struct report *r,
              const struct hot_options *o)
{
	*h = (struct hot){.report = r, .options = *o};
	for (uint32_t i = 0; i < r->profile->nmodules; i++)
		if (r->profile->modules[i].map)
			add_module(h, i);
	for (uint32_t i = 0; i < h->nfunctions; i++)
		if (h->functions[i].has_paths)
			add_paths(h, i);
	if (h->npaths)
		qsort_r(h->paths, h->npaths, sizeof(*h->paths), by_heat, h);
	if (h->nprefixes)
		qsort_r(h->prefixes, h->nprefixes, sizeof(*h->prefixes),
		        by_heat, h);
}

void hot_release(struct hot *h)
{
	for (size_t i = 0; i < h->nfunctions; i++)
		path_counts_release(&h->functions[i].pc);
	free(h->functions);
	free(h->paths);
	free(h->prefixes);
	*h = (struct hot){0};
}
