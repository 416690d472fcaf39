/* SPDX-License-Identifier: Apache-2.0 */
// The compiler checks the type of what is called by a pointer (kcfi), also of
// functions that have other entries in traces and recordings; calls leave by
// longjmp, and at last one has the wrong type.
// cc: -fsanitize=kcfi
// exit: -4
// uncovered: trace apply main
// uncovered: record apply main
// check: edges C4
// check: trace C4
// check: paths C4
// check: paths,overlap C4
// differs: paths apply
// differs: paths,overlap apply
// ask: edges | 0 | report --format lcov {file} | ^DA:34,6$
// ask: paths | 0 | report --format lcov {file} | ^DA:34,6$
#include <setjmp.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline))
static jmp_buf out;

NOINLINE int half(int x)
{
	if (x % 3 == 0)
		longjmp(out, x + 1);
	return x / 2;
}

NOINLINE static int apply(int (*f)(int), int x)
{
	int r = f(x) + 1;

	return 2 * r;
}

NOINLINE int more(int x)
{
	return x + 3;
}

int main(void)
{
	int (*volatile f)(int) = half;
	volatile int s = 0;
	long (*wrong)(long, long);

	for (volatile int i = 0; i < 10; i++)
		if (!setjmp(out))
			s += apply(f, i);
	f = more;
	s += f(s);
	printf("%d\n", s);
	fflush(stdout);
	wrong = (long (*)(long, long))f;
	return (int)wrong(3, 4);
}
