/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow for other tools: frames that begin and end, by the clock that
 * the user wants.  A stream that several threads wrote, one after the other, is
 * several threads there; one that has no frames is none.
 */
#include "cli/trace_view.h"

#include "cli/export.h"

#include <inttypes.h>

static uint64_t time_of(const struct trace_view *v, uint64_t block)
{
	return v->writer->clock == EXPORT_NANOSECONDS
	               ? trace_view_time(v, block)
	               : block;
}

/* With its first frame, as of when it began. */
static void enter_frame(struct trace_view *v, uint32_t function)
{
	if (!v->is_open)
		export_begin_thread(v->writer, v->tid, NULL, v->begun);
	v->is_open = true;
	export_enter(v->writer, function, v->now);
}

static void finish_thread(struct trace_view *v)
{
	if (v->is_open)
		export_end_thread(v->writer, v->now);
	v->is_open = false;
}

static void export_begin_stream(struct trace_view *v)
{
	const struct trace_options *o = v->o;
	uint64_t block = 0;

	if (o->from.is_given)
		block = o->from.is_time
		                ? trace_index_block(
		                          &v->in->index.threads[v->thread],
		                          o->from.value)
		                : o->from.value;
	v->now = v->begun = time_of(v, block);
	v->tid = v->in->streams.threads[v->thread].id;
}

static void export_resume(struct trace_view *v, uint32_t function, size_t depth)
{
	(void)depth;
	enter_frame(v, function);
}

static void export_event(struct trace_view *v, const struct reader_event *event)
{
	const struct walk_event *e = &event->e;

	v->now = time_of(v, event->block + walk_nblocks(e));
	if (e->kind == WALK_START) {
		finish_thread(v);
		v->tid = e->value;
		v->begun = v->now;
		return;
	}
	while (e->kind == WALK_LOST && v->writer->nframes)
		export_leave(v->writer, v->now);
	if (e->kind == WALK_ENTER || e->kind == WALK_FRAME)
		enter_frame(v, e->function);
	if ((e->kind == WALK_LEAVE || e->kind == WALK_DEATH) &&
	    v->writer->nframes)
		export_leave(v->writer, v->now);
}

const struct trace_form trace_export = {
        .begin_thread = export_begin_stream,
        .resume = export_resume,
        .event = export_event,
        .end_thread = finish_thread,
};
