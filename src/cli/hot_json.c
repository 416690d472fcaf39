/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executed paths as JSON: all of the functions that were asked for.
 * docs/FORMAT.md section 8 is the schema.  Numbers of 2^53 and more, which many
 * readers of JSON cannot hold, are strings.
 */
#include "cli/hot.h"

#include "analysis/counts.h"
#include "analysis/tagged_calls.h"
#include "base/alloc.h"
#include "base/json.h"
#include "format/calls.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>

#define JSON_VERSION 1
#define EXACT_LIMIT ((uint64_t)1 << 53)

static void put_big(struct json *j, const char *key, uint64_t v)
{
	char text[24];

	json_key(j, key);
	if (v < EXACT_LIMIT) {
		json_u64(j, v);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64, v);
	json_string(j, text);
}

static void put_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

static void put_string(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_string(j, s);
}

static void put_path_name(const struct hot *h, struct json *j, const char *key,
                          const char *path)
{
	put_string(j, key, *path ? report_path(h->report, path) : NULL);
}

/* A block and its first line. */
static void put_point(struct json *j, const struct hot_function *f,
                      const char *key, const char *kind, block_id b)
{
	uint32_t file, line = b ? hot_first_line(f->row, b, &file) : 0;

	json_key(j, key);
	json_begin(j, '{');
	put_string(j, "kind", kind);
	put_u64(j, "block", b);
	json_key(j, "line");
	json_count(j, line, line != 0);
	json_end(j, '}');
}

static void put_steps(struct json *j, const struct hot_function *f,
                      const struct path *path)
{
	struct hot_range r = hot_blocks(path);

	json_key(j, "blocks");
	json_begin(j, '[');
	for (uint32_t i = r.first; i < r.end; i++)
		json_u64(j, path_block(path, f->pc.g, i));
	json_end(j, ']');
	json_key(j, "edges");
	json_begin(j, '[');
	for (uint32_t i = 0; i < path->nedges; i++)
		json_u64(j, path->edges[i]);
	json_end(j, ']');
}

/* The line of the branch, where it goes, and the first line there. */
static void put_branch(const struct hot *h, struct json *j,
                       const struct hot_function *f, const struct map_edge *e)
{
	uint32_t file, line, to_file = MAP_NONE, to;

	line = hot_last_line(f->row, e->src, UINT32_MAX, &file);
	to = e->dst ? hot_first_line(f->row, e->dst, &to_file) : 0;
	json_begin(j, '{');
	put_u64(j, "block", e->src);
	json_key(j, "line");
	json_count(j, line, line != 0);
	put_string(j, "way", hot_edge_name(e->kind));
	put_u64(j, "target", e->dst);
	json_key(j, "target_line");
	json_count(j, to, to != 0);
	if (to && to_file != file)
		put_path_name(h, j, "target_file",
		              map_string(f->row->map, to_file));
	json_end(j, '}');
}

static void put_branches(const struct hot *h, struct json *j,
                         const struct hot_function *f, const struct path *path)
{
	const struct map_edge *edges =
	        f->row->map->edges + f->row->f->first_edge;

	json_key(j, "branches");
	json_begin(j, '[');
	for (uint32_t i = 0; i < path->nedges; i++)
		if (hot_is_choice(f, path->edges[i]))
			put_branch(h, j, f, &edges[path->edges[i]]);
	json_end(j, ']');
}

static void put_lines(const struct hot *h, struct json *j,
                      const struct hot_path *p, const struct path *path)
{
	const struct report_row *row = h->functions[p->function].row;
	struct hot_lines *lines;
	size_t n = hot_list_lines(h, p, path, &lines);

	json_key(j, "lines");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++) {
		json_begin(j, '{');
		put_path_name(h, j, "file",
		              map_string(row->map, lines[i].file));
		put_u64(j, "first", lines[i].first);
		put_u64(j, "last", lines[i].last);
		json_end(j, '}');
	}
	json_end(j, ']');
	free(lines);
}

