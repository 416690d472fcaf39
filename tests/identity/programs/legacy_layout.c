/* SPDX-License-Identifier: Apache-2.0 */
// The legacy layout of memory, with threads whose stacks grow towards it.
// wrap: setarch x86_64 -L
// cc: -pthread
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *work(void *arg)
{
	char room[20000];
	char *more = malloc(200000);
	long n = (long)arg, sum = 0;

	memset(room, (int)n, sizeof(room));
	memset(more, (int)n + 1, 200000);
	for (int i = 0; i < 20000; i += 1000)
		sum += room[i] + more[i * 10];
	free(more);
	return (void *)sum;
}

int main(void)
{
	pthread_t t[3];
	long all = 0;

	for (long i = 0; i < 3; i++) {
		void *got;
		pthread_create(&t[i], NULL, work, (void *)i);
		pthread_join(t[i], &got);
		all += (long)got;
	}
	printf("%ld\n", all);
	return 0;
}
