/* SPDX-License-Identifier: Apache-2.0 */
/* Constructors before main, destructors after it, one of them in a function,
 * and a thread_local one. */
#include "battery.h"

#include <thread>

static NOINLINE void work(int n)
{
	for (int i = 0; i < n; i++) {
		HIT();
		battery_nop();
	}
	HIT();
}

struct object {
	int n;
	explicit object(int count) : n(count)
	{
		HIT();
		work(n);
		HIT();
	}
	~object()
	{
		HIT();
		work(2 * n);
		HIT();
	}
};

static object first(10);
static object second(battery_int(20));
static thread_local object mine(5);

static NOINLINE int use()
{
	static object lazy(7);

	HIT();
	return lazy.n + mine.n;
}

int main()
{
	int sum = 0;

	for (int i = 0; i < battery_int(4); i++) {
		HIT();
		sum += use();
	}
	std::thread other([] {
		HIT();
		use();
		HIT();
	});
	other.join();
	HIT();
	return sum != 48;
}
