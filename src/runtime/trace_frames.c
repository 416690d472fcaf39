/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces: frames that are taken away by jumps, and those that the child of a
 * fork finds on its stack.
 *
 * The child of a fork begins streams of its own.  What was on the stack of its
 * one thread is marked, frame by frame, outermost first.
 *
 * Cost: a step of the unwinder per frame.
 */
#include "runtime/trace.h"

#include <errno.h>

#include "runtime/finish.h"
#include "runtime/sys.h"
#include "runtime/unwind.h"
#include "runtime/walk.h"

/* --- frames on the stack ---------------------------------------------------
 */

/* Frames in our modules, innermost first: the low bits of their return
 * addresses, or of where they were interrupted. */
struct found {
	uint64_t *pc; /* NULL: they are only counted */
	size_t n;
};

#define INTERRUPTED ((uint64_t)1 << 32)

static void add_found(struct found *f, uint64_t pc)
{
	if (f->pc)
		f->pc[f->n] = pc;
	f->n++;
}

/* From a frame to the one that `sp` lies in, and this, or to the outermost.
 * Where the way is lost an interrupted frame at 0 is added. */
static void find_frames(struct thread *t, const struct unwind *from,
                        uintptr_t sp, struct found *f)
{
	struct unwind u;
	enum unwind_result r;

	unwind_copy(&u, from);
	f->n = 0;
	do {
		uintptr_t lo = u.reg[UNWIND_RSP], at = u.pc;
		bool is_async = u.is_async;

		u.module = 0;
		r = unwind_step(&u, t);
		if (u.module)
			add_found(f,
			          (uint32_t)at | (is_async ? INTERRUPTED : 0));
		if (r == UNWIND_LOST)
			add_found(f, INTERRUPTED);
		if (sp >= lo && sp < u.cfa)
			break;
	} while (r == UNWIND_OK);
}

/* The same, in memory that the caller gives back; false if there is none. */
static bool list_frames(struct thread *t, const struct unwind *from,
                        uintptr_t sp, struct found *f)
{
	f->pc = NULL;
	find_frames(t, from, sp, f);
	f->pc = sys_map_zeros((f->n + 1) * sizeof(*f->pc));
	if (f->pc)
		find_frames(t, from, sp, f);
	return f->pc != NULL;
}

static void drop_frames(struct found *f)
{
	sys3(SYS_munmap, (long)f->pc, (long)((f->n + 1) * sizeof(*f->pc)), 0);
}

/* --- jumps -----------------------------------------------------------------
 */

void trace_on_jump(struct thread *t, const struct unwind *from, uintptr_t sp,
                   uintptr_t pc)
{
	struct unwind u;
	enum unwind_result r;

	trace_turn_before_marks(t);
	unwind_copy(&u, from);
	do {
		uintptr_t lo = u.reg[UNWIND_RSP], at = u.pc;
		bool is_async = u.is_async;

		u.module = 0;
		r = unwind_step(&u, t);
		if (sp >= lo && sp < u.cfa)
			break;
		if (u.module)
			trace_on_mark(t,
			              is_async ? CAIRN_TRACE_CUT
			                       : CAIRN_TRACE_DEATH,
			              at);
	} while (r == UNWIND_OK);
	if (rt_module_of(pc - 1))
		trace_on_mark(t, CAIRN_TRACE_LAND, pc);
}

/* No handler writes in between: its items are not taken back. */
void trace_on_jump_for_now(struct thread *t, const struct unwind *from,
                           uintptr_t sp, uintptr_t pc)
{
	struct stream *s = t->stream;
	uint64_t mask;

	sys_block_signals(&mask);
	trace_make_room_for_jump(t);
	s->jump.part = s->nparts;
	s->jump.from = (unsigned char *)trace_self()->trace_at;
	trace_on_jump(t, from, sp, pc);
	s->jump.to = s->jump.part == s->nparts
	                     ? (unsigned char *)trace_self()->trace_at
	                     : s->jump.from;
	sys_restore_signals(&mask);
}

/* As if the jump had not been tried.  False: its marks are no longer in the
 * buffer. */
