/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as JSON.  docs/FORMAT.md section 7 is its schema; a change there
 * that a reader would notice changes the number "version".
 */
#include "cli/report.h"

#include "abi/file.h"
#include "abi/map.h"
#include "analysis/callgraph.h"
#include "analysis/counts.h"
#include "analysis/lines.h"
#include "analysis/whole.h"
#include "base/alloc.h"
#include "base/json.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>

#define JSON_VERSION 1

static const char *const edge_kinds[CAIRN_NEDGE_KINDS] = {
        [CAIRN_EDGE_ENTRY] = "entry",       [CAIRN_EDGE_RETURN] = "return",
        [CAIRN_EDGE_NORETURN] = "noreturn", [CAIRN_EDGE_RESUME] = "resume",
        [CAIRN_EDGE_JUMP] = "jump",         [CAIRN_EDGE_TRUE] = "true",
        [CAIRN_EDGE_FALSE] = "false",       [CAIRN_EDGE_CASE] = "case",
        [CAIRN_EDGE_DEFAULT] = "default",   [CAIRN_EDGE_INDIRECT] = "indirect",
        [CAIRN_EDGE_NORMAL] = "normal",     [CAIRN_EDGE_UNWIND] = "unwind",
        [CAIRN_EDGE_FALL] = "fall",         [CAIRN_EDGE_ABNORMAL] = "abnormal",
        [CAIRN_EDGE_CALL] = "call",         [CAIRN_EDGE_SITE] = "site",
};

static const char *const endings[] = {
        [CAIRN_HOW_UNKNOWN] = "unknown", [CAIRN_HOW_EXIT] = "exit",
        [CAIRN_HOW_SIGNAL] = "signal",   [CAIRN_HOW_EXEC] = "exec",
        [CAIRN_HOW_UNLOAD] = "unload",   [CAIRN_HOW_MERGED] = "merged",
};

static void put_string(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_string(j, s);
}

static void put_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

static void put_bool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}

static void put_count(struct json *j, const char *key, uint64_t v, bool known)
{
	json_key(j, key);
	json_count(j, v, known);
}

static void put_path(const struct report *r, struct json *j, const char *key,
                     const char *path)
{
	put_string(j, key, *path ? report_path(r, path) : NULL);
}

