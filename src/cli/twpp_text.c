/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timestamped whole program path as text: its sizes as the tables 2, 3 and 6
 * and figure 8 of the 2001 paper have them, functions, the traces of one
 * function with their timestamps, and where a path occurs.
 */
#include "cli/twpp.h"

#include "analysis/twpp_form.h"
#include "analysis/twpp_graph.h"
#include "analysis/twpp_replay.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"
#include "cli/demangle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Characters of a line of series or blocks before it is cut. */
#define LINE 4096

const uint64_t twpp_shares[TWPP_NSHARES] = {1,  2,   5,    10,    25,
                                            50, 100, 1000, 10000, UINT64_MAX};

/* The C++ name of a function, and in *nfile how much of its name is FILE:
 * before it; NULL if it has none. */
static char *readable_name(const char *name, size_t *nfile)
{
	const char *colon = strrchr(name, ':');

	*nfile = colon ? (size_t)(colon + 1 - name) : 0;
	return demangle(name + *nfile);
}

char *twpp_name(const struct twpp_view *v, const struct twpp_entry *e)
{
	char *plain, *text;
	size_t nfile;

	if (!e->name)
		return xasprintf("#%" PRIu32, e->function);
	plain = v->no_demangle ? NULL : readable_name(e->name, &nfile);
	if (!plain)
		return xstrdup(e->name);
	text = xasprintf("%.*s%s", (int)nfile, e->name, plain);
	free(plain);
	return text;
}

void twpp_name_readably(struct twpp *t)
{
	for (uint32_t i = 0; i < t->nentries; i++) {
		struct twpp_entry *e = &t->entries[i];
		size_t nfile;
		char *name = e->name ? readable_name(e->name, &nfile) : NULL;

		if (name)
			twpp_call(e, name);
		free(name);
	}
}

char *twpp_series_text(const struct twpp_vector *times)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < times->n; i++) {
		const struct twpp_run *r = &times->runs[i];

		text_print(out, "%s%" PRIu64, i ? "," : "", r->l);
		if (r->h != r->l)
			text_print(out, ":%" PRIu64, r->h);
		if (r->h != r->l && r->s != 1)
			text_print(out, ":%" PRIu64, r->s);
	}
	fclose(out);
	return text;
}

char *twpp_blocks_text(const uint32_t *blocks, size_t n)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < n; i++)
		text_print(out, "%sb%" PRIu32, i ? "." : "", blocks[i]);
	fclose(out);
	return text;
}

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0.0;
}

static void print_more(FILE *out, uint64_t n)
{
	if (n)
		text_print(out, "%14s (%" PRIu64 " more; --top 0 shows all)\n",
		           "", n);
}

/* --- the whole ---------------------------------------------------------- */

static void print_step(FILE *out, const char *name, uint64_t bytes,
                       uint64_t before)
{
	text_print(out, "%-26s %16" PRIu64, name, bytes);
	if (before)
		text_print(out, " %10.2f", ratio(before, bytes));
	text_print(out, "\n");
}

static void print_steps(const struct twpp_sizes *z, FILE *out)
{
	text_print(out, "\n%-26s %16s %10s\n", "path traces, 4 bytes each",
	           "bytes", "smaller");
	print_step(out, "all blocks", 4 * z->nblocks, 0);
	print_step(out, "redundant traces removed", 4 * z->unique_words,
	           4 * z->nblocks);
	print_step(out, "dynamic basic blocks", 4 * z->dbb_words,
	           4 * z->unique_words);
	print_step(out, "timestamps as series", 4 * z->stamp_words,
	           4 * z->dbb_words);
}

static void print_part(FILE *out, const char *name, uint64_t plain,
                       uint64_t stored)
{
	text_print(out, "%-26s %16" PRIu64 " %16" PRIu64 "\n", name, plain,
	           stored);
}

static void print_parts(const struct twpp *t, FILE *out)
{
	const struct twpp_sizes *z = &t->sizes;
	const struct twpp_stored *s = &t->stored;

	text_print(out, "\n%-26s %16s %16s\n", "part", "4 bytes each",
	           "in the file");
	print_part(out, "header", 0, s->header);
	print_part(out, "call graph", 4 * z->dcg_words, s->graph);
	print_part(out, "dictionaries", 4 * z->dict_words, s->dictionaries);
	print_part(out, "traces", 4 * z->stamp_words, s->traces);
	print_part(out, "total", twpp_plain(z), s->total);
	text_print(out, "%-26s %16.2f %16.2f\n", "times below raw",
	           ratio(twpp_raw(z), twpp_plain(z)),
	           ratio(twpp_raw(z), s->total));
}

