/* SPDX-License-Identifier: Apache-2.0 */
/* C++20 coroutines: may be left out of a profile, and must still work. */
#include <coroutine>
#include <cstdio>
#include <utility>

struct generator {
	struct promise_type {
		int value = 0;

		generator get_return_object()
		{
			return generator(std::coroutine_handle<
			                 promise_type>::from_promise(*this));
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
			throw;
		}
	};

	std::coroutine_handle<promise_type> handle;

	explicit generator(std::coroutine_handle<promise_type> h) : handle(h)
	{
	}
	generator(generator &&other) : handle(std::exchange(other.handle, {}))
	{
	}
	~generator()
	{
		if (handle)
			handle.destroy();
	}
	bool next()
	{
		handle.resume();
		return !handle.done();
	}
};

static generator primes(int limit)
{
	for (int n = 2; n < limit; n++) {
		bool prime = true;

		for (int d = 2; d * d <= n; d++)
			if (n % d == 0)
				prime = false;
		if (prime)
			co_yield n;
	}
	if (limit == 40)
		throw limit;
}

static int sum(int limit)
{
	generator g = primes(limit);
	int s = 0;

	try {
		while (g.next())
			s += g.handle.promise().value;
	} catch (int what) {
		s -= what;
	}
	return s;
}

int main()
{
	std::printf("%d %d %d\n", sum(100), sum(40), sum(3));
	return 0;
}
