// SPDX-License-Identifier: Apache-2.0
// Calls of functions in other files: some have marks and the linker knows them,
// others are weak, wrapped, an alias, in an archive, or have no marks at all.
#include "linked.h"

#include <cstdio>

static int total;

extern "C" int __real_turn(int x);
extern "C" int __wrap_turn(int x)
{
	return __real_turn(x + 1) + 1000;
}

// Foreign code calls this, and it calls what the linker knows.
int called_back(int x)
{
	return known(x) - 3;
}

int timed_again(int n)
{
	return timed(n) & 0xffff;
}

static int tried(int x)
{
	try {
		return throws(x);
	} catch (int e) {
		return 100 + e;
	}
}

int main()
{
	large v = {{1, 2, 3, 4, 5, 6}};

	for (int i = 0; i < 20; i++) {
		v.a[i % 6] += known(i);
		large w = by_value(v, i);
		total += int(w.a[1]) + weakly(i) + also(i) + tried(i);
		total ^= member(i) + turn(i) + plain(i, called_back);
		total += deep(i % 7);
	}
	printf("%d %ld\n", total, v.a[3]);
	return total & 0x7f;
}