static void put_files(const struct report *r, struct json *j)
{
	json_key(j, "files");
	json_begin(j, '[');
	for (size_t i = 0; i < r->profile->nfiles; i++) {
		const struct profile_file *f = &r->profile->files[i];

		json_begin(j, '{');
		put_path(r, j, "name", f->name);
		put_u64(j, "runs", f->nruns);
		put_count(j, "threads_at_once", f->threads_at_once,
		          f->threads_at_once != 0);
		put_bool(j, "closed", f->state == CAIRN_STATE_CLOSED);
		put_string(j, "ended",
		           f->how <= CAIRN_HOW_MERGED ? endings[f->how]
		                                      : "unknown");
		put_u64(j, "signal", f->signal);
		put_u64(j, "flags", f->flags);
		put_u64(j, "unwalked", f->unwalked);
		put_bool(j, "truncated", f->truncated);
		if (!r->options.stable) {
			put_u64(j, "pid", f->pid);
			put_u64(j, "ppid", f->ppid);
			put_u64(j, "start_ns", f->start);
			put_u64(j, "end_ns", f->end);
		}
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_modules(const struct report *r, struct json *j)
{
	json_key(j, "modules");
	json_begin(j, '[');
	for (uint32_t i = 0; i < r->profile->nmodules; i++) {
		const struct profile_module *m = &r->profile->modules[i];
		char *id = xmalloc(2 * (size_t)m->nid + 1);

		id[0] = '\0';
		for (uint32_t k = 0; k < m->nid; k++)
			snprintf(id + 2 * (size_t)k, 3, "%02x", m->id[k]);
		json_begin(j, '{');
		put_path(r, j, "path", m->path);
		if (!r->options.stable)
			put_string(j, "build_id", id);
		put_u64(j, "counters", m->ncounters);
		put_string(j, "missing", m->missing);
		json_end(j, '}');
		free(id);
	}
	json_end(j, ']');
}

static void put_totals(const struct report *r, struct json *j)
{
	const struct counts_totals *t = &r->counts->totals;
	uint64_t executed, known;

	lines_total(r->lines, &executed, &known);
	json_key(j, "totals");
	json_begin(j, '{');
	put_u64(j, "functions", t->functions);
	put_u64(j, "functions_executed", t->executed);
	put_u64(j, "functions_uncovered", t->uncovered);
	put_u64(j, "functions_inconsistent", t->inconsistent);
	put_u64(j, "functions_partial", t->partial);
	put_u64(j, "blocks", t->blocks);
	put_u64(j, "blocks_executed", t->blocks_executed);
	put_u64(j, "executions", t->executions);
	put_u64(j, "lines", known);
	put_u64(j, "lines_executed", executed);
	lines_total_branches(r->lines, &executed, &known);
	put_u64(j, "branches", known);
	put_u64(j, "branches_taken", executed);
	json_end(j, '}');
}

/* Lines of a block, as one range per file and inlined copy. */
struct range {
	uint32_t instance, file, first, last;
};

static size_t add_range(struct range *ranges, size_t n,
                        const struct map_line *l)
{
	for (size_t i = 0; i < n; i++) {
		struct range *g = &ranges[i];

		if (g->instance != l->instance || g->file != l->file)
			continue;
		if (l->line < g->first)
			g->first = l->line;
		if (l->line > g->last)
			g->last = l->line;
		return n;
	}
	ranges[n] = (struct range){l->instance, l->file, l->line, l->line};
	return n + 1;
}

static void put_ranges(const struct report *r, struct json *j,
                       const struct report_row *row,
                       const struct map_line *lines, uint32_t nlines)
{
	struct range *ranges = xmalloc(nlines * sizeof(*ranges));
	const struct map_instance *copies =
	        row->map->instances + row->f->first_instance;
	size_t n = 0;

	for (uint32_t i = 0; i < nlines; i++)
		if (lines[i].line)
			n = add_range(ranges, n, &lines[i]);
	json_key(j, "lines");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++) {
		const struct range *g = &ranges[i];

		json_begin(j, '{');
		put_path(r, j, "file", map_string(row->map, g->file));
		put_u64(j, "first", g->first);
		put_u64(j, "last", g->last);
		if (g->instance)
			put_string(j, "inlined",
			           map_string(row->map,
			                      copies[g->instance - 1].name));
		json_end(j, '}');
	}
	json_end(j, ']');
	free(ranges);
}

/* The segments of a block lie one behind the other, and so do their lines. */
static uint32_t block_lines(const struct map *m, const struct map_block *b,
                            const struct map_line **lines)
{
	const struct map_segment *s = m->segments + b->first_segment;
	const struct map_segment *last = s + b->nsegments - 1;

	*lines = m->lines + s->first_line;
	return last->first_line + last->nlines - s->first_line;
}

static void put_block(const struct report *r, struct json *j,
                      const struct report_row *row, uint32_t b,
                      const block_id *parts)
{
	uint32_t at = row->f->first_block + b;
	const struct map_block *mb = &row->map->blocks[at];
	const struct map_line *lines;
	uint32_t nlines = block_lines(row->map, mb, &lines);

	json_begin(j, '{');
	put_u64(j, "id", b);
	if (parts)
		put_u64(j, "part", parts[b]);
	put_count(j, "count", row->cm->block[at], row->cm->block_known[at]);
	put_u64(j, "instructions", mb->ninstructions);
	if (mb->flags & CAIRN_BLOCK_LANDING_PAD)
		put_bool(j, "landing_pad", true);
	put_ranges(r, j, row, lines, nlines);
	json_key(j, "segments");
	json_begin(j, '[');
	for (uint32_t s = 0; s < mb->nsegments; s++)
		json_count(j, row->cm->segment[mb->first_segment + s],
		           row->cm->segment_known[mb->first_segment + s]);
	json_end(j, ']');
	json_end(j, '}');
}

/* A recording has a switch for a computed goto. */
static const char *edge_kind(const struct report_row *row,
                             const struct map_edge *e)
{
	const struct map_block *from = row->map->blocks + row->f->first_block;

	if (from[e->src].flags & CAIRN_BLOCK_GOTO)
		return edge_kinds[CAIRN_EDGE_INDIRECT];
	return edge_kinds[e->kind];
}

static void put_edge(struct json *j, const struct report_row *row, uint32_t e)
{
	uint32_t at = row->f->first_edge + e;
	const struct map_edge *me = &row->map->edges[at];

	json_begin(j, '{');
	put_u64(j, "source", me->src);
	put_u64(j, "target", me->dst);
	put_string(j, "kind", edge_kind(row, me));
	put_count(j, "count", row->cm->edge[at], row->cm->edge_known[at]);
	put_bool(j, "counted", me->counter != MAP_NONE);
	json_end(j, '}');
}

static void put_place(const struct report *r, struct json *j,
                      const struct report_row *row)
{
	put_string(j, "name", map_string(row->map, row->f->name));
	put_string(j, "demangled", row->demangled);
	put_u64(j, "module", row->module);
	put_path(r, j, "file", map_string(row->map, row->f->file));
	put_u64(j, "line", row->f->line);
}

static const char *mode_of(const struct map_function *f)
{
	if (f->paths != CAIRN_PATHS_NONE)
		return "paths";
	if (f->flags & CAIRN_FN_SLOW)
		return "slow";
	return f->flags & CAIRN_FN_STRICT ? "strict" : "edges";
}

/* A callee without a name is a pointer's. */
static void put_calls(const struct report *r, struct json *j,
                      const struct report_row *row)
{
	size_t n, first = callgraph_from(
	                  r->calls, (struct call_end){row->module, row->index},
	                  &n);

	json_key(j, "calls");
	json_begin(j, '[');
	for (size_t i = first; i < first + n; i++) {
		const struct call *c = &r->calls->items[i];
		const struct map_outcall *o = &row->map->outcalls[c->outcall];

		json_begin(j, '{');
		put_string(j, "callee", c->name);
		put_u64(j, "block", o->block);
		if (o->line) {
			put_path(r, j, "file", map_string(row->map, o->file));
			put_u64(j, "line", o->line);
		}
		put_count(j, "count", c->count, c->known);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_function(const struct report *r, struct json *j,
                         const struct report_row *row)
{
	block_id *parts = whole_first_part(row->map, row->f);

	json_begin(j, '{');
	put_place(r, j, row);
	put_string(j, "mode", mode_of(row->f));
	put_bool(j, "local", row->f->flags & CAIRN_FN_LOCAL);
	put_count(j, "entries", row->r->entries, row->r->entries_known);
	put_count(j, "executions", row->r->executions, report_knows(row));
	put_count(j, "instructions", row->r->instructions, report_knows(row));
	put_bool(j, "exact", row->r->doubt == COUNTS_EXACT);
	put_bool(j, "consistent", !counts_is_inconsistent(row->r->doubt));
	put_string(j, "reason", counts_reason(row->r->doubt));
	json_key(j, "blocks");
	json_begin(j, '[');
	for (uint32_t b = 1; b < row->f->nblocks; b++)
		put_block(r, j, row, b, parts);
	json_end(j, ']');
	json_key(j, "edges");
	json_begin(j, '[');
	for (uint32_t e = 0; e < row->f->nedges; e++)
		put_edge(j, row, e);
	json_end(j, ']');
	put_calls(r, j, row);
	json_end(j, '}');
	free(parts);
}

static void put_functions(const struct report *r, struct json *j)
{
	json_key(j, "functions");
	json_begin(j, '[');
	for (size_t i = 0; i < r->nrows; i++)
		if (r->rows[i].r->covered)
			put_function(r, j, &r->rows[i]);
	json_end(j, ']');
	json_key(j, "uncovered");
	json_begin(j, '[');
	for (size_t i = 0; i < r->nrows; i++) {
		const struct report_row *row = &r->rows[i];

		if (row->r->covered)
			continue;
		json_begin(j, '{');
		put_place(r, j, row);
		put_string(j, "reason", map_string(row->map, row->f->reason));
		json_end(j, '}');
	}
	json_end(j, ']');
}

/* The ways of branches: those of one branch have the same number. */
static void put_branches(const struct report *r, struct json *j,
                         const struct line_branch *b, size_t n)
{
	json_key(j, "branches");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++) {
		json_begin(j, '{');
		put_u64(j, "branch", b[i].block);
		put_u64(j, "taken", b[i].taken);
		put_count(j, "total", b[i].total, b[i].total >= b[i].taken);
		if (b[i].to_line) {
			if (b[i].to_file != b[i].file)
				put_path(r, j, "file",
				         r->lines->files.items[b[i].to_file]);
			put_u64(j, "to", b[i].to_line);
		}
		json_end(j, '}');
	}
	json_end(j, ']');
}

/* Whose code it is, if that is not one function's own. */
static void put_copies(const struct report *r, struct json *j,
                       const struct line_copy *c, size_t n)
{
	json_key(j, "copies");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++) {
		const struct map *m = r->profile->modules[c[i].module].map;
		const struct map_function *f = &m->functions[c[i].function];

		json_begin(j, '{');
		put_string(j, "function", map_string(m, f->name));
		if (c[i].instance) {
			const struct map_instance *k =
			        &m->instances[f->first_instance +
			                      c[i].instance - 1];

			put_string(j, "inlined", map_string(m, k->name));
			put_u64(j, "call_line", k->call_line);
		}
		put_count(j, "count", c[i].count, c[i].known);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_line(const struct report *r, struct json *j,
                     const struct line_count *c)
{
	const struct line_copy *copies = r->lines->copies + c->first_copy;
	size_t n;
	const struct line_branch *b =
	        lines_branches(r->lines, c->file, c->line, &n);

	/* old maps do not have them */
	put_count(j, "instructions", c->instructions,
	          c->instructions || !c->count);
	if (b)
		put_branches(r, j, b, n);
	if (c->ncopies > 1 || copies->instance)
		put_copies(r, j, copies, c->ncopies);
}

static void put_lines(const struct report *r, struct json *j)
{
	const struct lines *l = r->lines;

	json_key(j, "sources");
	json_begin(j, '[');
	for (size_t i = 0, next; i < l->n; i = next) {
		const char *path = l->files.items[l->items[i].file];

		for (next = i;
		     next < l->n && l->items[next].file == l->items[i].file;
		     next++)
			;
		if (!report_wants_file(r, path))
			continue;
		json_begin(j, '{');
		put_path(r, j, "file", path);
		json_key(j, "lines");
		json_begin(j, '[');
		for (size_t k = i; k < next; k++) {
			json_begin(j, '{');
			put_u64(j, "line", l->items[k].line);
			put_count(j, "count", l->items[k].count,
			          l->items[k].known);
			if (l->items[k].doubtful)
				put_bool(j, "consistent", false);
			put_line(r, j, &l->items[k]);
			json_end(j, '}');
		}
		json_end(j, ']');
		json_end(j, '}');
	}
	json_end(j, ']');
}

void report_json(const struct report *r, FILE *out)
{
	char *note = report_whole_note(r);
	struct json j = {.out = out, .flat_below = 4};
	const char *program = r->profile->program;

	json_begin(&j, '{');
	put_u64(&j, "version", JSON_VERSION);
	put_path(r, &j, "program", program ? program : "");
	if (!r->options.stable)
		put_string(&j, "command", r->profile->command);
	put_u64(&j, "runs", profile_nruns(r->profile));
	put_bool(&j, "exact",
	         r->counts->doubt == COUNTS_EXACT &&
	                 !r->counts->totals.inconsistent &&
	                 !r->counts->totals.partial);
	put_string(&j, "note", note);
	put_files(r, &j);
	put_modules(r, &j);
	put_totals(r, &j);
	put_functions(r, &j);
	put_lines(r, &j);
	json_end(&j, '}');
	free(note);
}
