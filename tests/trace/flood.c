/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that write as much trace as they can: functions that are called by
 * pointers say so.  Prints how often each thread called one.  All are there
 * before one begins: a thread that comes when another has gone goes on with its
 * stream. */
#include <pthread.h>
#include <stdio.h>

#define THREADS 8
#ifndef ROUNDS
#define ROUNDS 4000000u
#endif

static unsigned long calls[THREADS];
static pthread_barrier_t all;

static unsigned add(unsigned n)
{
	return n + 3;
}

static unsigned turn(unsigned n)
{
	return n << 5 | n >> 27;
}

static unsigned (*volatile functions[])(unsigned n) = {add, turn, add, add};

static void *flood(void *arg)
{
	int me = (int)(long)arg;
	unsigned h = (unsigned)me + 1;

	pthread_barrier_wait(&all);
	for (unsigned i = 0; i < ROUNDS; i++) {
		h = functions[i & 3](h);
		calls[me]++;
		if (i % 5 == 0) {
			h = functions[2](h);
			calls[me]++;
		}
	}
	return (void *)(long)h;
}

int main(void)
{
	pthread_t t[THREADS];

	pthread_barrier_init(&all, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, flood, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < THREADS; i++)
		printf("%lu\n", calls[i]);
	return 0;
}
