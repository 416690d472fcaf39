/* SPDX-License-Identifier: Apache-2.0 */
/* A library of dlopen_many.c and dlclose.c; LIBRARY is its number. */
#define BATTERY_UNIT 2
#include "battery.h"

int call(int n);

static NOINLINE int add(int a)
{
	HIT();
	return a + LIBRARY;
}

__attribute__((constructor)) static void loaded(void)
{
	HIT();
}

__attribute__((destructor)) static void unloaded(void)
{
	HIT();
}

int call(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		HIT();
		sum += add(i) & 1;
	}
	HIT();
	return add(n) + (sum < 0);
}
