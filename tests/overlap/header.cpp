// SPDX-License-Identifier: Apache-2.0
#include "header.h"

int other(int n)
{
	return calls(n) + loops(n);
}
