// SPDX-License-Identifier: Apache-2.0
// All ways that control can take in C++: throws through several frames with
// destructors, rethrows, virtual calls, iterators that nobody else
// instantiates.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct Noted {
	explicit Noted(int &n) : n(n)
	{
	}
	~Noted()
	{
		n++;
	}
	int &n;
};

struct Shape {
	virtual ~Shape() = default;
	virtual int area() const = 0;
};

struct Square : Shape {
	explicit Square(int a) : a(a)
	{
	}
	int area() const override
	{
		return a * a;
	}
	int a;
};

struct Bar : Shape {
	int area() const override
	{
		if (++calls % 3 == 0)
			throw std::runtime_error("bar");
		return calls;
	}
	static int calls;
};

int Bar::calls;

static int left;

__attribute__((noinline)) static int deep(int n, const Shape &s)
{
	Noted noted(left);

	return n ? deep(n - 1, s) + 1 : s.area();
}

__attribute__((noinline)) static int guarded(int n, const Shape &s)
{
	try {
		return deep(n, s);
	} catch (const std::logic_error &) {
		return -1;
	} catch (...) {
		Noted noted(left);
		if (n > 3)
			throw;
		return -2;
	}
}

int main()
{
	std::map<std::string, int> words;
	std::vector<int> v;
	Square square(3);
	Bar bar;
	int sum = 0;

	for (int i = 0; i < 12; i++) {
		try {
			sum += guarded(i, i % 2 ? static_cast<Shape &>(bar)
			                        : square);
		} catch (const std::exception &e) {
			words[e.what()]++;
		}
		v.push_back((i * 7) % 12);
	}
	std::sort(v.begin(), v.end(), std::greater<int>());
	for (int i : v)
		words[std::to_string(i % 4)] += i;
	for (const auto &w : words)
		std::printf("%s=%d ", w.first.c_str(), w.second);
	std::printf("%d %d\n", sum, left);
	return 0;
}
