/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flight recorders: where their parts begin.
 *
 * A flight recorder (trace,last=SIZE) packs nothing.  Buffers are made until
 * they take SIZE, and then the oldest full one is the next: what is in the file
 * are the newest parts, as they were written.  Nothing moves, so a part is made
 * and unmade by one store, of its number in its head, and no moment is a bad
 * one to be killed.  Each part but the first begins with marks of the frames
 * that are on the stack, so that reading can begin there; the place where the
 * innermost one writes is in a nop behind its call.  The head has the history
 * that is not written yet.  Cost: no thread, no compression; zeros and a walk
 * over the stack per buffer.
 */
#include "runtime/trace.h"

#include <errno.h>

#include "runtime/sys.h"
#include "runtime/unwind.h"

#define FRAMES_MAX ((size_t)1 << 15) /* that a part begins with */
#define NEAR 12u                     /* frames of ours, before others */
#define MARKS_ROOM ((uintptr_t)2048) /* for a jump */
#define IS_ASYNC ((uint64_t)1 << 63)

/* Innermost first; false if there are more. */
static bool list_stack(struct thread *t, struct unwind *u, size_t max,
                       size_t *n)
{
	enum unwind_result r = UNWIND_OK;

	*n = 0;
	while (r == UNWIND_OK && *n < max) {
		uintptr_t at = u->pc;
		bool is_async = u->is_async;

		u->module = 0;
		r = unwind_step(u, t);
		if (u->module)
			trace.pcs[(*n)++] = at | (is_async ? IS_ASYNC : 0);
	}
	return r == UNWIND_END;
}

/* The place that the code at a return address says, or 0. */
static uint32_t place_at(uintptr_t pc)
{
	const unsigned char *p = (const unsigned char *)pc;
	uint32_t place;

	if (!rt_module_of(pc + 7) || p[0] != 0x0f || p[1] != 0x1f ||
	    p[2] != 0x80)
		return 0;
	place = rt_get32(p + 3);
	return (place & CAIRN_PLACE_TAG_MASK) == CAIRN_PLACE_TAG ? place : 0;
}

static bool is_kind(uint32_t place, uint32_t kind)
{
	return (place & ~CAIRN_PLACE_TAG_MASK) >> CAIRN_PLACE_KIND_SHIFT ==
	       kind;
}

/* Marks the frames of the stack.  Is one of them interrupted? */
static bool put_stack(struct thread *t, const struct stream *s)
{
	size_t max = trace_size_of(s->buffer) / 2 / 5, n, inner = 0;
	uint32_t place = 0;
	struct unwind u;
	bool is_whole_stack, is_async = false;

	rt_zero(&u, sizeof(u));
	unwind_capture(&u);
	is_whole_stack =
	        list_stack(t, &u, max < FRAMES_MAX ? max : FRAMES_MAX, &n);
	for (size_t i = 0; i < n && i < NEAR && !place; i++) {
		if (trace.pcs[i] & IS_ASYNC)
			break;
		place = place_at((uintptr_t)trace.pcs[i]);
		inner = place ? i + 1 : 0;
	}
	if (!is_whole_stack)
		trace_put(CAIRN_TRACE_LOST, 0, 4);
	for (size_t i = n; i-- > inner;) {
		bool is_lost = trace.pcs[i] & IS_ASYNC;

		is_async |= is_lost;
		/* or is it interrupted in a call of ours? */
		is_lost = is_lost || place_at((uintptr_t)trace.pcs[i]);
		trace_put(is_lost ? CAIRN_TRACE_LOST : CAIRN_TRACE_STACK,
		          (uint32_t)trace.pcs[i], 4);
	}
	if (place && !is_kind(place, CAIRN_PLACE_ENTER))
		trace_put(CAIRN_TRACE_RESUME,
		          (uint32_t)trace.pcs[inner - 1] |
		                  (uint64_t)(place & ~CAIRN_PLACE_TAG_MASK)
		                          << 32,
		          8);
	return is_async;
}

/* What who begins to read here has to know. */
static bool put_part(struct thread *t, const struct stream *s, bool is_certain)
{
	unsigned char *p = (unsigned char *)trace_take(5);
	bool is_async = true;

	trace_put(CAIRN_TRACE_START, (uint32_t)t->tid, 4);
	if (s->sync)
		trace_put(CAIRN_TRACE_SYNC, s->sync, 8);
	if (is_certain)
		is_async = put_stack(t, s);
	else
		trace_put(CAIRN_TRACE_LOST, 0, 4);
	rt_put32(p + 1, (uint32_t)(trace_self()->trace_at - (uintptr_t)p - 5));
	p[0] = CAIRN_TRACE_PART;
	return is_async;
}

/* Nobody who was interrupted will store into the buffers that this thread had.
 */
static void let_go(const struct thread *t)
{
	for (struct buffer *b = trace.all; b; b = b->all)
		if (b->held_by == t->serial)
			b->held_by = 0;
}

