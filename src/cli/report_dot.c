/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for Graphviz: the call graph of the hottest functions (--top), or
 * with --function their control-flow graphs.  Counts are on nodes and edges,
 * heat is colour, what never ran is dashed.
 */
#include "cli/costs.h"

#include "analysis/callgraph.h"
#include "analysis/counts.h"
#include "analysis/inclusive.h"
#include "base/alloc.h"
#include "base/text.h"
#include "cli/hot.h"
#include "cli/report.h"
#include "format/map.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A string of DOT, without its quotes. */
static void put_text(FILE *out, const char *s)
{
	char *text = text_escape(s, strlen(s));

	for (const char *at = text; *at; at++) {
		if (*at == '"' || *at == '\\')
			putc('\\', out);
		putc(*at, out);
	}
	free(text);
}

/* 0 to 1, by orders of magnitude. */
static double heat(uint64_t n, uint64_t most)
{
	double part;

	if (!n || !most)
		return 0.0;
	part = (64 - __builtin_clzll(n)) / (double)(64 - __builtin_clzll(most));
	return part * part;
}

/* Orange on white: hue, saturation, value. */
static void put_fill(FILE *out, double h)
{
	text_print(out, "fillcolor=\"0.070 %.3f 1.000\"", 0.7 * h);
}

/* --- calls -----------------------------------------------------------------
 */

static void put_node(const struct report *r, const struct inclusive *x,
                     const struct report_row *row, FILE *out)
{
	uint32_t number = x->first[row->module] + row->index;
	double self = report_percent(row->r->instructions, r->instructions);

	text_print(out, "f%" PRIu32 " [label=\"", number);
	put_text(out, row->name);
	text_print(out,
	           "\\n%.1f %% (%.1f %% with callees)\\n%" PRIu64 " call%s\" ",
	           self, report_percent(x->total[number], r->instructions),
	           row->r->entries, row->r->entries == 1 ? "" : "s");
	put_fill(out, heat(row->r->instructions, r->instructions));
	fputs("];\n", out);
}

static int by_ends(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->from.module != y->from.module)
		return x->from.module < y->from.module ? -1 : 1;
	if (x->from.function != y->from.function)
		return x->from.function < y->from.function ? -1 : 1;
	if (x->to.module != y->to.module)
		return x->to.module < y->to.module ? -1 : 1;
	return x->to.function < y->to.function
	               ? -1
	               : x->to.function > y->to.function;
}

/* Calls between nodes, those of one pair as one edge. */
static void put_calls(const struct report *r, const struct inclusive *x,
                      const bool *shown, FILE *out)
{
	struct call *list = xcalloc(r->calls->n, sizeof(*list));
	size_t n = 0, next;

	for (size_t i = 0; i < r->calls->n; i++) {
		const struct call *c = &r->calls->items[i];
		uint32_t from = inclusive_number(x, c->from);
		uint32_t to = inclusive_number(x, c->to);

		if (to != CALLGRAPH_NONE && c->known && c->count &&
		    shown[from] && shown[to])
			list[n++] = *c;
	}
	if (n)
		qsort(list, n, sizeof(*list), by_ends);
	for (size_t i = 0; i < n; i = next) {
		uint64_t count = 0, cost = 0;

		for (next = i; next < n && !by_ends(&list[i], &list[next]);
		     next++) {
			count += list[next].count;
			cost += inclusive_call(x, &list[next]);
		}
		text_print(out,
		           "f%" PRIu32 " -> f%" PRIu32 " [label=\"%" PRIu64
		           "\" penwidth=%.2f];\n",
		           inclusive_number(x, list[i].from),
		           inclusive_number(x, list[i].to), count,
		           1 + 4 * report_percent(cost, r->instructions) / 100);
	}
	free(list);
}

static void put_call_graph(const struct report *r, FILE *out)
{
	struct inclusive *x = inclusive_new(r->counts, r->calls);
	bool *shown = xcalloc(x->n, sizeof(*shown));
	size_t n = 0;

	fputs("digraph calls {\nnode [shape=box style=\"filled,rounded\" "
	      "fontname=\"Helvetica\" fontsize=11];\n"
	      "edge [fontname=\"Helvetica\" fontsize=9 color=\"#555555\"];\n",
	      out);
	for (size_t i = 0; i < r->nrows && n < r->options.top; i++) {
		const struct report_row *row = &r->rows[i];

		if (!row->r->instructions || !report_is_above(r, row))
			continue;
		shown[x->first[row->module] + row->index] = true;
		put_node(r, x, row, out);
		n++;
	}
	put_calls(r, x, shown, out);
	fputs("}\n", out);
	free(shown);
	inclusive_free(x);
}

