/* SPDX-License-Identifier: Apache-2.0 */
/* A handler interrupts loops without calls, at any instruction, and runs the
 * same loops: counts that wait in registers must add up.  The loops carry no
 * instruction of ours; the books are made from their results. */
#include "battery.h"

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

static volatile sig_atomic_t handled;
static unsigned char table[4096];

/* Counts the bytes of table[0..n) below 100 and below 10. */
static NOINLINE void scan(unsigned n)
{
	unsigned small = 0, tiny = 0;

	for (unsigned i = 0; i < n; i++) {
		MARK(0);
		if (table[i] < 100) {
			MARK(1);
			small++;
			if (table[i] < 10) {
				MARK(2);
				tiny++;
			}
		}
	}
	BOOK(0, n);
	BOOK(1, small);
	BOOK(2, tiny);
	HIT();
}

static void handler(int sig)
{
	HIT();
	scan(100u * (unsigned)(sig % 3));
	handled++;
}

int main(void)
{
	struct itimerval every = {{0, 100}, {0, 100}}, off = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = handler};
	unsigned seed = 1;

	for (unsigned i = 0; i < sizeof(table); i++) {
		seed = seed * 1103515245u + 12345u;
		table[i] = (unsigned char)(seed >> 16);
	}
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (handled < 3000) {
		HIT();
		scan((unsigned)battery_int(4096));
	}
	setitimer(ITIMER_REAL, &off, NULL);
	HIT();
	return 0;
}
