/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that race on one line of the cache, by all widths and ways; one that
 * a timer makes (SIGEV_THREAD).  What they see decides where they go.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NTHREADS = 4, ROUNDS = 20000 };

union line {
	_Alignas(64) volatile unsigned char bytes[64];
	volatile uint16_t shorts[32];
	volatile uint64_t words[8];
};

static union line line;
static _Atomic uint64_t shared;
static struct {
	int a[12];
} block;
static atomic_int ntimes, ready;
static unsigned long results[NTHREADS];

static unsigned long race(unsigned self, unsigned long x, int i)
{
	line.bytes[self] = (unsigned char)i;
	x += line.words[0];
	if (line.shorts[(self + 1) % NTHREADS] & 1)
		x = x * 3 + line.bytes[(self + 2) % 64];
	line.words[1 + self % 7] += x & 1;
	x ^= atomic_fetch_add(&shared, x & 3);
	if (x & 64)
		atomic_store_explicit(&shared, x, memory_order_relaxed);
	return x;
}

/* Copies of what others write meanwhile. */
static unsigned long copies(unsigned self, unsigned long x)
{
	int copy[12];

	memcpy(copy, block.a, sizeof(copy));
	for (unsigned i = 0; i < 12; i++)
		x = x * 31 + (unsigned)copy[i];
	block.a[self] = (int)x;
	if (x % 5 == 0)
		memset(block.a, (int)x, sizeof(block.a));
	return x;
}

static void *work(void *argument)
{
	unsigned self = (unsigned)(uintptr_t)argument;
	unsigned long x = self;

	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < NTHREADS)
		;
	for (int i = 0; i < ROUNDS; i++) {
		x = race(self, x, i);
		if (i % 8 == 0)
			x = copies(self, x);
	}
	results[self] = x;
	return NULL;
}

static void on_timer(union sigval value)
{
	block.a[0] += value.sival_int;
	atomic_fetch_add(&ntimes, 1);
}

static int timers(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD,
	                         .sigev_notify_function = on_timer,
	                         .sigev_value.sival_int = 7};
	struct itimerspec often = {{0, 1000000}, {0, 1000000}};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return 1;
	timer_settime(timer, 0, &often, NULL);
	while (atomic_load(&ntimes) < 5)
		usleep(500);
	timer_delete(timer);
	return 0;
}

int main(void)
{
	pthread_t threads[NTHREADS];
	int bits = 0;

	for (uintptr_t i = 0; i < NTHREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < NTHREADS; i++)
		for (; results[i]; results[i] &= results[i] - 1)
			bits++;
	printf("%d %d\n", timers(), bits > 0);
	return 0;
}
