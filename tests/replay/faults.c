/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers that jump away from the instruction that made the fault: divisions
 * by zero and of the least number, also of vectors, traps of floating-point
 * arithmetic, addresses without memory, ud2.
 */
#define _GNU_SOURCE
#include <fenv.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef int vector __attribute__((vector_size(16)));

static sigjmp_buf env;
static volatile int zero, minus = -1, least = INT_MIN, count;
static volatile long lleast = LONG_MIN;
static volatile unsigned uzero;
static volatile double dzero;
static char *volatile nowhere = (char *)8;

static void on_fault(int sig)
{
	count++;
	siglongjmp(env, sig);
}

static int divide(int how, int x)
{
	vector v = {x, x, x, x}, w = {1, 2, zero, 4};

	switch (how) {
	case 0:
		return x / zero;
	case 1:
		return x % zero;
	case 2:
		return least / minus;
	case 3:
		return (int)((unsigned)x / uzero);
	case 4:
		return (int)(lleast % minus);
	case 5:
		v /= w;
		return v[0] + v[3];
	case 6:
		*nowhere = (char)x;
		return x;
	case 7:
		return *nowhere;
	case 8:
		memcpy(nowhere, &x, sizeof(x));
		return x;
	case 9:
		__builtin_trap();
	case 10:
		return (int)(x / dzero) + 1;
	default:
		return x / (how + zero) + x % (minus - 1) + least / (minus - 1);
	}
}

/* The same once more, below frames that have something to lose. */
static int __attribute__((noinline)) deeper(int how, int depth)
{
	int mine[8];

	for (int i = 0; i < 8; i++)
		mine[i] = depth * how + i;
	if (depth)
		mine[depth] += deeper(how, depth - 1);
	else
		mine[1] += divide(how, mine[3] + 1);
	return mine[depth] + mine[1];
}

int main(void)
{
	volatile int sum = 0, round;
	static const int signals[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL};

	for (int i = 0; i < 4; i++)
		signal(signals[i], on_fault);
	feenableexcept(FE_DIVBYZERO | FE_INVALID);
	for (round = 0; round < 36; round++) {
		int sig = sigsetjmp(env, 1);

		if (sig)
			sum = sum * 31 + sig;
		else
			sum = sum * 31 + deeper(round % 12, round % 5);
		/* a jump out of a handler leaves traps off */
		feenableexcept(FE_DIVBYZERO | FE_INVALID);
		printf("%d %d %d\n", round, sum, count);
	}
	return 0;
}
