/* SPDX-License-Identifier: Apache-2.0 */
/* A crash in a function that is called in the middle of another one, and all of
 * them have but one way to go on. */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

NOINLINE int fine(int x)
{
	return abs(x) + 1;
}

NOINLINE int crash(const int *p)
{
	return *(const volatile int *)p;
}

NOINLINE int middle(int x, const int *p)
{
	volatile int r = x ? fine(x) : crash(p);

	return r + 1;
}

int main(int argc, char **argv)
{
	int r = middle(argc > 1 ? atoi(argv[1]) : 0, NULL);

	printf("%d\n", r);
	return 0;
}
