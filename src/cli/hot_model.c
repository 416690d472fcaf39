/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn paths --model: how much is there in the paths of each function?  The
 * view of chapter 4 of the thesis of 2007 (analysis/model.c): bits per executed
 * path if all paths were alike, if only the probabilities of edges are known,
 * and as measured; and gamma, how many codes per executed path each of the two
 * models needs.
 */
#include "cli/hot.h"

#include "analysis/model.h"
#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"
#include "format/map.h"

#include <inttypes.h>
#include <stdlib.h>

/* Functions whose edges are shown unless the user wants all. */
#define SHOWN_FUNCTIONS 10

/* What the model says of one function. */
struct view {
	const struct hot_function *f;
	struct model measured;
	uint64_t executions;
	double all, edges, paths; /* bits per path */
};

static void view_init(struct view *v, const struct hot_function *f)
{
	uint64_t *counts = xcalloc(f->pc.n, sizeof(*counts));
	struct model uniform;

	*v = (struct view){.f = f};
	for (size_t i = 0; i < f->pc.n; i++) {
		counts[i] = f->pc.items[i].count;
		v->executions += counts[i];
	}
	model_init_uniform(&uniform, &f->pc.paths);
	model_init_measured(&v->measured, &f->pc.paths, f->pc.items, f->pc.n);
	v->all = model_entropy(&uniform);
	v->edges = model_entropy(&v->measured);
	v->paths = model_bits(counts, f->pc.n);
	model_release(&uniform);
	free(counts);
}

static int by_executions(const void *a, const void *b)
{
	const struct view *x = a, *y = b;

	if (x->executions != y->executions)
		return x->executions > y->executions ? -1 : 1;
	return x->f < y->f ? -1 : x->f > y->f;
}

/* Ends a line with what the model does not know of, if anything. */
static void print_only(FILE *out, const struct hot_function *f)
{
	const char *only = hot_only(f);

	if (only)
		text_print(out, "  (from its %s paths only)", only);
	text_print(out, "\n");
}

static void print_view(FILE *out, const struct view *v)
{
	uint64_t n = v->f->pc.n;

	text_print(out,
	           "%20" PRIu64 " %6" PRIu64 " %6.2f %6.2f %6.2f %8.2f %8.2f  "
	           "%s",
	           v->executions, n, v->all, v->edges, v->paths,
	           model_gamma(v->edges, n), model_gamma(v->paths, n),
	           v->f->row->name);
	print_only(out, v->f);
}

static void print_edge(FILE *out, const struct view *v, uint32_t e)
{
	const struct dag_edge *edge = &v->f->pc.paths.dag.edges[e];
	double p = model_probability(&v->measured, e);

	switch (edge->kind) {
	case DAG_STEP:
	case DAG_END:
		putc(' ', out);
		hot_text_way(v->f, out, edge->of);
		text_print(out, " %.3f", p);
		break;
	case DAG_BEGIN:
		text_print(out, " block %" PRIu32 " %.3f", edge->of, p);
		break;
	case DAG_STOP:
		text_print(out, " noreturn %.3f", p);
		break;
	case DAG_GATHER:
	case DAG_SCATTER:
		text_print(out, " goto %" PRIu32 " %.3f", edge->of, p);
		break;
	}
}

/* Where there is a choice that was made: the probabilities of its outcomes. */
static void print_edges(FILE *out, const struct view *v)
{
	const struct dag *d = &v->f->pc.paths.dag;

	text_print(out, "\n%s", v->f->row->name);
	print_only(out, v->f);
	for (uint32_t i = 0; i < d->norder; i++) {
		uint32_t at = d->order[i], file, line = 0;
		uint64_t sum = 0;

		for (uint32_t e = d->out_at[at]; e < d->out_at[at + 1]; e++)
			sum += v->measured.weight[e];
		if (d->out_at[at + 1] - d->out_at[at] < 2 || !sum)
			continue;
		if (at == DAG_START)
			text_print(out, "    begin   ");
		else if (at == dag_hub(d))
			text_print(out, "    gotos   ");
		else
			text_print(out, "    block %-4" PRIu32, at);
		if (at != DAG_START && at < v->f->pc.g->nblocks)
			line = hot_last_line(v->f->row, at, UINT32_MAX, &file);
		if (line)
			text_print(out, " line %" PRIu32 ":", line);
		for (uint32_t e = d->out_at[at]; e < d->out_at[at + 1]; e++) {
			text_print(out, "%s", e > d->out_at[at] ? "," : "");
			print_edge(out, v, e);
		}
		text_print(out, "\n");
	}
}

void hot_model_text(const struct hot *h, FILE *out)
{
	struct view *views = xcalloc(h->nfunctions, sizeof(*views));
	size_t n = 0, shown;

	for (size_t i = 0; i < h->nfunctions; i++)
		if (h->functions[i].pc.n)
			view_init(&views[n++], &h->functions[i]);
	qsort(views, n, sizeof(*views), by_executions);
	shown = n < h->options.top ? n : h->options.top;
	text_print(out,
	           "\nbits per path: all alike, edges as measured, paths as "
	           "measured; gamma of both\n%20s %6s %6s %6s %6s %8s %8s  "
	           "function\n",
	           "executions", "paths", "all", "edges", "paths", "edges",
	           "paths");
	for (size_t i = 0; i < shown; i++)
		print_view(out, &views[i]);
	if (shown < n)
		text_print(out, "%20s (%zu more; --top 0 shows all)\n", "",
		           n - shown);
	for (size_t i = 0;
	     i < shown && (h->options.all_details || i < SHOWN_FUNCTIONS); i++)
		print_edges(out, &views[i]);
	for (size_t i = 0; i < n; i++)
		model_release(&views[i].measured);
	free(views);
}

static void put_real(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_real(j, v);
}

void hot_model_json(const struct hot_function *f, struct json *j)
{
	const struct dag *d = &f->pc.paths.dag;
	struct view v;

	json_key(j, "model");
	if (!f->pc.n) {
		json_string(j, NULL);
		return;
	}
	view_init(&v, f);
	json_begin(j, '{');
	json_key(j, "only");
	json_string(j, hot_only(f));
	put_real(j, "bits_all", v.all);
	put_real(j, "bits_edges", v.edges);
	put_real(j, "bits_paths", v.paths);
	put_real(j, "gamma_edges", model_gamma(v.edges, f->pc.n));
	put_real(j, "gamma_paths", model_gamma(v.paths, f->pc.n));
	json_key(j, "edges");
	json_begin(j, '[');
	for (edge_id e = 0; e < f->pc.g->nedges; e++) {
		json_begin(j, '{');
		json_key(j, "edge");
		json_u64(j, e);
		json_key(j, "probability");
		if (d->edge_of[e] == CFG_NONE)
			json_string(j, NULL);
		else
			json_real(j, model_probability(&v.measured,
			                               d->edge_of[e]));
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
	model_release(&v.measured);
}