static void put_frames(struct json *j, const struct hot_path *p)
{
	char text[24];

	put_u64(j, "block", p->block);
	put_u64(j, "segment", p->segment);
	put_big(j, "sum", p->number);
	/* frames that began in the middle count below zero */
	json_key(j, "frames");
	if ((int64_t)p->count >= 0) {
		json_u64(j, p->count);
		return;
	}
	snprintf(text, sizeof(text), "%" PRId64, (int64_t)p->count);
	json_string(j, text);
}

void hot_json_begin(const struct hot *h, struct json *j,
                    const struct hot_path *p)
{
	const struct hot_function *f = &h->functions[p->function];
	struct path path = {0};
	block_id to;

	hot_decode(h, p, &path);
	to = path_block(&path, f->pc.g, path.nedges);
	json_begin(j, '{');
	if (p->is_prefix) {
		put_frames(j, p);
	} else {
		put_big(j, "number", p->number);
		put_big(j, "count", p->count);
	}
	put_point(j, f, "begin", hot_begin_name(hot_begin_of(f, &path)),
	          path.first);
	put_point(j, f, "end", hot_end_name(hot_end_of(f, &path)), to);
	put_steps(j, f, &path);
	put_branches(h, j, f, &path);
	put_lines(h, j, p, &path);
	path_release(&path);
}

