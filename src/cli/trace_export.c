/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow for other tools: frames that begin and end, by the clock that
 * the user wants.  A stream that several threads wrote, one after the other, is
 * several threads there.
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

static void begin_thread(struct trace_view *v, uint64_t tid, uint64_t time)
{
	if (v->is_open)
		return;
	export_begin_thread(v->writer, tid, NULL, time);
	v->is_open = true;
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
	v->now = time_of(v, block);
}

static void export_resume(struct trace_view *v, uint32_t function, size_t depth)
{
	(void)depth;
	begin_thread(v, v->in->streams.threads[v->thread].id, v->now);
	export_enter(v->writer, function, v->now);
}

static void export_event(struct trace_view *v, const struct reader_event *event)
{
	const struct walk_event *e = &event->e;

	v->now = time_of(v, event->block + walk_nblocks(e));
	if (e->kind == WALK_START) {
		finish_thread(v);
		begin_thread(v, e->value, v->now);
		return;
	}
	begin_thread(v, v->in->streams.threads[v->thread].id, v->now);
	while (e->kind == WALK_LOST && v->writer->nframes)
		export_leave(v->writer, v->now);
	if (e->kind == WALK_ENTER || e->kind == WALK_FRAME)
		export_enter(v->writer, e->function, v->now);
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
