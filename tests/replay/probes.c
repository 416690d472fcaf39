/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that try something which may fault, and return at once: the handler
 * jumps into a frame from its very last tick.  Also traps behind which code
 * goes on, as far as the compiler knows.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf env;
static int count, zero, seven = 7;
static volatile int *volatile nowhere = (int *)16;

static void on_fault(int sig)
{
	count++;
	siglongjmp(env, sig);
}

__attribute__((noinline)) static int load(volatile int *p)
{
	if (sigsetjmp(env, 1))
		return -1;
	return *p;
}

__attribute__((noinline)) static int store(volatile int *p)
{
	if (sigsetjmp(env, 1))
		return -2;
	*p = 8;
	return 0;
}

__attribute__((noinline)) static int divide(int a, int b)
{
	if (sigsetjmp(env, 1))
		return -3;
	return a / b;
}

__attribute__((noinline)) static int deeper(volatile int *p)
{
	return *p + 1;
}

__attribute__((noinline)) static int called(volatile int *p)
{
	if (sigsetjmp(env, 1))
		return -4;
	return deeper(p) + 1;
}

__attribute__((noinline)) static int trap(int n)
{
	int sig = sigsetjmp(env, 1);

	if (sig)
		return -sig;
	if (n)
		__builtin_trap();
	return n;
}

__attribute__((noinline)) static int assembly(int n)
{
	int sig = sigsetjmp(env, 1);

	if (sig)
		return -sig;
	if (n == 1)
		__asm__ volatile("ud2");
	if (n == 2)
		__asm__ volatile("int3");
	if (n == 3)
		__builtin_debugtrap();
	return n;
}

int main(void)
{
	static const int signals[] = {SIGFPE, SIGSEGV, SIGILL, SIGTRAP};

	for (int i = 0; i < 4; i++)
		signal(signals[i], on_fault);
	for (int i = 0; i < 3; i++) {
		printf("%d %d\n", load(&seven), load(nowhere));
		printf("%d %d\n", store(&seven), store(nowhere));
		printf("%d %d\n", divide(i, seven), divide(i, zero));
		printf("%d %d\n", called(&seven), called(nowhere));
		printf("%d %d\n", trap(0), trap(1));
		for (int n = 0; n < 4; n++)
			printf("%d ", assembly(n));
		printf("%d\n", count);
	}
	/* main itself, with nothing behind it but its return */
	if (sigsetjmp(env, 1))
		return 3;
	return *nowhere;
}
