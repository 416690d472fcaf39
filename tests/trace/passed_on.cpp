/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions that a cleanup passes on, to callers which have only one way to go
 * on, and would have taken it. */
#include <cstdio>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

struct cleanup {
	~cleanup()
	{
		std::puts("cleanup");
		sink = sink + 1;
	}
};

NOINLINE void thrower(int k)
{
	if (k % 3 == 0)
		throw k;
	if (k % 3 == 1)
		throw 1L * k;
	std::puts("none");
}

NOINLINE void cleans(int k)
{
	cleanup c;

	thrower(k);
}

NOINLINE void plain(int k)
{
	cleans(k);
	sink = sink + 1;
}

NOINLINE int catches_some(int k)
try {
	plain(k);
	return 0;
} catch (int e) {
	return e;
}

int main()
{
	int sum = 0;

	for (int i = 0; i < 30; i++) {
		try {
			sum += catches_some(i);
		} catch (long e) {
			sum -= (int)e;
		}
	}
	std::printf("%d\n", sum);
	return 0;
}
