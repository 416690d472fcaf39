/* SPDX-License-Identifier: Apache-2.0 */
/* Recursion: the naive Fibonacci numbers. */
#include "battery.h"

static NOINLINE int fib(int n)
{
	HIT();
	if (n < 2) {
		HIT();
		return n;
	}
	int a = fib(n - 1);
	HIT();
	int b = fib(n - 2);
	HIT();
	return a + b;
}

int main(void)
{
	HIT();
	return fib(battery_int(20)) != 6765;
}
