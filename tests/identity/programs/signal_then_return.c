/* SPDX-License-Identifier: Apache-2.0 */
// A fatal signal in a call directly before a return.
// exit: -6
// defect: 1
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void check(int x)
{
	if (x > 6)
		abort();
}

__attribute__((noinline)) static int step(int x)
{
	check(x);
	return 5;
}

int main(void)
{
	int n = 0;

	for (int i = 0; i < 10; i++) {
		n += step(i);
		printf("%d\n", n);
		fflush(stdout);
	}
	return 0;
}
