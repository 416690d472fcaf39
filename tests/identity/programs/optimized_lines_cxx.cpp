/* SPDX-License-Identifier: Apache-2.0 */
// The same of C++: scopes that end in destructors or in nothing, lambdas,
// templates, catch, range for, static and thread_local initialisation.
// defect: 12
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

struct Guard {
	int x;
	explicit Guard(int x) : x(x)
	{
		sink = sink + x;
	}
	~Guard()
	{
		sink = sink - 1;
	}
};

struct Plain {
	int x[16];
};

NOINLINE static void touch(Plain &p, int i)
{
	p.x[i & 15] = i;
}

NOINLINE static void scopes(int n)
{
	for (int i = 0; i < n; i++) {
		{
			Guard g(i);
			sink = sink + 1;
		}
		{
			Plain p;
			touch(p, i);
		}
		Guard h(1);
		if (i % 2)
			continue;
		sink = sink + 2;
	}
}

template <typename T> NOINLINE T sum(const std::vector<T> &v)
{
	T r{};
	for (const T &x : v)
		r += x;
	return r;
}

NOINLINE static int thrower(int i)
{
	Guard g(i);
	if (i % 3 == 0)
		throw std::runtime_error("three");
	if (i % 3 == 1)
		throw i;
	return i;
}

NOINLINE static int catches(int i)
{
	try {
		return thrower(i);
	} catch (const std::exception &e) {
		return e.what()[0];
	} catch (int x) {
		Guard g(x);
		return x;
	}
}

NOINLINE static int lambdas(int n)
{
	int r = 0;
	auto add = [&r](int x) {
		if (x & 1)
			r += x;
		else
			r -= x;
	};
	for (int i = 0; i < n; i++)
		add(i);
	return r;
}

static int start()
{
	sink = 3;
	return sink;
}

static const int started = start();

struct Base {
	virtual ~Base() = default;
	virtual int f(int x) = 0;
};

struct Derived : Base {
	int f(int x) override
	{
		return x + started;
	}
};

NOINLINE static int locals(int n)
{
	static const std::string name("local");
	thread_local int calls = 0;
	calls += n;
	return static_cast<int>(name.size()) + calls;
}

NOINLINE static int maps(int n)
{
	std::map<std::string, int> m;
	for (int i = 0; i < n; i++)
		m[std::to_string(i % 10)]++;
	int r = 0;
	for (const auto &[k, v] : m)
		r += v * k[0];
	return r;
}

NOINLINE static int virtuals(Base &b, int n)
{
	int r = 0;
	for (int i = 0; i < n; i++)
		r += b.f(i);
	return r;
}

int main()
{
	int r = 0, n = 60;
	scopes(n);
	r += sum(std::vector<int>{1, 2, 3, 4, 5, 6, 7});
	r += static_cast<int>(sum(std::vector<double>{1, 2.5, 3}));
	for (int i = 0; i < n; i++)
		r += catches(i);
	r += lambdas(n);
	auto d = std::make_unique<Derived>();
	r += virtuals(*d, n);
	for (int i = 0; i < 5; i++)
		r += locals(i);
	r += maps(n);
	std::printf("%d %d\n", r, static_cast<int>(sink));
}
