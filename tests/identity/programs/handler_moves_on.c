/* SPDX-License-Identifier: Apache-2.0 */
// A handler changes where its thread goes on: it steps over the instruction.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

static volatile int traps;

static void skip(int sig, siginfo_t *info, void *where)
{
	ucontext_t *context = where;

	traps += sig == SIGILL;
	context->uc_mcontext.gregs[REG_RIP] += 2;
}

__attribute__((noinline)) static int trap(int x)
{
	if (x & 1)
		__asm__ volatile("ud2" ::: "memory");
	return x + traps;
}

int main(void)
{
	struct sigaction sa;
	int s = 0;

	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = skip;
	sa.sa_flags = SA_SIGINFO;
	sigaction(SIGILL, &sa, NULL);
	for (int i = 0; i < 9; i++)
		s += trap(i);
	printf("%d %d\n", s, traps);
	return 0;
}
