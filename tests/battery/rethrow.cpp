/* SPDX-License-Identifier: Apache-2.0 */
/* Rethrown and nested exceptions, and one thrown while another is handled. */
#include "battery.h"

#include <exception>
#include <stdexcept>

static NOINLINE void source(int i)
{
	HIT();
	if (i % 2)
		throw std::runtime_error("odd");
	if (i % 3 == 0)
		throw std::logic_error("three");
	HIT();
}

static NOINLINE void again(int i)
{
	try {
		HIT();
		source(i);
		HIT();
	} catch (std::runtime_error &) {
		HIT();
		if (i % 5)
			throw;
		HIT();
		throw 17;
	}
	HIT();
}

static NOINLINE void nest(int i)
{
	try {
		again(i);
		HIT();
	} catch (std::exception &) {
		HIT();
		std::throw_with_nested(std::invalid_argument("nested"));
	}
	HIT();
}

static NOINLINE int open_nested(const std::invalid_argument &e)
{
	try {
		HIT();
		std::rethrow_if_nested(e);
		HIT();
	} catch (std::runtime_error &) {
		HIT();
		return 1;
	} catch (std::logic_error &) {
		HIT();
		return 2;
	}
	HIT();
	return 0;
}

int main()
{
	int sum = 0;

	for (int i = 0; i < battery_int(120); i++) {
		try {
			nest(i);
			HIT();
		} catch (std::invalid_argument &e) {
			HIT();
			sum += open_nested(e);
		} catch (int value) {
			HIT();
			sum += value;
		}
		HIT();
	}
	return sum < 0;
}
