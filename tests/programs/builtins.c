/* SPDX-License-Identifier: Apache-2.0 */
/*
 * __builtin_setjmp and __builtin_longjmp: nested, into a frame below, out of
 * frames that belong to another file (builtins_far.c, which may be a shared
 * object), out of a leaf, and by way of a function that has to be inlined.
 */
#include <stdio.h>

#include "builtins.h"

#define NOINLINE __attribute__((noinline))

static void *outer[5], *inner[5];

static NOINLINE void deeper(int n)
{
	if (n == 0)
		__builtin_longjmp(inner, 1);
	if (n == 13)
		far_jump(outer, n & 3);
	deeper(n - 1);
	printf("not reached\n");
}

static inline __attribute__((always_inline)) int mark(void **buffer)
{
	return __builtin_setjmp(buffer);
}

static NOINLINE int nested(int n)
{
	if (mark(inner))
		return 10 + n;
	deeper(n);
	return 0;
}

static NOINLINE int around(int i)
{
	static volatile int again;

	if (__builtin_setjmp(outer)) {
		again++;
		return 1000 + again;
	}
	return nested(i);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 20; i++) {
		sum += around(i);
		sum += far_catch(i, i % 5);
	}
	printf("sum %d\n", sum);
	return 0;
}