static void print_graphs(const struct twpp *t, FILE *out)
{
	const struct twpp_sizes *z = &t->sizes;
	uint64_t nodes = 0, edges = 0;

	for (uint32_t i = 0; i < t->nentries; i++) {
		nodes += t->entries[i].nblocks;
		edges += t->entries[i].nedges;
	}
	text_print(out,
	           "\nCFGs            %" PRIu64 " blocks, %" PRIu64 " edges\n"
	           "dynamic CFGs    %" PRIu64 " nodes, %" PRIu64
	           " edges; timestamps per node %.1f, as series %.1f\n",
	           nodes, edges, z->nodes, z->edges, ratio(z->stamps, z->nodes),
	           ratio(z->runs, z->nodes));
}

static void print_shares(const struct twpp *t, FILE *out)
{
	text_print(out, "\n%-26s %16s %10s\n", "unique traces", "calls", "%");
	for (unsigned i = 0; i < TWPP_NSHARES; i++) {
		uint64_t within = twpp_calls_within(t, twpp_shares[i]);

		if (i + 1 < TWPP_NSHARES)
			text_print(out, "at most %-18" PRIu64, twpp_shares[i]);
		else
			text_print(out, "%-26s", "any");
		text_print(out, " %16" PRIu64 " %10.2f\n", within,
		           100 * ratio(within, t->sizes.ncalls));
		if (within == t->sizes.ncalls)
			break;
	}
}

static void print_functions(const struct twpp_view *v, FILE *out)
{
	const struct twpp *t = v->file;
	uint32_t n = 0, called = 0;

	while (called < t->nentries && t->entries[called].ncalls)
		called++;
	text_print(out, "\n%14s %14s %14s  function\n", "calls",
	           "unique traces", "bytes");
	for (; n < called && n < v->top; n++) {
		const struct twpp_entry *e = &t->entries[n];
		char *name = twpp_name(v, e);

		text_print(out,
		           "%14" PRIu64 " %14" PRIu64 " %14" PRIu64 "  %s\n",
		           e->ncalls, e->ntraces, e->size, name);
		free(name);
	}
	print_more(out, called - n);
}

void twpp_text(const struct twpp_view *v, FILE *out)
{
	const struct twpp_sizes *z = &v->file->sizes;

	text_print(out,
	           "blocks    %" PRIu64 " executed, in %" PRIu64 " calls\n"
	           "raw       %" PRIu64 " bytes: 4 per block, call and return\n"
	           "traces    %" PRIu64 " unique; %" PRIu64
	           " calls that differ in what they did and called\n",
	           z->nblocks, z->ncalls, twpp_raw(z), z->ntraces,
	           z->dcg_nodes);
	if (v->access)
		text_print(
		        out,
		        "access    %.3f ms per function, %.3f ms at most, "
		        "%" PRIu64 " functions\n"
		        "loading   %.3f ms of that, %.3f ms at most; the rest "
		        "is to decode timestamps\n",
		        v->access->mean, v->access->worst,
		        v->access->nfunctions, v->access->load_mean,
		        v->access->load_worst);
	print_steps(z, out);
	print_parts(v->file, out);
	print_graphs(v->file, out);
	print_shares(v->file, out);
	print_functions(v, out);
}

/* --- one function ------------------------------------------------------- */

static int by_calls(const void *a, const void *b, void *arg)
{
	const struct twpp_function *f = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (f->traces[x].ncalls != f->traces[y].ncalls)
		return f->traces[x].ncalls < f->traces[y].ncalls ? 1 : -1;
	return (x > y) - (x < y);
}

uint32_t *twpp_sort_traces(const struct twpp_function *f)
{
	uint32_t *order = xcalloc(f->ntraces + 1, sizeof(*order));

	for (uint32_t i = 0; i < f->ntraces; i++)
		order[i] = i;
	qsort_r(order, f->ntraces, sizeof(*order), by_calls,
	        (void *)(uintptr_t)f);
	return order;
}

static void print_cut(FILE *out, const char *text)
{
	if (strlen(text) > LINE)
		text_print(out, "%.*s...", LINE, text);
	else
		text_put(out, text);
}

static int print_trace(struct twpp_function *f, uint32_t i, FILE *out,
                       struct cairn_err *err)
{
	struct twpp_form g;

