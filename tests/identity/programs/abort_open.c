/* SPDX-License-Identifier: Apache-2.0 */
// abort, below three frames that stay open.
// exit: -6
// defect: 9
// same: trace record | trace --open {file}
#include <stdio.h>
#include <stdlib.h>
#define NOINLINE __attribute__((noinline))

NOINLINE static int inner(int x)
{
	if (x > 3)
		abort();
	return x * 2;
}

NOINLINE static int outer(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += inner(i);
	return s;
}

int main(void)
{
	printf("%d\n", outer(3));
	fflush(stdout);
	printf("%d\n", outer(9));
	return 0;
}
