/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events of a trace are shown, and in which order.
 *
 * A selection of moments is one of events, from the first to the last: so
 * backwards the same are shown as forwards.  A selection of functions is one of
 * frames, and for what they call all open frames have to be known: those at the
 * first event are in the walk, and every event then opens one or closes one.
 * Backwards a frame is opened by its end and closed by its beginning.
 *
 * Invariant: frames[] are those that are open at the next event.
 * Cost: that of reading the events; memory for the open frames.
 */
#include "cli/trace_view.h"

#include "analysis/interleave.h"
#include "base/alloc.h"
#include "base/err.h"

#include <fnmatch.h>
#include <stdlib.h>

#define TELL_EVERY 65536

bool trace_view_matches(const struct trace_input *in, const char *glob,
                        uint32_t function)
{
	return !fnmatch(glob, in->names[function], 0) ||
	       !fnmatch(glob, traced_name(&in->traced, function), 0);
}

void trace_view_init(struct trace_view *v, struct trace_input *in,
                     const struct trace_options *o, FILE *out)
{
	*v = (struct trace_view){.in = in, .o = o, .out = out};
	v->is_selected =
	        xcalloc((size_t)in->traced.n + 1, sizeof(*v->is_selected));
	for (uint32_t i = 0; i < in->traced.n; i++)
		v->is_selected[i] =
		        !o->function || trace_view_matches(in, o->function, i);
}

void trace_view_release(struct trace_view *v)
{
	for (size_t i = 0; i < v->texts_cap; i++)
		free(v->texts[i].text);
	free(v->texts);
	free(v->frames);
	free(v->is_selected);
	*v = (struct trace_view){0};
}

uint64_t trace_view_time(const struct trace_view *v, uint64_t block)
{
	return trace_index_time(&v->in->index.threads[v->thread], block);
}

/* --- frames -------------------------------------------------------------- */

static void open_frame(struct trace_view *v, uint32_t function)
{
	const struct trace_options *o = v->o;
	uint64_t level = v->nframes ? v->frames[v->nframes - 1].level : 0;
	struct trace_frame f = {.function = function};

	if (o->function && !o->callees)
		f.level = v->is_selected[function];
	else if (level || v->is_selected[function])
		f.level = level + 1;
	f.is_shown = f.level && (!o->depth || f.level <= o->depth);
	if (o->function && !o->callees && o->depth)
		f.is_shown &= v->nframes < o->depth;
	VEC_RESERVE(v->frames, v->nframes, v->frames_cap);
	v->frames[v->nframes++] = f;
}

/* The frames that the walk has now. */
static void take_frames(struct trace_view *v, const struct walk *w)
{
	v->nframes = 0;
	for (size_t i = 0; i < w->nframes; i++)
		open_frame(v, w->frames[i].function);
}

static bool is_beginning(const struct walk_event *e)
{
	return e->kind == WALK_ENTER || e->kind == WALK_FRAME;
}

static bool is_end(const struct walk_event *e)
{
	return e->kind == WALK_LEAVE || e->kind == WALK_DEATH;
}

static bool is_shown(const struct trace_view *v, const struct walk_event *e)
{
	if (e->kind >= WALK_START) /* of the thread, not of a frame */
		return !v->o->function && !v->o->depth;
	return v->nframes && v->frames[v->nframes - 1].is_shown;
}

static void show(struct trace_view *v, const struct reader_event *event)
{
	if (is_shown(v, &event->e) || event->e.kind == WALK_START ||
	    event->e.kind == WALK_LOST)
		v->form->event(v, event);
}

static void show_next(struct trace_view *v, const struct reader_event *event)
{
	const struct walk_event *e = &event->e;

	if (is_beginning(e))
		open_frame(v, e->function);
	show(v, event);
	if (is_end(e) && v->nframes)
		v->nframes--;
	if (e->kind == WALK_START || e->kind == WALK_LOST)
		v->nframes = 0;
}

static int show_prev(struct trace_view *v, struct reader *r,
                     const struct reader_event *event, struct cairn_err *err)
{
	const struct walk_event *e = &event->e;

	if (is_end(e))
		open_frame(v, e->function);
	show(v, event);
	if (is_beginning(e) && v->nframes)
		v->nframes--;
	if (e->kind != WALK_START && e->kind != WALK_LOST)
		return 0;
	/* what was open before it has no end */
	CAIRN_TRY(reader_seek_event(r, reader_tell(r), err));
	take_frames(v, r->walk);
	return 0;
}

/* --- moments ------------------------------------------------------------- */

static uint64_t block_of(const struct trace_view *v,
                         const struct trace_moment *m)
{
	return m->is_time ? trace_index_block(&v->in->index.threads[v->thread],
	                                      m->value)
	                  : m->value;
}

/* The events that are asked for; the reader is then at the first or, backwards,
 * behind the last one. */
static int find_range(struct trace_view *v, struct reader *r,
                      struct cairn_err *err)
{
	const struct trace_options *o = v->o;

	v->first = 0;
	v->last = UINT64_MAX;
	if (o->from.is_given) {
		CAIRN_TRY(reader_seek(r, block_of(v, &o->from), err));
		v->first = reader_tell(r);
	}
	if (o->to.is_given || o->reverse) {
		CAIRN_TRY(reader_seek(
		        r, o->to.is_given ? block_of(v, &o->to) : UINT64_MAX,
		        err));
		v->last = reader_tell(r);
	}
	if (v->last < v->first)
		v->last = v->first;
	if ((o->to.is_given && !o->reverse) ||
	    (o->reverse && v->last != reader_tell(r)))
		CAIRN_TRY(reader_seek_event(r, o->reverse ? v->last : v->first,
		                            err));
	return 0;
}

