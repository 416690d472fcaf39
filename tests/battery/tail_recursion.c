/* SPDX-License-Identifier: Apache-2.0 */
/* Mutual tail recursion, so deep at -O1 and above that it must run in constant
 * stack. */
#include "battery.h"

#ifdef __OPTIMIZE__
#define DEPTH 5000000
#else
#define DEPTH 5000
#endif

static NOINLINE int odd(int n, int sum);

static NOINLINE int even(int n, int sum)
{
	HIT();
	if (n == 0) {
		HIT();
		return sum;
	}
	return odd(n - 1, sum ^ n);
}

static NOINLINE int odd(int n, int sum)
{
	HIT();
	if (n == 0) {
		HIT();
		return -sum;
	}
	return even(n - 1, sum + 1);
}

int main(void)
{
	int a = even(battery_int(DEPTH), 1);
	HIT();
	int b = odd(battery_int(DEPTH), 1);
	HIT();
	return a == b;
}
