/* SPDX-License-Identifier: Apache-2.0 */
// The linker makes functions that are alike one.
// cc: -ffunction-sections
// ld: -fuse-ld=lld -Wl,--icf=all
// levels: -O1 -O2
#include <cstdio>

template <class T> __attribute__((noinline)) static T same(T x)
{
	volatile int n = 3;
	return n > 2 ? x + 1 : x;
}

__attribute__((noinline)) int alike_a(int x)
{
	volatile int n = 4;
	if (x > n)
		return x - n;
	return n;
}

__attribute__((noinline)) int alike_b(int x)
{
	volatile int n = 4;
	if (x > n)
		return x - n;
	return n;
}

int main()
{
	int s = 0;

	for (int i = 0; i < 10; i++)
		s += same(i) + (int)same<unsigned>(i) + alike_a(i) +
		     (i & 1 ? alike_b(i) : 0);
	std::printf("%d\n", s);
}
