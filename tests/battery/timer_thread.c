/* SPDX-License-Identifier: Apache-2.0 */
/* A SIGEV_THREAD timer: the C library makes a thread for each expiry. */
#include "battery.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_int fired;

static NOINLINE void work(int n)
{
	for (int i = 0; i < n; i++) {
		HIT();
		battery_nop();
	}
}

static void expire(union sigval value)
{
	HIT();
	work(value.sival_int);
	HIT();
	fired++;
}

int main(void)
{
	struct itimerspec every = {{0, 1000000}, {0, 1000000}};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD,
	                         .sigev_value.sival_int = 9};
	timer_t timer;

	event.sigev_notify_function = expire;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return 1;
	timer_settime(timer, 0, &every, NULL);
	while (fired < 40) {
		usleep(1000);
		HIT();
	}
	timer_delete(timer);
	usleep(100000);
	HIT();
	return 0;
}
