/* SPDX-License-Identifier: Apache-2.0 */
/* Calls between modules, and from foreign code: lib.c, qsort. */
#include <stdio.h>
#include <stdlib.h>

extern int calls;
int api(int (*f)(int), int n);

static int nback;

static int back(int i)
{
	return i + nback++;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	int v[5] = {5, 3, 4, 1, 2}, sum = 0;

	for (int i = 0; i < 10; i++)
		sum += api(back, 100);
	qsort(v, 5, sizeof(v[0]), compare);
	printf("%d %d %d %d\n", sum, calls, v[0], nback);
	return 0;
}
