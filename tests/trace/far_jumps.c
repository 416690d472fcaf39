/* SPDX-License-Identifier: Apache-2.0 */
/* A timer whose handler jumps out of a loop at any moment, hundreds of times:
 * what the loop had done since its last call is lost, nothing else. */
#include "battery.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

static sigjmp_buf top;
static volatile int njumps;

static NOINLINE unsigned leaf(unsigned n)
{
	return n & 2 ? n * 3 : n + 1;
}

static NOINLINE unsigned loop(unsigned n)
{
	for (;;)
		n = n & 8 ? leaf(n) : n * 5 + 1;
}

static void handler(int sig)
{
	njumps++;
	siglongjmp(top, sig);
}

int main(void)
{
	struct itimerval every = {{0, 700}, {0, 700}}, off = {{0, 0}, {0, 0}};

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &every, NULL);
	sigsetjmp(top, 1);
	if (njumps < 300)
		loop((unsigned)battery_int(njumps));
	setitimer(ITIMER_REAL, &off, NULL);
	return 0;
}
