/* SPDX-License-Identifier: Apache-2.0 */
/* A line that is inlined in several places, and one that a macro expands
 * several times: the line has one count. */
#include "battery.h"

static inline __attribute__((always_inline)) int step(int i)
{
	HIT();
	return battery_int(i) + 1;
}

static NOINLINE int a(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += step(i);
	return sum;
}

static NOINLINE int b(int n)
{
	HIT();
	return step(n) + step(n + 1);
}

int main(void)
{
	int sum = a(battery_int(30));

	sum += b(sum);
	sum += b(sum);
	HIT();
	sum += step(sum);
	return sum == 0;
}
