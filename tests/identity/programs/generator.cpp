/* SPDX-License-Identifier: Apache-2.0 */
// A generator that throws, is destroyed half way, and has others inside.
// cc: -std=c++20
#include <coroutine>
#include <cstdio>
#include <exception>
#include <utility>

struct generator {
	struct promise_type {
		int value;
		std::exception_ptr error;
		generator get_return_object()
		{
			return generator{std::coroutine_handle<
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
	std::coroutine_handle<promise_type> h;
	explicit generator(std::coroutine_handle<promise_type> x) : h(x)
	{
	}
	generator(generator &&o) : h(std::exchange(o.h, nullptr))
	{
	}
	~generator()
	{
		if (h)
			h.destroy();
	}
	bool next()
	{
		h.resume();
		if (h.promise().error)
			std::rethrow_exception(h.promise().error);
		return !h.done();
	}
	int value() const
	{
		return h.promise().value;
	}
};

static generator tree(int from, int to)
{
	if (from >= to)
		co_return;
	int mid = (from + to) / 2;
	for (auto g = tree(from, mid); g.next();)
		co_yield g.value();
	if (mid == 13)
		throw mid;
	co_yield mid;
	for (auto g = tree(mid + 1, to); g.next();)
		co_yield g.value();
}

int main()
{
	int sum = 0;

	for (int n = 3; n < 20; n += 4) {
		auto g = tree(0, n);
		try {
			while (g.next() && sum % 50 != 49)
				sum += g.value();
		} catch (int x) {
			sum += x * 1000;
		}
	}
	std::printf("%d\n", sum);
}
