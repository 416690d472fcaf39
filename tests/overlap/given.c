/* SPDX-License-Identifier: Apache-2.0 */
/* A library: what it exports it calls itself, too. */
#ifdef SHARED
int shared(int x);
#include "placed.h"
#endif
int given(int x);
int helps(int x);
int aids(int x);

#ifdef LATE
int late = 1; /* so that it is another build */
#endif

__attribute__((noinline)) int helps(int x)
{
	int sum = 0;

	for (int i = 0; i < (x & 3); i++) {
		__asm__ volatile("" : "+r"(sum));
		sum += i & 1 ? x : 3;
	}
	return sum;
}

/* one path that returns */
__attribute__((noinline)) int aids(int x)
{
	if (x & 1)
		__asm__ volatile("nop" ::: "memory");
	return x;
}

__attribute__((noinline)) int given(int x)
{
	int sum = helps(x);

	if (x & 4)
		__asm__ volatile("nop" ::: "memory");
	sum += aids(x);
	for (int i = 0; i < (x & 7); i++)
		__asm__ volatile("" : "+r"(sum));
#ifdef SHARED
	sum += shared(x);
#endif
	return sum;
}
