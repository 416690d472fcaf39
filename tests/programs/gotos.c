/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops made of computed gotos: entered, turned and left by jumps to addresses,
 * which no block on an edge can catch.
 */
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE int scan(const unsigned char *p, int k)
{
	static void *const table[] = {&&done, &&next};
	int n = 0;

	goto *table[k];
next:
	n++;
	p++;
	if (*p == 9)
		goto bad;
	goto *table[*p];
bad:
	n += 100;
done:
	return n;
}

static NOINLINE int bounded(const unsigned char *p, int n, int k)
{
	static void *const table[] = {&&go, &&bad, &&done};
	int s = 0, i = 0;

	if (k == 7) {
		s = 1000;
		goto done;
	}
	if (k == 8) {
		s = 2000;
		goto bad;
	}
next:
	goto *table[p[i]];
go:
	s += p[i + 1];
	if (++i < n)
		goto next;
	return s;
bad:
	s += 100;
	return s ^ 1;
done:
	return s + 3;
}

static NOINLINE int tight(const unsigned char *p, int k)
{
	static void *const table[] = {&&first, &&second, &&out};
	const unsigned char *q = p;

	goto *table[k];
first:
	while (*q == 0)
		q++;
	goto *table[*q++];
second:
	while (*q == 1)
		q++;
	goto *table[*q++];
out:
	return (int)(q - p);
}

int main(void)
{
	static const unsigned char ones[] = {1, 1, 1, 1, 1, 0};
	static const unsigned char mixed[] = {0, 0, 0, 0, 0, 2, 0, 0, 0};
	static const unsigned char runs[] = {0, 0, 0, 1, 1, 1, 1,
	                                     0, 0, 1, 1, 2, 2};

	printf("%d %d\n", scan(ones, 1), scan(ones, 0));
	printf("%d %d %d %d\n", bounded(mixed, 4, 1), bounded(mixed, 9, 1),
	       bounded(mixed, 3, 7), bounded(mixed, 2, 8));
	printf("%d %d %d\n", tight(runs, 0), tight(runs, 1), tight(runs, 2));
	return 0;
}
