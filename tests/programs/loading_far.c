/* SPDX-License-Identifier: Apache-2.0 */
#include "loading.h"

static unsigned long here[HERE_LINES];

static volatile int choice = 1;

static int far_first(int a, int b)
{
	HERE(here);
	return a ^ b;
}

static int far_second(int a, int b)
{
	HERE(here);
	return a - b;
}

static NOINLINE int helper(int n)
{
	HERE(here);
	while (n > 0) {
		HERE(here);
		n -= choice;
	}
	return n;
}

int far_helper(int n)
{
	HERE(here);
	return helper(n);
}

static int (*far_resolve(void))(int, int)
{
	HERE(here);
	return helper(7) ? far_first : far_second;
}

static int far_chosen(int a, int b) __attribute__((ifunc("far_resolve")));

int far_combine(int a, int b)
{
	HERE(here);
	return far_chosen(a, b) & 0xffff;
}

void far_clear(void)
{
	for (int i = 0; i < HERE_LINES; i++)
		here[i] = 0;
}

void far_print(void)
{
	here_print("loading_far.c", here);
}
