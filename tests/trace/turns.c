/* SPDX-License-Identifier: Apache-2.0 */
/* Threads in turn, and many at once: turns HOW COUNT WORK. */
#include "battery.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t gate;
static int is_gated, work;

static NOINLINE unsigned leaf(unsigned n)
{
	return n % 3 ? n * 7 : n >> 1;
}

static NOINLINE unsigned mix(unsigned n)
{
	unsigned h = n;

	for (unsigned i = 0; i < n % 9; i++)
		h = h & 1 ? leaf(h) : h + i;
	return h;
}

static void *run(void *arg)
{
	unsigned h = (unsigned)(long)arg;

	if (is_gated)
		pthread_barrier_wait(&gate);
	for (int i = 0; i < work; i++)
		h = mix(h + (unsigned)i);
	if (is_gated)
		pthread_barrier_wait(&gate);
	return (void *)(long)(h == 1);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));
	pthread_attr_t attr;

	work = argc > 3 ? atoi(argv[3]) : 1;
	is_gated = argc > 1 && !strcmp(argv[1], "gate");
	pthread_barrier_init(&gate, NULL, (unsigned)n);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < n; i++) {
		if (pthread_create(&threads[i], &attr, run, (void *)(long)i))
			return 2;
		if (argc > 1 && !strcmp(argv[1], "turns"))
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < n; i++)
		if (argc > 1 && strcmp(argv[1], "turns") != 0)
			pthread_join(threads[i], NULL);
	return 0;
}
