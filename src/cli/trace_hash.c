/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every thread executed, as one number each: two runs that are equal in it
 * did the same, block by block, and a regenerated trace is right if it has that
 * of a log (analysis/trace_hash.c).
 */
#include "analysis/trace_hash.h"

#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/trace_view.h"

#include <inttypes.h>

static void print_text(const struct trace_input *in, const struct trace_hash *h,
                       FILE *out)
{
	text_print(out, "%-10s %10s %16s  %s\n", "thread", "kernel id",
	           "blocks", "hash");
	for (size_t i = 0; i < h->n; i++)
		text_print(out,
		           "%-10" PRIu32 " %10" PRIu64 " %16" PRIu64
		           "  %016" PRIx64 "\n",
		           in->streams.threads[h->threads[i].stream].id,
		           h->threads[i].tid, h->threads[i].nblocks,
		           h->threads[i].hash);
}

static void print_json(const struct trace_input *in, const struct trace_hash *h,
                       FILE *out)
{
	struct json j = {.out = out, .flat_below = 2};
	char text[17];

	json_begin(&j, '{');
	json_key(&j, "threads");
	json_begin(&j, '[');
	for (size_t i = 0; i < h->n; i++) {
		const struct trace_hash_thread *t = &h->threads[i];

		snprintf(text, sizeof(text), "%016" PRIx64, t->hash);
		json_begin(&j, '{');
		json_key(&j, "thread");
		json_u64(&j, in->streams.threads[t->stream].id);
		json_key(&j, "kernel_id");
		json_u64(&j, t->tid);
		json_key(&j, "blocks");
		json_u64(&j, t->nblocks);
		json_key(&j, "hash");
		json_string(&j, text);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
}

int trace_hashes(struct trace_input *in, const struct trace_options *o,
                 FILE *out, struct cairn_err *err)
{
	const struct streams *s = &in->streams;
	struct trace_hash h = {0};
	int result = 0;

	for (size_t i = 0; i < s->nthreads && !result; i++)
		if (!o->has_thread || s->threads[i].id == o->thread)
			result = trace_hash_add(&h, &in->traced, i, err);
	if (o->json)
		print_json(in, &h, out);
	else
		print_text(in, &h, out);
	trace_hash_release(&h);
	return result;
}
