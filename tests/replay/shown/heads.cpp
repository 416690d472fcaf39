// SPDX-License-Identifier: Apache-2.0
// Variables in the heads of catch, while and switch hide others of their name
// up to the end of the statement, and no longer.
#include "saw.h"

struct Fault {
	int code;
	explicit Fault(int c) : code(c)
	{
	}
	Fault(const Fault &f) : code(f.code + 1)
	{
	}
	~Fault()
	{
		code = -1;
	}
	explicit operator bool() const
	{
		return code > 0;
	}
};

volatile int left;

__attribute__((noinline)) static int next()
{
	return left > 0 ? left-- : 0;
}

__attribute__((noinline)) static void fail(int k)
{
	if (k >= 0)
		throw k;
}

// A try that always throws, and one that may.
__attribute__((noinline)) static void byValue(int k)
{
	int e = k + 10;

	{
		try {
			throw k + 1;
		} catch (int e) {
			SAW("e", "%d", e);
		}
		SAW("e", "%d", e);
	}
	{
		try {
			fail(k - 1);
		} catch (int &e) {
			SAW("e", "%d", e);
			e++;
		}
		e++;
		SAW("e", "%d", e);
	}
}

__attribute__((noinline)) static void classes(int k)
{
	int e = k + 10;

	{
		try {
			throw Fault(k);
		} catch (Fault e) {
			SAW("e.code", "%d", e.code);
		} catch (const int &e) {
			SAW("e", "%d", e);
		} catch (...) {
			SAW("e", "%d", e);
		}
		SAW("e", "%d", e);
	}
	if (k) {
		try {
			throw Fault(k + 1);
		} catch (const Fault &e) {
		}
		SAW("e", "%d", e);
		try {
			throw k;
		} catch (const Fault &e) {
			SAW("e.code", "%d", e.code);
		} catch (const int &e) {
			SAW("e", "%d", e);
		}
		SAW("e", "%d", e);
	}
}

__attribute__((noinline)) static void nested(int k)
{
	int e = k + 10, f = k + 40;

	{
		try {
			throw k + 1;
		} catch (int e) {
			SAW("e, f", "%d|%d", e, f);
			try {
				throw k + 20.5;
			} catch (double f) {
				SAW("e, f", "%d|%g", e, f);
			}
			SAW("e, f", "%d|%d", e, f);
			try {
				throw k + 30;
			} catch (int e) {
				SAW("e, f", "%d|%d", e, f);
			}
			SAW("e, f", "%d|%d", e, f);
		}
		SAW("e, f", "%d|%d", e, f);
	}
}

int whole = 70;

__attribute__((noinline)) static void function(int k)
try {
	throw k;
} catch (int whole) {
	SAW("whole", "%d", whole);
}

// clang-format off
__attribute__((noinline)) static void loops(int k)
{
	int x = k + 50, y = k + 60;

	left = k;
	{
		while (int x = next()) {
			SAW("x, y", "%d|%d", x, y);
			if (x == 7)
				break;
		}
		SAW("x, y", "%d|%d", x, y);
	}
	left = k;
	{
		while (int x = next())
			SAW("x, y", "%d|%d", x, y);
		SAW("x, y", "%d|%d", x, y);
	}
	left = k;
	{
		while (int x = next())
			if (x > 1) {
				SAW("x, y", "%d|%d", x, y);
			} else
				while (int y = next() + x)
					try {
						fail(y);
					} catch (int k) {
						SAW("x, y, k", "%d|%d|%d", x, y, k);
						break;
					}
		SAW("x, y, k", "%d|%d|%d", x, y, k);
	}
	left = k;
	{
		while (Fault x = Fault(next())) {
			SAW("x.code, y", "%d|%d", x.code, y);
		}
		SAW("x, y", "%d|%d", x, y);
	}
}

