/* SPDX-License-Identifier: Apache-2.0 */
/* getcontext returns 0 each time, also when setcontext comes back to it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t here;
static volatile int turns;

static void again(int depth)
{
	if (depth)
		again(depth - 1);
	else if (turns < 5)
		setcontext(&here);
}

static int loop(int n)
{
	volatile int sum = n;

	if (getcontext(&here))
		abort();
	turns++;
	sum += turns * rand() % 7;
	if (turns < 5)
		again(turns);
	return sum;
}

/* Registers, no jump. */
static int looks(void)
{
	ucontext_t u;

	return getcontext(&u) + (u.uc_mcontext.gregs[REG_RSP] != 0);
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		turns = i;
		printf("%d %d\n", loop(i), turns);
	}
	printf("%d\n", looks());
	return 0;
}
