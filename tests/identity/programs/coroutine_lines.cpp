/* SPDX-License-Identifier: Apache-2.0 */
// Lines of coroutines count what their source does there: not copies of
// parameters, nor what makes, goes on with and destroys them.
// cc: -std=c++20
// levels: -O0
// ask: * | 0 | report --format lcov {file} | ^DA:50,10$
// ask: * | 0 | report --format lcov {file} | ^DA:56,27$
// ask: * | 0 | report --format lcov {file} | ^DA:58,9$
#include <coroutine>
#include <cstdio>
#include <string>

struct task {
	struct promise_type {
		int value = 0;
		task get_return_object()
		{
			return {std::coroutine_handle<
			        promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() noexcept
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
		void return_value(int v)
		{
			value = v;
		}
		void unhandled_exception()
		{
		}
	};
	std::coroutine_handle<promise_type> h;
};

static task twice(int n, std::string s)
{
	int x = n;

	x += static_cast<int>(s.size());
	co_return x + n;
}

static task numbers(int n)
{
	for (int i = 0; i < n; i++)
		co_yield i;

	co_return n;
}

static int run(int i)
{
	task t = twice(i, "two"), u = numbers(3);
	int r = 0;

	t.h.resume();
	r += t.h.promise().value;
	while (!u.h.done() && (i || u.h.promise().value < 1)) {
		u.h.resume();
		r += u.h.promise().value;
	}
	t.h.destroy();
	u.h.destroy();
	return r;
}

int main()
{
	int r = 0;

	for (int i = 0; i < 10; i++)
		r += run(i);
	std::printf("%d\n", r);
	return 0;
}
