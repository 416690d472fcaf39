/* SPDX-License-Identifier: Apache-2.0 */
/* SIGKILL in a callee inside a loop, three frames deep. */
#include "battery.h"

#include <signal.h>
#include <unistd.h>

static NOINLINE void step(int i)
{
	HIT();
	if (i == 613) {
		HIT();
		kill(getpid(), SIGKILL);
		HIT();
	}
	HIT();
}

static NOINLINE void loop(int n)
{
	HIT();
	for (int i = 0; i < n; i++) {
		HIT();
		if (i % 3 == 0) {
			HIT();
			battery_nop();
		}
		step(i);
		HIT();
	}
	HIT();
}

int main(void)
{
	HIT();
	loop(battery_int(1000));
	HIT();
	return 0;
}
