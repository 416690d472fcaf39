/* SPDX-License-Identifier: Apache-2.0 */
/* The program that exec_other.c becomes. */
#define BATTERY_UNIT 2
#include "battery.h"

#include <stdlib.h>

static NOINLINE int twice(int i)
{
	HIT();
	return 2 * i;
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 0; i < argc * atoi(argv[1]); i++) {
		HIT();
		sum += twice(i);
	}
	HIT();
	return sum != 182;
}