// Loops without a second turn, and ways out of them.
__attribute__((noinline)) static int leave(int k)
{
	int x = k + 50;

	left = k;
	{
		while (int x = next()) {
			SAW("x", "%d", x);
			if (k == 2)
				return x;
			break;
		}
		SAW("x", "%d", x);
		while (int x = next())
			if (x == 2)
				goto found;
		SAW("x, k", "%d|%d", x, k);
		return 1;
found:
		SAW("k, x", "%d|%d", k, x);
		left = k;
		while (int x = next())
			return printf("print|%d|%s|%d\n", __LINE__, "x", x); // SAW(
		SAW("x", "%d", x);
	}
	return 0;
}

// A handler that leaves by goto has a block behind it that nothing leads to.
__attribute__((noinline)) static int dead(int k)
{
	int e = k + 50;

	{
		while (int e = k)
			return e;
		try {
			throw k + 1;
		}
		catch (int e)
		{
			for (;;) {
				SAW("e", "%d", e);
				goto behind;
			}
		}
behind:
		SAW("e", "%d", e);
		switch (int e = k) {
		}
		SAW("e, k", "%d|%d", e, k);
	}
	return 0;
}

__attribute__((noinline)) static void switches(int k)
{
	int x = k + 50, y = k + 60;

	left = k;
	{
		switch (int x = next()) {
		case 0:
			SAW("y, x", "%d|%d", y, x);
			break;
		case 1: {
			SAW("x, y", "%d|%d", x, y);
			int x = 99;
			SAW("y, x, k", "%d|%d|%d", y, x, k);
		}
		default:
			SAW("x, y", "%d|%d", x, y);
		}
		SAW("x, y", "%d|%d", x, y);
		switch (int x = next(); int y = next() + x) {
		case 0:
			break;
		default:
			SAW("x, y", "%d|%d", x, y);
		}
		SAW("x, y", "%d|%d", x, y);
		switch (x) {
		case 50:
			break;
		default:
			SAW("x, y", "%d|%d", x, y);
		}
		int z = x ? y : k;
		SAW("x, y, z", "%d|%d|%d", x, y, z);
	}
}

// What has a block of its own, and what is no head.
__attribute__((noinline)) static void others(int k)
{
	int x = k + 50, all[2] = {k, k + 1};

	left = k;
	{
		if (int x = next())
			SAW("x", "%d", x);
		else
			SAW("x, k", "%d|%d", x, k);
		SAW("x", "%d", x);
		for (int i = 0; int x = next(); i++)
			SAW("x, i", "%d|%d", x, i);
		for (int x : all)
			SAW("x", "%d", x);
		SAW("x", "%d", x);
		do {
			int x = next();
			SAW("x", "%d", x);
		} while (left > 0);
		left = k;
again:
		int x = next();
		SAW("x", "%d", x);
		if (x)
			goto again;
		while (k-- > 0) {
			int x = k;
			SAW("x", "%d", x);
		}
		SAW("x", "%d", x);
	}
}

#define EACH(x) while (int x = next())
#define CAUGHT(e) catch (int e)
#define ALL(e) try { throw 5; } catch (int e) { left = e; }

__attribute__((noinline)) static void macros(int k)
{
	int x = k + 50;

	left = k;
	{
		EACH(x) {
			SAW("x", "%d", x);
		}
		SAW("x", "%d", x);
		try {
			throw k;
		} CAUGHT(x) {
			SAW("x", "%d", x);
		}
		SAW("x", "%d", x);
	}
	{
		ALL(x)
		SAW("x", "%d", x);
		EACH(x) left -= x;
		SAW("x", "%d", x);
	}
}

template <class T> __attribute__((noinline)) static void templates(T k)
{
	int e = 30;

	auto inner = [&] {
		{
			try {
				throw k;
			} catch (T e) {
				SAW("e", "%d", (int)e);
			}
			SAW("e", "%d", e);
		}
	};
	inner();
}
// clang-format on

int main()
{
	for (int k = 0; k < 4; k++) {
		byValue(k);
		classes(k);
		nested(k);
		function(k);
		loops(k);
		leave(k);
		dead(k);
		switches(k);
		others(k);
		macros(k);
		templates<int>(k);
		templates<short>((short)k);
	}
	return 0;
}
