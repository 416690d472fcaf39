/* SPDX-License-Identifier: Apache-2.0 */
/* A program that calls into a library, which calls back. */
#include "library.h"

#include <stdio.h>

static int visit(int i)
{
	return i % 2 ? i : library_twice(i) + 1;
}

int main(void)
{
	int s = 0;

	for (int i = 0; i < 25; i++)
		s += library_walk(i, visit);
	printf("%d\n", s);
	return 0;
}
