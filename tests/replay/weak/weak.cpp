// SPDX-License-Identifier: Apache-2.0
// Weak definitions with marks.
#include "weak.h"

static int calls;

extern "C" __attribute__((weak, noinline)) int taken(int x)
{
	calls++;
	return x > 2 ? taken(x - 2) + 1 : x * 7 + calls;
}

extern "C" int by_alias(int x) __attribute__((alias("taken")));

extern "C" __attribute__((weak)) int kept(int x)
{
	return taken(x) ^ 5;
}

extern "C" __attribute__((weak)) int varied(int n, ...)
{
	return n - 1;
}

int sum(int x)
{
	int (*volatile pointer)(int) = taken;

	return taken(x) + 3 * kept(x) + varied(x, 1, 2) + pointer(x + 1) +
	       by_alias(x % 7) + calls;
}
