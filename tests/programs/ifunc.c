/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ifunc, whose resolver calls a function of ours: both run while the program
 * is loaded, when there is nothing yet to count in, in a static executable not
 * even memory of the thread's own.
 */
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

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

	for (int i = 0; i < n; i++)
		sum += i & 1 ? i : -1;
	return sum > 100;
}

static int (*resolve(void))(int, int)
{
	return prefers_add(limit) ? add : multiply;
}

int combine(int a, int b) __attribute__((ifunc("resolve")));

int main(void)
{
	int x = 1;

	for (int i = 1; i < limit; i++)
		x = combine(x, i) % 10007;
	printf("%d\n", x);
	return 0;
}
