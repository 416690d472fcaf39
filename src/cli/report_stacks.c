/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as folded stacks (flamegraph.pl, inferno, speedscope) and as
 * speedscope's own format, of type "sampled".  Counts have stacks as far as
 * they prove them: a function stands below its caller if that is the only one
 * that ever called it, and what was inlined below what it was inlined into.
 * Whatever several functions call is a stack of its own.  Traces have all
 * stacks: cairn trace --export.
 */
#include "cli/costs.h"

#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/export.h"
#include "cli/report.h"
#include "format/profile.h"
#include "format/strtab.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Stacks as text; those that look alike are one. */
struct folder {
	const struct report *r;
	struct strtab stacks;
	uint64_t *weights;
	size_t weights_cap;
};

static void fold(void *context, const struct frame_name *frames, size_t n,
                 uint64_t instructions)
{
	struct folder *f = context;
	uint32_t known = f->stacks.n, at;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out) {
		text_print(stderr, "cairn: out of memory\n");
		exit(2);
	}
	for (size_t i = 0; i < n; i++) {
		char *name = report_name(f->r, frames[i].name);

		export_put_folded(out, name);
		free(name);
		if (i + 1 < n)
			putc(';', out);
	}
	fclose(out);
	at = strtab_add(&f->stacks, text, size);
	free(text);
	if (at == known) {
		VEC_RESERVE(f->weights, known, f->weights_cap);
		f->weights[at] = 0;
	}
	f->weights[at] += instructions;
}

void report_folded(const struct report *r, FILE *out)
{
	struct folder f = {.r = r};

	costs_stacks(r, fold, &f);
	for (uint32_t i = 0; i < f.stacks.n; i++)
		text_print(out, "%s %" PRIu64 "\n", f.stacks.items[i],
		           f.weights[i]);
	strtab_release(&f.stacks);
	free(f.weights);
}

/* --- speedscope ------------------------------------------------------------
 */

struct scope {
	const struct report *r;
	struct strtab keys;  /* name and file of each frame */
	struct strtab known; /* stacks: those that look alike are one */
	struct frame_name *frames;
	size_t frames_cap;
	uint32_t *samples; /* frames of all stacks, one behind the other */
	size_t nsamples, samples_cap;
	struct sample {
		size_t first, n;
		uint64_t weight;
	} * stacks;
	size_t n, cap;
};

static uint32_t frame_of(struct scope *s, const struct frame_name *f)
{
	char *key = xasprintf("%s\n%s", f->name, f->file);
	uint32_t n = s->keys.n, at = strtab_add(&s->keys, key, strlen(key));

	free(key);
	if (at == n) {
		VEC_RESERVE(s->frames, n, s->frames_cap);
		s->frames[at] = *f;
	}
	return at;
}

/* The stack as text: a strtab has no NULs. */
static uint32_t stack_of(struct scope *s, const uint32_t *frames, size_t n)
{
	char *text = xmalloc(n * 11 + 1);
	size_t used = 0;
	uint32_t at;

	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(text + used, 12, "%" PRIu32 ";",
		                         frames[i]);
	at = strtab_add(&s->known, text, used);
	free(text);
	return at;
}

static void take(void *context, const struct frame_name *frames, size_t n,
                 uint64_t instructions)
{
	struct scope *s = context;
	size_t first = s->nsamples;
	uint32_t at;

	for (size_t i = 0; i < n; i++) {
		VEC_RESERVE(s->samples, s->nsamples, s->samples_cap);
		s->samples[s->nsamples++] = frame_of(s, &frames[i]);
	}
	at = stack_of(s, s->samples + first, n);
	if (at < s->n) {
		s->stacks[at].weight += instructions;
		s->nsamples = first;
		return;
	}
	VEC_RESERVE(s->stacks, s->n, s->cap);
	s->stacks[s->n++] = (struct sample){first, n, instructions};
}

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

static void put_frames(struct json *j, const struct scope *s)
{
	json_key(j, "shared");
	json_begin(j, '{');
	json_key(j, "frames");
	json_begin(j, '[');
	for (uint32_t i = 0; i < s->keys.n; i++) {
		const struct frame_name *f = &s->frames[i];
		char *name = report_name(s->r, f->name);

		json_begin(j, '{');
		put_string(j, "name", name);
		if (*f->file)
			put_string(j, "file", report_path(s->r, f->file));
		if (*f->file && f->line)
			put_u64(j, "line", f->line);
		json_end(j, '}');
		free(name);
	}
	json_end(j, ']');
	json_end(j, '}');
}

static void put_profile(struct json *j, const struct scope *s)
{
	uint64_t total = 0;

	json_begin(j, '{');
	put_string(j, "type", "sampled");
	put_string(j, "name", "executed IR instructions");
	put_string(j, "unit", "none");
	json_key(j, "samples");
	json_begin(j, '[');
	for (size_t i = 0; i < s->n; i++) {
		json_begin(j, '[');
		for (size_t k = 0; k < s->stacks[i].n; k++)
			json_u64(j, s->samples[s->stacks[i].first + k]);
		json_end(j, ']');
	}
	json_end(j, ']');
	json_key(j, "weights");
	json_begin(j, '[');
	for (size_t i = 0; i < s->n; i++) {
		json_u64(j, s->stacks[i].weight);
		total += s->stacks[i].weight;
	}
	json_end(j, ']');
	put_u64(j, "startValue", 0);
	put_u64(j, "endValue", total);
	json_end(j, '}');
}

void report_speedscope(const struct report *r, FILE *out)
{
	const char *program = r->profile->program;
	struct scope s = {.r = r};
	struct json j = {.out = out, .flat_below = 2};

	costs_stacks(r, take, &s);
	json_begin(&j, '{');
	put_string(&j, "$schema",
	           "https://www.speedscope.app/file-format-schema.json");
	put_string(&j, "exporter", "cairn " CAIRN_VERSION);
	put_string(&j, "name", program ? report_path(r, program) : "cairn");
	put_frames(&j, &s);
	json_key(&j, "profiles");
	json_begin(&j, '[');
	put_profile(&j, &s);
	json_end(&j, ']');
	json_end(&j, '}');
	strtab_release(&s.keys);
	strtab_release(&s.known);
	free(s.frames);
	free(s.samples);
	free(s.stacks);
}
