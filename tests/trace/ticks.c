/* SPDX-License-Identifier: Apache-2.0 */
/* A tight loop that is interrupted thousands of times; another timer interrupts
 * the handler, and each handler fills buffers.  All call other functions. */
#include "battery.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t nticks, ntocks;
static volatile unsigned sink;
static int length, most;

static NOINLINE unsigned in_tick(unsigned n)
{
	return n & 2 ? n * 3 : n + 1;
}

static NOINLINE unsigned in_tock(unsigned n)
{
	return n & 4 ? n * 5 : n + 7;
}

static NOINLINE unsigned in_loop(unsigned n)
{
	return n & 8 ? n * 7 : n + 9;
}

static void tick(int sig)
{
	if (nticks == most)
		return;
	nticks++;
	for (int i = 0; i < length * 100; i++)
		sink += in_tick((unsigned)(i + sig));
}

static void tock(int sig)
{
	if (nticks == most)
		return;
	ntocks++;
	for (int i = 0; i < length; i++)
		sink += in_tock((unsigned)(i + sig));
}

int main(int argc, char **argv)
{
	struct itimerval every = {{0, 300}, {0, 300}};
	struct sigaction a = {.sa_handler = tick}, b = {.sa_handler = tock};
	unsigned h = 1;
	timer_t timer;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
	                         .sigev_signo = SIGUSR2};
	struct itimerspec often = {{0, 110000}, {0, 110000}};

	most = argc > 1 ? atoi(argv[1]) : 1000;
	length = argc > 2 ? atoi(argv[2]) : 10;
	sigaction(SIGALRM, &a, NULL);
	sigaction(SIGUSR2, &b, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &often, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (nticks < most)
		h = in_loop(h) ^ (h & 1 ? in_loop(h + 3) : 5);
	signal(SIGALRM, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	return h == 1 && ntocks == 0;
}
