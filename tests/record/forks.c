/* SPDX-License-Identifier: Apache-2.0 */
/* Forks and execs of a recording: each process has a file of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int value = 1;

static int work(int n)
{
	int x = n;

	for (int i = 0; i < 1000; i++)
		x = x * 5 + value + (getpid() > 0);
	return x;
}

__attribute__((noinline)) static void with_vfork(char *const *nothing)
{
	int status;
	pid_t pid;

	pid = vfork();
	if (!pid) {
		value = 3;
		execv("/nonexistent/program", nothing);
		_exit(6);
	}
	waitpid(pid, &status, 0);
	printf("parent %d %d\n", value, WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	char *const nothing[] = {argv[0], NULL};
	int status = 0, before = work(3), after;
	pid_t pid;

	if (argc < 2)
		return 5;
	execv("/nonexistent/program", nothing);
	pid = fork();
	if (!pid) {
		value = 2;
		after = work(3);
		printf("child %d %d\n", before, after);
		fflush(stdout);
		if (strcmp(argv[1], "exec") == 0)
			execv(argv[0], nothing);
		exit(7);
	}
	waitpid(pid, &status, 0);
	printf("parent %d %d\n", work(3) == before, WEXITSTATUS(status));
	with_vfork(nothing);
	return 0;
}
