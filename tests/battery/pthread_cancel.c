/* SPDX-License-Identifier: Apache-2.0 */
/* Deferred cancellation in a loop of calls.  The thread counts to a fixed
 * number and then waits at a cancellation point in a callee. */
#include "battery.h"

#include <pthread.h>
#include <unistd.h>

static int waiting[2];

static void cleanup(void *arg)
{
	HIT();
	(void)arg;
}

static NOINLINE void step(int i)
{
	HIT();
	if (i == 2500) {
		HIT();
		if (write(waiting[1], "x", 1) != 1)
			return;
		for (;;)
			pause();
	}
	HIT();
}

static NOINLINE void loop(void)
{
	for (int i = 0;; i++) {
		HIT();
		step(i);
		HIT();
	}
}

static void *run(void *arg)
{
	HIT();
	pthread_cleanup_push(cleanup, arg);
	loop();
	pthread_cleanup_pop(0);
	HIT();
	return NULL;
}

int main(void)
{
	pthread_t thread;
	void *result;
	char c;

	if (pipe(waiting) || pthread_create(&thread, NULL, run, NULL))
		return 1;
	HIT();
	if (read(waiting[0], &c, 1) != 1)
		return 1;
	HIT();
	pthread_cancel(thread);
	pthread_join(thread, &result);
	HIT();
	return result != PTHREAD_CANCELED;
}
