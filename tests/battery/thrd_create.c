/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of C11, left by return and by thrd_exit. */
#include "battery.h"

#include <threads.h>

static NOINLINE void step(int i, int last)
{
	HIT();
	if (i == last)
		thrd_exit(i);
	HIT();
}

static int run(void *arg)
{
	int last = *(int *)arg;

	for (int i = 0; i < battery_int(500); i++) {
		HIT();
		step(i, last);
		HIT();
	}
	HIT();
	return 0;
}

int main(void)
{
	static int last[3] = {10, 400, 1000};
	thrd_t threads[3];
	int sum = 0, result = 0;

	for (int i = 0; i < battery_int(3); i++)
		thrd_create(&threads[i], run, &last[i]);
	for (int i = 0; i < battery_int(3); i++) {
		thrd_join(threads[i], &result);
		HIT();
		sum += result;
	}
	return sum != 410;
}
