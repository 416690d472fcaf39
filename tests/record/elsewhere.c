/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another world, for who executes a recording again: preloaded, it moves the
 * clock by years, and gives other process numbers and other random bytes.
 * proof.py asks it through `date`, so that it cannot be out of use.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define YEARS (20L * 365 * 24 * 3600)

int clock_gettime(clockid_t clock, struct timespec *t)
{
	long rc = syscall(SYS_clock_gettime, clock, t);

	if (!rc && clock == CLOCK_REALTIME)
		t->tv_sec += YEARS;
	return (int)rc;
}

int gettimeofday(struct timeval *t, void *zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (t)
		*t = now.tv_sec;
	return now.tv_sec;
}

pid_t getpid(void)
{
	return 4711;
}

pid_t getppid(void)
{
	return getpid();
}

ssize_t getrandom(void *p, size_t n, unsigned flags)
{
	(void)flags;
	memset(p, 0x5a, n);
	return (ssize_t)n;
}
