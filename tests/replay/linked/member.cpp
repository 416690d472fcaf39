// SPDX-License-Identifier: Apache-2.0
#include "linked.h"

int member(int x)
{
	return 3 * x;
}

int deep(int n)
{
	return back_again(n) + hidden(n);
}
