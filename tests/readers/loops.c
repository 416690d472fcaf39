/* SPDX-License-Identifier: Apache-2.0 */
/* Loops, calls, a switch, recursion, a callback: something of all that is
 * counted.  It ends by exit() in a callee. */
#include <stdlib.h>

__attribute__((noinline)) static unsigned leaf(unsigned n)
{
	if (n & 1)
		return n * 3;
	return n & 2 ? n + 1 : n / 2;
}

__attribute__((noinline)) static unsigned pick(unsigned n)
{
	switch (n % 5) {
	case 0:
		return leaf(n);
	case 1:
		return leaf(n + 1) + leaf(n);
	case 2:
		return n;
	default:
		return n > 40 ? leaf(n / 2) : 7;
	}
}

__attribute__((noinline)) static unsigned deep(unsigned n)
{
	return n < 2 ? n : deep(n - 1) + (n & 3 ? deep(n - 2) : leaf(n));
}

/* More paths than have counters of their own. */
__attribute__((noinline)) static unsigned many(unsigned n)
{
	volatile unsigned s = 0;

	for (unsigned bit = 0; bit < 3; bit++) {
#define IF(k)           \
	if (n >> (k)&1) \
	s += (k) + bit
		IF(0);
		IF(1);
		IF(2);
		IF(3);
		IF(4);
		IF(5);
		IF(6);
		IF(7);
		IF(8);
		IF(9);
		IF(10);
		IF(11);
		IF(12);
		IF(13);
		n = n * 37 + leaf(n);
	}
	return s;
}

static int order(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

__attribute__((noinline)) static void end(unsigned s)
{
	exit(s == 1);
}

int main(void)
{
	static unsigned (*const volatile callees[])(unsigned) = {leaf, pick,
	                                                         many};
	unsigned items[24], s = 0;

	for (unsigned i = 0; i < 24; i++) {
		items[i] = pick(i * 7 % 53);
		for (unsigned k = 0; k < i % 4; k++)
			s += k & 1 ? callees[i % 3](s) : k;
	}
	qsort(items, 24, sizeof(*items), order);
	s += deep(9);
	end(s);
	return 0;
}
