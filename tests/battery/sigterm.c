/* SPDX-License-Identifier: Apache-2.0 */
/* SIGTERM from outside to a program that sleeps in a loop.  It announces the
 * sleep that does not end by itself. */
#include "battery.h"

#include <unistd.h>

static NOINLINE void nap(int i)
{
	HIT();
	if (i == 20) {
		HIT();
		battery_ready();
		sleep(1000);
		HIT();
	} else {
		usleep(1000);
		HIT();
	}
}

int main(void)
{
	HIT();
	for (int i = 0;; i++) {
		HIT();
		nap(i);
		HIT();
	}
	return 0;
}
