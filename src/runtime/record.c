/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings: contexts, and what becomes of their logs.
 *
 * A context is a thread.  It is made when foreign code first calls the program
 * in it: a shadow, a second stack, a log that begins.  Its log is a stream as
 * those of traces are, in buffers of the mapped file which a thread of ours
 * packs (trace_buffers.c); each buffer begins with its length, which is right
 * after every instruction.  When a thread is gone its log is completed by
 * whoever makes the next context, or ends the process.
 *
 * There is no way to go on without a recording that would not be a wrong one:
 * what cannot be recorded ends the process, with one sentence.  Only a disk
 * that is full ends the recording alone.
 *
 * Invariant: a log is written by its thread, or, with the lock held, by others
 * when that thread stands still or is gone.
 * Cost: of a context about twenty system calls; a system call per buffer.
 */
#include "runtime/record.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "runtime/finish.h"
#include "runtime/sys.h"

#define PROBES 8
#define STACK_MIN ((size_t)1 << 20)
#define STACK_MAX ((size_t)64 << 20) /* of one without limit */
#define TOP_ROOM 128u                /* above the top of the second stack */

#define HIDDEN __attribute__((visibility("hidden")))

__thread uint64_t __cairn_record[CAIRN_RECORD_WORDS];

/* module.c has a weak one that is 0. */
extern HIDDEN const char __cairn_recording;
HIDDEN const char __cairn_recording = 1;

static struct {
	struct context *contexts;
	uint32_t ncontexts; /* so far */
	uint64_t nsyncs;
	uint64_t used_at_fork; /* in the buffer of the context that forks */
} record;

static const struct trace_hooks hooks;

/* Of the C library.  Weak: a static program may do without. */
int __cxa_thread_atexit_impl(void (*f)(void *), void *arg, void *dso)
        __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static uint64_t tick_now(void)
{
	return __cairn_record[CAIRN_RECORD_TICK / 8];
}

/* --- logs -------------------------------------------------------------------
 */

/* What the last event of the log was at. */
static struct record_last last_of(const struct context *c)
{
	return c->last[*(const uint64_t *)c->bytes & 1];
}

/* Takes the buffer away from the context; its log goes on in the next. */
static struct buffer *leave_buffer(struct context *c)
{
	struct buffer *b = c->stream.buffer;

	if (!b)
		return NULL;
	b->used = CAIRN_STREAM_COUNT_SIZE + record_used(c);
	c->total += record_used(c);
	c->last[0] = last_of(c);
	c->bytes = NULL;
	c->stream.buffer = NULL;
	return b;
}

/* Gives the context a new buffer; false if there is none.  Requires: lock held,
 * which it may let go of. */
static bool turn_page(struct context *c)
{
	struct buffer *b = leave_buffer(c);

	if (b)
		trace_queue(b);
	if (trace.is_off)
		return false;
	b = trace_take_buffer();
	if (!b)
		return false;
	trace_label(b, c->id, ++c->stream.nparts);
	c->room = trace_size_of(b) - CAIRN_STREAM_COUNT_SIZE - RECORD_SLACK;
	c->stream.buffer = b;
	c->bytes = trace_first_of(b);
	return true;
}

static void lose_rest(struct context *c)
{
	c->is_over = true;
	if (process.is_off || trace.is_off)
		return; /* somebody has said so */
	out_flag(CAIRN_FILE_TRUNCATED, 1);
	out_say("cannot write the recording of a thread", "", ENOMEM,
	        "the rest of it is lost, the program goes on");
}

static void note_begin(struct context *c)
{
	const uint64_t about[] = {c->kind, c->thread->serial, (uint32_t)c->tid};

	record_note(c, tick_now(), CAIRN_OTHER_BEGIN, about, 3);
}

/* --- the end of a context ---------------------------------------------------
 */

static bool is_gone(const struct context *c)
{
	return !c->thread || c->thread->tid != c->tid ||
	       sys3(SYS_tgkill, process.pid, c->tid, 0) == -ESRCH;
}

/* How far it came, if that is known. */
static void note_end(struct context *c, unsigned what, uint64_t tick)
{
	if (c->bytes)
		record_note(c, tick, what, NULL, 0);
}

static void drop(struct context *c)
{
	record_shadow_drop(c);
	if (c->stack)
		sys3(SYS_munmap, (long)c->stack, (long)c->nstack, 0);
	c->stack = NULL;
	c->id = 0;
}

