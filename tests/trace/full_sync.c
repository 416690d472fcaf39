/* SPDX-License-Identifier: Apache-2.0 */
/* One thread fills the disk with its trace, another waits for it, twice, and
 * has room in its own buffer all the time. */
#include "battery.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t done;
static volatile unsigned sink;

static NOINLINE unsigned leaf(unsigned n)
{
	return n & 2 ? n * 3 : n + 1;
}

static NOINLINE void flood(unsigned rounds)
{
	unsigned h = 1;

	for (unsigned i = 0; i < rounds; i++) {
		h ^= h << 13;
		h ^= h >> 17;
		h ^= h << 5;
		if (h & 64)
			h += leaf(h);
	}
	sink = h;
}

static NOINLINE void behind_wait(void)
{
	sink = 1;
}

static NOINLINE void behind_join(void)
{
	sink = 2;
}

static void *work(void *arg)
{
	flood(20000000);
	sem_post(&done);
	flood(1000000);
	return arg;
}

int main(void)
{
	pthread_t thread;

	sem_init(&done, 0, 0);
	pthread_create(&thread, NULL, work, NULL);
	sem_wait(&done);
	behind_wait();
	pthread_join(thread, NULL);
	behind_join();
	printf("done\n");
	return 0;
}
