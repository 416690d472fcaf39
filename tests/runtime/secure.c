/* SPDX-License-Identifier: Apache-2.0 */
/* A program for secure.py: says whether it sees CAIRN_OUT and CAIRN_TRIM, then
 * does what its first argument says. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int work(int n);

#ifndef NO_WORK
int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i % 3 ? i : -i;
	return sum;
}
#endif

#ifndef NO_MAIN
static void fork_one(void)
{
	pid_t pid = fork();

	if (!pid)
		exit(work(3) > 100);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	printf("%s %s %d\n", getenv("CAIRN_OUT") ? "out" : "-",
	       getenv("CAIRN_TRIM") ? "trim" : "-", work(10));
	fflush(stdout);
	if (!strcmp(how, "fork"))
		fork_one();
	if (!strcmp(how, "drop")) {
		if (setresgid(getgid(), getgid(), getgid()) ||
		    setresuid(getuid(), getuid(), getuid()))
			return 9;
		fork_one();
	}
	if (!strcmp(how, "exec")) {
		if (setresuid(geteuid(), geteuid(), geteuid()))
			return 9;
		execl(argv[2], argv[2], (char *)NULL);
		return 8;
	}
	return 0;
}
#endif
