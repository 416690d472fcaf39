/* SPDX-License-Identifier: Apache-2.0 */
/* Destructors that run during unwinding, one of which throws and catches an
 * exception of its own. */
#include "battery.h"

static NOINLINE void inner_throw(int i)
{
	HIT();
	if (i & 1)
		throw 'c';
	HIT();
}

struct guard {
	int value;
	NOINLINE explicit guard(int v) : value(v)
	{
		HIT();
	}
	NOINLINE ~guard()
	{
		try {
			HIT();
			inner_throw(value);
			HIT();
		} catch (char) {
			HIT();
			battery_nop();
		}
		HIT();
	}
};

static NOINLINE void deep(int n)
{
	guard here(n);

	HIT();
	if (n == 0)
		throw 1;
	for (int i = 0; i < n; i++) {
		guard loop(i);
		HIT();
		if (i == n - 1)
			deep(n - 1);
		HIT();
	}
	HIT();
}

int main()
{
	int caught = 0;

	for (int i = 0; i < battery_int(9); i++) {
		try {
			HIT();
			deep(i);
			HIT();
		} catch (int) {
			HIT();
			caught++;
		}
	}
	HIT();
	return caught != 9;
}
