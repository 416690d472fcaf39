/* SPDX-License-Identifier: Apache-2.0 */
// How arithmetic rounds is changed by calls that are not seen by name any more:
// functions of libm that may be in the same link, and pointers to them.
// ld: -lm
#include <fenv.h>
#include <stdio.h>

#pragma STDC FENV_ACCESS ON

static volatile double one = 1, three = 3;
static int (*const *volatile chosen)(int);

static int (*const setters[])(int) = {fesetround, feclearexcept};

__attribute__((noinline)) static void print(const char *what)
{
	printf("%s %a %a\n", what, one / three, -one / three);
}

__attribute__((noinline)) static void environment(void)
{
	fenv_t old;

	fesetround(FE_TOWARDZERO);
	print("towards zero");
	feholdexcept(&old);
	fesetround(FE_UPWARD);
	print("upward");
	fesetenv(&old);
	print("as before");
	feupdateenv(FE_DFL_ENV);
	print("default");
}

__attribute__((noinline)) static int last(int mode)
{
	return fesetround(mode);
}

int main(void)
{
	double early = one / three;

	fesetround(FE_UPWARD);
	if (one / three == early)
		puts("never");
	print("upward");
	environment();
	chosen = setters;
	(*chosen[0])(FE_DOWNWARD);
	print("downward");
	last(FE_UPWARD);
	print("upward");
	return 0;
}
