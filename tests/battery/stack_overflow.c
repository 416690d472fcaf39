/* SPDX-License-Identifier: Apache-2.0 */
/* Runaway recursion: SIGSEGV with no stack left for a handler. */
#include "battery.h"

static NOINLINE int runaway(int n)
{
	volatile char room[16384];

	HIT();
	room[n % 16384] = (char)n;
	int below = runaway(n + 1);
	HIT();
	return below + room[n % 16384];
}

int main(void)
{
	HIT();
	for (int i = 0; i < battery_int(10); i++) {
		HIT();
		runaway(battery_int(i));
		HIT();
	}
	return 0;
}
