/* SPDX-License-Identifier: Apache-2.0 */
/* Jumps: out of nested calls in loops, out of a handler that was raised, out of
 * a callback of qsort, with siglongjmp, into the same frame and far up. */
#include "battery.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static jmp_buf near, far;
static sigjmp_buf signalled;

static NOINLINE void deep(int n, jmp_buf where)
{
	if (n == 0)
		longjmp(where, 7);
	deep(n - 1, where);
	battery_nop();
}

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	if (x + y == 37)
		longjmp(far, 2);
	return x < y ? -1 : x > y;
}

static void handler(int sig)
{
	if (battery_int(sig) == SIGUSR1)
		siglongjmp(signalled, 1);
	raise(SIGUSR1);
}

static NOINLINE int loops(int n)
{
	volatile int sum = 0;

	for (volatile int i = 0; i < n; i++) {
		int r = setjmp(near);

		if (r == 0 && i % 3)
			deep(i % 11, near);
		else if (r)
			sum += r;
		if (sigsetjmp(signalled, 1) == 0)
			raise(i % 2 ? SIGUSR1 : SIGUSR2);
		else
			sum++;
	}
	return sum;
}

static NOINLINE int sorts(void)
{
	int v[40];

	for (int i = 0; i < 40; i++)
		v[i] = (i * 17) % 40;
	qsort(v, 40, sizeof(int), compare);
	return v[3];
}

int main(void)
{
	volatile int sum = 0;

	signal(SIGUSR1, handler);
	signal(SIGUSR2, handler);
	sum += loops(60);
	switch (setjmp(far)) {
	case 0:
		sum += sorts();
		break;
	case 2:
		sum += loops(5);
		deep(100, far);
		break;
	default:
		sum++;
	}
	return sum == 0;
}
