/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces: the time when a thread ends, so that what it did since it last looked
 * at the clock lies between two times.
 *
 * A thread that returns or calls pthread_exit says so by the destructor of a
 * key of pthreads.  Only one of the first keys will do, whose values are in the
 * thread itself: to set another one asks for memory, and we may be in malloc.
 * A thread that the end of the process stops says it in the handler that stops
 * it, and whoever ends the process before the file is sealed.  Nothing is said
 * by who is killed.
 *
 * Cost: nine bytes per thread, and a look at the clock.
 */
#include "runtime/trace.h"

#include <pthread.h>

#define KEYS_IN_THREAD 32 /* glibc's PTHREAD_KEY_2NDLEVEL_SIZE */

static pthread_key_t key;
static bool has_key;

/* Runs in the thread that ends.  Others' destructors may follow. */
static void on_end(void *value)
{
	const struct thread *t = rt_self();

	(void)value;
	if (t && t->stream && t->stream->buffer && !t->stream->is_over)
		trace_put_now();
}

/* Has the thread a descriptor of glibc's?  One that was made by a system call
 * need not. */
static bool is_of_libc(void)
{
	uintptr_t tcb, self;

	__asm__("movq %%fs:0, %0" : "=r"(tcb));
	__asm__("movq %%fs:16, %0" : "=r"(self));
	return tcb == self;
}

void trace_watch_end(void)
{
	if (has_key && is_of_libc())
		pthread_setspecific(key, &key);
}

void trace_watch_ends(void)
{
	if (has_key || pthread_key_create(&key, on_end))
		return;
	has_key = key < KEYS_IN_THREAD;
	if (!has_key)
		pthread_key_delete(key);
}

void trace_forget_ends(void)
{
	if (has_key)
		pthread_key_delete(key);
	has_key = false;
}

/* Nobody may turn a page now: without room it is left out. */
void trace_on_stop(const struct thread *t)
{
	const struct stream *s = t ? t->stream : NULL;
	uintptr_t at = trace_self()->trace_at, limit;

	if (!s || !s->buffer || s->is_over || t->begins)
		return;
	limit = trace_limit_of(s->buffer);
	if (trace_self()->trace_limit == limit &&
	    at >= (uintptr_t)trace_first_of(s->buffer) &&
	    at + CAIRN_TRACE_ITEM_MAX < limit + TRACE_SLACK)
		trace_put_time();
}
