/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of ends.c, which is a shared object or part of the program.  The end is
 * made there: by execv with END=1, by _exit with END=2, else main returns.
 */
#include "ends.h"

#include <stdio.h>

#ifndef END
#define END 0
#endif

static void visit(jmp_buf to, int n)
{
	if (n > 10)
		longjmp(to, n);
}

static int jump_out(int n)
{
	volatile int calls = 0;
	jmp_buf to;
	int r = setjmp(to);

	if (r)
		return r + calls;
	calls++;
	ends_jump_out(to, n, visit);
	return -1;
}

int main(void)
{
	int s = 0;

	for (int i = 0; i < 8; i++)
		s = 3 * s + ends_jump(i) + jump_out(i) + jump_out(i + 5);
	printf("jumps %d\n", s);
	printf("signals %d\n", ends_signal(4) + ends_sigaction(5));
	for (int i = 0; i < 4; i++)
		printf("child %d\n",
		       ends_vfork(i, i == 1 ? "/bin/false" : "/bin/nothing"));
	printf("failed %d\n", ends_exec(3, "/bin/nothing"));
	fflush(stdout);
	if (END == 1)
		ends_exec(2, "/bin/false");
	if (END == 2)
		ends_exit(4);
	return 3;
}
