/* SPDX-License-Identifier: Apache-2.0 */
// Processes made in all ways that libc has, with files and signals handed on.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int spawned(void)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t set;
	char *argv[] = {"sh", "-c", "cat; exit 6", NULL};
	pid_t child;
	int status;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawnattr_init(&attr);
	sigfillset(&set);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	if (posix_spawn(&child, "/bin/sh", &files, &attr, argv, environ))
		return -1;
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

int main(void)
{
	char line[20] = "";
	FILE *p = popen("echo popen", "r");

	if (!p || !fgets(line, sizeof(line), p))
		return 1;
	pclose(p);
	printf("%d %s%d\n", spawned(), line, WEXITSTATUS(system("exit 7")));
	return 0;
}
