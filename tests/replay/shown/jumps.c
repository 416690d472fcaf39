/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that are left by jumps, and handlers of signals. */
#include "saw.h"

#include <setjmp.h>
#include <signal.h>

static jmp_buf back;
static volatile int level;

__attribute__((noinline)) static void deep(int n)
{
	SAW("n, level", "%d|%d", n, level);
	if (!n)
		longjmp(back, level + 1);
	deep(n - 1);
}

static void handle(int number)
{
	int twice = 2 * number;
	WAS("twice", "%d", twice);
	SAW("number, twice - number", "%d|%d", number, number);
}

int main(void)
{
	volatile int tries = 0;
	int r = setjmp(back);

	SAW("tries", "%d", tries);
	level = r;
	tries++;
	WAS("tries", "%d", tries);
	if (tries < 3)
		deep(tries);
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	SAW("tries, r", "%d|%d", tries, r);
	return 0;
}
