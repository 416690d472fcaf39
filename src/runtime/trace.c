/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces: the streams of threads, and who writes them to the file.
 *
 * A thread writes its stream (abi/trace.h) into a buffer, a chunk of the mapped
 * file: what is in there survives a SIGKILL.  A full buffer gets a number and
 * is queued; a thread of ours compresses it (zstd), appends that to the file,
 * and the buffer, zeros again, is free for anybody.  All buffers together take
 * no more than a bound (trace,memory=SIZE): who finds none waits, or, where
 * there is no such thread, does the work himself.
 *
 * Nobody but its thread knows where a stream ends.  Zeros are nothing, so the
 * end of a buffer is behind the last byte that is not zero: that serves threads
 * that no longer exist, and the end of the process.
 *
 * Packing is in trace_buffers.c, the ends of threads are in trace_end.c, what
 * becomes of frames on the stack is in trace_frames.c, and parts of flight
 * recorders (trace,last=SIZE), which keep only the newest, in trace_last.c.
 *
 * Invariant: parts of a stream have ascending numbers, and each is in a buffer
 * or packed, or for an instant both.  A buffer that is queued or free is
 * written by nobody.
 * Cost: a system call per buffer, and what zstd takes; where the program has
 * signal handlers, a look at every item of a full buffer.
 */
#include "runtime/trace.h"

#include <errno.h>
#include <time.h>
#include <sys/mman.h>

#include "runtime/sys.h"

#define NOWHERE ((size_t)4096)
#define TICKS 100000u /* of the processor, between looks at the clock */

#define HIDDEN __attribute__((visibility("hidden")))

/* Generated code has another one, if it asks for a flight recorder. */
HIDDEN extern const uint64_t __cairn_trace_last;
HIDDEN __attribute__((weak)) const uint64_t __cairn_trace_last = 0;

/* The same of how much memory it is to take. */
HIDDEN extern const uint64_t __cairn_trace_memory;
HIDDEN __attribute__((weak)) const uint64_t __cairn_trace_memory = TRACE_MEMORY;

uint64_t trace_no_head[CAIRN_HEAD_SIZE / 8];

/* --- streams ------------------------------------------------------------- */

void trace_put(unsigned mark, uint64_t value, unsigned nbytes)
{
	unsigned char *p = (unsigned char *)trace_take(1 + nbytes);

	p[0] = (unsigned char)mark;
	for (unsigned i = 0; i < nbytes; i++)
		p[1 + i] = (unsigned char)(value >> 8 * i);
}