static void begin_head(const struct buffer *b, uint64_t history)
{
	unsigned char *h = trace_first_of(b);

	h[0] = CAIRN_TRACE_HEAD;
	rt_put64(h + CAIRN_HEAD_BASE, (uint64_t)(uintptr_t)h);
	rt_put64(h + CAIRN_HEAD_AT, trace_self()->trace_at);
	rt_put64(h + CAIRN_HEAD_HISTORY, history);
}

/* turn_page of a flight recorder.  Until the new part has its number the old
 * one is the last, with the history that is not written yet. */
bool trace_turn_head(struct thread *t, struct stream *s, uintptr_t at,
                     bool is_certain)
{
	struct buffer *old = s->buffer, *b;
	uint64_t history = 0;
	bool is_async = false;

	if (!trace.pcs)
		trace.pcs = sys_map_zeros(FRAMES_MAX * sizeof(*trace.pcs));
	b = trace.pcs ? trace_take_buffer() : NULL;
	if (!b)
		return false;
	if (old) {
		history = rt_get64(trace_first_of(old) + CAIRN_HEAD_HISTORY);
		old->used = at - (uintptr_t)trace_first_of(old);
		if (old->used > trace_size_of(old))
			old->used = trace_size_of(old);
	}
	b->chunk->owner = t->serial;
	s->buffer = b;
	trace_attach(s, CAIRN_HEAD_SIZE);
	if (s->nparts && !t->begins)
		is_async = put_part(t, s, is_certain);
	trace_put_time();
	begin_head(b, t->begins ? 0 : history);
	trace_label_head(b, t->serial, ++s->nparts);
	if (!is_async)
		let_go(t);
	if (old) {
		old->held_by = is_async ? t->serial : 0;
		trace_queue(old);
	}
	return true;
}

/* Is a history in these bytes of a buffer, or a place that is not filled? */
static void look_since(const struct buffer *b, size_t at, size_t end,
                       bool *has_history, bool *is_open)
{
	const unsigned char *p = trace_first_of(b);

	*has_history = *is_open = false;
	while (at < end) {
		size_t next = p[at] ? 0 : trace_behind_handed(b, at);

		if (!next && !p[at]) {
			*is_open = true;
			next = at + 1;
		} else if (!next) {
			*has_history |= p[at] < CAIRN_TRACE_MARK;
			next = at + 1 + cairn_trace_behind(p[at]);
		}
		at = next;
	}
}

static void put_held(uint64_t history, uint32_t back)
{
	unsigned char *p = (unsigned char *)trace_take(13);

	p[0] = CAIRN_TRACE_HELD;
	rt_put64(p + 1, history);
	rt_put32(p + 9, back);
}

/*
 * A handler begins, and has interrupted code with a history: writes that.  If
 * the code was just writing it itself, HELD says how far back to look, or,
 * where that is in another part, is not written.  Requires: lock held.
 */
void trace_hold(void)
{
	struct thread *t = rt_self();
	struct stream *s = t ? t->stream : NULL;
	unsigned char *head = trace_self()->trace_head;
	uint64_t history = rt_get64(head + CAIRN_HEAD_HISTORY), at;
	bool has_history, is_open;

	if (history > 1 && trace.last && s && s->buffer &&
	    head == trace_first_of(s->buffer) && !process.is_sealed) {
		at = rt_get64(head + CAIRN_HEAD_AT);
		look_since(s->buffer, at - (uintptr_t)head,
		           trace_self()->trace_at - (uintptr_t)head,
		           &has_history, &is_open);
		if (trace_self()->trace_at + CAIRN_TRACE_ITEM_MAX >=
		            trace_self()->trace_limit &&
		    !has_history && !is_open &&
		    trace_turn_page(t, s, trace_self()->trace_at))
			put_held(history, 0);
		else if (!has_history &&
		         trace_self()->trace_at + CAIRN_TRACE_ITEM_MAX <
		                 trace_self()->trace_limit)
			put_held(history,
			         is_open ? (uint32_t)(trace_self()->trace_at -
			                              at)
			                 : 0);
	}
	rt_put64(trace_self()->trace_head + CAIRN_HEAD_HISTORY, 0);
}

void trace_make_room_for_jump(struct thread *t)
{
	struct stream *s = t->stream;
	uint64_t mask;

	if (!s || !s->buffer)
		return;
	rt_enter_running(&mask);
	if (!trace.is_off && s->buffer && !process.is_sealed &&
	    trace_self()->trace_limit == trace_limit_of(s->buffer) &&
	    trace_self()->trace_at + MARKS_ROOM >= trace_self()->trace_limit &&
	    !trace_turn_page(t, s, trace_self()->trace_at))
		trace_stop(ENOMEM);
	rt_leave(&mask);
}

void trace_turn_before_marks(struct thread *t)
{
	if (trace.last)
		trace_make_room_for_jump(t);
}
