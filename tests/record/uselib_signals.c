/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without marks whose handlers call a library that has them: "sync"
 * while the library waits for what it called, as any callback; "async" at any
 * moment, until it is refused.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

int api(int (*f)(int), int n);

static volatile int nsignals;

static int add(int i)
{
	return i + 1;
}

static void on_signal(int sig)
{
	(void)sig;
	nsignals++;
	api(add, 10);
}

static int interrupt(int i)
{
	if (i % 7 == 0)
		raise(SIGALRM);
	return i;
}

int main(int argc, char **argv)
{
	struct itimerval every = {{0, 500}, {0, 500}};
	long sum = 0;

	signal(SIGALRM, on_signal);
	if (argc > 1 && strcmp(argv[1], "sync") == 0) {
		for (int i = 0; i < 100; i++)
			sum += api(interrupt, 20);
		printf("%ld %d\n", sum, nsignals);
		return 0;
	}
	setitimer(ITIMER_REAL, &every, NULL);
	while (nsignals < 100000)
		sum += api(add, 1000);
	return (int)sum;
}
