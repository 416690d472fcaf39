/* SPDX-License-Identifier: Apache-2.0 */
// The stack overflows; a handler on another stack jumps out of it.
// varies: dig main
// check: trace C4 F2
// limits: ulimit -s 512
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sigjmp_buf out;
static volatile int times;

static void handler(int sig)
{
	times++;
	siglongjmp(out, sig);
}

__attribute__((noinline)) static int dig(int n)
{
	volatile char room[3000];

	room[n % 3000] = 1;
	return dig(n + 1) + room[(n + 1) % 3000];
}

int main(void)
{
	stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sa.sa_flags = SA_ONSTACK;
	sigaltstack(&other, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	for (volatile int i = 0; i < 3; i++)
		if (!sigsetjmp(out, 1))
			printf("%d\n", dig(0));
	printf("recovered %d\n", times);
	return 0;
}
