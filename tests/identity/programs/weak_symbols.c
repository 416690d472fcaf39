/* SPDX-License-Identifier: Apache-2.0 */
// Weak functions: one that is nowhere, one that a library has as well, one
// that another name stands for.
// library: lib.so
// ld: {dir}/lib.so -Wl,-rpath,{dir}
#include <stdio.h>
int both(int x);
int library(int x);
#ifdef LIBRARY
__attribute__((weak)) int both(int x)
{
	return x > 3 ? x : -x;
}

int library(int x)
{
	return both(x) + 1;
}
#else
int nowhere(int x) __attribute__((weak));
int both(int x)
{
	if (nowhere)
		return nowhere(x);
	return x & 1 ? x * 10 : library(x + 7 < 100 ? x + 101 : x + 1);
}
static int real(int x)
{
	return x + 5;
}
int other(int x) __attribute__((alias("real")));
int third(int x) __attribute__((weak, alias("real")));

int main(void)
{
	int s = 0;

	for (int i = 0; i < 6; i++)
		s += library(i * 2 + 1) + other(i) + third(i);
	printf("%d\n", s);
	return 0;
}
#endif
