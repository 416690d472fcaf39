/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that forks while a loop is in the middle of a path: the child goes
 * on in that loop, where nobody knows where it was. */
#include "battery.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t nforks, is_child;

static NOINLINE int inner(int n)
{
	return n % 3 ? n : battery_int(n);
}

static void handler(int sig)
{
	pid_t pid;

	(void)sig;
	if (is_child || nforks >= 10)
		return;
	nforks++;
	pid = fork();
	if (pid)
		waitpid(pid, NULL, 0);
	else
		is_child = 1;
	inner(nforks);
}

int main(void)
{
	struct itimerval every = {{0, 500}, {0, 500}};
	volatile unsigned h = 1, turns = 0;

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &every, NULL);
	while (nforks < 10 && !is_child) {
		h = h & 4 ? h * 5 : h + 3;
		if (h % 7 == 0)
			h ^= (unsigned)inner((int)h);
	}
	while (is_child && turns++ < 1000)
		h += (unsigned)inner((int)turns);
	return h == 12345;
}
