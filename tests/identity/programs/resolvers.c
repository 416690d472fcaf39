/* SPDX-License-Identifier: Apache-2.0 */
// uncovered: trace choose choose_other
// uncovered: record choose choose_other
// Functions that are chosen while the program is loaded (ifuncs), called
// directly, through a pointer and in a loop.
#include <stdio.h>

static int slow(int x)
{
	int s = 0;

	for (int i = 0; i < x; i++)
		s += i;
	return s;
}

static int fast(int x)
{
	return x * (x - 1) / 2;
}

static int (*choose(void))(int)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("sse2") ? fast : slow;
}

static int (*choose_other(void))(int)
{
	return slow;
}

int sum(int x) __attribute__((ifunc("choose")));
int other(int x) __attribute__((ifunc("choose_other")));

int main(void)
{
	int (*volatile p)(int) = sum;
	int all = 0;

	for (int i = 0; i < 9; i++)
		all += sum(i) - other(i) + p(i);
	printf("%d\n", all);
	return 0;
}
