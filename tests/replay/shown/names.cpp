// SPDX-License-Identifier: Apache-2.0
// One name for many things: scopes, blocks, enums; arrays as pointers.
#include "saw.h"

int same = 1, count = 50;
static int over = 2;

enum class Color { count = 3, red = 4 };
enum Plain { small = 5, large = 6 };

namespace a
{
int same = 10;
enum Plain { small = 15, large = 16 };

namespace b
{
int same = 20;

__attribute__((noinline)) static int inner(int n)
{
	SAW("same, ::same, a::same, b::same, count, Color::count, small, "
	    "::small, n",
	    "%d|%d|%d|%d|%d|%s|%s|%s|%d", same, ::same, a::same, b::same, count,
	    "count", "small", "small", n);
	SAW("small + 0, ::small + 0, (int)Color::count, a::large - large",
	    "%d|%d|%d|0", small + 0, ::small + 0, (int)Color::count);
	same += n;
	return same;
}
} // namespace b

__attribute__((noinline)) static int outer(int same)
{
	SAW("same, ::same, a::same, b::same", "%d|%d|%d|%d", same, ::same,
	    a::same, b::same);
	return same + a::same;
}
} // namespace a

__attribute__((noinline)) static int blocks(int n)
{
	int over = n;

	SAW("over, ::over", "%d|%d", over, ::over);
	{
		int over = n * 2;

		SAW("over, ::over, n", "%d|%d|%d", over, ::over, n);
		::over += over;
	}
	SAW("over, ::over", "%d|%d", over, ::over);
	return over;
}

__attribute__((noinline)) static int arrays(int n)
{
	int local[3][2] = {{n, n + 1}, {2 * n, 3}, {-n, 5}};

	SAW("**local, **(local + 2), *(*(local + 1) + 1), *local[1], "
	    "(*(local + 2))[1]",
	    "%d|%d|%d|%d|%d", **local, **(local + 2), *(*(local + 1) + 1),
	    *local[1], (*(local + 2))[1]);
	return local[1][0];
}

int main()
{
	volatile int one = 1;

	return a::b::inner(one) + a::outer(one + 1) + blocks(one + 2) +
	               arrays(one + 3) ==
	       0;
}
