/* SPDX-License-Identifier: Apache-2.0 */
// Calls directly before a return, left by exceptions.
// defect: 1
#include <cstdio>
#define NOINLINE __attribute__((noinline))

NOINLINE static void odd(int x)
{
	if (x & 1)
		throw x;
}

NOINLINE static bool fine(int x)
{
	odd(x);
	return true;
}

struct base {
	virtual int get(int x)
	{
		odd(x);
		return 7;
	}
};

struct other : base {
	int get(int x) override
	{
		odd(x + 1);
		return 8;
	}
};

NOINLINE static int through(base &b, int x)
{
	b.get(x);
	return 1;
}

int main()
{
	base b;
	other o;
	int n = 0, caught = 0;

	for (int i = 0; i < 20; i++) {
		try {
			n += fine(i * 3);
			n += through(i % 4 ? b : o, i);
		} catch (int) {
			caught++;
		}
	}
	std::printf("%d %d\n", n, caught);
}
