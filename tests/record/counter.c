/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four threads, a counter under a lock: the recording has to know in which
 * order they went.  hard.py finds the counter in the logs by its upper half.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>

enum { NTHREADS = 4, ROUNDS = 500 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint64_t before[8], value, behind[7];
} counter = {.value = 0xc0ffee0000000000};

static void *work(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		counter.value++;
		pthread_mutex_unlock(&lock);
		if (i % 4 == 0)
			sched_yield();
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[NTHREADS];

	for (int i = 0; i < NTHREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", (int)counter.value);
	return 0;
}
