/* SPDX-License-Identifier: Apache-2.0 */
/*
 * __builtin_setjmp in a loop, jumped to by __builtin_longjmp from various
 * depths, through frames in the middle of loops of their own, and an inner
 * target that is sometimes jumped over.
 */
#include "battery.h"

static void *outer[5], *inner[5];

static NOINLINE int dive(int depth)
{
	HIT();
	if (depth == 0) {
		HIT();
		__builtin_longjmp(inner, 1);
	}
	if (depth == 1) {
		HIT();
		return 0;
	}
	if (depth == 8) {
		HIT();
		__builtin_longjmp(outer, 1);
	}
	int below = 0;
	for (int i = 0; i < battery_int(3); i++) {
		HIT();
		below += dive(depth - 2 - i % 2);
		HIT();
	}
	HIT();
	return below + 1;
}

static NOINLINE int hold(int depth)
{
	HIT();
	if (__builtin_setjmp(inner) == 0) {
		HIT();
		dive(depth);
		HIT();
	} else {
		HIT();
		battery_nop();
	}
	HIT();
	return 1;
}

int main(void)
{
	static volatile int caught, i;

	for (; i < battery_int(220); i++) {
		HIT();
		if (__builtin_setjmp(outer) == 0) {
			HIT();
			hold(i % 11);
			HIT();
		} else {
			HIT();
			caught++;
		}
		HIT();
	}
	HIT();
	return caught != 40;
}
