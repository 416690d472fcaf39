/* SPDX-License-Identifier: Apache-2.0 */
/* exit() in a callee, inside a loop of its caller. */
#include "battery.h"

#include <stdlib.h>

static NOINLINE void step(int i)
{
	HIT();
	if (i == 700) {
		HIT();
		exit(3);
	}
	HIT();
}

static NOINLINE void loop(int n)
{
	for (int i = 0; i < n; i++) {
		HIT();
		step(i);
		HIT();
	}
	HIT();
}

int main(void)
{
	HIT();
	for (int i = 0; i < battery_int(3); i++) {
		HIT();
		loop(battery_int(300 * (i + 1)));
		HIT();
	}
	HIT();
	return 0;
}
