/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cairn segments is about, before it takes a form: segments by their
 * counts, which of them are chosen, and each in terms of blocks, calls and
 * lines.
 *
 * A list for the compiler has the copies that segments need, no others, and
 * functions that these name.
 */
#include "cli/ips.h"

#include "base/alloc.h"
#include "base/err.h"
#include "cli/ips_blocks.h"
#include "cli/trace_input.h"
#include "format/map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MILLION 1000000u

void ips_release(struct ips *x)
{
	for (uint32_t i = 0; x->graphs && i < x->nfunctions; i++)
		free((void *)(uintptr_t)x->graphs[i].edges);
	for (uint32_t i = 0; x->names && i < x->nfunctions; i++)
		free(x->names[i]);
	ips_blocks_free(x->blocks);
	ips_forget_build(x);
	free(x->graphs);
	free(x->keys);
	free(x->names);
	free(x->rows);
	segments_release(&x->s);
	*x = (struct ips){0};
}

uint32_t ips_root(const struct ips *x, const struct segments_one *one)
{
	return x->s.copies[one->steps[0].copy].root;
}

const char *ips_way_out(const struct map *map, const struct map_function *f,
                        uint32_t block)
{
	for (uint32_t i = 0; i < f->nedges; i++) {
		const struct map_edge *e = &map->edges[f->first_edge + i];

		if (e->src != block || e->dst != CFG_OUTSIDE)
			continue;
		if (e->kind == CAIRN_EDGE_NORETURN)
			return "noreturn";
		if (e->kind == CAIRN_EDGE_RESUME)
			return "resume";
		if (map->blocks[f->first_block + block].flags &
		    CAIRN_BLOCK_TAIL)
			return "tail";
	}
	return "return";
}

const char *ips_end_name(const struct ips *x, const struct segments_one *one)
{
	const struct segments_step *last = &one->steps[one->nsteps - 1];
	const struct traced_function *f;

	if (one->end != SEGMENTS_LEAVES)
		return one->end == SEGMENTS_CALLS ? "call" : "back";
	if (!x->trace)
		return ips_blocks_way_out(x->blocks, last);
	f = &x->trace->traced.functions[x->s.copies[last->copy].function];
	return ips_way_out(f->map, f->f, last->block);
}

/* --- rows ---------------------------------------------------------------- */