/* The paths of one function, in the order of the whole list. */
static void put_list(const struct hot *h, struct json *j, const char *key,
                     const struct hot_path *const *paths, size_t n)
{
	json_key(j, key);
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++) {
		hot_json_begin(h, j, paths[i]);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static const char *const table_name[CAIRN_NPATHS_KINDS] = {
        [CAIRN_PATHS_DIRECT] = "direct",
        [CAIRN_PATHS_HASHED] = "hashed",
        [CAIRN_PATHS_PREFERRED] = "preferred",
        [CAIRN_PATHS_RESIDUAL] = "residual",
};

static void put_prefer(struct json *j, const struct hot_function *f)
{
	json_key(j, "prefer");
	json_begin(j, '{');
	put_u64(j, "n", f->row->f->nslots);
	put_u64(j, "size", f->row->f->slots_size);
	json_key(j, "delta");
	if (f->row->f->nslots)
		json_real(j, hot_delta(f));
	else
		json_string(j, NULL);
	put_big(j, "other", f->pc.nother);
	json_end(j, '}');
}

static void put_cuts(struct json *j, const struct report_row *row)
{
	json_key(j, "cuts");
	json_begin(j, '[');
	for (uint32_t i = 0; i < row->f->ncuts; i++)
		json_u64(j, row->map->cuts[row->f->first_cut + i]);
	json_end(j, ']');
}

/* Lists of paths by function: those of function f are at[f] .. at[f + 1]. */
struct grouped {
	const struct hot_path **items;
	size_t *at;
};

static void group(struct grouped *g, const struct hot *h,
                  const struct hot_path *paths, size_t n)
{
	size_t *next = xcalloc(h->nfunctions + 1, sizeof(*next));

	g->items = xcalloc(n + 1, sizeof(*g->items));
	g->at = xcalloc(h->nfunctions + 2, sizeof(*g->at));
	for (size_t i = 0; i < n; i++)
		g->at[paths[i].function + 1]++;
	for (size_t i = 0; i < h->nfunctions; i++) {
		g->at[i + 1] += g->at[i];
		next[i] = g->at[i];
	}
	for (size_t i = 0; i < n; i++)
		g->items[next[paths[i].function]++] = &paths[i];
	free(next);
}

static void ungroup(struct grouped *g)
{
	free(g->items);
	free(g->at);
}

/* What came behind what, where an ended edge led from one to the other. */
static void put_pairs(struct json *j, const struct path_counts *pc)
{
	json_key(j, "pairs");
	json_begin(j, '[');
	for (size_t i = 0; i < pc->npairs; i++) {
		json_begin(j, '{');
		put_big(j, "before", pc->pairs[i].before);
		put_big(j, "number", pc->pairs[i].number);
		put_big(j, "count", pc->pairs[i].count);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_function(const struct hot *h, struct json *j, size_t i,
                         const struct grouped *paths,
                         const struct grouped *prefixes)
{
	const struct hot_function *f = &h->functions[i];
	const struct report_row *row = f->row;
	char hash[24];

	snprintf(hash, sizeof(hash), "%016" PRIx64, row->f->hash);
	json_begin(j, '{');
	put_string(j, "name", map_string(row->map, row->f->name));
	put_string(j, "demangled", row->demangled);
	put_u64(j, "module", row->module);
	put_path_name(h, j, "file", map_string(row->map, row->f->file));
	put_u64(j, "line", row->f->line);
	put_string(j, "hash", hash);
	put_string(j, "table", table_name[row->f->paths]);
	put_big(j, "possible", row->f->npaths);
	put_cuts(j, row);
	if (row->f->paths == CAIRN_PATHS_PREFERRED)
		put_prefer(j, f);
	json_key(j, "exact");
	json_bool(j, row->r->doubt == COUNTS_EXACT);
	put_string(j, "reason", counts_reason(row->r->doubt));
	put_big(j, "lost", f->pc.nlost);
	put_big(j, "unknown", f->pc.nunknown);
	if (h->options.model)
		hot_model_json(f, j);
	put_list(h, j, "paths", paths->items + paths->at[i],
	         paths->at[i + 1] - paths->at[i]);
	if (f->pc.has_pairs)
		put_pairs(j, &f->pc);
	put_list(h, j, "unfinished", prefixes->items + prefixes->at[i],
	         prefixes->at[i + 1] - prefixes->at[i]);
	json_end(j, '}');
}

/* The site of a cell. */
static const struct map_site *site_at(const struct map *map,
                                      const struct map_function *f, uint64_t at)
{
	uint64_t cell = calls_cell(f, at);

	for (uint32_t i = 0; i < f->ncalls; i++)
		if (map->calls[f->first_call + i].cell == cell + 1)
			return &map->calls[f->first_call + i];
	return NULL;
}

static void put_call(struct json *j, const struct profile *p,
                     const struct profile_call *c)
{
	const struct map *from = p->modules[c->site_module].map;
	const struct map *to = p->modules[c->callee_module].map;
	const struct map_function *caller =
	        from ? calls_function(from, c->site) : NULL;
	const struct map_function *callee =
	        to ? calls_function(to, c->callee) : NULL;
	const struct map_site *site =
	        caller ? site_at(from, caller, c->site) : NULL;

	if (!site || !callee)
		return;
	json_begin(j, '{');
	put_string(j, "kind", c->is_return ? "return" : "call");
	put_string(j, "caller", map_string(from, caller->name));
	put_u64(j, "block", site->block);
	put_u64(j, "segment", site->segment);
	put_string(j, "callee", map_string(to, callee->name));
	put_u64(j, c->is_return ? "path" : "prefix", c->paths >> 32);
	put_u64(j, c->is_return ? "rest" : "path", c->paths & UINT32_MAX);
	put_big(j, "count", c->count);
	json_end(j, '}');
}

void hot_json(const struct hot *h, FILE *out)
{
	const struct profile *profile = h->report->profile;
	struct json j = {.out = out, .flat_below = 5};
	struct grouped paths, prefixes;
	struct tagged_calls calls;

	group(&paths, h, h->paths, h->npaths);
	group(&prefixes, h, h->prefixes, h->nprefixes);
	json_begin(&j, '{');
	put_u64(&j, "version", JSON_VERSION);
	put_big(&j, "path_executions", h->executions);
	put_big(&j, "other_executions", h->others);
	put_big(&j, "block_executions", h->blocks);
	json_key(&j, "complete");
	json_bool(&j, hot_knows_blocks(h));
	put_string(&j, "note", report_note(h->report));
	json_key(&j, "functions");
	json_begin(&j, '[');
	for (size_t i = 0; i < h->nfunctions; i++)
		put_function(h, &j, i, &paths, &prefixes);
	json_end(&j, ']');
	tagged_calls_init(&calls, profile);
	if (calls.n) {
		json_key(&j, "calls");
		json_begin(&j, '[');
		for (size_t i = 0; i < calls.n; i++)
			put_call(&j, profile, &calls.items[i]);
		json_end(&j, ']');
	}
	tagged_calls_release(&calls);
	json_end(&j, '}');
	ungroup(&paths);
	ungroup(&prefixes);
}
