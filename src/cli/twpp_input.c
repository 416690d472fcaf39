/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a trace to its timestamped form: the walk over each thread feeds one
 * builder.  A stream that serves one thread after the other is as many threads
 * there: the first has the number of the stream, as cairn trace shows it, the
 * others get numbers behind those of all streams.  Who enters no function is no
 * thread.
 */
#include "cli/twpp.h"

#include "analysis/twpp.h"
#include "base/alloc.h"
#include "base/err.h"
#include "cli/cli.h"
#include "cli/trace_input.h"
#include "format/map.h"

#include <stdlib.h>

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
                       struct cairn_err *err)
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
	}
	traced_end(&w);
	free(events);
	return rc;
}

static int finish(struct twpp_builder *b, const struct traced *t,
                  struct bytes *out, struct cairn_err *err)
{
	struct twpp_source *sources =
	        xcalloc((size_t)t->n + 1, sizeof(*sources));
	int rc;

	for (uint32_t i = 0; i < t->n; i++)
		sources[i] = (struct twpp_source){
		        .name = traced_name(t, i),
		        .nblocks = t->functions[i].f->nblocks,
		        .nedges = t->functions[i].f->nedges,
		};
	rc = twpp_finish(b, sources, t->n, out, err);
	free(sources);
	return rc;
}

/* The functions of this name, as a file without any call knows them. */
static int select_functions(struct twpp_builder *b, const struct traced *t,
                            const char *path, const char *name,
                            struct cairn_err *err)
{
	struct twpp_builder *none = twpp_new();
	struct bytes bytes = {0};
	struct twpp file;
	struct twpp_path p;
	int rc = finish(none, t, &bytes, err);

	twpp_free(none);
	if (!rc)
		rc = twpp_open_bytes(&file, bytes.data, bytes.n, path, err);
	if (!rc) {
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
	return rc;
}

int twpp_from_trace(struct cli_inputs *in, char *path, const char *function,
                    struct bytes *out, struct cairn_err *err)
{
	struct trace_input trace;
	struct feeder f = {0};
	int rc;

	CAIRN_TRY(trace_input_try(&trace, in, path, true, err));
	f.builder = twpp_new();
	for (size_t i = 0; i < trace.streams.nthreads; i++)
		if (trace.streams.threads[i].id > f.last)
			f.last = trace.streams.threads[i].id;
	rc = function ? select_functions(f.builder, &trace.traced, path,
	                                 function, err)
	              : 0;
	for (size_t i = 0; i < trace.streams.nthreads && rc == 0; i++)
		rc = feed_thread(&f, &trace.traced, i, err);
	if (rc == 0)
		rc = finish(f.builder, &trace.traced, out, err);
	twpp_free(f.builder);
	trace_input_close(&trace);
	return rc;
}
