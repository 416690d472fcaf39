/* SPDX-License-Identifier: Apache-2.0 */
/* All ways that control can take in C. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf there;
static int depth;

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int collatz(unsigned long n)
{
	int steps = 0;

	while (n != 1) {
		n = n % 2 ? 3 * n + 1 : n / 2;
		steps++;
	}
	return steps;
}

__attribute__((noinline)) static int is_odd(int n);

__attribute__((noinline)) static int is_even(int n)
{
	return n == 0 ? 1 : is_odd(n - 1);
}

static int is_odd(int n)
{
	return n == 0 ? 0 : is_even(n - 1);
}

__attribute__((noinline)) static void jump(int n)
{
	depth++;
	if (n == 0)
		longjmp(there, depth);
	jump(n - 1);
	depth = 0;
}

__attribute__((noinline)) static int jumps(void)
{
	volatile int n = 0;
	int came = setjmp(there);

	if (came && n > 5)
		return came;
	n++;
	jump(n);
	return 0;
}

static int ways(int x)
{
	switch (x % 5) {
	case 0:
		return x;
	case 1:
		x++;
		/* fall through */
	case 2:
		return x * 2;
	case 3:
		goto out;
	default:
		break;
	}
	for (int i = 0; i < x; i++)
		if (i * i > x)
			return i;
out:
	return -x;
}

static void *work(void *p)
{
	long *sum = p;

	for (int i = 0; i < 300; i++)
		*sum += collatz((unsigned long)i + 1);
	return NULL;
}

static void at_end(void)
{
	printf("%d\n", ways(depth));
}

static int (*const table[])(int) = {is_even, is_odd, ways};

int main(void)
{
	int v[40];
	long sums[2] = {0};
	pthread_t t[2];
	char text[64];
	int all = 0;

	atexit(at_end);
	srand(7);
	for (int i = 0; i < 40; i++)
		v[i] = rand() % 100;
	qsort(v, 40, sizeof(*v), compare);
	for (int i = 0; i < 40; i++)
		all += table[v[i] % 3](v[i]) + collatz((unsigned)v[i] + 1);
	snprintf(text, sizeof(text), "%d", all);
	printf("%zu %s %d\n", strlen(text), text, jumps());
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, &sums[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld %ld\n", sums[0], sums[1]);
	if (all)
		exit(0);
	return 1;
}
