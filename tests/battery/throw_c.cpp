/* SPDX-License-Identifier: Apache-2.0 */
/* A C++ exception that passes through frames of C, compiled as C with default
 * flags (throw_c_middle.c). */
#define BATTERY_UNIT 1
#include "battery.h"

extern "C" int middle(int n, void (*callback)(int));

static void callback(int i)
{
	HIT();
	if (i == 5) {
		HIT();
		throw "five";
	}
	HIT();
}

int main()
{
	int caught = 0;

	for (int i = 0; i < battery_int(50); i++) {
		try {
			HIT();
			middle(i % 10, callback);
			HIT();
		} catch (const char *) {
			HIT();
			caught++;
		}
	}
	HIT();
	return caught > 50;
}
