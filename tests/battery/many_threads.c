/* SPDX-License-Identifier: Apache-2.0 */
/* Two thousand short threads, one after another and in groups: shards are
 * taken over, and no count is lost with a thread. */
#include "battery.h"

#include <pthread.h>

static NOINLINE void work(int n)
{
	for (int i = 0; i < n; i++) {
		HIT();
		battery_nop();
	}
}

static void *run(void *arg)
{
	HIT();
	work(*(int *)arg);
	HIT();
	return NULL;
}

int main(void)
{
	pthread_t threads[8];
	int n[8];

	for (int round = 0; round < battery_int(250); round++) {
		HIT();
		for (int i = 0; i < battery_int(8); i++) {
			n[i] = round % 7 + i;
			pthread_create(&threads[i], NULL, run, &n[i]);
			HIT();
		}
		for (int i = 0; i < battery_int(8); i++)
			pthread_join(threads[i], NULL);
	}
	HIT();
	return 0;
}
