/* SPDX-License-Identifier: Apache-2.0 */
// Frames die in the last calls of theirs, after loops and calls that came back:
// the paths that they were on have ended, and no pair of these was counted.
// exit: -4
// check: trace C4
// ask: paths,overlap | 0 | overlap {file} | loops, \d+ calls, [2-9] returns
// unfinished
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE int one(int x)
{
	return x + 1;
}

static NOINLINE int wrongly(int x)
{
	if (x > 3)
		__builtin_trap();
	return one(x) + 3;
}

static NOINLINE int turn(int n)
{
	int s = 0;

	for (volatile int i = 0; i < n; i++)
		s += one(i) ^ (s & 1 ? n : 0);
	return wrongly(s);
}

int main(void)
{
	int s = 0;

	for (volatile int i = 0; i < 3; i++)
		s += turn(i) & 1;
	printf("%d\n", s);
	fflush(stdout);
	return turn(10);
}
