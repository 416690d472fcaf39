/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, with and without a lock; a handler that writes while main spins. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static volatile int racy, signals;

static void *work(void *unused)
{
	(void)unused;
	for (int i = 0; i < 500; i++) {
		pthread_mutex_lock(&lock);
		counter++;
		pthread_mutex_unlock(&lock);
		racy++;
	}
	return NULL;
}

static void handler(int signal)
{
	(void)signal;
	signals++;
}

int main(void)
{
	struct itimerval often = {{0, 1000}, {0, 1000}},
	                 never = {{0, 0}, {0, 0}};
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	while (signals < 5)
		;
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d %d\n", counter, racy > 0 && signals >= 5);
	return 0;
}
