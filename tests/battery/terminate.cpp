/* SPDX-License-Identifier: Apache-2.0 */
/* An exception that nobody catches: std::terminate, then abort. */
#include "battery.h"

static NOINLINE void thrower(int i)
{
	HIT();
	if (i == 12)
		throw i;
	HIT();
}

static NOINLINE void loop(int n)
{
	for (int i = 0; i < n; i++) {
		HIT();
		thrower(i);
		HIT();
	}
	HIT();
}

int main()
{
	HIT();
	loop(battery_int(100));
	HIT();
	return 0;
}
