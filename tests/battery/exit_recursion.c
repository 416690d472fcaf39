/* SPDX-License-Identifier: Apache-2.0 */
/* exit() twenty thousand frames deep. */
#include "battery.h"

#include <stdlib.h>

static NOINLINE int down(int n)
{
	HIT();
	if (n == 0) {
		HIT();
		exit(8);
	}
	int below = down(n - 1);
	HIT();
	if (n % 2) {
		HIT();
		below += down(1);
	}
	return below + 1;
}

int main(void)
{
	HIT();
	int depth = down(battery_int(20000));
	HIT();
	return depth == 0;
}
