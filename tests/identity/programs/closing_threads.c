/* SPDX-License-Identifier: Apache-2.0 */
// main ends first, by pthread_exit; the last thread's end is the program's.
// cc: -pthread
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_t first;
static pthread_key_t key;

static void at_end(void)
{
	puts("end");
}

static void clean(void *arg)
{
	printf("clean %d\n", *(int *)arg);
	free(arg);
}

static void *last(void *arg)
{
	int *n = malloc(sizeof(*n));

	pthread_join(first, NULL);
	*n = 4;
	pthread_setspecific(key, n);
	return arg;
}

int main(void)
{
	pthread_t t;

	first = pthread_self();
	atexit(at_end);
	pthread_key_create(&key, clean);
	pthread_create(&t, NULL, last, NULL);
	pthread_exit(NULL);
}
