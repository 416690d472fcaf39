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

int back_again(int n)
{
	return n ? deep(n - 1) + 1 : called_back(2);
}

extern "C" int turn(int x)
{
	return -x;
}
