/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a trace to its timestamped form: the walk over each thread feeds one
 * builder.  A stream that serves one thread after the other is as many threads
 * there: the first has the number of the stream, as cairn trace shows it, the
 * others get numbers behind those of all streams.  Who enters no function is no
 * thread.  Functions of one name, static ones of several sources, are told
 * apart by their files.
 */
#include "cli/twpp.h"

#include "analysis/twpp.h"
#include "base/alloc.h"
#include "base/err.h"
#include "cli/cli.h"
#include "cli/trace_input.h"
#include "cli/trace_view.h"
#include "format/map.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 1024

struct feeder {
	struct twpp_builder *builder;
	struct twpp_thread *thread; /* NULL: its next frame begins one ... */
	uint64_t next;              /* ... with this number, ... */
	uint64_t last;              /* ... which is none of those up to here */
};

/* What comes is of another thread. */
static void end_thread(struct feeder *f)
{
	if (f->thread)
		f->next = f->last + 1;
	f->thread = NULL;
}

static int feed_frame(struct feeder *f, uint32_t function,
                      struct cairn_err *err)
{
	if (!f->thread) {
		f->thread = twpp_thread(f->builder, f->next);
		if (f->next > f->last)
			f->last = f->next;
	}
	return twpp_enter(f->thread, function, err);
}

static int feed_event(struct feeder *f, const struct walk_event *e,
                      struct cairn_err *err)
{
	switch (e->kind) {
	case WALK_START:
	case WALK_LOST: /* the frames so far have no end */
		end_thread(f);
		return 0;
	case WALK_ENTER:
	case WALK_FRAME:
		return feed_frame(f, e->function, err);
	case WALK_PATH:
		return twpp_blocks(f->thread, e->way->blocks + e->nskipped,
		                   e->way->nblocks - e->nskipped, err);
	case WALK_LEAVE:
	case WALK_DEATH:
		return twpp_leave(f->thread, e->kind == WALK_DEATH, err);
	default:
		return 0;
	}
}

static int feed_thread(struct feeder *f, struct traced *t, size_t thread,
                       struct trace_way *way, struct cairn_err *err)
{
	struct walk_event *events = xcalloc(BATCH, sizeof(*events));
	struct traced_walk w;
	int rc = 1;

	f->thread = NULL;
	f->next = t->streams->threads[thread].id;
	traced_begin(&w, t, thread);
	while (rc > 0) {
		size_t n;
		int fed = 0;

		rc = walk_run(&w.walk, events, BATCH, &n, err);
		for (size_t i = 0; i < n && fed == 0; i++)
			fed = feed_event(f, &events[i], err);
		if (fed < 0)
			rc = fed;
		trace_way_tell(way, &w);
	}
	traced_end(&w);
	free(events);
	return rc;
}

/* --- names --------------------------------------------------------------- */

static int by_name(const void *a, const void *b, void *traced)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(traced_name(traced, x), traced_name(traced, y));

	return order ? order : (x > y) - (x < y);
}

/* The name with the source file before it, if that is known. */
static char *name_with_file(const struct trace_input *in, uint32_t function,
                            bool in_full)
{
	const char *name = traced_name(&in->traced, function), *file;
	uint32_t line;

	file = trace_input_file(in, function, &line);
	if (!file || !*file)
		return xstrdup(name);
	return xasprintf("%s:%s", in_full ? file : trace_base(file), name);
}

/* n functions of one name: by FILE:NAME, with the whole path of the file if its
 * last part is no help. */
static void name_apart(const struct trace_input *in, const uint32_t *functions,
                       size_t n, char **names)
{
	bool in_full = false;

	for (size_t i = 0; i < n; i++) {
		uint32_t f = functions[i];

		names[f] = name_with_file(in, f, false);
		for (size_t k = 0; k < i && !in_full; k++)
			in_full = !strcmp(names[f], names[functions[k]]);
	}
	for (size_t i = 0; i < n && in_full; i++) {
		free(names[functions[i]]);
		names[functions[i]] = name_with_file(in, functions[i], true);
	}
}

/* Per function its name, if several have that of the linker; the caller frees
 * all. */
static char **names_apart(struct trace_input *in)
{
	uint32_t n = in->traced.n, end;
	uint32_t *order = xcalloc((size_t)n + 1, sizeof(*order));
	char **names = xcalloc((size_t)n + 1, sizeof(*names));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_name, &in->traced);
	for (uint32_t i = 0; i < n; i = end) {
		for (end = i + 1;
		     end < n && !strcmp(traced_name(&in->traced, order[i]),
		                        traced_name(&in->traced, order[end]));)
			end++;
		if (end - i > 1)
			name_apart(in, order + i, end - i, names);
	}
	free(order);
	return names;
}

static int finish(struct twpp_builder *b, struct trace_input *in,
                  struct bytes *out, struct cairn_err *err)
{
	const struct traced *t = &in->traced;
	struct twpp_source *sources =
	        xcalloc((size_t)t->n + 1, sizeof(*sources));
	char **names = names_apart(in);
	int rc;

	for (uint32_t i = 0; i < t->n; i++)
		sources[i] = (struct twpp_source){
		        .name = names[i] ? names[i] : traced_name(t, i),
		        .nblocks = t->functions[i].f->nblocks,
		        .nedges = t->functions[i].f->nedges,
		};
	rc = twpp_finish(b, sources, t->n, out, err);
	for (uint32_t i = 0; i < t->n; i++)
		free(names[i]);
	free(names);
	free(sources);
	return rc;
}

/* The functions of this name, as a file without any call knows them.  1 if
 * there is none. */
static int select_functions(struct twpp_builder *b, struct trace_input *in,
                            const char *name, struct cairn_err *err)
{
	struct twpp_builder *none = twpp_new();
	struct bytes bytes = {0};
	struct twpp file;
	struct twpp_path p;
	int rc = finish(none, in, &bytes, err);

	twpp_free(none);
	if (!rc)
		rc = twpp_open_bytes(&file, bytes.data, bytes.n, in->path, err);
	if (!rc) {
		twpp_name_readably(&file);
		rc = twpp_path_name(&p, &file, name, err);
		if (!rc) {
			struct twpp_part *part = &p.parts[0];

			for (size_t i = 0; i < part->nentries; i++)
				part->entries[i] =
				        file.entries[part->entries[i]].function;
			twpp_only(b, part->entries, part->nentries);
			twpp_path_release(&p);
		}
		twpp_close(&file);
	}
	bytes_release(&bytes);
	return rc == CAIRN_E_ABSENT ? 1 : rc;
}

int twpp_from_trace(struct cli_inputs *in, char *path, const char *function,
                    struct bytes *out, struct cairn_err *err)
{
	struct trace_input trace;
	struct feeder f = {0};
	struct trace_way way;
	int rc;

	CAIRN_TRY(trace_input_try(&trace, in, path, true, err));
	f.builder = twpp_new();
	for (size_t i = 0; i < trace.streams.nthreads; i++)
		if (trace.streams.threads[i].id > f.last)
			f.last = trace.streams.threads[i].id;
	rc = function ? select_functions(f.builder, &trace, function, err) : 0;
	trace_way_begin(&way, &trace.streams, "stamping the trace", false);
	for (size_t i = 0; i < trace.streams.nthreads && rc == 0; i++)
		rc = feed_thread(&f, &trace.traced, i, &way, err);
	progress_end(&way.progress);
	if (rc == 0)
		rc = finish(f.builder, &trace, out, err);
	twpp_free(f.builder);
	trace_input_close(&trace);
	return rc;
}
