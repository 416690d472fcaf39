/* SPDX-License-Identifier: Apache-2.0 */
/* pthread_exit() in a callee inside a loop, with a cleanup handler. */
#include "battery.h"

#include <pthread.h>

static void cleanup(void *arg)
{
	HIT();
	(void)arg;
}

static NOINLINE void step(int i, int last)
{
	HIT();
	if (i == last)
		pthread_exit(NULL);
	HIT();
}

static void *run(void *arg)
{
	int last = *(int *)arg;

	pthread_cleanup_push(cleanup, NULL);
	for (int i = 0;; i++) {
		HIT();
		step(i, last);
		HIT();
	}
	pthread_cleanup_pop(1);
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	int last[4];

	for (int i = 0; i < battery_int(4); i++) {
		HIT();
		last[i] = 100 * i + 17;
		pthread_create(&threads[i], NULL, run, &last[i]);
	}
	for (int i = 0; i < battery_int(4); i++) {
		pthread_join(threads[i], NULL);
		HIT();
	}
	HIT();
	pthread_exit(NULL);
}
