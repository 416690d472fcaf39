/* SPDX-License-Identifier: Apache-2.0 */
/* A recursion that is 100000 deep: forks at the bottom, in the child all of it
 * returns; then a longjmp out of all of it, and an exit in it. */
#include "battery.h"

#include <setjmp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf top;

static NOINLINE int down(int n, int what)
{
	int r = 0;

	if (n > 0)
		r = down(n - 1, what) + (n & 1);
	else if (what == 1)
		r = fork() ? 0 : 1;
	else if (what == 2)
		longjmp(top, 1);
	else if (what == 3)
		exit(0);
	return n % 3 ? r : r + 1;
}

int main(void)
{
	int depth = battery_int(100000), status = 0, plain = down(depth, 0);
	int r = down(depth, 1);

	if (r != plain)
		_exit(r == plain + 1 ? 9 : 10);
	wait(&status);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 9)
		return 1;
	if (!setjmp(top))
		down(depth, 2);
	return down(depth, 3);
}
