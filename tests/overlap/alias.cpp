// SPDX-License-Identifier: Apache-2.0
#include "alias.h"

static volatile int sink;

counted::counted(int n) : value(n)
{
	if (n & 1)
		sink = sink + 1;
}

counted::~counted()
{
	if (value & 2)
		sink = sink - 1;
}
