/* Calls of all kinds: in loops, nested, recursive, through pointers, in tail
 * position, twice in a block, and of what comes back or does not. */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static unsigned state = 1;

static NOINLINE unsigned next(unsigned n)
{
	state = state * 1103515245u + 12345u;
	return (state >> 16) % n;
}

static NOINLINE int leaf(int x)
{
	if (x & 1)
		return x * 3 + 1;
	return x / 2;
}

static NOINLINE int middle(int x)
{
	int y = leaf(x);

	if (y > 10)
		y -= leaf(y + 1);
	return y;
}

static NOINLINE int turns(int x)
{
	int sum = 0;

	for (int i = 0; i < x; i++)
		sum += i & 2 ? leaf(i) : i;
	return sum;
}

static NOINLINE int deep(int n)
{
	if (n <= 0)
		return leaf(n);
	return deep(n - 1) + (n & 1 ? 1 : middle(n));
}

static NOINLINE int even(int n);

static NOINLINE int odd(int n)
{
	state ^= 1;
	return n == 0 ? 0 : even(n - 1);
}

static NOINLINE int even(int n)
{
	state ^= 2;
	return n == 0 ? 1 : odd(n - 1);
}

static int (*volatile choices[])(int) = {leaf, middle, turns};

static NOINLINE int indirect(int x)
{
	return choices[next(3)](x) + 1;
}

static NOINLINE int twice(int x)
{
	return leaf(x) + leaf(x + 1);
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void finish(int x)
{
	if (x == 12345)
		exit(3);
	if (x > 1000000)
		x = middle(x) + 1;
	printf("%d\n", x);
	exit(0);
}

/* With an argument it does other things. */
int main(int argc, char **argv)
{
	int numbers[16], sum = 0;

	if (argc > 1)
		state = (unsigned)atoi(argv[1]);

	for (int i = 0; i < 200; i++) {
		sum += middle((int)next(50));
		if (i % 7 == 0)
			sum += turns((int)next(9));
		if (i % 11 == 0)
			sum += deep((int)next(6));
		if (i % 3 == 0)
			sum += indirect(i);
		sum += even((int)next(5));
		sum -= twice(i);
	}
	for (int i = 0; i < 16; i++)
		numbers[i] = (int)next(100);
	qsort(numbers, 16, sizeof(*numbers), by_value);
	finish(sum + numbers[3]);
	return 1;
}
