/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that synchronise by atomics alone, in several ways.  Each keeps a
 * book, under the lock or by what the atomic itself returned, of what happened
 * to its variable: prints "variable old new", in order where there is one.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { NTHREADS = 4, ROUNDS = 40, N = NTHREADS * ROUNDS, MANY = 2000 };

static struct entry {
	int old, new;
} book[8][N];

int by_flag, by_sync, by_swap, by_ticket, by_word, handed, fenced;
atomic_int counted, exchanged;
static struct {
	atomic_int left,
	        right; /* side by side: whoever looks at one sees both */
} pair;

static atomic_flag flag = ATOMIC_FLAG_INIT;
static int word_of_sync;
static atomic_int swapped, next_ticket, serving, whose;
static _Atomic uint8_t bits;
static volatile int fenced_whose;

/* Of a variable that one thread at a time has: its value is its number. */
static void put(struct entry *entries, int *variable)
{
	int old = *variable;

	entries[old] = (struct entry){old, old + 1};
	*variable = old + 1;
}

static void lock_by_flag(void)
{
	while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire))
		sched_yield();
	put(book[0], &by_flag);
	atomic_flag_clear_explicit(&flag, memory_order_release);
}

static void lock_by_sync(void)
{
	while (__sync_lock_test_and_set(&word_of_sync, 1))
		sched_yield();
	put(book[1], &by_sync);
	__sync_lock_release(&word_of_sync);
}

static void lock_by_swap(void)
{
	int free = 0;

	while (!atomic_compare_exchange_weak(&swapped, &free, 1)) {
		free = 0;
		sched_yield();
	}
	put(book[2], &by_swap);
	atomic_store(&swapped, 0);
}

static void lock_by_ticket(void)
{
	int mine = atomic_fetch_add(&next_ticket, 1);

	while (atomic_load_explicit(&serving, memory_order_acquire) != mine)
		sched_yield();
	put(book[3], &by_ticket);
	atomic_store_explicit(&serving, mine + 1, memory_order_release);
}

/* A bit of a byte that others use as well. */
static void lock_by_bit(void)
{
	while (atomic_fetch_or(&bits, 4) & 4)
		sched_yield();
	put(book[4], &by_word);
	atomic_fetch_and(&bits, (uint8_t)~4);
}

static void hand_on(int me)
{
	while (atomic_load_explicit(&whose, memory_order_acquire) != me)
		sched_yield();
	put(book[5], &handed);
	atomic_store_explicit(&whose, (me + 1) % NTHREADS,
	                      memory_order_release);
}

/* As before there were atomics. */
static void hand_on_by_fences(int me)
{
	while (fenced_whose != me)
		sched_yield();
	__sync_synchronize();
	put(book[6], &fenced);
	__sync_synchronize();
	fenced_whose = (me + 1) % NTHREADS;
}

static void count(void)
{
	int old = atomic_fetch_add_explicit(&counted, 1, memory_order_relaxed);

	book[7][old] = (struct entry){old, old + 1};
}

/* Two threads each, in quick succession. */
static void exchange_beside(int me)
{
	atomic_int *mine = me % 2 ? &pair.left : &pair.right;
	struct entry all[MANY];

	for (int i = 0; i < MANY; i++) {
		all[i].new = 1 + me *MANY + i;
		all[i].old = atomic_exchange(mine, all[i].new);
		if (i % 7 == me)
			sched_yield();
	}
	for (int i = 0; i < MANY; i++)
		printf("pair.%s %d %d\n", me % 2 ? "left" : "right", all[i].old,
		       all[i].new);
}

static void *work(void *number)
{
	int me = (int)(intptr_t)number;
	struct entry all[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		lock_by_flag();
		lock_by_sync();
		lock_by_swap();
		lock_by_ticket();
		lock_by_bit();
		hand_on(me);
		hand_on_by_fences(me);
		count();
		all[i].new = 1 + me *ROUNDS + i;
		all[i].old = atomic_exchange(&exchanged, all[i].new);
		if (i % 3 == me % 3)
			sched_yield();
	}
	exchange_beside(me);
	for (int i = 0; i < ROUNDS; i++)
		printf("exchanged %d %d\n", all[i].old, all[i].new);
	return NULL;
}

int main(void)
{
	static const char *const names[] = {"by_flag",   "by_sync", "by_swap",
	                                    "by_ticket", "by_word", "handed",
	                                    "fenced",    "counted"};
	pthread_t threads[NTHREADS];

	for (int i = 0; i < NTHREADS; i++)
		if (pthread_create(&threads[i], NULL, work,
		                   (void *)(intptr_t)i))
			return 1;
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(threads[i], NULL);
	for (int k = 0; k < 8; k++)
		for (int i = 0; i < N; i++)
			printf("%s %d %d\n", names[k], book[k][i].old,
			       book[k][i].new);
	return 0;
}
