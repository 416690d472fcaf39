/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler of a timer forks at any moment, also while an event is written; the
 * child returns from the handler and goes on.  Says how many children did not
 * end as they should.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILDREN = 60 };

static volatile int nchildren, nwrong, is_child;

static void set_timer(int us)
{
	struct itimerval t = {{0, 0}, {0, us}};

	setitimer(ITIMER_REAL, &t, NULL);
}

static void handler(int sig)
{
	int status = 1;
	pid_t pid;

	(void)sig;
	if (is_child)
		return;
	nchildren++;
	pid = fork();
	if (!pid) {
		is_child = 1;
		return;
	}
	waitpid(pid, &status, 0);
	nwrong += status != 0;
	if (nchildren < CHILDREN)
		set_timer(300 + nchildren * 17);
}

/* Each call is an event. */
static unsigned long look(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long)now.tv_nsec;
}

int main(void)
{
	unsigned long sum = 1;

	signal(SIGALRM, handler);
	set_timer(1000);
	while (nchildren < CHILDREN && !is_child)
		sum += look();
	for (int i = 0; i < 100; i++)
		sum += look();
	if (!is_child)
		printf("%d\n", nwrong);
	return sum == 0;
}
