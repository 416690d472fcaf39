/* SPDX-License-Identifier: Apache-2.0 */
/* Threads alive when main returns: two blocked in callees, one that spins in a
 * loop without a call, one that has every signal blocked. */
#include "battery.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static volatile int forever = 1;

static NOINLINE void block(int depth)
{
	HIT();
	if (depth) {
		block(depth - 1);
		HIT();
	}
	pthread_barrier_wait(&barrier);
	HIT();
	pause();
	HIT();
}

static void *blocked(void *arg)
{
	for (int i = 0; i < battery_int(10); i++) {
		HIT();
		block(*(int *)arg);
		HIT();
	}
	return NULL;
}

static void *masked(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	HIT();
	block(1);
	HIT();
	return arg;
}

static NOINLINE void spin(void)
{
	pthread_barrier_wait(&barrier);
	HIT();
	while (forever)
		;
	HIT();
}

static void *spinning(void *arg)
{
	HIT();
	spin();
	HIT();
	return arg;
}

int main(void)
{
	static int depth[2] = {0, 5};
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 5);
	pthread_create(&thread, NULL, blocked, &depth[0]);
	pthread_create(&thread, NULL, blocked, &depth[1]);
	pthread_create(&thread, NULL, masked, NULL);
	pthread_create(&thread, NULL, spinning, NULL);
	HIT();
	pthread_barrier_wait(&barrier);
	usleep(100000);
	HIT();
	return 0;
}
