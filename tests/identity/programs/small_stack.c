/* SPDX-License-Identifier: Apache-2.0 */
// Deep recursion on a stack that is just large enough for the plain build.
// limits: ulimit -s 1024
// levels: -O1 -O2
#include <stdio.h>

__attribute__((noinline)) static int depth(volatile int *below, int n)
{
	volatile int here = n;

	if (n == 0)
		return below ? *below : 0;
	return depth(&here, n - 1) + (here & 1);
}

int main(void)
{
	printf("%d\n", depth(NULL, 7000));
	return 0;
}
