/* SPDX-License-Identifier: Apache-2.0 */
/* exit() by a thread other than main, while main waits for it. */
#include "battery.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static NOINLINE void step(int i)
{
	HIT();
	if (i == 99)
		exit(12);
	HIT();
}

static void *run(void *arg)
{
	usleep(20000);
	for (int i = 0; i < battery_int(1000); i++) {
		HIT();
		step(i);
		HIT();
	}
	return arg;
}

static NOINLINE void wait_for(pthread_t thread)
{
	HIT();
	pthread_join(thread, NULL);
	HIT();
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	HIT();
	wait_for(thread);
	HIT();
	return 0;
}
