/* SPDX-License-Identifier: Apache-2.0 */
/* Says "ready" and goes on for ever, calling and looping, in two threads. */
#include "battery.h"

#include <pthread.h>

static NOINLINE unsigned leaf(unsigned n)
{
	return n & 2 ? n * 3 : n + 1;
}

static NOINLINE unsigned loop(unsigned n)
{
	for (unsigned i = 0; i < 50; i++)
		n = n & 8 ? leaf(n) : n * 5 + i;
	return n;
}

static void *run(void *arg)
{
	unsigned n = (unsigned)(long)arg;

	while (battery_int(1))
		n = loop(n);
	return NULL;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, run, (void *)3);
	battery_ready();
	run((void *)5);
	return 0;
}
