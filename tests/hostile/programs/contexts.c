/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for each other, and a handler of signals. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int turns;
static int shared;
static volatile sig_atomic_t came;

static void handle(int signal)
{
	came = came + signal;
}

__attribute__((noinline)) static void step(int by)
{
	pthread_mutex_lock(&lock);
	shared += by;
	pthread_mutex_unlock(&lock);
	atomic_fetch_add(&turns, 1);
}

static void *run(void *argument)
{
	int by = *(int *)argument;

	for (int i = 0; i < 4; i++)
		step(by + i);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int by[2] = {1, 10};
	char text[32];

	signal(SIGUSR1, handle);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, &by[i]);
	raise(SIGUSR1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	snprintf(text, sizeof(text), "%d %d %d\n", shared, turns, (int)came);
	write(1, text, strlen(text));
	puts("done");
	return 0;
}
