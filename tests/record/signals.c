/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers of signals in a recording: they interrupt marks, each other, and
 * what they interrupt does not notice.  `how`: "count" runs until a timer has
 * struck so many times, on a stack of its own if argv[3] says so; "jump" leaves
 * handlers by siglongjmp; "late" does so when the next signal waits already:
 * libc would let it come on the stack of the handler that is left.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t nticks, nusr;
static volatile unsigned char shared[4096];
static sigjmp_buf env;
static int jumps, nlate;

static void on_usr(int sig)
{
	(void)sig;
	nusr++;
	for (int i = 0; i < 50; i++)
		shared[i]++;
}

static void on_alarm(int sig, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	nticks++;
	for (int i = 0; i < 100; i++)
		shared[nticks % 4000 + i % 90]++;
	raise(SIGUSR1);
	if (nticks < nlate) {
		sigset_t set;

		do
			sigpending(&set);
		while (!sigismember(&set, sig));
	}
	if (jumps)
		siglongjmp(env, sig);
}

static uint64_t spin(uint64_t x, int until)
{
	while (nticks < until) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		x ^= shared[x % 4096];
		if (x % 1024 == 0)
			x += (uint64_t)getppid();
	}
	return x;
}

int main(int argc, char **argv)
{
	int until = atoi(argv[2]);
	struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	struct sigaction act;
	stack_t stack = {.ss_size = 65536};
	volatile uint64_t x = 1;

	memset(&act, 0, sizeof(act));
	act.sa_sigaction = on_alarm;
	act.sa_flags = SA_SIGINFO | (argc > 3 ? SA_ONSTACK : 0);
	stack.ss_sp = malloc(stack.ss_size);
	if (argc > 3)
		sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &act, NULL);
	signal(SIGUSR1, on_usr);
	nlate = strcmp(argv[1], "late") == 0 ? until : 0;
	jumps = nlate || strcmp(argv[1], "jump") == 0;
	if (sigsetjmp(env, 1))
		x++;
	else /* not before there is something to jump to */
		setitimer(ITIMER_REAL, &every, NULL);
	x = spin(x, until);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d %d\n", nticks >= until, nusr == nticks);
	return 0;
}
