/* SPDX-License-Identifier: Apache-2.0 */
/* A loop without calls that only a signal ends, while it is hot. */
#include "battery.h"

static volatile unsigned forever = 1;
static unsigned table[64];

static NOINLINE unsigned run(void)
{
	unsigned h = 1;

	HIT();
	for (unsigned i = 0; forever; i++) {
		HIT_ALONE();
		h = h * 16777619u + table[i & 63];
		if (h & 1) {
			HIT_ALONE();
			h ^= table[h & 63];
		}
	}
	HIT();
	return h;
}

int main(void)
{
	for (unsigned i = 0; i < 64; i++)
		table[i] = i * 2654435761u;
	HIT();
	battery_ready();
	unsigned h = run();
	HIT();
	return (int)h;
}
