/* SPDX-License-Identifier: Apache-2.0 */
/* Tail calls, by name and through pointers, that would overflow the stack if
 * they were calls; and one that would not, and is a call. */
#include <stdio.h>

#define STEPS 1000000

typedef long op(long n, long s);

static op up, down;
static op *volatile table[] = {up, down};

static long up(long n, long s)
{
	return n ? table[s & 1](n - 1, s + 1) : s;
}

static long down(long n, long s)
{
	return n ? table[n & 1](n - 1, s + 2) : s;
}

__attribute__((noinline)) static long odd(long n, long s);

__attribute__((noinline)) static long even(long n, long s)
{
	return n ? odd(n - 1, s ^ n) : s;
}

__attribute__((noinline)) static long odd(long n, long s)
{
	return n ? even(n - 1, s + n) : -s;
}

__attribute__((noinline)) static long last(long s)
{
	return s > 0 ? s : 2 * s;
}

__attribute__((noinline)) static long once(long s)
{
	return last(s + 1);
}

int main(void)
{
	long s = 0;

	for (int i = 0; i < 5; i++)
		s += once(i - 3);
	printf("%ld\n", s);
	printf("%ld\n", up(STEPS, 0));
	printf("%ld\n", even(STEPS, 0));
	return 0;
}
