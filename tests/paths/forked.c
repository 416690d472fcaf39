/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that go on where their chains are not known: in the child of a fork,
 * and on another thread.  run.py knows what is to be counted.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE int leaf(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static NOINLINE int forks(int n)
{
	pid_t child = fork();

	if (child > 0)
		waitpid(child, NULL, 0);
	return leaf(n) + 1;
}

static NOINLINE int outer(int n)
{
	n = forks(n) + 1;
	return leaf(n) + 1;
}

static ucontext_t here, there;
static char stack[65536];

static NOINLINE int leaves(int n)
{
	swapcontext(&there, &here);
	return leaf(n) + 1;
}

static NOINLINE void routine(void)
{
	leaf(leaves(1));
}

static void *resume(void *arg)
{
	swapcontext(&here, &there);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argv;
	if (argc == 1)
		return outer(1) < 0;
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, routine, 0);
	swapcontext(&here, &there);
	pthread_create(&thread, NULL, resume, NULL);
	pthread_join(thread, NULL);
	return 0;
}
