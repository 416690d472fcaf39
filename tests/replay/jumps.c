/* SPDX-License-Identifier: Apache-2.0 */
/* setjmp in recursion, in loops, in between; a handler that jumps away. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static jmp_buf buffers[10];
static sigjmp_buf away;
static volatile int hits;
static int data[100];

static void recurse(int n)
{
	volatile int k = n;

	if (setjmp(buffers[n])) {
		printf("back in %d %d\n", n, k);
		return;
	}
	if (n < 5)
		recurse(n + 1);
	else
		longjmp(buffers[rand() % 5], 1);
	printf("up %d\n", n);
}

static void loops(void)
{
	jmp_buf b;
	volatile int count = 0;
	int r = setjmp(b);

	printf("r %d\n", r);
	if (r < 4)
		longjmp(b, r + 1);
	for (int i = 0; i < 4; i++) {
		if (setjmp(b) == 0) {
			count++;
			longjmp(b, 7);
		}
		count += 10;
	}
	printf("%d\n", count);
}

static void handler(int signal)
{
	hits++;
	siglongjmp(away, signal);
}

static __attribute__((noinline)) int spin(int k)
{
	int s = 0;

	for (;;)
		for (int i = 0; i < 100; i++) {
			data[i] += k;
			s += data[i];
			if (s == 12345678)
				return s;
		}
}

static void jump_away(void)
{
	struct itimerval soon = {{0, 0}, {0, 2000}};
	volatile int n = 0;

	signal(SIGALRM, handler);
	signal(SIGSEGV, handler);
	printf("signal %d\n", sigsetjmp(away, 1));
	n++;
	if (n < 4) {
		setitimer(ITIMER_REAL, &soon, NULL);
		spin(n);
	}
	if (n < 6)
		*(volatile int *)(long)(n - n) = 3;
	printf("%d hits, n %d\n", hits, n);
}

int main(void)
{
	for (int i = 0; i < 5; i++)
		recurse(0);
	loops();
	jump_away();
	return 0;
}
