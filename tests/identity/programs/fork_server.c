/* SPDX-License-Identifier: Apache-2.0 */
// A server that forks for each request, with a handler for ended children and
// children that fork, and end by return, exit and a signal.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int reaped, sum;

static void on_child(int sig)
{
	int status, kept = errno;

	while (waitpid(-1, &status, WNOHANG) > 0) {
		reaped++;
		sum += WIFSIGNALED(status) ? 50 : WEXITSTATUS(status);
	}
	errno = kept;
}

static int work(int n)
{
	int status;

	if (n == 3)
		kill(getpid(), SIGTERM);
	if (n == 4)
		_exit(8);
	if (n == 5) {
		pid_t child;

		signal(SIGCHLD, SIG_DFL);
		child = fork();
		if (!child)
			exit(3);
		waitpid(child, &status, 0);
		return WEXITSTATUS(status) + 10;
	}
	return n;
}

int main(void)
{
	struct sigaction sa;
	sigset_t block, open;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_child;
	sigaction(SIGCHLD, &sa, NULL);
	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	sigprocmask(SIG_BLOCK, &block, &open);
	for (int i = 1; i < 7; i++) {
		int before = reaped;

		if (!fork())
			return work(i);
		while (reaped == before)
			sigsuspend(&open);
	}
	printf("%d %d\n", reaped, sum);
	return 0;
}
