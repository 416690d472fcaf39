/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branches whose counts are known.  The optimizer keeps off these functions
 * (optnone), so that the weights in the IR are those that the plugin set:
 * run.py has the numbers.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline, optnone))

static jmp_buf back;
volatile int sink;

KEPT int two_ways(int i)
{
	if (i % 10 == 0)
		return 3;
	return i;
}

/* two cases with one target, a default */
KEPT int many_ways(int i)
{
	switch (i % 8) {
	case 0:
	case 1:
		return 5;
	case 2:
		return 6;
	default:
		return 7;
	}
}

KEPT int loop(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

KEPT int jumps(const char *code)
{
	static void *const to[] = {&&add, &&twice, &&end};
	int v = 1;

	goto *to[*code++ - '0'];
add:
	v++;
	goto *to[*code++ - '0'];
twice:
	v *= 2;
	goto *to[*code++ - '0'];
end:
	return v;
}

KEPT void leaves(int i)
{
	if (i % 4 == 0)
		longjmp(back, 1);
	sink = i;
}

/* its frames die in a call */
KEPT int left(int i)
{
	leaves(i);
	if (i % 4 == 1)
		return 1;
	return 2;
}

KEPT int never(int i)
{
	if (i > 3)
		return 4;
	return i;
}

KEPT int main(int argc, char **argv)
{
	int sum = 0;

	for (volatile int i = 0; i < 1000; i++) {
		sum += two_ways(i) + many_ways(i);
		if (!setjmp(back))
			sum += left(i);
	}
	for (int i = 0; i < 7; i++)
		sum += loop(100) + jumps("0001012");
	if (argc > 5)
		sum += never(atoi(argv[1]));
	printf("%d\n", sum);
	return 0;
}