	CAIRN_TRY(twpp_form_read(&g, f, i, err));
	text_print(out,
	           "\ntrace %" PRIu32 ": calls: %" PRIu64
	           ", timestamps: %" PRIu64 "\n",
	           i + 1, f->traces[i].ncalls, g.n);
	for (size_t k = 0; k < g.nnodes; k++) {
		const struct twpp_form_node *node = &g.nodes[k];
		char *blocks = twpp_blocks_text(node->blocks, node->nblocks);
		char *times = twpp_series_text(&node->times);
		const struct twpp_edge *to;
		size_t n;

		text_print(out, "  ");
		print_cut(out, blocks);
		text_print(out, " -> ");
		print_cut(out, times);
		to = twpp_form_out(&g, k, &n);
		for (size_t e = 0; e < n; e++)
			text_print(out, "%sb%" PRIu32 " (%" PRIu64 ")",
			           e ? ", " : "; to ",
			           g.nodes[to[e].to].blocks[0], to[e].count);
		text_print(out, "\n");
		free(blocks);
		free(times);
	}
	twpp_form_release(&g);
	return 0;
}

int twpp_text_function(const struct twpp_view *v, struct twpp_function *f,
                       FILE *out, struct cairn_err *err)
{
	uint32_t *order = twpp_sort_traces(f);
	char *name = twpp_name(v, f->entry);
	size_t n = 0;
	int rc = 0;

	text_print(out,
	           "function  %s\ncalls     %" PRIu64 "\ntraces    %zu unique, "
	           "%zu dictionaries\n",
	           name, f->entry->ncalls, f->ntraces, f->ndictionaries);
	for (; n < f->ntraces && n < v->top && !rc; n++)
		rc = print_trace(f, order[n], out, err);
	if (!rc)
		print_more(out, f->ntraces - n);
	free(name);
	free(order);
	return rc;
}

/* --- occurrences -------------------------------------------------------- */

void twpp_text_hits(const struct twpp_view *v, const struct twpp_hits *h,
                    FILE *out)
{
	(void)v;
	text_print(out, "%s: occurrences: %" PRIu64 "\n", h->text, h->n);
	if (h->nitems)
		text_print(out,
		           "\n%8s %14s  activation at block, of each part\n",
		           "thread", "blocks so far");
	for (size_t i = 0; i < h->nitems; i++) {
		const struct twpp_hit *hit = &h->items[i];

		text_print(out, "%8" PRIu64 " %14" PRIu64 " ", hit->thread,
		           hit->when);
		for (size_t k = 0; k < h->path->nparts; k++)
			text_print(out, "%s %" PRIu64 " at %" PRIu64,
			           k ? " >" : "", hit->sites[k].activation,
			           hit->sites[k].at);
		text_print(out, "\n");
	}
	print_more(out, h->n - h->nitems);
}

/* --- all events --------------------------------------------------------- */

struct events {
	const struct twpp_view *v;
	FILE *out;
	int depth;
	bool in_blocks; /* the line is one of blocks */
};

static void end_blocks(struct events *e)
{
	if (e->in_blocks)
		text_print(e->out, "\n");
	e->in_blocks = false;
}

static int print_enter(void *arg, uint32_t function)
{
	struct events *e = arg;
	const struct twpp_entry *entry = twpp_entry(e->v->file, function);
	char *name = twpp_name(e->v, entry);

	end_blocks(e);
	text_print(e->out, "%*s%s\n", 2 * e->depth++, "", name);
	free(name);
	return ferror(e->out) ? 1 : 0;
}

static int print_blocks(void *arg, const uint32_t *blocks, size_t n)
{
	struct events *e = arg;

	for (size_t i = 0; i < n; i++) {
		if (!e->in_blocks)
			text_print(e->out, "%*s", 2 * e->depth, "");
		text_print(e->out, "%sb%" PRIu32, e->in_blocks ? "." : "",
		           blocks[i]);
		e->in_blocks = true;
	}
	return ferror(e->out) ? 1 : 0;
}

static int print_leave(void *arg, enum twpp_end end)
{
	static const char *const words[] = {"return", "died", "open"};
	struct events *e = arg;

	end_blocks(e);
	text_print(e->out, "%*s%s\n", 2 * --e->depth, "", words[end]);
	return 0;
}

int twpp_text_events(const struct twpp_view *v, FILE *out,
                     struct cairn_err *err)
{
	struct events e = {.v = v, .out = out};
	struct twpp_sink sink = {&e, print_enter, print_blocks, print_leave};
	struct twpp_graph g;
	int rc = 0;

	CAIRN_TRY(twpp_graph_load(&g, v->file, err));
	for (size_t i = 0; i < g.nthreads && !rc; i++) {
		text_print(out, "thread %" PRIu64 "\n", g.threads[i].id);
		rc = twpp_replay(&g, i, &sink, err);
	}
	twpp_graph_release(&g);
	return rc < 0 ? rc : 0;
}
