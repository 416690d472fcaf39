/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that calls what the runtime has hooks for in executables: longjmp,
 * signal, sigaction, vfork, execv, _exit.  Every call is a few frames deep, so
 * that a hook that is passed by leaves frames that nobody saw die.
 */
#include "ends.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static jmp_buf here;
static sigjmp_buf there;
static volatile int depth, caught;

/* --- longjmp -------------------------------------------------------------- */

NOINLINE static void dive(int n)
{
	if (n > 2) {
		dive(n - 1);
		depth++;
	} else if (n == 2) {
		longjmp(here, 1);
	}
}

int ends_jump(int n)
{
	volatile int turn = 0;

	if (setjmp(here)) {
		if (++turn == 3)
			return -n;
	}
	dive(n);
	return turn + depth;
}

void ends_jump_out(jmp_buf to, int n, void (*visit)(jmp_buf to, int n))
{
	for (int i = 0; i < n; i++)
		if (i == 3)
			longjmp(to, i);
		else
			visit(to, n + i);
	depth++;
}

/* --- signals -------------------------------------------------------------- */

static void on_signal(int sig)
{
	caught += sig == SIGUSR1 ? 1 : 100;
}

static void on_jump(int sig)
{
	caught += sig == SIGUSR2 ? 10 : 100;
	siglongjmp(there, 1);
}

NOINLINE static void send(int n, int sig)
{
	if (n > 0) {
		send(n - 1, sig);
		depth++;
	} else {
		raise(sig);
	}
}

int ends_signal(int n)
{
	void (*old)(int) = signal(SIGUSR1, on_signal);

	for (int i = 0; i < n; i++)
		send(i, SIGUSR1);
	return signal(SIGUSR1, old) == on_signal && old == SIG_DFL ? caught
	                                                           : -1;
}

int ends_sigaction(int n)
{
	struct sigaction act = {.sa_handler = on_jump}, old;

	if (sigaction(SIGUSR2, &act, &old) || old.sa_handler != SIG_DFL)
		return -1;
	for (volatile int i = 0; i < n; i++)
		if (!sigsetjmp(there, 1))
			send(i, SIGUSR2);
	return sigaction(SIGUSR2, &old, NULL) ? -1 : caught;
}

/* --- ends ----------------------------------------------------------------- */

NOINLINE static int run(int n, const char *program)
{
	char *const argv[] = {(char *)"program", NULL};

	if (n > 0) {
		int r = run(n - 1, program);

		depth++;
		return r;
	}
	return execv(program, argv);
}

int ends_exec(int n, const char *program)
{
	int r = run(n, program);

	return r + depth;
}

void ends_exit(int n)
{
	if (n > 0) {
		ends_exit(n - 1);
		depth++;
	} else {
		_exit(7);
	}
}

int ends_vfork(int n, const char *program)
{
	int status = -1;
	pid_t pid = vfork();

	if (pid == 0) {
		if (n % 2)
			run(n, program);
		ends_exit(n);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}
