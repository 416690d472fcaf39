/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Programs that write a trace only: the driver links them with --wrap.)  What
 * makes a thread wait for another: behind it a mark in the stream of the one
 * that waited says the how-manieth of the process this was.
 *
 * An event has the number of the last mark before it in its stream.  If what
 * one thread did happened before what another did, then the other waited, in
 * one of these or by being created, after the first was done: its mark is
 * newer than any mark before the first.  So whoever sorts by these numbers
 * inverts no such pair (analysis/interleave.c also knows when time may decide).
 * Hence those who are waited for (unlock, signal, post, the end of a thread)
 * need no mark.
 *
 * A thread that is cancelled in one of these comes back from it, too: with the
 * mutex of a condition variable, and its cleanup handlers run.  So the mark is
 * made where the scope is left, which needs -fexceptions.
 *
 * In a static program the references of libstdc++'s and libgcc's own members
 * are renamed as well: marks for what these wait for are more than is needed.
 *
 * Threads: that synchronise by atomic variables or system calls of their own
 * are not seen.  (In recordings they are, by what they find: record_turns.c.)
 * Cost: a locked increment and nine bytes each; from time to time a look at the
 * clock.
 */
#include "runtime/sync.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* Of each NAME: __wrap_NAME, which calls __real_NAME, the C library's. */
#define ACQUIRE(name, parameters, ...)             \
	int __real_##name parameters;              \
	HIDDEN int __wrap_##name parameters;       \
	int __wrap_##name parameters               \
	{                                          \
		SYNC_BEHIND;                       \
                                                   \
		return __real_##name(__VA_ARGS__); \
	}

/* clang-format off */
ACQUIRE(pthread_mutex_lock, (void *m), m)
ACQUIRE(pthread_mutex_trylock, (void *m), m)
ACQUIRE(pthread_mutex_timedlock, (void *m, const void *t), m, t)
ACQUIRE(pthread_mutex_clocklock, (void *m, int c, const void *t), m, c, t)
ACQUIRE(pthread_spin_lock, (void *m), m)
ACQUIRE(pthread_spin_trylock, (void *m), m)
ACQUIRE(pthread_rwlock_rdlock, (void *m), m)
ACQUIRE(pthread_rwlock_tryrdlock, (void *m), m)
ACQUIRE(pthread_rwlock_timedrdlock, (void *m, const void *t), m, t)
ACQUIRE(pthread_rwlock_clockrdlock, (void *m, int c, const void *t), m, c, t)
ACQUIRE(pthread_rwlock_wrlock, (void *m), m)
ACQUIRE(pthread_rwlock_trywrlock, (void *m), m)
ACQUIRE(pthread_rwlock_timedwrlock, (void *m, const void *t), m, t)
ACQUIRE(pthread_rwlock_clockwrlock, (void *m, int c, const void *t), m, c, t)
ACQUIRE(pthread_cond_wait, (void *k, void *m), k, m)
ACQUIRE(pthread_cond_timedwait, (void *k, void *m, const void *t), k, m, t)
ACQUIRE(pthread_cond_clockwait, (void *k, void *m, int c, const void *t),
        k, m, c, t)
ACQUIRE(pthread_barrier_wait, (void *b), b)
ACQUIRE(pthread_once, (void *o, void (*f)(void)), o, f)
ACQUIRE(pthread_join, (unsigned long p, void **r), p, r)
ACQUIRE(pthread_tryjoin_np, (unsigned long p, void **r), p, r)
ACQUIRE(pthread_timedjoin_np, (unsigned long p, void **r, const void *t),
        p, r, t)
ACQUIRE(pthread_clockjoin_np, (unsigned long p, void **r, int c, const void *t),
        p, r, c, t)
ACQUIRE(sem_wait, (void *s), s)
ACQUIRE(sem_trywait, (void *s), s)
ACQUIRE(sem_timedwait, (void *s, const void *t), s, t)
ACQUIRE(sem_clockwait, (void *s, int c, const void *t), s, c, t)
ACQUIRE(mtx_lock, (void *m), m)
ACQUIRE(mtx_trylock, (void *m), m)
ACQUIRE(mtx_timedlock, (void *m, const void *t), m, t)
ACQUIRE(cnd_wait, (void *k, void *m), k, m)
ACQUIRE(cnd_timedwait, (void *k, void *m, const void *t), k, m, t)
ACQUIRE(thrd_join, (unsigned long p, int *r), p, r)
/* clang-format on */

void __real_call_once(void *flag, void (*f)(void));
HIDDEN void __wrap_call_once(void *flag, void (*f)(void));

void __wrap_call_once(void *flag, void (*f)(void))
{
	SYNC_BEHIND;

	__real_call_once(flag, f);
}