/* --- control flow ----------------------------------------------------------
 */

/* "12", "12-15", or nothing. */
static void put_lines(const struct report_row *row, uint32_t block, FILE *out)
{
	const struct map *m = row->map;
	const struct map_block *b = &m->blocks[row->f->first_block + block];
	const struct map_segment *s = &m->segments[b->first_segment];
	const struct map_segment *end = s + b->nsegments - 1;
	uint32_t n = end->first_line + end->nlines - s->first_line;
	uint32_t low = UINT32_MAX, high = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct map_line *l = &m->lines[s->first_line + i];

		if (l->instance || l->file != row->f->file || !l->line)
			continue;
		low = l->line < low ? l->line : low;
		high = l->line > high ? l->line : high;
	}
	if (high)
		text_print(out, " line %" PRIu32, low);
	if (high > low)
		text_print(out, "-%" PRIu32, high);
}

static void put_count(FILE *out, uint64_t n, bool known)
{
	if (known)
		text_print(out, "%" PRIu64, n);
	else
		putc('?', out);
}

static void put_blocks(const struct report_row *row, size_t graph,
                       uint64_t most, FILE *out)
{
	for (uint32_t b = 1; b < row->f->nblocks; b++) {
		uint32_t at = row->f->first_block + b;
		uint64_t n = row->cm->block[at];
		bool known = row->cm->block_known[at];

		text_print(out, "g%zub%" PRIu32 " [label=\"#%" PRIu32, graph, b,
		           b);
		put_lines(row, b, out);
		fputs("\\n", out);
		put_count(out, n, known);
		fputs("\" ", out);
		put_fill(out, known ? heat(n, most) : 0);
		fputs(known && !n ? " style=\"filled,dashed\"];\n" : "];\n",
		      out);
	}
}

/* Ways in and out are small nodes of their own. */
static void put_end(FILE *out, size_t graph, uint32_t block, uint32_t edge)
{
	if (block)
		text_print(out, "g%zub%" PRIu32, graph, block);
	else
		text_print(out, "g%zue%" PRIu32, graph, edge);
}

static void put_edges(const struct report_row *row, size_t graph, uint64_t most,
                      FILE *out)
{
	for (uint32_t e = 0; e < row->f->nedges; e++) {
		uint32_t at = row->f->first_edge + e;
		const struct map_edge *me = &row->map->edges[at];
		uint64_t n = row->cm->edge[at];
		bool known = row->cm->edge_known[at];

		if (!me->src || !me->dst)
			text_print(
			        out,
			        "g%zue%" PRIu32
			        " [label=\"%s\" shape=plaintext style=\"\"];\n",
			        graph, e, hot_edge_name(me->kind));
		put_end(out, graph, me->src, e);
		fputs(" -> ", out);
		put_end(out, graph, me->dst, e);
		fputs(" [label=\"", out);
		put_count(out, n, known);
		text_print(out, "\" penwidth=%.2f%s];\n",
		           1 + (known ? 3 * heat(n, most) : 0),
		           known && !n ? " style=dashed" : "");
	}
}

static void put_flow(const struct report_row *row, size_t graph, FILE *out)
{
	uint64_t most = 0;

	for (uint32_t b = 1; b < row->f->nblocks; b++) {
		uint32_t at = row->f->first_block + b;

		if (row->cm->block_known[at] && row->cm->block[at] > most)
			most = row->cm->block[at];
	}
	text_print(out, "subgraph cluster%zu {\nlabel=\"", graph);
	put_text(out, row->name);
	fputs("\";\n", out);
	put_blocks(row, graph, most, out);
	put_edges(row, graph, most, out);
	fputs("}\n", out);
}

static void put_flow_graphs(const struct report *r, FILE *out)
{
	size_t n = 0;

	fputs("digraph flow {\nnode [shape=box style=filled "
	      "fontname=\"Helvetica\" fontsize=10];\n"
	      "edge [fontname=\"Helvetica\" fontsize=9 color=\"#555555\"];\n",
	      out);
	for (size_t i = 0; i < r->nrows && n < r->options.top; i++)
		if (r->rows[i].r->covered && r->rows[i].f->nblocks)
			put_flow(&r->rows[i], n++, out);
	fputs("}\n", out);
}

void report_dot(const struct report *r, FILE *out)
{
	if (r->options.function)
		put_flow_graphs(r, out);
	else
		put_call_graph(r, out);
}
