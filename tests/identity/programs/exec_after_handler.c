/* SPDX-License-Identifier: Apache-2.0 */
// exec of itself after a handler of a signal has run.
// defect: 7
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t seen;

static void handler(int sig)
{
	seen += sig == SIGUSR1 ? 1 : 10;
}

int main(int argc, char **argv)
{
	char turn[16];
	int n = argc > 1 ? atoi(argv[1]) : 0;

	signal(SIGUSR1, handler);
	signal(SIGUSR2, handler);
	for (int i = 0; i <= n; i++)
		raise(i & 1 ? SIGUSR2 : SIGUSR1);
	printf("turn %d: %d\n", n, (int)seen);
	fflush(stdout);
	if (n == 2)
		return 0;
	snprintf(turn, sizeof(turn), "%d", n + 1);
	execl("/proc/self/exe", argv[0], turn, (char *)NULL);
	return 1;
}
