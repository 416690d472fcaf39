/* SPDX-License-Identifier: Apache-2.0 */
// Calls in tail position that the optimizer makes jumps of, through a pointer
// and by name, more of them than the stack has room for.
// limits: ulimit -s 512
// levels: -O2 -O3
// defect: 2
#include <stdio.h>
#define NOINLINE __attribute__((noinline))

NOINLINE static long ping(long n, long acc);
static long (*volatile hop)(long, long) = ping;

NOINLINE static long pong(long n, long acc)
{
	if (n % 3 == 0)
		acc ^= n;
	return hop(n - 1, acc + 1);
}

NOINLINE static long ping(long n, long acc)
{
	if (n <= 0)
		return acc;
	return pong(n - 1, acc);
}

int main(void)
{
	printf("%ld\n", ping(400000, 0));
	return 0;
}
