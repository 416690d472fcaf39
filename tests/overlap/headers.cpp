// SPDX-License-Identifier: Apache-2.0
#include "header.h"

volatile int ntimes = 3;

int main()
{
	int all = 0;

	for (int i = 0; i < 10; i++)
		all += calls(i) + other(i);
	return all == 0;
}
