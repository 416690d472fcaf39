/* SPDX-License-Identifier: Apache-2.0 */
// Optimized by parts when it is linked, with a library made the same way.
// cc: -flto=thin -fuse-ld=lld
// levels: -O2
// library: part.so
// ld: {dir}/part.so -Wl,-rpath,{dir}
#include <stdio.h>
int part(int x);
#ifdef LIBRARY
static int helper(int x)
{
	return x > 4 ? x - 4 : x;
}

int part(int x)
{
	int s = 0;

	while (x > 0)
		s += helper(x--);
	return s;
}
#else
int main(void)
{
	int s = 0;

	for (int i = 0; i < 10; i++)
		s += part(i);
	printf("%d\n", s);
	return 0;
}
#endif
