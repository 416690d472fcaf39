/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports of control flow: what the formats share.  They are written while the
 * trace is walked, since a trace is larger than memory; only the functions and
 * the frames that are open are kept.
 *
 * Invariant: what is written opens and closes frames like parentheses, in order
 * of time, and every thread ends with none open, whatever the caller does.
 */
#include "cli/export.h"

#include "base/alloc.h"
#include "base/json.h"

#include <assert.h>
#include <stdlib.h>

char *export_quote(const char *text)
{
	char *quoted;
	size_t size;
	struct json j = {.out = open_memstream(&quoted, &size)};

	if (!j.out)
		abort();
	json_string(&j, text);
	fclose(j.out);
	return quoted;
}

void export_begin(struct export_writer *x, const struct export_format *format,
                  FILE *out, enum export_clock clock, const char *program,
                  uint64_t pid)
{
	*x = (struct export_writer){.format = format,
	                            .out = out,
	                            .clock = clock,
	                            .program = program,
	                            .pid = pid};
	format->begin(x);
}

uint32_t export_add_function(struct export_writer *x, const char *name,
                             const char *file, uint32_t line)
{
	if (!*name)
		name = "[no name]";
	VEC_RESERVE(x->functions, x->nfunctions, x->functions_cap);
	x->functions[x->nfunctions] = (struct export_function){
	        .name = xstrdup(name),
	        .quoted = export_quote(name),
	        .file = file ? export_quote(file) : NULL,
	        .line = line,
	};
	return x->nfunctions++;
}

static void advance_to(struct export_writer *x, uint64_t time)
{
	if (time <= x->now)
		return;
	if (x->format->spend && x->nframes)
		x->format->spend(x, time - x->now);
	x->now = time;
}

void export_begin_thread(struct export_writer *x, uint64_t tid,
                         const char *name, uint64_t time)
{
	assert(!x->nframes);
	x->tid = tid;
	x->thread = name;
	x->begun = x->now = time;
	x->format->begin_thread(x);
	x->thread = NULL;
	x->nthreads++;
}

void export_enter(struct export_writer *x, uint32_t function, uint64_t time)
{
	assert(function < x->nfunctions);
	advance_to(x, time);
	VEC_RESERVE(x->frames, x->nframes, x->frames_cap);
	x->frames[x->nframes++] = function;
	x->format->enter(x, function);
}

void export_leave(struct export_writer *x, uint64_t time)
{
	assert(x->nframes);
	advance_to(x, time);
	x->format->leave(x, x->frames[--x->nframes]);
}

void export_end_thread(struct export_writer *x, uint64_t time)
{
	while (x->nframes)
		export_leave(x, time);
	advance_to(x, time);
	x->format->end_thread(x);
}

void export_end(struct export_writer *x)
{
	assert(!x->nframes);
	x->format->end(x);
	for (uint32_t i = 0; i < x->nfunctions; i++) {
		free(x->functions[i].name);
		free(x->functions[i].quoted);
		free(x->functions[i].file);
	}
	free(x->functions);
	free(x->frames);
	*x = (struct export_writer){0};
}
