/* SPDX-License-Identifier: Apache-2.0 */
/* The file system fills up while the program runs: it fills it itself, with a
 * file beside its profile, and then goes on with more threads. */
#include "battery.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static NOINLINE int fill(const char *path)
{
	static char zeros[4096];
	int fd = open(path, O_WRONLY | O_CREAT, 0666), blocks = 0;

	HIT();
	if (fd < 0)
		return -1;
	while (write(fd, zeros, sizeof(zeros)) > 0) {
		HIT();
		blocks++;
	}
	close(fd);
	HIT();
	return blocks;
}

int main(void)
{
	int n = battery_int(12), sum = work(100), part[12];
	pthread_t threads[12];

	if (fill(getenv("BATTERY_FILL")) < 0)
		return 1;
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
