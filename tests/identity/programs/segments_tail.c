/* SPDX-License-Identifier: Apache-2.0 */
// A path segment whose function ends in a tail call of another one.
// levels: -O2
// defect: 13
// ask: trace | 0 | segments --depth 2 {file} | twice|\btail\b
#include <stdio.h>
#define NOINLINE __attribute__((noinline))
static volatile int sink;

NOINLINE static int twice(int x)
{
	if (x & 1)
		sink++;
	return x * 2 + sink;
}

NOINLINE static int tailer(int x)
{
	if (x > 5)
		sink += 2;
	return twice(x);
}

int main(void)
{
	int s = 0;

	for (int i = 0; i < 10; i++)
		s += tailer(i);
	printf("%d\n", s);
	return 0;
}
