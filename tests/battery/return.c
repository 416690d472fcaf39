/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary control flow: a loop, a branch, a switch, a return. */
#include "battery.h"

static NOINLINE int classify(int i)
{
	HIT();
	switch (i % 5) {
	case 0:
		HIT();
		return 1;
	case 1:
	case 2:
		HIT();
		battery_nop();
		break;
	default:
		HIT();
		return 3;
	}
	HIT();
	return 2;
}

int main(void)
{
	int n = battery_int(1234), sum = 0;

	for (int i = 0; i < n; i++) {
		HIT();
		sum += classify(i);
		if (i % 3 == 0) {
			HIT();
			battery_nop();
		}
		while (sum > 100) {
			HIT();
			sum -= battery_int(7);
		}
	}
	HIT();
	return sum > 100;
}