static int by_count(const void *a, const void *b)
{
	const struct ips_row *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void choose(struct ips *x)
{
	const struct ips_options *o = &x->options;
	uint64_t want = x->executions / MILLION * o->share +
	                x->executions % MILLION * o->share / MILLION;
	uint64_t sum = 0;

	for (size_t i = 0; i < x->nrows; i++) {
		if ((o->top && i >= o->top) || (o->share && sum > want))
			return;
		sum += x->rows[i].count;
		x->rows[i].is_chosen = true;
		x->nchosen++;
	}
}

void ips_sort(struct ips *x)
{
	struct segments_one one;
	uint32_t at = 0;

	x->nrows = x->nchosen = 0;
	x->executions = 0;
	while (segments_next(&x->s, &at, &one)) {
		if (!one.nsteps || (!one.depth && !x->options.every))
			continue;
		VEC_RESERVE(x->rows, x->nrows, x->rows_cap);
		x->rows[x->nrows++] =
		        (struct ips_row){at, one.count, one.depth, false};
		x->executions += one.count;
	}
	if (x->nrows)
		qsort(x->rows, x->nrows, sizeof(*x->rows), by_count);
	choose(x);
}

void ips_read(struct ips *x, const struct ips_row *row,
              struct segments_one *one)
{
	uint32_t at = row->at - 1;

	segments_next(&x->s, &at, one);
}

/* --- text of one segment ------------------------------------------------- */

static uint32_t depth_of(const struct ips *x, uint32_t copy)
{
	return x->s.copies[copy].depth;
}

/* Goes from one copy to another: out to the one that both are in, then in. */
static void print_way(const struct ips *x, FILE *out, uint32_t from,
                      uint32_t to)
{
	uint32_t way[SEGMENTS_DEPTH_MAX + 1], n = 0;

	while (from != to) {
		if (from == SEGMENTS_NONE ||
		    depth_of(x, to) > depth_of(x, from)) {
			way[n++] = to;
			to = x->s.copies[to].parent;
			if (to == SEGMENTS_NONE)
				break;
		} else {
			fprintf(out, ")");
			from = x->s.copies[from].parent;
		}
	}
	while (n) {
		const struct segments_copy *c = &x->s.copies[way[--n]];

		if (c->parent == SEGMENTS_NONE)
			continue;
		fprintf(out, " (%" PRIu32 " %s", c->site,
		        x->keys[c->function].name);
	}
}

/* A call that is gone into, and left by a tail call. */
static bool is_left_by_tail(const struct ips *x,
                            const struct segments_step *last)
{
	uint32_t function = x->s.copies[last->copy].function;
	const struct traced_function *f;

	if (!x->trace || !depth_of(x, last->copy))
		return false;
	f = &x->trace->traced.functions[function];
	return !strcmp(ips_way_out(f->map, f->f, last->block), "tail");
}

char *ips_path(const struct ips *x, const struct segments_one *one,
               bool says_tails)
{
	uint32_t copy = ips_root(x, one);
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		return xstrdup("");
	fprintf(out, "%s", x->keys[copy].name);
	for (uint32_t i = 0; i < one->nsteps; i++) {
		if (says_tails && i && is_left_by_tail(x, &one->steps[i - 1]))
			fprintf(out, " tail");
		print_way(x, out, copy, one->steps[i].copy);
		copy = one->steps[i].copy;
		fprintf(out, " %" PRIu32, one->steps[i].block);
	}
	if (one->end == SEGMENTS_BACK)
		fprintf(out, " >%" PRIu32, one->to.block);
	else
		fprintf(out, " %c", one->end == SEGMENTS_CALLS ? '!' : '.');
	fclose(out);
	return text;
}

/* Lines of functions in turn: "main a.c:3-5 > f a.c:9 > main a.c:6". */
struct line_list {
	FILE *out;
	const char *name, *file;
	uint32_t first, last;
	bool is_begun;
};

static void end_range(struct line_list *l)
{
	if (l->is_begun && l->last > l->first)
		fprintf(l->out, "-%" PRIu32, l->last);
	l->is_begun = false;
}

static void begin_function(struct line_list *l, const char *name)
{
	if (l->name && !strcmp(l->name, name))
		return;
	end_range(l);
	fprintf(l->out, "%s%s", l->name ? " > " : "", name);
	l->name = name;
	l->file = NULL;
}

static void visit_line(void *context, const char *file,
                       const struct map_line *line)
{
	struct line_list *l = context;
	const char *slash = strrchr(file, '/');

	file = slash ? slash + 1 : file;
	if (l->is_begun && l->file && !strcmp(file, l->file) &&
	    line->line >= l->first && line->line <= l->last + 1) {
		if (line->line > l->last)
			l->last = line->line;
		return;
	}
	end_range(l);
	if (l->file && !strcmp(file, l->file))
		fprintf(l->out, ",%" PRIu32, line->line);
	else
		fprintf(l->out, " %s:%" PRIu32, file, line->line);
	l->file = file;
	l->first = l->last = line->line;
	l->is_begun = true;
}

char *ips_lines(const struct ips *x, const struct segments_one *one)
{
	char *text;
	size_t n;
	struct line_list l = {.out = open_memstream(&text, &n)};

	if (!l.out)
		return xstrdup("");
	for (uint32_t i = 0; i < one->nsteps; i++) {
		const struct segments_step *s = &one->steps[i];
		uint32_t function = x->s.copies[s->copy].function;

		begin_function(&l, x->names[function]);
		if (x->trace)
			trace_input_lines(x->trace, function, s->block,
			                  visit_line, &l);
		else
			ips_blocks_lines(x->blocks, s, visit_line, &l);
	}
	end_range(&l);
	fclose(l.out);
	return text;
}

/* --- lists --------------------------------------------------------------- */

/* What of x is in a list, and where: 0, or 1 + number there. */
struct places {
	uint32_t *function, *copy;
};

static void need_copy(const struct ips *x, struct places *p, uint32_t copy)
{
	while (!p->copy[copy]) {
		p->copy[copy] = 1;
		p->function[x->s.copies[copy].function] = 1;
		copy = x->s.copies[copy].parent;
		if (copy == SEGMENTS_NONE)
			return;
	}
}

static void add_copies(const struct ips *x, struct segment_list *l,
                       struct places *p)
{
	for (uint32_t i = 0; i < x->nfunctions; i++)
		if (p->function[i])
			p->copy[i] = p->function[i] =
			        1 + segment_list_add_function(l, x->keys[i]);
	for (uint32_t i = x->nfunctions; i < x->s.ncopies; i++) {
		const struct segments_copy *c = &x->s.copies[i];

		if (p->copy[i])
			p->copy[i] =
			        1 + segment_list_add_copy(
			                    l, p->copy[c->parent] - 1, c->site,
			                    p->function[c->function] - 1);
	}
}

void ips_list(struct ips *x, struct segment_list *l)
{
	struct places p = {
	        xcalloc((size_t)x->nfunctions + 1, sizeof(*p.function)),
	        xcalloc((size_t)x->s.ncopies + 1, sizeof(*p.copy))};
	struct segments_one one;

	l->depth = x->options.depth;
	for (uint32_t i = x->nfunctions; i < x->s.ncopies; i++)
		if (x->s.is_planned)
			need_copy(x, &p, i);
	for (size_t i = 0; i < x->nrows; i++) {
		ips_read(x, &x->rows[i], &one);
		for (uint32_t k = 0; k < one.nsteps; k++)
			need_copy(x, &p, one.steps[k].copy);
		if (one.end == SEGMENTS_BACK)
			need_copy(x, &p, one.to.copy);
	}
	for (uint32_t i = 0; i < x->s.ncuts; i++) {
		need_copy(x, &p, x->s.cuts[i].from.copy);
		need_copy(x, &p, x->s.cuts[i].to.copy);
	}
	add_copies(x, l, &p);
	for (uint32_t i = 0; i < x->s.ncuts; i++) {
		struct segments_cut cut = x->s.cuts[i];

		cut.from.copy = p.copy[cut.from.copy] - 1;
		cut.to.copy = p.copy[cut.to.copy] - 1;
		segment_list_add_cut(l, cut);
	}
	for (size_t i = 0; i < x->nrows; i++) {
		struct segments_step *steps;

		ips_read(x, &x->rows[i], &one);
		steps = xcalloc(one.nsteps, sizeof(*steps));
		for (uint32_t k = 0; k < one.nsteps; k++)
			steps[k] = (struct segments_step){
			        p.copy[one.steps[k].copy] - 1,
			        one.steps[k].block};
		one.steps = steps;
		if (one.end == SEGMENTS_BACK)
			one.to.copy = p.copy[one.to.copy] - 1;
		segment_list_add_item(l, &one, x->rows[i].is_chosen);
		free(steps);
	}
	free(p.function);
	free(p.copy);
}
