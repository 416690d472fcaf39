// SPDX-License-Identifier: Apache-2.0
//
// Tail calls of C++: symmetric transfer between coroutines in a thread whose
// stack is small, with exceptions, generators, virtual functions, and
// structures that are returned.
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#define NOINLINE __attribute__((noinline))

static long steps = 4000;

// --- symmetric transfer ------------------------------------------------------

struct Task {
	struct promise_type {
		std::coroutine_handle<> waiting;
		std::exception_ptr thrown;
		long value = 0;

		Task get_return_object()
		{
			return Task{std::coroutine_handle<
			        promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		struct Last {
			bool await_ready() noexcept
			{
				return false;
			}
			std::coroutine_handle<> await_suspend(
			        std::coroutine_handle<promise_type> h) noexcept
			{
				auto w = h.promise().waiting;
				return w ? w : std::noop_coroutine();
			}
			void await_resume() noexcept
			{
			}
		};
		Last final_suspend() noexcept
		{
			return {};
		}
		void return_value(long v)
		{
			value = v;
		}
		void unhandled_exception()
		{
			thrown = std::current_exception();
		}
	};

	std::coroutine_handle<promise_type> h;

	explicit Task(std::coroutine_handle<promise_type> h) : h(h)
	{
	}
	Task(Task &&o) : h(std::exchange(o.h, {}))
	{
	}
	~Task()
	{
		if (h)
			h.destroy();
	}
	bool await_ready()
	{
		return false;
	}
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> c)
	{
		h.promise().waiting = c;
		return h;
	}
	long await_resume()
	{
		if (h.promise().thrown)
			std::rethrow_exception(h.promise().thrown);
		return h.promise().value;
	}
};

static Task leaf(long i)
{
	if (i % 1000 == 7)
		throw std::runtime_error(std::to_string(i));
	co_return i * 2;
}

static Task middle(long i)
{
	long a = co_await leaf(i);

	co_return a + co_await leaf(i + 1);
}

static Task loop(long n)
{
	long s = 0;

	for (long i = 0; i < n; i++) {
		try {
			s += co_await middle(i);
		} catch (const std::exception &e) {
			s -= std::atol(e.what());
		}
	}
	co_return s;
}

// --- a generator -------------------------------------------------------------

struct Numbers {
	struct promise_type {
		long now = 0;

		Numbers get_return_object()
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
		std::suspend_always yield_value(long v)
		{
			now = v;
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
	std::coroutine_handle<promise_type> h;

	~Numbers()
	{
		h.destroy();
	}
	bool next()
	{
		h.resume();
		return !h.done();
	}
};

static Numbers numbers(long n)
{
	for (long i = 0; i < n; i++) {
		if (i == 13)
			throw i;
		co_yield i *i;
	}
}

// --- virtual functions -------------------------------------------------------

struct State {
	virtual ~State() = default;
	virtual long run(long n, long s) const = 0;
};

static const State *states[2];

struct Up : State {
	long run(long n, long s) const override
	{
		if (!n)
			return s;
		return states[n % 3 == 0]->run(n - 1, s + 2);
	}
};

struct Down : State {
	long run(long n, long s) const override
	{
		if (n < 0)
			throw s;
		if (!n)
			return -s;
		return states[s & 1]->run(n - 1, s - 1);
	}
};

// --- what throws, and what comes back through
// ---------------------------------

NOINLINE static long number(const std::string &s)
{
	return std::stol(s); // throws, and is gone before
}

NOINLINE static std::string twice(const std::string &s)
{
	return s + s;
}

NOINLINE static std::string four(const std::string &s)
{
	return twice(twice(s));
}

struct Guard {
	long &n;

	~Guard()
	{
		n++;
	}
};

static long guarded(const std::string &s, long &n)
{
	Guard g{n};

	try {
		return number(s);
	} catch (const std::invalid_argument &) {
		return -1;
	}
}

NOINLINE static void apply(const std::function<void(long)> &f, long n)
{
	f(n);
}

static void *deep(void *)
{
	Task t = loop(steps);
	long k = 0;
#ifdef __OPTIMIZE__
	long calls = 5 * steps;
#else
	long calls = 100;
#endif

	t.h.resume();
	std::printf("%ld\n", t.h.promise().value);
	std::printf("%ld %ld\n", states[0]->run(calls, 0),
	            states[1]->run(calls, 1));
	try {
		Numbers n = numbers(100);

		while (n.next())
			k += n.h.promise().now;
	} catch (long at) {
		std::printf("%ld %ld\n", k, at);
	}
	return nullptr;
}

// What it reads, and how many steps it makes.
int main(int argc, char **argv)
{
	Up up;
	Down down;
	long n = 0, total = 0;
	pthread_attr_t small;
	pthread_t thread;

	if (argc > 2)
		steps = std::atol(argv[2]);
	states[0] = &up;
	states[1] = &down;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 * 1024);
	if (pthread_create(&thread, &small, deep, nullptr))
		std::abort();
	pthread_join(thread, nullptr);
	steps /= 5;
	deep(nullptr);
	std::printf("%ld", guarded("77", n));
	std::printf(" %ld", guarded("none", n));
	try {
		guarded("99999999999999999999999", n);
	} catch (const std::out_of_range &e) {
		std::printf(" %s %ld\n", e.what(), n);
	}
	std::printf("%s\n", four("ab").c_str());
	for (long i = 0; i < 5; i++)
		try {
			apply(
			        [&](long v) {
				        total += number(v % 2 ? "x" : "12") + v;
			        },
			        i);
		} catch (const std::exception &e) {
			total += 1000;
		}
	try {
		total += down.run(-1, 5);
	} catch (long s) {
		total += s;
	}
	std::printf("%ld\n", total);
	return 0;
}