/* Nobody sets this clock. */
uint64_t trace_now(void)
{
	struct timespec t = {0, 0};

	sys3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t ticks(void)
{
	return __builtin_ia32_rdtsc();
}

void trace_put_time(void)
{
	trace_put(CAIRN_TRACE_TIME, trace_now() - trace.start, 8);
	trace_self()->trace_clock = ticks();
}

/* Makes the calling thread write from `used` on. */
void trace_attach(const struct stream *s, size_t used)
{
	trace_self()->trace_at = (uintptr_t)trace_first_of(s->buffer) + used;
	trace_self()->trace_limit = trace_limit_of(s->buffer);
	trace_self()->trace_head = trace.last ? trace_first_of(s->buffer)
	                                      : (unsigned char *)trace_no_head;
}

static struct stream *stream_of(struct thread *t)
{
	if (!t->stream)
		t->stream = out_meta(sizeof(*t->stream));
	return t->stream;
}

/* The place is in the buffer, which is full, then. */
static bool is_in(const struct buffer *b, uintptr_t at)
{
	return b && at >= trace_limit_of(b) &&
	       at < trace_limit_of(b) + TRACE_SLACK;
}

/* The stream gets a new buffer.  Of a flight recorder: is every frame on the
 * stack one that its stream knows of?  Requires: lock held. */
static bool turn_page_of(struct thread *t, struct stream *s, uintptr_t at,
                         bool is_certain)
{
	struct buffer *b = s->buffer;

	if (trace.last)
		return trace_turn_head(t, s, at, is_certain);
	s->buffer = NULL;
	trace_self()->trace_limit = 0;
	if (b) {
		b->used = at - (uintptr_t)trace_first_of(b);
		if (b->used > trace_size_of(b))
			b->used = trace_size_of(b);
		trace_queue(b);
	}
	b = trace_take_buffer();
	if (!b)
		return false;
	trace_label(b, t->serial, ++s->nparts);
	s->buffer = b;
	trace_attach(s, 0);
	trace_put_time();
	return true;
}

bool trace_turn_page(struct thread *t, struct stream *s, uintptr_t at)
{
	return turn_page_of(t, s, at, true);
}

/* What another thread, which is gone, left unfilled nobody will fill. */
static void pad(const struct buffer *b, size_t end)
{
	unsigned char *p = trace_first_of(b);
	size_t at = 0;

	while (at < end) {
		size_t next = p[at] ? 0 : trace_behind_handed(b, at);
		unsigned n = cairn_trace_behind(p[at]);

		if (next) {
			at = next;
		} else if (p[at] && trace_is_whole(p + at, n)) {
			at += 1 + (size_t)n;
		} else {
			p[at++] = CAIRN_TRACE_PAD;
		}
	}
}

/* A thread that has written nothing yet, or not since the end.  Requires: lock
 * held. */
static void go_on(const struct stream *s)
{
	size_t end;

	if (trace_self()->trace_limit == trace_limit_of(s->buffer))
		return;
	end = trace_find_end(s->buffer);
	if (trace.last && end < CAIRN_HEAD_SIZE)
		end = CAIRN_HEAD_SIZE;
	if (end > trace_size_of(s->buffer))
		end = trace_size_of(s->buffer);
	if (trace_may_have_hole())
		pad(s->buffer, end);
	trace_attach(s, end);
}

/* The next number of what orders threads, as a mark has it. */
static uint64_t next_sync(void)
{
	return 2 * __atomic_add_fetch(&trace.nsyncs, 1, __ATOMIC_ACQ_REL) + 1;
}

/* Requires: lock held, the thread has a buffer.  Whoever made it was before. */
void trace_begin(struct thread *t)
{
	t->begins = false;
	trace_watch_end();
	trace_put(CAIRN_TRACE_START, (uint32_t)t->tid, 4);
	t->stream->sync = next_sync();
	trace_put(CAIRN_TRACE_SYNC, t->stream->sync, 8);
	trace_put_time();
}

/* A place for any item, which the caller fills. */
static uintptr_t hand_out(struct buffer *b)
{
	uintptr_t place = trace_take(TRACE_ROOM);

	if (b->nhanded < TRACE_HANDED)
		b->handed[b->nhanded++] = place - (uintptr_t)trace_first_of(b);
	return place;
}

/* For threads that nobody records: always the same bytes. */
static uintptr_t nowhere(void)
{
	static unsigned char bytes[NOWHERE + 2 * TRACE_SLACK];

	trace_self()->trace_head = (unsigned char *)trace_no_head;
	trace_self()->trace_at = (uintptr_t)bytes;
	trace_self()->trace_limit = (uintptr_t)bytes + NOWHERE;
	return (uintptr_t)bytes + NOWHERE + TRACE_SLACK;
}

/* There is no memory for the next part of a stream. */
static uintptr_t lose_rest(struct stream *s)
{
	s->is_over = true;
	out_flag(CAIRN_FILE_TRUNCATED, 0);
	out_say("cannot write the trace of a thread", "", ENOMEM,
	        "the rest of it is lost, the program goes on");
	return nowhere();
}

static const struct trace_hooks hooks;

/* Requires: lock held. */
static uintptr_t room_locked(struct cairn_module *m, uintptr_t at,
                             bool is_certain)
{
	struct thread *t;
	struct stream *s;

	if (process.is_recording)
		rt_refuse("a part of it was compiled with another --cairn",
		          "compile all with --cairn=record");
	rt_ensure_module(m);
	t = process.is_off || m->is_off ? NULL : rt_self_locked();
	s = t ? stream_of(t) : NULL;
	if (!s || s->is_over || trace.is_off)
		return nowhere();
	if (!process.trace) {
		process.trace = &hooks;
		trace.queue_end = &trace.queue;
		trace.start = trace_now() - 1;
		trace_say_whether_ordered();
		trace_watch_ends();
		trace.bound = __cairn_trace_memory;
		trace.last = __cairn_trace_last;
		if (trace.last)
			out_flag(CAIRN_FILE_LAST, 0);
	}
	if (process.is_sealed)
		out_unseal();
	if ((!s->buffer || is_in(s->buffer, at)) &&
	    !turn_page_of(t, s, at, is_certain))
		return lose_rest(s);
	go_on(s);
	if (t->begins)
		trace_begin(t);
	if (trace_self()->trace_at >= trace_self()->trace_limit &&
	    !turn_page_of(t, s, trace_self()->trace_at, is_certain))
		return lose_rest(s);
	return hand_out(s->buffer);
}

uintptr_t core_trace_room(struct cairn_module *m, uintptr_t at)
{
	uint64_t mask;
	uintptr_t place = at;

	rt_enter_running(&mask);
	if (at == CAIRN_TRACE_HOLD)
		trace_hold();
	else
		place = room_locked(m, at, true);
	rt_leave(&mask);
	return place;
}

/* For marks of frames that are about to go, or are gone already. */
static uintptr_t room_for_mark(uintptr_t at)
{
	uint64_t mask;
	uintptr_t place;

	rt_enter_running(&mask);
	place = room_locked(&cairn_module, at, false);
	rt_leave(&mask);
	return place;
}

/* What trace.S calls. */
HIDDEN uintptr_t cairn_module_trace_room(uintptr_t at);
HIDDEN uintptr_t __cairn_core_trace_room(struct cairn_module *m, uintptr_t at);

uintptr_t cairn_module_trace_room(uintptr_t at)
{
	uintptr_t place = __cairn_core_trace_room(&cairn_module, at);

	return place ? place : nowhere();
}

/* --- what the rest of the runtime tells us ------------------------------- */

/* A mark with eight bytes, which are not zero, at a place that was taken. */
static void put_long_at(uintptr_t at, unsigned mark, uint64_t value)
{
	if (at >= trace_self()->trace_limit)
		at = core_trace_room(&cairn_module, at);
	*(volatile unsigned char *)at = (unsigned char)mark;
	__asm__ volatile("movq %1, %0"
	                 : "=m"(*(char(*)[8])(at + 1))
	                 : "r"(value));
}

static void put_long(unsigned mark, uint64_t value)
{
	put_long_at(trace_take(9), mark, value);
}

/*
 * The time.  What stands before the mark happened before the clock was read,
 * what stands behind it was written later: so if a signal handler wrote
 * something in between, the clock is read again.
 */
void trace_put_now(void)
{
	uintptr_t at, was;
	uint64_t ns;

	do {
		at = was = *(volatile uintptr_t *)&trace_self()->trace_at;
		ns = trace_now() - trace.start;
		__asm__ volatile("cmpxchgq %2, %1"
		                 : "+a"(was), "+m"(trace_self()->trace_at)
		                 : "r"(at + 9)
		                 : "memory", "cc");
	} while (was != at);
	put_long_at(at, CAIRN_TRACE_TIME, ns);
}

/* The calling thread is recorded up to here. */
static void cut(struct stream *s)
{
	uint64_t mask;

	rt_enter_running(&mask);
	s->is_over = true;
	nowhere();
	rt_leave(&mask);
}

/*
 * Only threads that have a stream: another one has nothing to order yet, and
 * has a mark when it begins.  When nothing can be written any more each thread
 * stops here, even if its buffer has room: it may have waited for one whose
 * stream has ended, and would stand before what it waited for.
 */
void core_trace_sync(void)
{
	struct thread *t = rt_self();

	if (process.is_recording)
		process.trace->sync();
	if (!t || !t->stream || !t->stream->buffer || t->stream->is_over)
		return;
	if (__atomic_load_n(&trace.is_off, __ATOMIC_RELAXED)) {
		cut(t->stream);
		return;
	}
	t->stream->sync = next_sync();
	put_long(CAIRN_TRACE_SYNC, t->stream->sync);
	if (ticks() - trace_self()->trace_clock > TICKS) {
		trace_self()->trace_clock = ticks();
		trace_put_now();
	}
}

/* --- modules that are gone ------------------------------------------------
 */

/* Nobody else is loaded where its code was.  False if something is there. */
static bool reserve(const struct module *m)
{
	uintptr_t first = m->text & ~(RT_PAGE - 1);
	size_t size = (m->text_end - first + RT_PAGE - 1) & ~(RT_PAGE - 1);
	void *at = (void *)first;
	void *p = sys_map(at, size, PROT_NONE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
	                          MAP_FIXED_NOREPLACE,
	                  -1, 0);

	if (p && p != at) /* a kernel that takes it for a hint */
		sys3(SYS_munmap, (long)p, (long)size, 0);
	return p == at;
}

/*
 * An address in a stream must mean one function.  The same module may come back
 * elsewhere, with another record; so that a program which loads one again and
 * again does not run out of these, half of them are left for who is loaded
 * where it was.
 */
void core_trace_closed(void)
{
	uint64_t mask;

	if (!process.trace)
		return;
	rt_enter(&mask);
	for (uint32_t i = 1; i <= process.nmodules; i++) {
		struct module *m = &process.modules[i];

		if (!m->live && !m->is_reserved && m->text_end > m->text &&
		    process.nmodules < RT_MODULES / 2)
			m->is_reserved = reserve(m);
	}
	rt_leave(&mask);
}

void trace_on_mark(struct thread *t, unsigned mark, uintptr_t address)
{
	unsigned char *p;
	uintptr_t at = trace_take(5);

	(void)t;
	if (at >= trace_self()->trace_limit)
		at = room_for_mark(at);
	p = (unsigned char *)at;
	p[0] = (unsigned char)mark;
	rt_put32(p + 1, (uint32_t)address);
}

/* --- the end ---------------------------------------------------------------
 */

/* All of what is in the buffer of a thread that does not go on. */
static void pack_last(struct stream *s)
{
	struct buffer *b = s->buffer;

	b->used = trace_find_end(b);
	if (b->used > trace_size_of(b))
		b->used = trace_size_of(b);
	s->buffer = NULL;
	trace_pack_here(b);
}

/*
 * The streams so far are complete; who goes on makes a slow call.  If the
 * program may go on, since an exec can fail, or a thread does, buffers stay
 * where they are: parts that are not packed.
 */
static void on_finish(uint32_t how)
{
	struct buffer *b, *next;

	trace_on_stop(rt_self());
	if (how == CAIRN_HOW_UNLOAD)
		trace_forget_ends();
	if (trace.last) { /* all is where it belongs */
		trace_self()->trace_limit = 0;
		trace_self()->trace_head = (unsigned char *)trace_no_head;
		return;
	}
	while ((b = trace_take_queued()))
		if (how == CAIRN_HOW_EXEC && trace_may_have_hole() &&
		    trace_has_hole(b))
			trace_keep(b);
		else
			trace_pack_here(b);
	while (trace.npacking)
		rt_pause(&trace.npacked, trace.npacked);
	if (how == CAIRN_HOW_EXEC)
		return;
	for (b = trace.kept; b; b = next) {
		next = b->next;
		trace_pack_here(b);
	}
	trace.kept = NULL;
	for (struct thread *t = process.threads; t; t = t->next)
		if (t->stream && t->stream->buffer && t->park != RT_PARK_LATE)
			pack_last(t->stream);
	trace_self()->trace_limit = 0;
	for (b = trace.free; b; b = b->next)
		out_punch(b->chunk);
	if (how == CAIRN_HOW_UNLOAD)
		trace_stop_writer();
}

static const struct trace_hooks hooks = {
        .finish = on_finish,
        .fork = trace_on_fork,
        .stop = trace_on_stop,
        .mark = trace_on_mark,
        .jump = trace_on_jump,
        .jump_for_now = trace_on_jump_for_now,
        .jump_back = trace_on_jump_back,
};
