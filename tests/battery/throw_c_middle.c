/* SPDX-License-Identifier: Apache-2.0 */
/* The C frames of throw_c.cpp. */
#define BATTERY_UNIT 2
#include "battery.h"

int middle(int n, void (*callback)(int));

static NOINLINE int inner(int n, void (*callback)(int))
{
	int done = 0;

	for (int i = 0; i < n; i++) {
		HIT();
		callback(i);
		HIT();
		done++;
	}
	HIT();
	return done;
}

int middle(int n, void (*callback)(int))
{
	int done = inner(n, callback);

	HIT();
	return done + battery_int(1);
}
