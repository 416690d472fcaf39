/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timestamped whole program path as JSON: what twpp_text.c prints, all of it
 * for --function and --json alone, and without a bound on rows.
 */
#include "cli/twpp.h"

#include "analysis/twpp_form.h"
#include "base/err.h"
#include "base/json.h"
#include "cli/side.h"

#include <stdlib.h>

#define JSON_VERSION 1

static void put_name(const struct twpp_view *v, struct json *j,
                     const struct twpp_entry *e)
{
	char *name = twpp_name(v, e);

	side_json_string(j, "name", name);
	side_json_u64(j, "function", e->function);
	free(name);
}

static void put_sizes(const struct twpp *t, struct json *j)
{
	const struct twpp_sizes *z = &t->sizes;

	side_json_u64(j, "calls", z->ncalls);
	side_json_u64(j, "blocks", z->nblocks);
	side_json_u64(j, "unique_traces", z->ntraces);
	side_json_u64(j, "graph_nodes", z->dcg_nodes);
	side_json_u64(j, "raw_bytes", twpp_raw(z));
	json_key(j, "trace_bytes");
	json_begin(j, '{');
	side_json_u64(j, "all", 4 * z->nblocks);
	side_json_u64(j, "unique", 4 * z->unique_words);
	side_json_u64(j, "dictionaries_applied", 4 * z->dbb_words);
	side_json_u64(j, "timestamps", 4 * z->stamp_words);
	json_end(j, '}');
	json_key(j, "plain_bytes");
	json_begin(j, '{');
	side_json_u64(j, "graph", 4 * z->dcg_words);
	side_json_u64(j, "dictionaries", 4 * z->dict_words);
	side_json_u64(j, "traces", 4 * z->stamp_words);
	side_json_u64(j, "total", twpp_plain(z));
	json_end(j, '}');
	json_key(j, "file_bytes");
	json_begin(j, '{');
	side_json_u64(j, "header", t->stored.header);
	side_json_u64(j, "graph", t->stored.graph);
	side_json_u64(j, "dictionaries", t->stored.dictionaries);
	side_json_u64(j, "traces", t->stored.traces);
	side_json_u64(j, "total", t->stored.total);
	json_end(j, '}');
	json_key(j, "dynamic_cfgs");
	json_begin(j, '{');
	side_json_u64(j, "nodes", z->nodes);
	side_json_u64(j, "edges", z->edges);
	side_json_u64(j, "timestamps", z->stamps);
	side_json_u64(j, "series", z->runs);
	json_end(j, '}');
}

static void put_access(const struct twpp_access *a, struct json *j)
{
	json_key(j, "access_ms");
	json_begin(j, '{');
	side_json_u64(j, "functions", a->nfunctions);
	side_json_real(j, "load_mean", a->load_mean);
	side_json_real(j, "load_worst", a->load_worst);
	side_json_real(j, "mean", a->mean);
	side_json_real(j, "worst", a->worst);
	json_end(j, '}');
}

static void put_shares(const struct twpp *t, struct json *j)
{
	json_key(j, "calls_within");
	json_begin(j, '[');
	for (unsigned i = 0; i < TWPP_NSHARES; i++) {
		json_begin(j, '{');
		json_key(j, "unique_traces");
		json_count(j, twpp_shares[i], i + 1 < TWPP_NSHARES);
		side_json_u64(j, "calls", twpp_calls_within(t, twpp_shares[i]));
		json_end(j, '}');
	}
	json_end(j, ']');
}

