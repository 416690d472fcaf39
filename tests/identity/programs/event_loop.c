/* SPDX-License-Identifier: Apache-2.0 */
// A loop of events: epoll with a timer, a pipe, a counter and signals.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { TIMER, PIPE, COUNTER, SIGNAL, KINDS };
static int fds[KINDS], pipe_in, seen[KINDS];

static int handle(int kind)
{
	struct signalfd_siginfo info;
	uint64_t n;
	char c;

	switch (kind) {
	case TIMER:
		return read(fds[TIMER], &n, 8) == 8;
	case PIPE:
		return read(fds[PIPE], &c, 1) == 1 && c == 'p';
	case COUNTER:
		return read(fds[COUNTER], &n, 8) == 8 && n == 3;
	default:
		return read(fds[SIGNAL], &info, sizeof(info)) > 0 &&
		       info.ssi_signo == SIGUSR1;
	}
}

static void add(int poll, int kind)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = (unsigned)kind};

	epoll_ctl(poll, EPOLL_CTL_ADD, fds[kind], &e);
}

static int one(int poll, int kind)
{
	struct epoll_event e;
	uint64_t n = 3;
	struct itimerspec when = {.it_value.tv_nsec = 1000};

	if (kind == TIMER)
		timerfd_settime(fds[TIMER], 0, &when, NULL);
	else if (kind == PIPE && write(pipe_in, "p", 1) != 1)
		return 1;
	else if (kind == COUNTER && write(fds[COUNTER], &n, 8) != 8)
		return 1;
	else if (kind == SIGNAL)
		raise(SIGUSR1);
	if (epoll_wait(poll, &e, 1, -1) != 1)
		return 1;
	seen[e.data.u32] += handle((int)e.data.u32);
	return (int)e.data.u32 != kind;
}

int main(void)
{
	int poll = epoll_create1(EPOLL_CLOEXEC), p[2], wrong = 0;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (pipe(p))
		return 1;
	fds[PIPE] = p[0], pipe_in = p[1];
	fds[TIMER] = timerfd_create(CLOCK_MONOTONIC, 0);
	fds[COUNTER] = eventfd(0, 0);
	fds[SIGNAL] = signalfd(-1, &set, 0);
	for (int i = 0; i < KINDS; i++)
		add(poll, i);
	for (int i = 0; i < 40; i++)
		wrong += one(poll, i * 7 % KINDS);
	printf("%d %d %d %d %d\n", wrong, seen[0], seen[1], seen[2], seen[3]);
	return 0;
}
