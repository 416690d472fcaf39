// SPDX-License-Identifier: Apache-2.0
// What takes the place of the weak ones, with or without marks.
#include "weak.h"

static int last;

extern "C" int taken(int x)
{
	last += x;
	return last;
}

extern "C" int varied(int n, ...)
{
	return 100 * n + last;
}
