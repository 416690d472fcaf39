/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends a program right before a given instruction of it, by a signal.
 *
 *     stop_at ADDRESS PROGRAM ARG...
 *
 * The address is a hexadecimal one of the program's file.  Exit status 0: so it
 * ended; 3: it ended without getting there.
 *
 * A breakpoint says when the instruction is about to run; then the signal is
 * delivered before it does.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_REACHED 3
#define BREAKPOINT 0xccul

static int fail(const char *what)
{
	fprintf(stderr, "stop_at: %s: %s\n", what, strerror(errno));
	return 2;
}

/* Where the first page of the program is; 0 if that cannot be told. */
static unsigned long base_of(pid_t child, const char *program)
{
	char name[64], *line = NULL, *path = realpath(program, NULL);
	unsigned long base = 0;
	size_t size = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)child);
	maps = fopen(name, "r");
	while (maps && path && !base && getline(&line, &size, maps) > 0)
		if (strstr(line, path))
			base = strtoul(line, NULL, 16);
	if (maps)
		fclose(maps);
	free(line);
	free(path);
	return base;
}

/* Lets it run; true if it has come to the breakpoint. */
static int run_to(pid_t child, unsigned long address, int *status)
{
	struct user_regs_struct r;
	int sig = 0;

	for (;;) {
		if (ptrace(PTRACE_CONT, child, 0, sig) < 0 ||
		    waitpid(child, status, 0) < 0 || !WIFSTOPPED(*status))
			return 0;
		sig = WSTOPSIG(*status);
		if (sig != SIGTRAP)
			continue;
		ptrace(PTRACE_GETREGS, child, 0, &r);
		if (r.rip == address + 1)
			break;
		sig = 0;
	}
	r.rip = address;
	return ptrace(PTRACE_SETREGS, child, 0, &r) == 0;
}

static int stop(pid_t child, unsigned long address)
{
	unsigned long code;
	int status, sig;

	errno = 0;
	code = (unsigned long)ptrace(PTRACE_PEEKTEXT, child, address, 0);
	if (errno || ptrace(PTRACE_POKETEXT, child, address,
	                    (code & ~0xfful) | BREAKPOINT) < 0)
		return fail("no such address");
	if (!run_to(child, address, &status))
		return NOT_REACHED;
	ptrace(PTRACE_POKETEXT, child, address, code);
	sig = SIGALRM;
	do {
		ptrace(PTRACE_CONT, child, 0, sig);
		waitpid(child, &status, 0);
		sig = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
	} while (sig);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? 0 : 1;
}

int main(int argc, char **argv)
{
	unsigned long base;
	pid_t child;
	int status;

	if (argc < 3)
		return fail("usage: stop_at ADDRESS PROGRAM ARG...");
	child = fork();
	if (child == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[2], argv + 2);
		_exit(2);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status))
		return fail(argv[2]);
	base = base_of(child, argv[2]);
	if (!base)
		return fail("where is the program?");
	return stop(child, base + strtoul(argv[1], NULL, 16));
}
