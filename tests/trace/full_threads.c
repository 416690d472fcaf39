/* SPDX-License-Identifier: Apache-2.0 */
/* Threads write more trace than there may be file, others begin when it is
 * full, and the process ends inside of a call. */
#include "battery.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NTHREADS 3
#define NROUNDS 2

static NOINLINE unsigned tree(unsigned n)
{
	if (n < 2)
		return 1;
	return (n * 2654435761u) >> 13 & 1 ? tree(n - 1) + 2 * tree(n - 2)
	                                   : tree(n - 2) + 3 * tree(n - 1);
}

static void *work(void *sum)
{
	unsigned x = 1, s = 0;

	for (unsigned i = 0; i < 150000; i++) {
		x = x * 1103515245 + 12345;
		if (x >> 16 & 1)
			s += tree(x >> 20 & 7);
		else
			s ^= x;
	}
	*(unsigned *)sum = s;
	return NULL;
}

static NOINLINE void leave(unsigned sum)
{
	printf("done %u\n", sum);
	exit(0);
}

int main(void)
{
	pthread_t threads[NTHREADS];
	unsigned sums[NTHREADS], sum = 0;

	for (unsigned round = 0; round < NROUNDS; round++) {
		for (unsigned i = 0; i < NTHREADS; i++)
			if (pthread_create(&threads[i], NULL, work, &sums[i]))
				abort();
		for (unsigned i = 0; i < NTHREADS; i++) {
			pthread_join(threads[i], NULL);
			sum += sums[i];
		}
	}
	work(&sums[0]);
	leave(sum + sums[0]);
}
