/* SPDX-License-Identifier: Apache-2.0 */
// -fsanitize=function looks in front of a function that is called by a pointer
// for its type, also where it has other entries in traces and recordings.
// cc: -fsanitize=function -fsanitize-trap=function
// exit: -4
// check: trace C4
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

NOINLINE int one(int x)
{
	return x + 1;
}

NOINLINE static int other(int x)
{
	return x * 2;
}

NOINLINE int wrongly(int (*f)(int), int x)
{
	long (*wrong)(long, long) = (long (*)(long, long))f;

	return (int)wrong(x, x);
}

int main(void)
{
	int (*volatile f)(int) = one;
	int s = 0;

	for (volatile int i = 0; i < 10; i++) {
		s += f(i);
		f = i % 2 ? one : other;
	}
	printf("%d\n", s);
	fflush(stdout);
	s = wrongly(f, s);
	printf("%d\n", s);
	return 0;
}
