/* SPDX-License-Identifier: Apache-2.0 */
/* siglongjmp out of a handler: of a signal the program raises itself, and of a
 * fault in a callee. */
#include "battery.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static sigjmp_buf target;

static NOINLINE void leave(int sig)
{
	HIT();
	siglongjmp(target, sig);
}

static void handler(int sig)
{
	HIT();
	leave(sig);
	HIT();
}

static NOINLINE void fault(int i)
{
	HIT();
	*(volatile int *)(long)battery_int(0) = i;
}

static NOINLINE void step(int i)
{
	HIT();
	if (i % 2) {
		HIT();
		fault(i);
	} else if (i % 4 == 0) {
		HIT();
		raise(SIGUSR1);
		HIT();
	}
	HIT();
}

int main(void)
{
	struct sigaction action = {.sa_handler = handler};
	volatile int faults = 0;

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (volatile int i = 0; i < battery_int(200); i++) {
		int sig = sigsetjmp(target, 1);

		HIT();
		if (sig == SIGSEGV) {
			HIT();
			faults++;
		} else if (sig == 0) {
			HIT();
			step(i);
			HIT();
		}
		HIT();
	}
	return faults != 100;
}
