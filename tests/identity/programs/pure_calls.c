/* SPDX-License-Identifier: Apache-2.0 */
// Calls that the optimizer may drop, merge or move: pure, constant, of libm,
// of memory; and those it may not.
// ld: -lm
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((pure, noinline)) static int length(const char *s)
{
	int n = 0;

	while (*s++)
		n++;
	return n;
}

__attribute__((const, noinline)) static int square(int x)
{
	return x > 0 ? x * x : -x;
}

__attribute__((noinline)) static char *twice(const char *s)
{
	char *p = malloc(strlen(s) * 2 + 1);

	strcpy(p, s);
	strcat(p, s);
	return p;
}

__attribute__((cold, noinline, noreturn)) static void stop(int s)
{
	printf("%d\n", s);
	exit(0);
}

int main(int argc, char **argv)
{
	int s = 0;
	char *unused = malloc(100);

	for (int i = 0; i < 10; i++) {
		char *t = twice("abc");
		length(t);
		s += length(t) * length(t) + square(i) + square(i);
		s += (int)floor(sqrt((double)i) * 10) + abs(-i);
		free(t);
		if (i == argc * 7)
			stop(s);
	}
	free(unused);
	return 1;
}
