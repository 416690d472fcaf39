/* SPDX-License-Identifier: Apache-2.0 */
// Faults that a handler leaves by siglongjmp: a probe of memory, a division.
// defect: 5
// check: trace C4
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static sigjmp_buf back;
static volatile int zero;

static void handler(int sig)
{
	siglongjmp(back, sig);
}

__attribute__((noinline)) static int probe(volatile int *p)
{
	int v = 0;

	if (sigsetjmp(back, 1))
		return -1;
	v = *p;
	if (v > 2)
		v *= 2;
	return v;
}

__attribute__((noinline)) static int divide(int a, int b)
{
	if (sigsetjmp(back, 1))
		return -2;
	return a / b;
}

int main(void)
{
	struct sigaction sa;
	int x[] = {1, 2, 3, 4}, sum = 0;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGFPE, &sa, NULL);
	for (int i = 0; i < 8; i++) {
		sum += probe(i % 3 ? &x[i % 4] : (int *)8);
		sum += divide(10, i & 1 ? zero : i + 1);
	}
	printf("%d\n", sum);
	return 0;
}
