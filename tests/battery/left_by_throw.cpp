/* SPDX-License-Identifier: Apache-2.0 */
/* A call that may throw, and then the return of something else. */
#include "battery.h"

struct pair {
	long a, b;
};

static volatile int thrown, destroyed;

struct noted {
	~noted()
	{
		destroyed = destroyed + 1;
	}
};

NOINLINE void leave(int i)
{
	HIT();
	thrown = thrown + 1;
	if (i % 2)
		throw i;
	HIT();
}

NOINLINE int give(int i)
{
	HIT();
	if (i % 3 == 0)
		throw i;
	HIT();
	return i + thrown;
}

NOINLINE int constant(int i)
{
	leave(i);
	return 9; /* MARK(0); */
}

NOINLINE int argument(int i)
{
	give(i);
	return i; /* MARK(1); */
}

NOINLINE pair two(int i)
{
	leave(i);
	return {1, 2}; /* MARK(2); */
}

NOINLINE int result(int i)
{
	HIT();
	return give(i);
}

NOINLINE int cleaned(int i)
{
	noted n;

	leave(i);
	HIT();
	return 3;
}

int main()
{
	volatile int sum = 0;

	for (int i = 0; i < battery_int(12); i++) {
		try {
			sum = sum + constant(i);
			BOOK(0, 1);
			sum = sum + argument(i);
			BOOK(1, 1);
			sum = sum + (int)two(i).a;
			BOOK(2, 1);
			sum = sum + result(i + 1);
			HIT();
		} catch (int) {
			HIT();
		}
		try {
			sum = sum + cleaned(i);
			HIT();
		} catch (int) {
			HIT();
		}
	}
	HIT();
	return 0;
}