/* Its thread is gone.  Requires: lock held. */
static void close(struct context *c)
{
	struct buffer *b;

	if (c->has_ended)
		note_end(c, CAIRN_OTHER_END, c->tick);
	b = leave_buffer(c);
	if (b)
		trace_queue(b);
	drop(c);
}

/* Looks at a few contexts, beginning with the oldest that nobody looked at. */
static void close_some(const struct thread *me)
{
	static struct context *next;

	for (struct context *c = record.contexts; c; c = c->next)
		if (c->id && me && c->thread == me)
			close(c); /* another thread had this record before us */
	for (int i = 0; i < PROBES; i++) {
		if (!next)
			next = record.contexts;
		if (!next)
			return;
		if (next->id && is_gone(next))
			close(next);
		next = next->next;
	}
}

/* Threads run nothing but destructors after this. */
static void on_thread_end(void *arg)
{
	struct context *c = arg;

	if (c != record_self())
		return;
	c->tick = tick_now();
	c->has_ended = true;
}

/* --- a new context ----------------------------------------------------------
 */

static struct context *new_context(void)
{
	struct context *c = record.contexts, *next;

	while (c && c->id)
		c = c->next;
	if (!c) {
		c = out_meta(sizeof(*c));
		if (!c)
			rt_refuse("out of memory", "give it more");
		c->next = record.contexts;
		record.contexts = c;
	}
	next = c->next;
	rt_zero(c, sizeof(*c));
	c->next = next;
	c->id = ++record.ncontexts;
	return c;
}

