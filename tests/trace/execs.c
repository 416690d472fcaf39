/* SPDX-License-Identifier: Apache-2.0 */
/* An exec that fails while threads run, again and again: all go on. */
#include "battery.h"

#include <pthread.h>
#include <unistd.h>

static volatile int is_over;

static NOINLINE int step(int i)
{
	return i % 5 ? i * 3 : battery_int(i);
}

static void *run(void *arg)
{
	int sum = 0, i = 0;

	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE) && i < 2000000)
		sum += step(i++);
	*(int *)arg = sum;
	return NULL;
}

int main(void)
{
	pthread_t threads[3];
	int sums[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, &sums[i]);
	for (int i = 0; i < 20; i++) {
		step(i);
		if (execl("/no/such/program", "no", (char *)0) != -1)
			return 1;
		usleep(1000);
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
