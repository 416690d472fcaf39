/* SPDX-License-Identifier: Apache-2.0 */
/* SIGKILL from outside while three threads wait in callees. */
#include "battery.h"

#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static NOINLINE void step(int i, int last)
{
	HIT();
	if (i == last) {
		pthread_barrier_wait(&barrier);
		HIT();
		pause();
		HIT();
	}
	HIT();
}

static void *run(void *arg)
{
	int last = *(int *)arg;

	for (int i = 0;; i++) {
		HIT();
		step(i, last);
		HIT();
	}
	return NULL;
}

int main(void)
{
	static int last[3] = {1000, 2000, 3000};
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 4);
	for (int i = 0; i < battery_int(3); i++) {
		HIT();
		pthread_create(&thread, NULL, run, &last[i]);
	}
	pthread_barrier_wait(&barrier);
	usleep(100000);
	HIT();
	battery_ready();
	pause();
	HIT();
	return 0;
}
