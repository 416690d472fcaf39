/* SPDX-License-Identifier: Apache-2.0 */
// Handlers that interrupt handlers, raise in handlers, jump out of the inner.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static sigjmp_buf inner;
static volatile int depth, deepest, jumps;

static void handler(int sig)
{
	if (++depth > deepest)
		deepest = depth;
	if (depth < 5)
		raise(depth & 1 ? SIGUSR2 : SIGUSR1);
	else if (depth == 5)
		siglongjmp(inner, sig);
	depth--;
}

int main(void)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sa.sa_flags = SA_NODEFER;
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	for (volatile int i = 0; i < 10; i++) {
		depth = i % 3 ? 0 : 6;
		if (sigsetjmp(inner, 1))
			jumps++;
		else
			raise(SIGUSR1);
	}
	printf("%d %d %d\n", depth, deepest, jumps);
	return 0;
}
