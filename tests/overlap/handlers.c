/* SPDX-License-Identifier: Apache-2.0 */
/* A handler comes at any instruction, and calls whom the program calls, is that
 * function itself, or has no marks and calls it; each goes a way of its own
 * there, so that a pair of both is wrong.  Prints how often main called. */
#include <signal.h>
#include <stdio.h>
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

void without_marks(int s);
__asm__(".text\n"
        "without_marks:\n"
        "	subq	$8, %rsp\n"
        "	call	called\n"
        "	addq	$8, %rsp\n"
        "	ret\n");

int main(void)
{
	void (*const handlers[])(int) = {handles, called, without_marks};
	struct itimerval t = {{0, 50}, {0, 50}};

	for (int i = 0; i < 3; i++) {
		signal(SIGALRM, handlers[i]);
		setitimer(ITIMER_REAL, &t, 0);
		while (handler_ways < 2000 * (i + 1))
			called(0);
	}
	signal(SIGALRM, SIG_IGN);
	printf("%ld\n", main_ways);
	return 0;
}
