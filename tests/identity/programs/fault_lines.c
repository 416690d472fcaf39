/* SPDX-License-Identifier: Apache-2.0 */
// A handler jumps away from a fault: what stands behind it in its block did not
// run, and nobody can say that it did.
// check: trace C4 F2
// ask: edges | 0 | report --lines {file} | ~10 +\d+ \s*after\+\+
// ask: edges,strict | 0 | report --lines {file} | ~10 +\d+ \s*after\+\+
// ask: paths | 0 | report --lines {file} | ~10 +\d+ \s*after\+\+
// ask: paths,overlap | 0 | report --lines {file} | ~10 +\d+ \s*after\+\+
// ask: record | 0 | report --lines {file} | ~10 +\d+ \s*after\+\+
// ask: edges | 0 | report --format lcov {file} | frames were stopped
// ask: record | 0 | report --json {file} | "consistent": false
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf back;
static int before, after;

static void handle(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

__attribute__((noinline)) static void store(int *p)
{
	before++;
	*p = 3;
	after++;
}

int main(void)
{
	struct sigaction action = {.sa_handler = handle};
	int x;

	sigaction(SIGSEGV, &action, NULL);
	for (volatile int i = 0; i < 10; i++)
		if (!sigsetjmp(back, 1))
			store(i & 1 ? NULL : &x);
	printf("%d %d\n", before, after);
	return 0;
}
