/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that runs a loop without calls while the main program is in the
 * same loop: counts that are kept in a register must add up. */
#include "battery.h"

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

static volatile sig_atomic_t handled;
static unsigned table[256];

static NOINLINE unsigned hash(unsigned n)
{
	unsigned h = 2166136261u;

	HIT();
	for (unsigned i = 0; i < n; i++) {
		h = (h ^ table[i & 255]) * 16777619u;
		if (h & 64)
			h ^= h >> 3;
	}
	HIT();
	return h;
}

/* The loop of hash() again, with a line of its own in both branches. */
static NOINLINE unsigned count(unsigned n)
{
	unsigned h = 0;

	for (unsigned i = 0; i < n; i++) {
		if (table[i & 255] & 1) {
			HIT();
			h += 3;
		} else {
			HIT();
			h ^= h << 5;
		}
	}
	HIT();
	return h;
}

static void handler(int sig)
{
	HIT();
	table[sig] += hash(77) + count(33);
	handled++;
}

int main(void)
{
	struct itimerval every = {{0, 100}, {0, 100}}, off = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = handler};
	unsigned sum = 0;

	for (unsigned i = 0; i < 256; i++)
		table[i] = i * 2654435761u;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (handled < 2000) {
		HIT();
		sum += hash(3000);
		sum += count(500);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	HIT();
	return sum == 1;
}
