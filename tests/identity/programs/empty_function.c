/* SPDX-License-Identifier: Apache-2.0 */
// A function without code has the address of the one after it.
// defect: 6
#include <stdio.h>
#define NOINLINE __attribute__((noinline))

NOINLINE void nothing(void)
{
	__builtin_unreachable();
}

NOINLINE int after(int x)
{
	return x > 3 ? x * 2 : x;
}

NOINLINE void nothing_either(void)
{
	__builtin_unreachable();
}

NOINLINE int again(int x)
{
	for (int i = 0; i < x; i++)
		x -= after(i) & 1;
	return x;
}

int main(int argc, char **argv)
{
	int s = 0;

	if (argc > 100)
		nothing();
	if (argc > 200)
		nothing_either();
	for (int i = 0; i < 9; i++)
		s += after(i) + again(i);
	printf("%d\n", s);
	return 0;
}
