/* SPDX-License-Identifier: Apache-2.0 */
/* A store through a null pointer in a callee inside a loop. */
#include "battery.h"

static NOINLINE void store(int *p, int i)
{
	HIT();
	*(volatile int *)p = i;
}

static NOINLINE int step(int i)
{
	int local = 0;

	HIT();
	if (i % 2) {
		HIT();
		store(i == 531 ? (int *)0 : &local, i);
		HIT();
	}
	return local;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < battery_int(1000); i++) {
		HIT();
		sum += step(i);
		HIT();
	}
	HIT();
	return sum < 0;
}
