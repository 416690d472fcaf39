/* SPDX-License-Identifier: Apache-2.0 */
/* An infinite loop without a way out in the CFG, left by a signal. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static sigjmp_buf target;

static void handler(int sig)
{
	siglongjmp(target, sig);
}

__attribute__((noinline)) static void forever(volatile int *p)
{
	for (;;)
		*p = *p ^ 1;
}

int main(void)
{
	int spin = 0;

	signal(SIGALRM, handler);
	for (volatile int i = 0; i < 3; i++)
		if (sigsetjmp(target, 1) == 0) {
			ualarm(10000, 0);
			forever(&spin);
		}
	puts("left");
	return 0;
}
