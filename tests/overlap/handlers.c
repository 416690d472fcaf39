/* SPDX-License-Identifier: Apache-2.0 */
/* A handler comes at any instruction, and calls whom the program calls; each
 * goes a way of its own there, so that a pair of both is wrong. */
#include <signal.h>
#include <sys/time.h>

static volatile long main_ways, handler_ways;

__attribute__((noinline)) void called(int s)
{
	if (s == SIGALRM) {
		__asm__ volatile("nop" ::: "memory"); /* stays a branch */
		handler_ways++;
	} else {
		main_ways++;
	}
}

__attribute__((noinline)) void handles(int s)
{
	called(s);
}

int main(void)
{
	struct itimerval t = {{0, 50}, {0, 50}};

	signal(SIGALRM, handles);
	setitimer(ITIMER_REAL, &t, 0);
	while (handler_ways < 3000)
		called(0);
	signal(SIGALRM, SIG_IGN);
	return 0;
}
