/* SPDX-License-Identifier: Apache-2.0 */
/* __builtin_setjmp and __builtin_longjmp: in a loop, over frames, out of a
 * callback of libc, out of a handler of a signal, nested. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void *outer[5], *inner[5];
static volatile int turns;

__attribute__((noinline)) static int deep(int n, void **to)
{
	volatile int pad[20];

	pad[n % 20] = n + rand() % 3;
	if (!n)
		__builtin_longjmp(to, 1);
	return deep(n - 1, to) + pad[n % 20];
}

__attribute__((noinline)) static int loop(int n)
{
	volatile int sum = 0;

	turns = 0;
	if (__builtin_setjmp(outer))
		sum += 100 + turns;
	else
		sum += 1;
	if (turns++ < n)
		sum += deep(turns, outer);
	return sum;
}

static int compare(const void *a, const void *b)
{
	if (++turns == 7)
		__builtin_longjmp(inner, 1);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int sorts(void)
{
	int numbers[16];

	for (int i = 0; i < 16; i++)
		numbers[i] = rand() % 100;
	turns = 0;
	if (__builtin_setjmp(inner))
		return 1000 + turns;
	qsort(numbers, 16, sizeof(*numbers), compare);
	return -1;
}

static void handler(int sig)
{
	turns += sig;
	__builtin_longjmp(inner, 1);
}

__attribute__((noinline)) static int handles(int x)
{
	volatile int kept = x;

	signal(SIGUSR1, handler);
	if (__builtin_setjmp(inner)) {
		sigset_t set;

		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		return kept + turns;
	}
	kept *= 2;
	raise(SIGUSR1);
	return -1;
}

__attribute__((noinline)) static int nested(int n)
{
	int size = n % 4 + 1;
	volatile char room[size];
	volatile int found = 0;

	room[0] = (char)n;
	if (__builtin_setjmp(outer)) {
		found += 7;
		return found + sorts() + room[0];
	}
	if (__builtin_setjmp(inner)) {
		found += 3;
		deep(3, outer);
	}
	deep(n, inner);
	return -1;
}

int main(void)
{
	for (int i = 0; i < 4; i++)
		printf("%d %d %d %d\n", loop(i), sorts(), handles(i),
		       nested(i));
	return 0;
}
