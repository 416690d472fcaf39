/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks and execs of a recording: each process has a file of its own. "family":
 * children of children, of a thread and of a handler, whose parents end first
 * or go on; it is done when the last of them is.
 */
#include <pthread.h>
#include <signal.h>
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

/* One process per generation; each ends when it likes. */
static void descend(int depth, volatile int *local)
{
	pid_t pid = depth ? fork() : 1;

	if (pid)
		return;
	++*local;
	value += work(depth) & 3;
	descend(depth - 1, local);
	exit(depth);
}

static void *in_thread(void *arg)
{
	volatile int local = work(1);

	descend(1, &local);
	return arg;
}

static void in_handler(int sig)
{
	volatile int local = sig;

	value++;
	descend(1, &local);
	work(local);
}

static int family(void)
{
	volatile int local = 5;
	int ends[2];
	pthread_t t;
	char c;

	if (pipe(ends))
		return 1;
	signal(SIGUSR1, in_handler);
	raise(SIGUSR1);
	descend(3, &local);
	pthread_create(&t, NULL, in_thread, NULL);
	pthread_join(t, NULL);
	raise(SIGUSR1);
	close(ends[1]);
	/* all others have the end for writing until they exit */
	while (read(ends[0], &c, 1) > 0)
		;
	return work(local) == 0;
}

int main(int argc, char **argv)
{
	char *const nothing[] = {argv[0], NULL};
	int status = 0, before = work(3), after;
	pid_t pid;

	if (argc < 2)
		return 5;
	if (strcmp(argv[1], "family") == 0)
		return family();
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
