/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_TRACE_ORDER_H
#define CAIRN_TESTS_TRACE_ORDER_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * What a program says of its threads, for order.py.  Each calls section() where
 * it alone may, look() where nobody may call section(), and work() anywhere.
 * The first two write down how many sections there were before, who calls, and
 * how often this one has worked by then.
 */
#define ORDER_MOST 200000

struct order_note {
	char what;
	int tid;
	unsigned before, worked;
};

static struct order_note order_notes[ORDER_MOST];
static unsigned order_nnotes;             /* atomic */
static volatile unsigned order_nsections; /* of who may change it */
static __thread unsigned order_worked;
static __thread unsigned order_seed;

static void order_note(char what)
{
	unsigned i = __atomic_fetch_add(&order_nnotes, 1, __ATOMIC_RELAXED);

	if (i >= ORDER_MOST)
		abort();
	order_notes[i] = (struct order_note){what, (int)syscall(SYS_gettid),
	                                     order_nsections, order_worked};
}

__attribute__((noinline)) static void section(void)
{
	order_note('s');
	order_nsections = order_nsections + 1;
}

__attribute__((noinline)) static void look(void)
{
	order_note('l');
}

/* Something with a different path each time. */
__attribute__((noinline)) static void work(void)
{
	if (!order_seed)
		order_seed = (unsigned)syscall(SYS_gettid) * 2654435761u | 1;
	order_seed ^= order_seed << 13;
	order_seed ^= order_seed >> 17;
	order_seed ^= order_seed << 5;
	order_worked++;
	if (order_seed & 4)
		order_seed += 3;
	if (order_seed & 64)
		usleep(0);
}

/* A few times, so that threads come in another order each time. */
static inline void work_some(void)
{
	do
		work();
	while (order_seed & 3);
}

/* The first n notes. */
static void order_print(void)
{
	unsigned n = __atomic_load_n(&order_nnotes, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < n; i++)
		printf("%c %d %u %u\n", order_notes[i].what, order_notes[i].tid,
		       order_notes[i].before, order_notes[i].worked);
	fflush(stdout);
}

#endif /* CAIRN_TESTS_TRACE_ORDER_H */
