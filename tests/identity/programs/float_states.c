/* SPDX-License-Identifier: Apache-2.0 */
// How arithmetic rounds and what it has raised: in handlers, over longjmp.
// ld: -lm
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#pragma STDC FENV_ACCESS ON

static jmp_buf out;
static volatile double third = 3.0;

static void handler(int sig)
{
	fesetround(FE_UPWARD);
	if (1.0 / third > 0.4)
		puts("never");
}

__attribute__((noinline)) static long bits(double x)
{
	union {
		double d;
		long l;
	} u = {x};

	return u.l & 15;
}

int main(void)
{
	static const int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO,
	                            FE_TONEAREST};
	long sum = 0;

	signal(SIGUSR1, handler);
	for (int i = 0; i < 4; i++) {
		fesetround(modes[i]);
		raise(SIGUSR1);
		sum = sum * 16 + bits(1.0 / third);
		sum += lrint(2.5) + (long)nearbyint(third / 2);
	}
	feclearexcept(FE_ALL_EXCEPT);
	if (!setjmp(out)) {
		third = third * 1e300 * 1e300;
		longjmp(out, 1);
	}
	printf("%ld %d\n", sum, fetestexcept(FE_OVERFLOW) != 0);
	return 0;
}
