/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls before the return of something else that end the program, fail to be
 * another one, or come back twice, in two processes (left_before_return.c).
 */
#include "battery.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE void end(int i)
{
	HIT();
	if (i)
		exit(7);
	HIT();
}

NOINLINE int end_before(int i)
{
	end(i);
	return 7; /* MARK(0); */
}

NOINLINE int replaced(const char *by)
{
	execl(by, by, (char *)0);
	return 8; /* MARK(1); */
}

/* A child that goes on in the middle of what its parent called. */
NOINLINE pid_t fork_here(void)
{
	HIT();
	return fork();
}

NOINLINE int forked(pid_t *child)
{
	*child = fork_here();
	return 6; /* MARK(2); */
}

int main(void)
{
	volatile int sum = 0;
	pid_t child;

	sum += replaced("/no/such/program");
	BOOK(1, 1);
	sum += forked(&child);
	BOOK(2, 1);
	if (child)
		waitpid(child, 0, 0);
	HIT();
	sum += end_before(0);
	BOOK(0, 1);
	sum += end_before(1);
	BOOK(0, 1);
	return 0;
}