/* Every now and then, if it is known how many events there are. */
static void tell_progress(struct trace_view *v, const struct reader *r)
{
	uint64_t at = reader_tell(r), last = v->last;

	if (!v->o->tells_progress || !v->in->has_index || at % TELL_EVERY)
		return;
	if (last > v->in->index.threads[v->thread].nevents)
		last = v->in->index.threads[v->thread].nevents;
	progress_tell(&v->progress, v->o->reverse ? last - at : at - v->first,
	              last - v->first);
}

static int read_forwards(struct trace_view *v, struct reader *r,
                         struct cairn_err *err)
{
	struct reader_event event;
	int result = 1;

	while (reader_tell(r) < v->last && !ferror(v->out) &&
	       (result = reader_next(r, &event, err)) == 1) {
		show_next(v, &event);
		tell_progress(v, r);
	}
	return result < 0 ? result : 0;
}

static int read_backwards(struct trace_view *v, struct reader *r,
                          struct cairn_err *err)
{
	const struct trace_index_thread *x = &v->in->index.threads[v->thread];
	struct reader_event event;
	int result = 1;

	while (reader_tell(r) > v->first && !ferror(v->out) &&
	       (result = reader_prev(r, &event, err)) == 1) {
		CAIRN_TRY(show_prev(v, r, &event, err));
		tell_progress(v, r);
	}
	if (result < 0 || !x->is_broken || v->last < x->nevents)
		return result < 0 ? result : 0;
	if (err) /* it did not begin at the end */
		*err = x->err;
	return x->err.code;
}

static int show_thread(struct trace_view *v, struct cairn_err *err)
{
	struct checkpoints beginning;
	struct traced_walk w;
	struct reader r;
	int result;

	traced_begin(&w, &v->in->traced, v->thread);
	checkpoints_init(&beginning, 0, 0);
	checkpoints_add(&beginning, &w.walk);
	reader_init(&r, &w.walk,
	            v->in->has_index ? &v->in->index.threads[v->thread].points
	                             : &beginning);
	result = find_range(v, &r, err);
	if (result == 0) {
		take_frames(v, &w.walk);
		v->form->begin_thread(v);
		for (size_t i = 0; i < v->nframes; i++)
			if (v->frames[i].is_shown)
				v->form->resume(v, v->frames[i].function, i);
		progress_begin(&v->progress, "writing", v->o->forces_progress);
		result = v->o->reverse ? read_backwards(v, &r, err)
		                       : read_forwards(v, &r, err);
		progress_end(&v->progress);
		v->form->end_thread(v);
	}
	reader_release(&r);
	checkpoints_release(&beginning);
	traced_end(&w);
	return result;
}

/* --- all threads in one order -------------------------------------------- */

/* The open frames of a thread whose turn it is not. */
struct frames {
	struct trace_frame *items;
	size_t n, cap;
};

/* It is another one's turn. */
static void turn_to(struct trace_view *v, struct frames *frames, size_t thread)
{
	struct frames *to = &frames[thread];

	if (thread == v->thread)
		return;
	v->form->end_thread(v);
	frames[v->thread] =
	        (struct frames){v->frames, v->nframes, v->frames_cap};
	v->thread = thread;
	v->frames = to->items;
	v->nframes = to->n;
	v->frames_cap = to->cap;
	*to = (struct frames){0};
}

static void resume_all(struct trace_view *v, const struct interleave *x,
                       struct frames *frames)
{
	for (size_t i = 0; i < x->nlanes; i++) {
		size_t n;
		const uint32_t *open = interleave_open(x, i, &n);

		turn_to(v, frames, i);
		v->nframes = 0;
		for (size_t k = 0; k < n; k++) {
			open_frame(v, open[k]);
			if (v->frames[k].is_shown)
				v->form->resume(v, open[k], k);
		}
	}
}

static int show_interleaved(struct trace_view *v, struct cairn_err *err)
{
	const struct trace_options *o = v->o;
	const struct interleave_range range = {
	        .from = o->from.value,
	        .to = o->to.value,
	        .has_from = o->from.is_given,
	        .has_to = o->to.is_given,
	};
	struct interleave x;
	struct frames *frames;
	struct reader_event event;
	size_t thread;
	int result = 0;

	trace_input_interleave(v->in, &x, &range);
	frames = xcalloc(x.nlanes + 1, sizeof(*frames));
	v->form->begin_thread(v);
	resume_all(v, &x, frames);
	progress_begin(&v->progress, "writing", o->forces_progress);
	while (!ferror(v->out) &&
	       (result = interleave_next(&x, &thread, &event, err)) == 1) {
		turn_to(v, frames, thread);
		show_next(v, &event);
		if (o->tells_progress && x.done % TELL_EVERY == 0)
			progress_tell(&v->progress, x.done, x.all);
	}
	progress_end(&v->progress);
	v->form->end_thread(v);
	for (size_t i = 0; i < x.nlanes; i++)
		free(frames[i].items);
	free(frames);
	interleave_release(&x);
	return result < 0 ? result : 0;
}

int trace_view_run(struct trace_view *v, struct cairn_err *err)
{
	const struct streams *s = &v->in->streams;
	int result = 0;

	if (v->o->interleave)
		return show_interleaved(v, err);
	for (v->thread = 0; v->thread < s->nthreads; v->thread++) {
		int r;

		if (v->o->has_thread &&
		    s->threads[v->thread].id != v->o->thread)
			continue;
		r = show_thread(v, result ? NULL : err);
		if (!result)
			result = r;
	}
	return result;
}
