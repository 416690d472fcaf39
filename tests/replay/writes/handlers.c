/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers that write what others write: when main lets them, while it waits,
 * one in the other, and in threads, under a lock of atomics.  Prints "variable
 * old new", in order.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { ROUNDS = 60, NTHREADS = 2, MOST = 4000 };

static struct entry {
	const char *name;
	int old, new;
} book[MOST];
static int nbook;

int shared, counter;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static sigset_t all;

static __attribute__((noinline)) void put(int value)
{
	book[nbook++] = (struct entry){"shared", shared, value};
	shared = value;
}

static void inner(int signal)
{
	(void)signal;
	put(shared + 10000);
}

static void outer(int signal)
{
	(void)signal;
	put(shared + 100);
	raise(SIGUSR2);
	put(shared + 100);
}

static void count(int signal)
{
	(void)signal;
	while (atomic_flag_test_and_set(&lock))
		;
	book[nbook++] = (struct entry){"counter", counter, counter + 1};
	counter++;
	atomic_flag_clear(&lock);
}

/* Signals wait, or a handler would wait for whom it interrupts. */
static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_sigmask(SIG_BLOCK, &all, NULL);
		count(0);
		pthread_sigmask(SIG_UNBLOCK, &all, NULL);
		if (i % 4 == 0)
			pthread_kill(pthread_self(), SIGHUP);
	}
	return unused;
}

static void set(int signal, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	sigaddset(&action.sa_mask, SIGALRM);
	sigaction(signal, &action, NULL);
	sigaddset(&all, signal);
}

int main(void)
{
	struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	pthread_t threads[NTHREADS];

	sigemptyset(&all);
	set(SIGUSR1, outer);
	set(SIGUSR2, inner);
	set(SIGALRM, inner);
	set(SIGHUP, count);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		sigprocmask(SIG_BLOCK, &all, NULL);
		put(shared + 1);
		for (volatile int k = 0; k < 2000; k++)
			;
		put(shared + 1);
		sigprocmask(SIG_UNBLOCK, &all, NULL);
		if (i % 5 == 0)
			raise(SIGUSR1);
		if (i % 9 == 0)
			pause();
	}
	setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < NTHREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < nbook; i++)
		printf("%s %d %d\n", book[i].name, book[i].old, book[i].new);
	return 0;
}
