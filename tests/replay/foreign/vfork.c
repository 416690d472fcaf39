/* SPDX-License-Identifier: Apache-2.0 */
/* Code without marks that calls vfork; its child calls code with marks. */
#include <sys/wait.h>
#include <unistd.h>

int outside(int (*in_child)(int), int code);

int outside(int (*in_child)(int), int code)
{
	pid_t pid = vfork();
	int status = 0;

	if (pid == 0)
		_exit(in_child(code));
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}
