/* SPDX-License-Identifier: Apache-2.0 */
/* Code of others that calls back: qsort, bsearch, exit handlers, and a throw
 * through qsort. */
#include "battery.h"

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <vector>

static int ncompared, throws_at;

struct guard {
	int *n;
	~guard()
	{
		++*n;
	}
};

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	if (++ncompared == throws_at)
		throw std::runtime_error("enough");
	return x < y ? -1 : x > y;
}

static NOINLINE int sort(int n, int at)
{
	std::vector<int> v;
	int left = 0;

	for (int i = 0; i < n; i++)
		v.push_back((i * 7919) % 1000);
	ncompared = 0;
	throws_at = at;
	try {
		guard g{&left};
		qsort(v.data(), v.size(), sizeof(int), compare);
	} catch (const std::logic_error &) {
		return -1;
	}
	throws_at = 0;
	int key = 7 * 7919 % 1000;
	return bsearch(&key, v.data(), v.size(), sizeof(int), compare) !=
	       nullptr;
}

static NOINLINE int guarded(int n, int at)
{
	int left = 0;

	try {
		guard g{&left};
		return sort(n, at);
	} catch (std::exception &e) {
		try {
			if (n % 2)
				throw;
		} catch (std::runtime_error &) {
			return left + 10;
		}
		return left + 20;
	}
}

static void at_end()
{
	battery_int(sort(20, 0));
}
static void at_end_too()
{
	battery_int(guarded(11, 5));
}

int main()
{
	std::function<int(int)> f = [](int n) {
		return n % 2 ? n : guarded(n, 9);
	};
	int sum = 0;

	atexit(at_end);
	atexit(at_end_too);
	for (int i = 2; i < 60; i++)
		sum += guarded(i, i % 3 ? 0 : i / 2) + f(i);
	return sum == 0;
}
