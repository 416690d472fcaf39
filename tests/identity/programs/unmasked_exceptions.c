/* SPDX-License-Identifier: Apache-2.0 */
// A handler jumps away from an unmasked floating-point exception: where in its
// tick the program was then, no recording knows.
// ld: -lm
// check: trace C4
// check: record F1 C4
// differs: trace main
// differs: record main
// ask: record | 0 | trace {file} | handler dies
// ask: record | 0 | report {file} | ^ +1 +[0-9]+ .* handler
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

int feenableexcept(int);

static sigjmp_buf out;
static volatile int caught;
static volatile double zero, one = 1;

static void handler(int sig)
{
	caught++;
	siglongjmp(out, 1);
}

__attribute__((noinline)) static int after(int n)
{
	for (int i = 0; i < 3; i++)
		n += caught;
	return n;
}

int main(void)
{
	signal(SIGFPE, handler);
	feenableexcept(FE_DIVBYZERO);
	if (!sigsetjmp(out, 1))
		zero = one / zero;
	printf("%d %d\n", caught, after(2));
	return 0;
}
