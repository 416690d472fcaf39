/* SPDX-License-Identifier: Apache-2.0 */
/* quick_exit() in a callee inside a loop: no destructor runs, only the
 * at_quick_exit handler. */
#include "battery.h"

#include <stdlib.h>

static void last(void)
{
	HIT();
}

static void never(void)
{
	HIT();
}

static NOINLINE void step(int i)
{
	HIT();
	if (i == 321)
		quick_exit(4);
	HIT();
}

int main(void)
{
	atexit(never);
	at_quick_exit(last);
	for (int i = 0; i < battery_int(1000); i++) {
		HIT();
		step(i);
		HIT();
	}
	HIT();
	return 0;
}
