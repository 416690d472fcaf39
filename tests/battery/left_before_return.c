/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call, and then the return of something else than its result: no tail call,
 * although the optimizer has nothing to do after it.  The call may leave by a
 * jump.  Whoever is returned to keeps the books of the returns: a HIT() before
 * one would be something to do.
 */
#include "battery.h"

#include <setjmp.h>

struct pair {
	long a, b;
};

static jmp_buf target;
static volatile int loaded;

NOINLINE void leave(int i)
{
	HIT();
	if (i % 2)
		longjmp(target, 1);
	HIT();
}

NOINLINE int leave_or_give(int i)
{
	HIT();
	if (i % 2)
		longjmp(target, 1);
	HIT();
	return i + loaded;
}

/* More than registers hold: marked as a tail call, and compiled as a call. */
NOINLINE long from_stack(int a, int b, int c, int d, int e, int f, int g, int i)
{
	HIT();
	if (i % 2)
		longjmp(target, a + b + c + d + e + f + g);
	HIT();
	return i;
}

NOINLINE int constant(int i)
{
	leave(i);
	return 9; /* MARK(0); */
}

NOINLINE int argument(int i)
{
	leave(i);
	return i; /* MARK(1); */
}

NOINLINE int variable(int i)
{
	leave(i);
	return loaded; /* MARK(2); */
}

NOINLINE int of_another(int i)
{
	leave_or_give(i);
	return 3; /* MARK(3); */
}

NOINLINE struct pair pair(int i)
{
	leave(i);
	return (struct pair){1, 2}; /* MARK(4); */
}

NOINLINE int in_loop(int i)
{
	for (int k = 0; k < loaded + 3; k++)
		leave(i + k);
	return 4; /* MARK(5); */
}

NOINLINE int in_branch(int i)
{
	if (i > 4) {
		HIT();
		leave(i);
		return -1; /* MARK(6); */
	}
	HIT();
	leave_or_give(i);
	HIT();
	return i;
}

/* Tail calls, or such as look like ones: their callers have left. */
NOINLINE int result(int i)
{
	HIT();
	return leave_or_give(i);
}

NOINLINE long stacked(int i)
{
	HIT();
	return from_stack(1, 2, 3, 4, 5, 6, 7, i);
}

NOINLINE void nothing(int i)
{
	HIT();
	if (i < 7)
		leave(i);
}

NOINLINE int several(int i)
{
	HIT();
	switch (i % 3) {
	case 0:
		HIT();
		return leave_or_give(i);
	case 1:
		HIT();
		leave(i);
		HIT();
		return loaded;
	default:
		HIT();
		return leave_or_give(i + 1);
	}
}

int main(void)
{
	volatile int i, sum = 0;

	for (i = 0; i < battery_int(10); i++) {
		if (setjmp(target))
			continue;
		HIT();
		sum += constant(i);
		BOOK(0, 1);
		sum += argument(i);
		BOOK(1, 1);
		sum += variable(i);
		BOOK(2, 1);
	}
	for (i = 0; i < battery_int(10); i++)
		if (!setjmp(target)) {
			sum += of_another(i);
			BOOK(3, 1);
		}
	for (i = 0; i < battery_int(10); i++)
		if (!setjmp(target)) {
			sum += (int)pair(i).b;
			BOOK(4, 1);
		}
	for (i = 0; i < battery_int(10); i++)
		if (!setjmp(target)) {
			sum += in_loop(i);
			BOOK(5, 1);
		}
	loaded = battery_int(-2);
	for (i = 0; i < battery_int(10); i++)
		if (!setjmp(target)) {
			sum += in_loop(i);
			BOOK(5, 1);
		}
	for (i = 0; i < battery_int(10); i++)
		if (!setjmp(target)) {
			int got = in_branch(i);

			BOOK(6, got < 0);
		}
	for (i = 0; i < battery_int(10); i++)
		if (!setjmp(target)) {
			HIT();
			sum += result(i);
			HIT();
			sum += (int)stacked(i);
			HIT();
		}
	for (i = 0; i < battery_int(10); i++)
		if (!setjmp(target)) {
			HIT();
			nothing(i);
			HIT();
			sum += several(i);
			HIT();
		}
	HIT();
	return 0;
}
