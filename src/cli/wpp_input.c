/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a trace to its whole program path: the walk gives paths that also end at
 * calls, and calls and returns between them, in the order of time (Larus 1999;
 * papers of 2001, section 1).  A symbol is added when it first comes.
 */
#include "cli/wpp.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/ptrmap.h"
#include "cli/trace_input.h"
#include "format/map.h"
#include "format/profile.h"

#include <stdlib.h>

#define BATCH 1024

struct wpp_feeder {
	struct wpp *w;
	const struct trace_input *trace;
	struct ptrmap paths; /* way -> symbol */
	uint32_t *npaths;    /* per function */
	uint32_t *marks[3];  /* per function: 0, or 1 + symbol */
};

static uint64_t weight_of(const struct trace_input *in, uint32_t function,
                          const struct walk_way *way)
{
	const struct traced_function *f = &in->traced.functions[function];
	uint64_t n = 0;

	for (uint32_t i = 0; i < way->nblocks; i++)
		n += f->map->blocks[f->f->first_block + way->blocks[i]]
		             .ninstructions;
	return n;
}

static uint32_t path_symbol(struct wpp_feeder *f, const struct walk_event *e)
{
	uint32_t symbol = ptrmap_get(&f->paths, e->way);

	if (symbol != PTRMAP_NONE)
		return symbol;
	symbol = wpp_add(
	        f->w,
	        (struct wpp_symbol){
	                .kind = WPP_PATH,
	                .function = f->trace->names[e->function],
	                .lines = trace_lines(f->trace, e->function,
	                                     e->way->blocks, e->way->nblocks),
	                .number = f->npaths[e->function]++,
	                .weight = weight_of(f->trace, e->function, e->way),
	        });
	ptrmap_set(&f->paths, e->way, symbol);
	return symbol;
}

static uint32_t mark_symbol(struct wpp_feeder *f, enum wpp_kind kind,
                            uint32_t function)
{
	uint32_t *known = &f->marks[kind - WPP_CALL][function];

	if (!*known)
		*known = 1 +
		         wpp_add(f->w,
		                 (struct wpp_symbol){
		                         .kind = kind,
		                         .function = f->trace->names[function],
		                 });
	return *known - 1;
}

static void feed_event(struct wpp_feeder *f, const struct walk_event *e)
{
	switch (e->kind) {
	case WALK_START:
	case WALK_LOST:
		wpp_begin_thread(f->w);
		break;
	case WALK_ENTER:
	case WALK_FRAME:
		wpp_push(f->w, mark_symbol(f, WPP_CALL, e->function));
		break;
	case WALK_PATH:
		wpp_push(f->w, path_symbol(f, e));
		break;
	case WALK_LEAVE:
		wpp_push(f->w, mark_symbol(f, WPP_RETURN, e->function));
		break;
	case WALK_DEATH:
		wpp_push(f->w, mark_symbol(f, WPP_DEATH, e->function));
		break;
	default:
		break;
	}
}

static int feed_thread(struct wpp_feeder *f, struct traced *t, size_t thread,
                       struct trace_way *way, struct cairn_err *err)
{
	struct walk_event *events = xcalloc(BATCH, sizeof(*events));
	struct traced_walk w;
	int rc = 1;

	traced_begin(&w, t, thread);
	while (rc > 0) {
		size_t n;

		rc = walk_run(&w.walk, events, BATCH, &n, err);
		for (size_t i = 0; i < n; i++)
			feed_event(f, &events[i]);
		trace_way_tell(way, &w);
	}
	traced_end(&w);
	free(events);
	return rc;
}

int wpp_from_trace(struct wpp *w, struct trace_input *trace,
                   struct cairn_err *err)
{
	struct wpp_feeder f = {.w = w, .trace = trace};
	struct trace_way way;
	int rc = 0;

	w->program = trace->profile->program;
	f.npaths = xcalloc((size_t)trace->traced.n + 1, sizeof(*f.npaths));
	for (int i = 0; i < 3; i++)
		f.marks[i] =
		        xcalloc((size_t)trace->traced.n + 1, sizeof(**f.marks));
	trace_way_begin(&way, &trace->streams, "making the grammar", false);
	for (size_t i = 0; i < trace->streams.nthreads && rc == 0; i++)
		rc = feed_thread(&f, &trace->traced, i, &way, err);
	progress_end(&way.progress);
	ptrmap_release(&f.paths);
	free(f.npaths);
	for (int i = 0; i < 3; i++)
		free(f.marks[i]);
	return rc;
}
