/* SPDX-License-Identifier: Apache-2.0 */
/* abort() in a callee inside a loop. */
#include "battery.h"

#include <stdlib.h>

static NOINLINE void step(int i)
{
	HIT();
	if (i == 432)
		abort();
	HIT();
}

int main(void)
{
	for (int i = 0; i < battery_int(1000); i++) {
		HIT();
		step(i);
		HIT();
	}
	HIT();
	return 0;
}
