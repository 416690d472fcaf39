/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that print to the same stream, without any order but its lock; and a
 * handler of a signal that writes. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NTHREADS 4
#define NLINES 500

static void *print(void *arg)
{
	int me = *(int *)arg;

	for (int i = 0; i < NLINES; i++) {
		if (i % 3)
			printf("thread %d line %d at %d\n", me, i, __LINE__);
		else
			puts("a line of which nobody knows whose it is");
		if (i % 50 == 0)
			fflush(stdout);
	}
	return NULL;
}

static void handle(int sig)
{
	static const char text[] = "the handler of a signal\n";

	(void)sig;
	if (write(1, text, strlen(text)) < 0)
		_exit(1);
}

int main(void)
{
	pthread_t threads[NTHREADS];
	int ids[NTHREADS];

	signal(SIGUSR1, handle);
	printf("kept back, ");
	raise(SIGUSR1);
	printf("then written\n");
	raise(SIGUSR1);
	for (int i = 0; i < NTHREADS; i++) {
		ids[i] = i;
		pthread_create(&threads[i], NULL, print, &ids[i]);
	}
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(threads[i], NULL);
	printf("line %d: the end\n", __LINE__);
	return 0;
}
