/* SPDX-License-Identifier: Apache-2.0 */
/* Output that cannot grow: the harness limits the file size (ulimit -f) or
 * gives a full file system.  The program itself must not notice.  It starts
 * threads one by one, so that the profile has to grow while it runs. */
#include "battery.h"

#include <pthread.h>
#include <stdio.h>

static NOINLINE int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		HIT();
		sum += battery_int(i) & 3;
	}
	HIT();
	return sum;
}

static void *run(void *arg)
{
	HIT();
	*(int *)arg = work(1000);
	return NULL;
}

int main(void)
{
	int n = battery_int(12), sum = work(100), part[12];
	pthread_t threads[12];

	for (int i = 0; i < n; i++) {
		HIT();
		pthread_create(&threads[i], NULL, run, &part[i]);
	}
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		HIT();
		sum += part[i];
	}
	printf("sum %d\n", sum);
	return 0;
}
