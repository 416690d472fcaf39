/* SPDX-License-Identifier: Apache-2.0 */
/* longjmp out of a loop, through a frame that is itself in a loop. */
#include "battery.h"

#include <setjmp.h>

static jmp_buf target;

static NOINLINE void leave(int i)
{
	HIT();
	if (i % 8 == 7)
		longjmp(target, i);
	HIT();
}

static NOINLINE void middle(int from)
{
	HIT();
	for (int i = from;; i++) {
		HIT();
		leave(i);
		HIT();
	}
}

int main(void)
{
	volatile int round = 0;
	int got = setjmp(target);

	HIT();
	if (got) {
		HIT();
		round += got > 0;
	}
	if (round < battery_int(100)) {
		HIT();
		middle(round % 8);
		HIT();
	}
	HIT();
	return 0;
}
