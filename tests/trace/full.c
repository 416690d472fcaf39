/* SPDX-License-Identifier: Apache-2.0 */
/* Writes more trace than there may be file: the program must not notice. */
#include "battery.h"

#include <stdio.h>

static NOINLINE unsigned leaf(unsigned n)
{
	return n & 2 ? n * 3 : n + 1;
}

int main(void)
{
	unsigned h = 1;

	for (unsigned i = 0; i < 20000000; i++) {
		h ^= h << 13;
		h ^= h >> 17;
		h ^= h << 5;
		if (h & 64)
			h += leaf(i);
	}
	printf("done %u\n", h);
	return 0;
}
