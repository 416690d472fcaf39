/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that interrupts the main loop thousands of times, at any
 * instruction, and runs the same functions as the loop. */
#include "battery.h"

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

static volatile sig_atomic_t handled;
static volatile int sink;

static NOINLINE int shared(int n)
{
	int sum = 0;

	HIT();
	for (int i = 0; i < n; i++) {
		HIT();
		if (i & 1) {
			HIT();
			sum += sink;
		}
	}
	return sum;
}

static void handler(int sig)
{
	HIT();
	sink += shared(sig % 5);
	HIT();
	handled++;
}

int main(void)
{
	struct itimerval every = {{0, 100}, {0, 100}}, off = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = handler};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (handled < 2000) {
		HIT();
		shared(battery_int(20));
		HIT();
	}
	setitimer(ITIMER_REAL, &off, NULL);
	HIT();
	return 0;
}
