/* SPDX-License-Identifier: Apache-2.0 */
/* A second file with a variable of the same name, and one that only another
 * writes. */
#include <stdio.h>

static int twice = 2;
int other(int n);

int other(int n)
{
	static int inner;

	printf("%d %d\n", twice, inner);
	twice += n;
	inner = n;
	return twice;
}
