/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What there is in a trace: per thread and in all, how much was executed and
 * how many bytes that takes.
 */
#include "cli/trace_view.h"

#include "abi/file.h"
#include "base/json.h"
#include "base/text.h"

#include <inttypes.h>

struct total {
	uint64_t nblocks, npaths, ncalls, nbranches, nbytes, nparts, npacked;
	uint64_t nrecords, ndropped;
};

static struct total total_of(const struct trace_input *in, size_t thread)
{
	const struct trace_index_thread *x = &in->index.threads[thread];
	const struct streams_thread *s = &in->streams.threads[thread];
	struct total t = {
	        .nblocks = x->nblocks,
	        .npaths = x->npaths,
	        .ncalls = x->ncalls,
	        .nbranches = x->nbranches,
	        .nbytes = x->nbytes,
	        .nrecords = x->nrecords,
	        .nparts = s->nparts,
	        .ndropped = s->ndropped,
	};

	for (size_t i = 0; i < s->nparts; i++) {
		const struct chunk *k = s->parts[i].chunk;

		t.npacked += k->type == CAIRN_CHUNK_PACKED ? k->aux1 : k->size;
	}
	return t;
}

static void add(struct total *sum, const struct total *t)
{
	sum->nblocks += t->nblocks;
	sum->npaths += t->npaths;
	sum->ncalls += t->ncalls;
	sum->nbranches += t->nbranches;
	sum->nbytes += t->nbytes;
	sum->nrecords += t->nrecords;
	sum->nparts += t->nparts;
	sum->npacked += t->npacked;
	sum->ndropped += t->ndropped;
}

static double bits(const struct total *t, uint64_t nbytes)
{
	return t->nbranches ? 8.0 * (double)nbytes / (double)t->nbranches : 0;
}

static void print_row(FILE *out, const char *name, const struct total *t)
{
	text_print(out,
	           "%-10s %14" PRIu64 " %14" PRIu64 " %12" PRIu64 " %14" PRIu64
	           " %8" PRIu64 " %13" PRIu64 " %13" PRIu64 " %8.3f\n",
	           name, t->nblocks, t->nbranches, t->ncalls, t->npaths,
	           t->nparts, t->nbytes, t->npacked, bits(t, t->npacked));
}

static void print_text(const struct trace_input *in, FILE *out)
{
	struct total sum = {0};

	text_print(out, "%-10s %14s %14s %12s %14s %8s %13s %13s %8s\n",
	           "thread", "blocks", "branches", "calls", "paths", "parts",
	           "bytes", "packed", "bits");
	for (size_t i = 0; i < in->index.nthreads; i++) {
		struct total t = total_of(in, i);
		char name[16];

		snprintf(name, sizeof(name), "%" PRIu32,
		         in->streams.threads[i].id);
		print_row(out, name, &t);
		add(&sum, &t);
	}
	print_row(out, "all", &sum);
	text_print(out, "\nbits: packed ones per executed branch\n");
	if (sum.ndropped)
		text_print(out,
		           "%" PRIu64 " older parts were dropped: a flight "
		           "recorder (trace,last=SIZE) keeps the newest\n",
		           sum.ndropped);
}

static void put_total(struct json *j, const struct total *t)
{
	static const char *const names[] = {"blocks", "branches", "calls",
	                                    "paths",  "records",  "parts",
	                                    "bytes",  "packed"};
	const uint64_t values[] = {t->nblocks, t->nbranches, t->ncalls,
	                           t->npaths,  t->nrecords,  t->nparts,
	                           t->nbytes,  t->npacked};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_key(j, names[i]);
		json_u64(j, values[i]);
	}
	json_key(j, "dropped_parts");
	json_u64(j, t->ndropped);
	json_key(j, "bits_per_branch");
	json_real(j, bits(t, t->npacked));
}

static void print_json(const struct trace_input *in, FILE *out)
{
	struct json j = {.out = out, .flat_below = 2};
	struct total sum = {0};

	json_begin(&j, '{');
	json_key(&j, "threads");
	json_begin(&j, '[');
	for (size_t i = 0; i < in->index.nthreads; i++) {
		struct total t = total_of(in, i);

		json_begin(&j, '{');
		json_key(&j, "thread");
		json_u64(&j, in->streams.threads[i].id);
		put_total(&j, &t);
		json_end(&j, '}');
		add(&sum, &t);
	}
	json_end(&j, ']');
	put_total(&j, &sum);
	json_end(&j, '}');
}

void trace_summary(const struct trace_input *in, bool is_json, FILE *out)
{
	if (is_json)
		print_json(in, out);
	else
		print_text(in, out);
}
