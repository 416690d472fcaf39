/* SPDX-License-Identifier: Apache-2.0 */
/* A library, linked as a shared object or statically. */
#include "library.h"

static int calls;

int library_twice(int n)
{
	calls++;
	return n > 0 ? 2 * n : n;
}

int library_walk(int n, int (*visit)(int))
{
	int s = 0;

	for (int i = -3; i < n; i++) {
		if (i % 4 == 1)
			continue;
		s += library_twice(visit(i));
	}
	return s + calls;
}