/* As large as a stack may be, with a page below that nobody may touch. */
static void make_stack(struct context *c)
{
	struct rlimit limit = {STACK_MAX, 0};
	size_t size;

	sys4(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit);
	size = limit.rlim_cur < STACK_MAX ? limit.rlim_cur : STACK_MAX;
	if (size < STACK_MIN)
		size = STACK_MIN;
	c->nstack = (size + 2 * RT_PAGE) & ~(RT_PAGE - 1);
	c->stack = sys_map(
	        NULL, c->nstack, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (!c->stack)
		rt_refuse("there is no memory for a second stack",
		          "lift ulimit -v");
	sys3(SYS_mprotect, (long)c->stack, RT_PAGE, PROT_NONE);
	c->top = (uintptr_t)c->stack + c->nstack - TOP_ROOM;
}

static bool counts_something(void)
{
	for (struct thread *t = process.threads; t; t = t->next)
		for (uint32_t i = 1; i <= process.nmodules; i++)
			if (t->counts[i] || t->stream)
				return true;
	return false;
}

/* Once. */
static void start(void)
{
	if (process.is_recording)
		return;
	if (process.trace || counts_something())
		rt_refuse("a part of it was compiled with another --cairn",
		          "compile all with --cairn=record");
	process.is_recording = true;
	process.trace = &hooks;
	trace.queue_end = &trace.queue;
	trace.is_counted = true;
	out_flag(CAIRN_FILE_RECORDING, 0);
	trace_say_whether_ordered();
}

/* Requires: lock held. */
static struct context *begin(void)
{
	struct thread *t;
	struct context *c;

	start();
	t = process.is_off ? NULL : rt_self_locked();
	close_some(t);
	c = new_context();
	c->thread = t;
	c->tid = t ? t->tid : 0;
	record_shadow_make(c);
	make_stack(c);
	__cairn_record[CAIRN_RECORD_TICK / 8] = 0;
	__cairn_record[CAIRN_RECORD_STACK / 8] = c->top;
	record_set_self(c);
	if (!t || !turn_page(c)) {
		lose_rest(c);
		return c;
	}
	note_begin(c);
	record_note(c, 0, CAIRN_OTHER_STACK, &c->top, 1);
	return c;
}

bool core_record(struct cairn_module *m)
{
	struct context *c = record_self();
	bool is_new = !c;
	uint64_t mask;

	rt_enter_running(&mask);
	rt_ensure_module(m);
	if (m->is_off && !process.is_off)
		rt_refuse("there are too many modules, or one of another "
		          "version of Cairn",
		          "link all with the same");
	if (is_new)
		c = begin();
	if (process.is_sealed && !c->is_over)
		out_unseal();
	if (!c->is_over &&
	    (!c->bytes ||
	     record_used(c) + RECORD_PIECE + RECORD_HEAD > c->room) &&
	    !turn_page(c))
		lose_rest(c);
	rt_leave(&mask);
	/* calls the program's malloc, maybe: after all else */
	if (is_new && __cxa_thread_atexit_impl)
		__cxa_thread_atexit_impl(on_thread_end, c, &__dso_handle);
	return true;
}

/* What record.S calls. */
HIDDEN void cairn_module_record_slow(void);
HIDDEN bool __cairn_core_record(struct cairn_module *m);

void cairn_module_record_slow(void)
{
	if (!__cairn_core_record(&cairn_module))
		rt_refuse("the program itself was not compiled with "
		          "--cairn=record",
		          "compile it so, or without Cairn");
}

/* --- what the rest of the runtime tells us ----------------------------------
 */

static void on_sync(void)
{
	struct context *c = record_self();
	uint64_t number;

	if (!c || c->is_over)
		return;
	if (!c->bytes || record_used(c) + RECORD_HEAD > c->room)
		core_record(&cairn_module);
	if (!c->bytes)
		return;
	number = __atomic_add_fetch(&record.nsyncs, 1, __ATOMIC_ACQ_REL);
	record_note(c, tick_now(), CAIRN_OTHER_SYNC, &number, 1);
}

/* The calling thread does not go on, or not before the process does. */
static void on_stop(void)
{
	struct context *c = record_self();

	if (!c)
		return;
	c->tick = tick_now();
	c->is_stopped = true;
}

/* The log of a context is complete; false if it may go on being written. */
static bool is_complete(struct context *c, uint32_t how)
{
	if (c == record_self()) {
		note_end(c,
		         how == CAIRN_HOW_SIGNAL ? CAIRN_OTHER_STOP
		                                 : CAIRN_OTHER_END,
		         tick_now());
		return true;
	}
	if (how == CAIRN_HOW_EXEC) {
		c->is_stopped = false;
		return false;
	}
	if (c->thread && c->thread->park == RT_PARK_LATE)
		return false;
	if (c->is_stopped)
		note_end(c, CAIRN_OTHER_STOP, c->tick);
	else if (c->has_ended)
		note_end(c, CAIRN_OTHER_END, c->tick);
	return c->is_stopped || is_gone(c);
}

static void pack_last(struct context *c)
{
	struct buffer *b = leave_buffer(c);

	if (b)
		trace_pack_here(b);
}

static void on_finish(uint32_t how)
{
	struct buffer *b;

	while ((b = trace_take_queued()))
		trace_pack_here(b);
	while (trace.npacking)
		rt_pause(&trace.npacked, trace.npacked);
	for (struct context *c = record.contexts; c; c = c->next)
		if (c->id && is_complete(c, how) && how != CAIRN_HOW_EXEC)
			pack_last(c);
	if (how == CAIRN_HOW_EXEC)
		return;
	for (b = trace.free; b; b = b->next)
		out_punch(b->chunk);
	if (how == CAIRN_HOW_UNLOAD)
		trace_stop_writer();
}

static void on_fork_prepare(void)
{
	struct context *c = record_self();

	record.used_at_fork = 0;
	if (c && c->bytes)
		record.used_at_fork = record_used(c);
}

/*
 * The child goes on in memory, shadow and second stack of its parent, with a
 * log of its own that says where the parent's was.  All buffers are the
 * parent's, and not mapped any more.
 */
static void on_fork(struct thread *me, uintptr_t to)
{
	struct context *self = record_self();
	uint64_t parent[3];

	(void)to;
	trace_forget_buffers();
	out_flag(CAIRN_FILE_RECORDING, 0);
	trace_say_whether_ordered();
	for (struct context *c = record.contexts; c; c = c->next) {
		c->bytes = NULL;
		c->stream = (struct stream){.buffer = NULL};
		if (c != self && c->id)
			drop(c);
	}
	if (!self || self->is_over)
		return;
	self->thread = me;
	self->tid = sys_gettid();
	parent[0] = (uint64_t)sys1(SYS_getppid, 0);
	parent[1] = self->id;
	parent[2] = self->total + record.used_at_fork;
	self->total = 0;
	self->last[0] = (struct record_last){0, 0};
	if (!me || !turn_page(self)) {
		lose_rest(self);
		return;
	}
	note_begin(self);
	record_note(self, tick_now(), CAIRN_OTHER_FORK, parent, 3);
}

static void on_mark(struct thread *t, unsigned mark, uintptr_t address)
{
	(void)t;
	(void)mark;
	(void)address;
}

static const struct trace_hooks hooks = {
        .finish = on_finish,
        .fork = on_fork,
        .mark = on_mark,
        .stop = on_stop,
        .sync = on_sync,
        .fork_prepare = on_fork_prepare,
};
