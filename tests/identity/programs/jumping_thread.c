/* SPDX-License-Identifier: Apache-2.0 */
// Threads that jump and are signalled one by one; a handler runs in the one
// that it is for.
// cc: -pthread
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static _Thread_local sigjmp_buf out;
static _Thread_local int mine;

static void handler(int sig)
{
	mine++;
	siglongjmp(out, 1);
}

static void *work(void *arg)
{
	volatile long n = (long)arg;

	for (volatile int i = 0; i < 6; i++) {
		if (sigsetjmp(out, 1))
			n += 10;
		else if (i % 2)
			raise(SIGUSR1);
		else
			n++;
	}
	return (void *)(n * 100 + mine);
}

int main(void)
{
	pthread_t t[3];
	long sum = 0;

	signal(SIGUSR1, handler);
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 3; i++) {
		void *got;
		pthread_join(t[i], &got);
		sum += (long)got;
	}
	printf("%ld\n", sum);
	return 0;
}