void twpp_json(const struct twpp_view *v, FILE *out)
{
	struct json j = {.out = out, .flat_below = 2};
	const struct twpp *t = v->file;

	json_begin(&j, '{');
	side_json_u64(&j, "version", JSON_VERSION);
	put_sizes(t, &j);
	if (v->access)
		put_access(v->access, &j);
	put_shares(t, &j);
	json_key(&j, "functions");
	json_begin(&j, '[');
	for (uint32_t i = 0; i < t->nentries; i++) {
		const struct twpp_entry *e = &t->entries[i];

		json_begin(&j, '{');
		put_name(v, &j, e);
		side_json_u64(&j, "cfg_blocks", e->nblocks);
		side_json_u64(&j, "cfg_edges", e->nedges);
		side_json_u64(&j, "calls", e->ncalls);
		side_json_u64(&j, "unique_traces", e->ntraces);
		side_json_u64(&j, "bytes", e->size);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
}

/* --- one function ------------------------------------------------------- */

static void put_form_node(struct json *j, const struct twpp_form *g, size_t i)
{
	const struct twpp_form_node *node = &g->nodes[i];
	char *times = twpp_series_text(&node->times);
	const struct twpp_edge *to;
	size_t n;

	json_begin(j, '{');
	json_key(j, "blocks");
	json_begin(j, '[');
	for (size_t k = 0; k < node->nblocks; k++)
		json_u64(j, node->blocks[k]);
	json_end(j, ']');
	side_json_u64(j, "count", node->times.count);
	side_json_string(j, "timestamps", times);
	json_key(j, "to");
	json_begin(j, '[');
	to = twpp_form_out(g, i, &n);
	for (size_t k = 0; k < n; k++) {
		json_begin(j, '{');
		side_json_u64(j, "node", to[k].to);
		side_json_u64(j, "count", to[k].count);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
	free(times);
}

static int put_trace(struct json *j, struct twpp_function *f, size_t i,
                     struct cairn_err *err)
{
	struct twpp_form g;

	CAIRN_TRY(twpp_form_read(&g, f, i, err));
	json_begin(j, '{');
	side_json_u64(j, "trace", i + 1);
	side_json_u64(j, "calls", f->traces[i].ncalls);
	side_json_u64(j, "timestamps", g.n);
	json_key(j, "nodes");
	json_begin(j, '[');
	for (size_t k = 0; k < g.nnodes; k++)
		put_form_node(j, &g, k);
	json_end(j, ']');
	json_end(j, '}');
	twpp_form_release(&g);
	return 0;
}

int twpp_json_function(const struct twpp_view *v, struct twpp_function *f,
                       FILE *out, struct cairn_err *err)
{
	struct json j = {.out = out, .flat_below = 5};
	uint32_t *order = twpp_sort_traces(f);
	int rc = 0;

	json_begin(&j, '{');
	side_json_u64(&j, "version", JSON_VERSION);
	put_name(v, &j, f->entry);
	side_json_u64(&j, "calls", f->entry->ncalls);
	json_key(&j, "traces");
	json_begin(&j, '[');
	for (size_t i = 0; i < f->ntraces && !rc; i++)
		rc = put_trace(&j, f, order[i], err);
	json_end(&j, ']');
	json_end(&j, '}');
	free(order);
	return rc;
}

/* --- occurrences -------------------------------------------------------- */

void twpp_json_hits(const struct twpp_view *v, const struct twpp_hits *h,
                    FILE *out)
{
	struct json j = {.out = out, .flat_below = 2};

	(void)v;
	json_begin(&j, '{');
	side_json_u64(&j, "version", JSON_VERSION);
	side_json_string(&j, "path", h->text);
	side_json_u64(&j, "count", h->n);
	json_key(&j, "occurrences");
	json_begin(&j, '[');
	for (size_t i = 0; i < h->nitems; i++) {
		const struct twpp_hit *hit = &h->items[i];

		json_begin(&j, '{');
		side_json_u64(&j, "thread", hit->thread);
		side_json_u64(&j, "blocks_so_far", hit->when);
		json_key(&j, "parts");
		json_begin(&j, '[');
		for (size_t k = 0; k < h->path->nparts; k++) {
			json_begin(&j, '{');
			side_json_u64(&j, "activation",
			              hit->sites[k].activation);
			side_json_u64(&j, "at", hit->sites[k].at);
			json_end(&j, '}');
		}
		json_end(&j, ']');
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
}
