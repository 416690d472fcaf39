/* SPDX-License-Identifier: Apache-2.0 */
/* _exit() in a handler of a signal that was raised in a callee. */
#include "battery.h"

#include <signal.h>
#include <unistd.h>

static NOINLINE void finish(int status)
{
	HIT();
	_exit(status);
}

static void handler(int sig)
{
	HIT();
	finish(sig == SIGUSR2 ? 21 : 22);
	HIT();
}

static NOINLINE void step(int i)
{
	HIT();
	if (i == 60) {
		raise(SIGUSR2);
		HIT();
	}
	HIT();
}

int main(void)
{
	signal(SIGUSR2, handler);
	for (int i = 0; i < battery_int(100); i++) {
		HIT();
		step(i);
		HIT();
	}
	HIT();
	return 0;
}
