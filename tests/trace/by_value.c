/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A struct that is passed in memory, to functions of this file and another, by
 * name, as the last thing that a function does, and by pointer.
 */
#include <stdio.h>

#include "by_value.h"

__attribute__((noinline)) long first(int n, struct big b)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += b.part[i % 3] ^ i;
	return sum;
}

__attribute__((noinline)) long last(int n, struct big b)
{
	if (n & 1)
		return second(n, b);
	return first(n, b);
}

int main(void)
{
	long (*volatile call[])(int, struct big) = {first, second, last};
	struct big b = {{1, 2, 3}};
	long sum = 0;

	for (int i = 0; i < 300; i++) {
		b.part[i % 3] += i;
		sum += call[i % 3](i, b) + first(i, b) + second(i, b);
	}
	printf("%ld\n", sum);
	return sum == 0;
}
