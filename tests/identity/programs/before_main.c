/* SPDX-License-Identifier: Apache-2.0 */
// A constructor ends the program before main, after one that forked.
// exit: 7
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int state;

__attribute__((constructor(200))) static void early(void)
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(state + 2);
	waitpid(child, &status, 0);
	state = WEXITSTATUS(status);
}

__attribute__((constructor(300))) static void late(int argc, char **argv)
{
	if (argc == 1 && state == 2)
		exit(7);
}

__attribute__((destructor)) static void end(void)
{
	printf("end %d\n", state);
}

int main(void)
{
	return 1;
}
