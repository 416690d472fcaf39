/* SPDX-License-Identifier: Apache-2.0 */
/* throw out of loops, past frames with and without a landing pad. */
#include "battery.h"

static NOINLINE void thrower(int i)
{
	HIT();
	if (i % 4 == 3)
		throw i;
	HIT();
}

static NOINLINE void plain(int n)
{
	for (int i = 0; i < n; i++) {
		HIT();
		thrower(i);
		HIT();
	}
	HIT();
}

static NOINLINE void other(int n)
{
	try {
		HIT();
		plain(n);
		HIT();
	} catch (char) {
		HIT();
		battery_nop();
	}
	HIT();
}

int main()
{
	int caught = 0;

	for (int i = 0; i < battery_int(100); i++) {
		try {
			HIT();
			other(i % 7);
			HIT();
		} catch (int value) {
			HIT();
			caught += value > 0;
		}
		HIT();
	}
	HIT();
	return caught > 100;
}
