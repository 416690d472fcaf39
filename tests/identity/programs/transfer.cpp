/* SPDX-License-Identifier: Apache-2.0 */
// Coroutines that hand over to each other by symmetric transfer, which is a
// guaranteed tail call: the stack does not grow.
// cc: -std=c++20
// limits: ulimit -s 512
// levels: -O1 -O2 -O3
// defect: 2
#include <coroutine>
#include <cstdio>
#include <exception>

struct task {
	struct promise_type {
		std::coroutine_handle<> waiter;
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
		struct last {
			bool await_ready() noexcept
			{
				return false;
			}
			std::coroutine_handle<> await_suspend(
			        std::coroutine_handle<promise_type> h) noexcept
			{
				return h.promise().waiter;
			}
			void await_resume() noexcept
			{
			}
		};
		last final_suspend() noexcept
		{
			return {};
		}
		void return_value(int v)
		{
			value = v;
		}
		void unhandled_exception()
		{
			std::terminate();
		}
	};
	std::coroutine_handle<promise_type> handle;
	bool await_ready()
	{
		return false;
	}
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> h)
	{
		handle.promise().waiter = h;
		return handle;
	}
	int await_resume()
	{
		int v = handle.promise().value;
		handle.destroy();
		return v;
	}
};

static task one(int x)
{
	co_return x & 3;
}

static task many(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += co_await one(i);
	co_return sum;
}

struct runner {
	struct promise_type {
		runner get_return_object()
		{
			return {};
		}
		std::suspend_never initial_suspend()
		{
			return {};
		}
		std::suspend_never final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			std::terminate();
		}
	};
};

static runner all()
{
	std::printf("%d\n", co_await many(30000));
}

int main()
{
	all();
}
