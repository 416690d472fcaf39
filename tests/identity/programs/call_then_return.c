/* SPDX-License-Identifier: Apache-2.0 */
// A call that may not come back, directly before a return of something else:
// by longjmp, by exit in the end; what stands after it ran only if it did.
// exit: 3
// defect: 1
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
static jmp_buf out;
static volatile int sink;

NOINLINE static void maybe(int x)
{
	if (x % 3 == 1)
		longjmp(out, x);
	sink += x;
}

NOINLINE static int constant(int x)
{
	maybe(x);
	return 9;
}

NOINLINE static int argument(int x)
{
	maybe(x);
	return x;
}

NOINLINE static long twice(int x)
{
	if (x > 4)
		maybe(x);
	maybe(x + 1);
	return 0;
}

NOINLINE static void leave(int x)
{
	if (x)
		exit(3);
}

NOINLINE static int last(int x)
{
	leave(x);
	return 0;
}

int main(void)
{
	volatile int sum = 0;

	for (volatile int i = 0; i < 12; i++)
		if (!setjmp(out))
			sum += constant(i) + argument(i + 1) + (int)twice(i);
	printf("%d %d\n", sum, sink);
	fflush(stdout);
	last(0);
	return last(1);
}
