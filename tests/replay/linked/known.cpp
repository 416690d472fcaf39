// SPDX-License-Identifier: Apache-2.0
#include "linked.h"

int known(int x)
{
	return x * x + 1;
}

int also(int x) __attribute__((alias("_Z5knowni")));

large by_value(large v, int i)
{
	v.a[1] += i + v.a[5];
	return v;
}

__attribute__((weak)) int weakly(int x)
{
	return x ^ 5;
}

int throws(int x)
{
	if (x % 3 == 0)
		throw x;
	return x / 3;
}

int hidden(int x)
{
	return x + 2;
}

// Frames of it are left one after the other, and each looks at the time; with
// as many turns as that says, a replay that has another one diverges.
int timed(int n)
{
	int after = n ? timed_again(n - 1) : 0;
	unsigned time;

	__asm__ volatile("rdtsc" : "=a"(time) : : "edx");
	return after * 3 + int(time >> 4 & 3);
}

int back_again(int n)
{
	for (int i = timed(n) % 7; i > 0; i--)
		__asm__ volatile("");
	return n ? deep(n - 1) + 1 : called_back(2);
}

extern "C" int turn(int x)
{
	return -x;
}
