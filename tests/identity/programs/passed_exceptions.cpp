/* SPDX-License-Identifier: Apache-2.0 */
// Exceptions that go from thread to thread, by exception_ptr and futures, and
// are rethrown in both.
// cc: -pthread -std=c++17
#include <cstdio>
#include <exception>
#include <future>
#include <stdexcept>
#include <thread>

static int thrower(int n)
{
	if (n % 2)
		throw std::out_of_range("odd");
	return n;
}

static std::exception_ptr catcher(int n)
{
	try {
		thrower(n);
	} catch (...) {
		return std::current_exception();
	}
	return nullptr;
}

int main()
{
	int caught = 0, sum = 0;

	for (int i = 0; i < 4; i++) {
		std::exception_ptr p;
		std::thread([&] { p = catcher(i); }).join();
		for (int twice = 0; twice < 2 && p; twice++) {
			try {
				std::rethrow_exception(p);
			} catch (const std::out_of_range &) {
				caught++;
			}
		}
		std::promise<int> promise;
		auto f = promise.get_future();
		std::thread t([&] {
			try {
				promise.set_value(thrower(i + 1));
			} catch (...) {
				promise.set_exception(std::current_exception());
			}
		});
		t.join();
		try {
			sum += f.get();
		} catch (const std::exception &e) {
			sum += 100;
		}
	}
	std::printf("%d %d\n", caught, sum);
}
