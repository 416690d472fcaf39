/* SPDX-License-Identifier: Apache-2.0 */
/* setjmp in a loop, jumped to from various depths, with a frame that returns
 * normally in between. */
#include "battery.h"

#include <setjmp.h>

static jmp_buf target;

static NOINLINE int dive(int depth)
{
	HIT();
	if (depth == 0) {
		HIT();
		longjmp(target, 1);
	}
	if (depth == 1) {
		HIT();
		return 0;
	}
	int below = dive(depth - 2);
	HIT();
	return below + 1;
}

int main(void)
{
	volatile int caught = 0;

	for (volatile int i = 0; i < battery_int(200); i++) {
		HIT();
		if (setjmp(target) == 0) {
			HIT();
			dive(i % 11);
			HIT();
		} else {
			HIT();
			caught++;
		}
		HIT();
	}
	HIT();
	return caught > 200;
}
