/* SPDX-License-Identifier: Apache-2.0 */
// Faults, left by siglongjmp, behind calls that are the first thing that a
// function does: of a lock, which all threads have an order of, or another.
// cc: -pthread
// check: trace C4
// check: paths,overlap C4
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sigjmp_buf back;
static int counter;

__attribute__((noinline)) static int locked(volatile int *p)
{
	pthread_mutex_lock(&lock);
	counter += *p;
	pthread_mutex_unlock(&lock);
	return 1;
}

__attribute__((noinline)) static int behind_both(volatile int *p)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return *p;
}

__attribute__((noinline)) static int behind_another(volatile int *p)
{
	getppid();
	return *p;
}

static void handler(int sig)
{
	siglongjmp(back, sig);
}

static void *count(void *unused)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&lock);
		counter++;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	struct sigaction sa;
	pthread_t thread;
	volatile int sum = 0;
	int three = 3;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sigaction(SIGSEGV, &sa, NULL);
	pthread_create(&thread, NULL, count, NULL);
	for (volatile int i = 0; i < 6; i++) {
		volatile int *p = i % 2 ? &three : (int *)8;

		if (!sigsetjmp(back, 1))
			sum += locked(p);
		else
			pthread_mutex_unlock(&lock);
		if (!sigsetjmp(back, 1))
			sum += behind_both(p);
		if (!sigsetjmp(back, 1))
			sum += behind_another(p);
	}
	pthread_join(thread, NULL);
	printf("%d %d\n", sum, counter);
	return 0;
}
