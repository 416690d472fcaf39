/* SPDX-License-Identifier: Apache-2.0 */
// A thread past libc, that shares all memory, on a stack of its own.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int shared;

static int child(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++)
		shared += i;
	return 3;
}

int main(void)
{
	char *stack = malloc(65536);
	int n = 10, status;
	pid_t pid = clone(child, stack + 65536, CLONE_VM | SIGCHLD, &n);

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	printf("%d %d\n", shared, WEXITSTATUS(status));
	return 0;
}
