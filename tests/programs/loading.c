/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that runs while the program is loaded, when there is nothing yet to
 * count in, in a static executable not even memory of the thread's own: the
 * resolver of an ifunc here, one in loading_far.c (which may be a shared
 * object), what they call, and a memcpy of the program's own.  All of it runs
 * again later, in threads and in the child of a fork, too.
 *
 * CALLS_FAR: the resolver calls a function of the other file, which does not
 * know that.
 *
 * Prints how often it came by each line with HERE(): `file:line count`.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loading.h"

static unsigned long here[HERE_LINES];

static volatile int limit = 40;

static int add(int a, int b)
{
	return a + b;
}

static int multiply(int a, int b)
{
	return a * b;
}

static NOINLINE int prefers_add(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		HERE(here);
		sum += i & 1 ? i : -1;
	}
	return sum > 100;
}

static int (*resolve(void))(int, int)
{
	HERE(here);
#ifdef CALLS_FAR
	far_helper(limit);
#endif
	if (prefers_add(limit)) {
		HERE(here);
		return add;
	}
	HERE(here);
	return multiply;
}

int combine(int a, int b) __attribute__((ifunc("resolve")));

#ifdef OWN_MEMCPY
static NOINLINE void copy_byte(volatile unsigned char *to,
                               const unsigned char *from)
{
	HERE(here);
	*to = *from;
}

__attribute__((used)) void *memcpy(void *to, const void *from, size_t n)
{
	volatile unsigned char *p = to;
	const unsigned char *q = from;

	HERE(here);
	for (size_t i = 0; i < n; i++)
		copy_byte(p + i, q + i);
	return to;
}
#endif

static void *run(void *arg)
{
	for (int i = 0; i < 20000; i++) {
		HERE(here);
		prefers_add(i % 3);
		far_helper(i % 2);
	}
	return arg;
}

static void run_threads(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			abort();
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* The child starts to count at 0, and so must its profile. */
static void run_child(const char *path)
{
	pid_t pid = fork();

	if (pid < 0)
		abort();
	if (pid) {
		int status;

		if (waitpid(pid, &status, 0) != pid || status)
			abort();
		return;
	}
	for (int i = 0; i < HERE_LINES; i++)
		here[i] = 0;
	far_clear();
	if (!freopen(path, "w", stdout))
		abort();
	HERE(here);
	run(NULL);
	here_print("loading.c", here);
	far_print();
	exit(0);
}

int main(int argc, char **argv)
{
	int x = 1;

	for (int i = 1; i < limit; i++) {
		HERE(here);
		x = far_combine(combine(x, i) % 10007, i);
	}
	run_threads();
	if (argc > 1)
		run_child(argv[1]);
	printf("%d\n", x);
	here_print("loading.c", here);
	far_print();
	return 0;
}
