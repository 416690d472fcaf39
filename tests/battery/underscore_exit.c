/* SPDX-License-Identifier: Apache-2.0 */
/* _exit() in a callee inside a loop: no handler runs. */
#include "battery.h"

#include <unistd.h>

static NOINLINE void step(int i)
{
	HIT();
	if (i == 777)
		_exit(5);
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
