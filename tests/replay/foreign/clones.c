/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of which the loader chooses one; their resolvers have no marks. */
#include <stdio.h>

static int odd(int x)
{
	return x % 2 ? x : 0;
}

static int even(int x)
{
	return x % 2 ? 0 : x;
}

static void *choose(void)
{
	return sizeof(void *) == 8 ? odd : even;
}

__attribute__((ifunc("choose"))) int chosen(int x);

__attribute__((target_clones("avx2", "default"))) int cloned(int x)
{
	int sum = 0;

	for (int i = 0; i < x; i++)
		sum += chosen(i);
	return sum;
}

static int (*const table[])(int) = {chosen, cloned};

int main(int argc, char **argv)
{
	int sum = 0;

	(void)argv;
	for (int i = 0; i < 5; i++)
		sum += table[(i + argc) % 2](i) + cloned(i);
	printf("%d\n", sum);
	return 0;
}