static bool take_back_marks(const struct stream *s)
{
	if (!s->buffer || s->jump.part != s->nparts ||
	    s->jump.from == s->jump.to)
		return false;
	for (unsigned char *p = s->jump.from; p < s->jump.to; p++)
		*(volatile unsigned char *)p = CAIRN_TRACE_PAD;
	return true;
}

/* Where marks cannot be taken back the reader is told where the frames are; it
 * has counted the block that the jump led to, then. */
void trace_on_jump_back(struct thread *t, const struct unwind *from,
                        uintptr_t sp)
{
	struct found f;

	if (take_back_marks(t->stream))
		return;
	if (!list_frames(t, from, sp, &f)) {
		trace_stop(ENOMEM);
		return;
	}
	for (size_t i = f.n; i-- > 0;)
		trace_on_mark(t,
		              i + 1 == f.n            ? CAIRN_TRACE_LAND
		              : f.pc[i] & INTERRUPTED ? CAIRN_TRACE_LOST
		                                      : CAIRN_TRACE_FRAME,
		              (uint32_t)f.pc[i]);
	drop_frames(&f);
}

/* --- fork ------------------------------------------------------------------
 */

/*
 * Of the parent's buffers the child has those of its thread, empty and in its
 * own file (move_to_new_file).  Code that was interrupted may still write into
 * one: then none of them is used any more.
 */
static void sort_buffers(const struct thread *me, bool was_interrupted)
{
	struct buffer *b = trace.all, *next;

	trace_forget_buffers();
	for (; b; b = next) {
		next = b->all;
		if (!me || b->chunk->owner != me->serial)
			continue;
		trace.size += b->chunk->size;
		b->all = trace.all;
		trace.all = b;
		b->used = b->nhanded = 0;
		b->held_by = 0;
		if (was_interrupted)
			continue;
		trace_label(b, 0, 0);
		b->next = trace.free;
		trace.free = b;
	}
}

static void begin_child(void)
{
	trace.nsyncs = 0;
	trace.start = trace_now() - 1;
	for (struct thread *t = process.threads; t; t = t->next)
		if (t->stream) {
			t->stream->buffer = NULL;
			t->stream->nparts = 0;
			t->stream->sync = 0;
			t->stream->is_over = false;
		}
}

/* A mark of the child, with its lock held.  False: there is no room. */
static bool put_in_child(struct thread *t, unsigned mark, uint32_t value)
{
	if (trace_self()->trace_at >= trace_self()->trace_limit &&
	    !trace_turn_page(t, t->stream, trace_self()->trace_at))
		return false;
	trace_put(mark, value, 4);
	return true;
}

static bool put_frames(struct thread *t, const struct found *f)
{
	bool ok = true;

	for (size_t i = f->n; ok && i-- > 0;)
		ok = put_in_child(t,
		                  f->pc[i] & INTERRUPTED ? CAIRN_TRACE_LOST
		                                         : CAIRN_TRACE_FRAME,
		                  (uint32_t)f->pc[i]);
	return ok;
}

void trace_on_fork(struct thread *me, uintptr_t to)
{
	bool has_stream = me && me->stream && me->stream->buffer, ok;
	struct found f;
	struct unwind u;

	sort_buffers(me, me && finish_was_interrupted(me, to));
	begin_child();
	trace_say_whether_ordered();
	if (trace.last)
		out_flag(CAIRN_FILE_LAST, 0);
	trace_self()->trace_head = (unsigned char *)trace_no_head;
	trace_self()->trace_limit = 0;
	if (!has_stream)
		return;
	rt_zero(&u, sizeof(u));
	unwind_capture(&u);
	ok = trace_turn_page(me, me->stream, 0);
	if (ok)
		trace_begin(me);
	if (ok && walk_start(&u, me, to) && list_frames(me, &u, 0, &f)) {
		ok = put_frames(me, &f);
		drop_frames(&f);
	} else if (ok) {
		ok = put_in_child(me, CAIRN_TRACE_LOST, 0);
	}
	if (!ok)
		trace_stop(ENOMEM);
}
