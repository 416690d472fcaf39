/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program and kills it at the N-th stop at a system call (each stops
 * twice): killer N PROGRAM ARGUMENT...  Exit status 0 if it was killed, 1 if
 * it ended before. */
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[1]) : 0;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 2;
	for (long i = 0; i < n; i++) {
		ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
		if (waitpid(pid, &status, 0) != pid)
			return 2;
		if (!WIFSTOPPED(status))
			return 1;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return 0;
}
