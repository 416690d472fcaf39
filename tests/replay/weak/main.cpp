// SPDX-License-Identifier: Apache-2.0
#include "weak.h"

#include <cstdio>

int main()
{
	int total = 0;

	for (int i = 0; i < 20; i++)
		total = 3 * total + sum(i) + taken(i) + kept(i);
	printf("%d\n", total);
	return 0;
}
