// SPDX-License-Identifier: Apache-2.0
// Coroutines, which are functions as any once they are split.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <stdexcept>

struct Numbers {
	struct promise_type {
		int value = 0;
		std::exception_ptr error;

		Numbers get_return_object()
		{
			return {std::coroutine_handle<
			        promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(int v)
		{
			value = v;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			error = std::current_exception();
		}
	};

	std::coroutine_handle<promise_type> handle;

	bool next()
	{
		handle.resume();
		if (handle.promise().error)
			std::rethrow_exception(handle.promise().error);
		return !handle.done();
	}
};

static Numbers collatz(int n)
{
	int steps[4] = {0};

	while (n != 1) {
		steps[n % 4]++;
		co_yield n;
		n = n % 2 ? 3 * n + 1 : n / 2;
	}
	if (steps[3] > 5)
		throw std::runtime_error("too many");
	co_yield steps[0];
}

int main()
{
	for (int n = 3; n < 30; n += 4) {
		Numbers numbers = collatz(n);
		int sum = 0;

		try {
			while (numbers.next())
				sum += numbers.handle.promise().value;
		} catch (const std::exception &e) {
			std::printf("%s ", e.what());
		}
		std::printf("%d %d\n", n, sum);
		numbers.handle.destroy();
	}
	return 0;
}
