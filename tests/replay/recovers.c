/* SPDX-License-Identifier: Apache-2.0 */
/* Faults out of which handlers jump: what was done before each is known.
 * Argument: letters, of what is done. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static __thread sigjmp_buf env, outer;
static __thread int n;
static int *volatile nowhere = (int *)16;
static int *volatile wild = (int *)0x123456789000;
static const char *volatile text = "constant";
static volatile int zero;
static volatile int sum;

static void handle(int sig)
{
	n++;
	siglongjmp(env, sig);
}

/* Faults in turn, deep down, and not always in the frame's first block. */
static int __attribute__((noinline)) fault(int how, int depth)
{
	int mine = depth;

	if (depth)
		return fault(how, depth - 1) + mine;
	switch (how % 7) {
	case 0:
		mine += *nowhere;
		break;
	case 1:
		mine += 7 / zero;
		break;
	case 2:
		__builtin_trap();
	case 3:
		for (int i = 0; i < 5; i++)
			mine += i == 3 ? *wild : i;
		break;
	case 4:
		sum += text[how % 3];
		*(char *)text = 1;
		break;
	case 5:
		memcpy(wild, &mine, sizeof(mine));
		break;
	default:
		mine += how;
	}
	return mine;
}

static int __attribute__((noinline)) one(int how, int depth)
{
	int sig = sigsetjmp(env, 1);

	if (sig)
		return sig;
	return fault(how, depth) + 100;
}

/* setjmp in the frame that faults, in a loop. */
static int __attribute__((noinline)) itself(int turns)
{
	volatile int i = 0, got = 0;

	for (; i < turns; i++) {
		if (sigsetjmp(env, 1)) {
			got++;
			continue;
		}
		if (i % 3 == 1)
			*nowhere = i;
		if (i % 3 == 2)
			sum += i / zero;
		got += 10;
	}
	return got;
}

/* A fault in a handler of a fault. */
static void handle_twice(int sig)
{
	if (n++ % 2 == 0)
		*wild = sig;
	siglongjmp(outer, sig);
}

static int __attribute__((noinline)) nested(int how)
{
	int sig;

	struct sigaction act = {.sa_handler = handle_twice,
	                        .sa_flags = SA_NODEFER};
	sigaction(SIGSEGV, &act, NULL);
	sig = sigsetjmp(outer, 1);
	if (sig == 0)
		sum += fault(how, 2);
	signal(SIGSEGV, handle);
	return sig;
}

static void handle_raise(int sig)
{
	(void)sig;
	siglongjmp(outer, 9);
}

static int __attribute__((noinline)) raised(void)
{
	signal(SIGUSR1, handle_raise);
	if (sigsetjmp(outer, 1))
		return 1;
	for (int i = 0; i < 4; i++)
		if (i == 2)
			raise(SIGUSR1);
	return 0;
}

static void *thread(void *unused)
{
	int got = 0;

	for (int i = 0; i < 14; i++)
		got += one(i, i % 3);
	(void)unused;
	return (void *)(long)got;
}

int main(int argc, char **argv)
{
	static char stack[65536];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction act = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
	const char *which = argc > 1 ? argv[1] : "";
	pthread_t t;
	void *result;

	sigaltstack(&other, NULL);
	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGFPE, &act, NULL);
	sigaction(SIGILL, &act, NULL);
	if (strchr(which, 'o'))
		for (int i = 0; i < 28; i++)
			printf("%d ", one(i, i % 5));
	if (strchr(which, 'i'))
		printf("%d ", itself(20));
	if (strchr(which, 'n'))
		printf("%d ", nested(0) + nested(4));
	if (strchr(which, 'r'))
		printf("%d ", raised());
	if (strchr(which, 't')) {
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, &result);
		printf("%ld", (long)result);
	}
	puts("");
	return 0;
}
