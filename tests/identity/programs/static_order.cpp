/* SPDX-License-Identifier: Apache-2.0 */
// Objects before and after main: order, guards that throw and begin again,
// recursion through functions, inline variables, exit within destructors.
// cc: -std=c++17
// exit: 9
#include <cstdio>
#include <cstdlib>

static int made;

struct thing {
	int n;
	explicit thing(int x) : n(x)
	{
		made += n;
		std::printf("+%d ", n);
	}
	~thing()
	{
		std::printf("-%d ", n);
		if (n == 3) {
			std::printf("\n");
			std::exit(9);
		}
	}
};

template <int N> struct holder {
	static inline thing t{N};
	static thing &lazy(int fail)
	{
		static thing l(fail ? throw N : N + 10);
		return l;
	}
};

static thing early __attribute__((init_priority(200))){1};
static thing one{2};
static thing &two = holder<4>::lazy(0);

int main()
{
	int failed = 0;

	for (int i = 3; i; i--) {
		try {
			made += holder<5>::lazy(i > 1).n;
		} catch (int n) {
			failed += n;
		}
	}
	static thing last{3};
	std::printf("%d %d %d\n", made + holder<6>::t.n, failed, two.n);
}
