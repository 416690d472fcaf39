/* SPDX-License-Identifier: Apache-2.0 */
// Functions of libm that a library of the program has itself, and that the code
// generator makes calls of in the program, which knows nothing of that.
// cc: -fPIC -fno-math-errno
// library: librounding.so -Wl,-soname,librounding.so
// ld: {dir}/librounding.so -Wl,-rpath,{dir}
// uncovered: record floor sinf
#include <stdio.h>

#ifdef LIBRARY

static volatile int calls;

double floor(double x)
{
	double whole = (double)(long)x;

	calls++;
	return whole > x ? whole - 1 : whole;
}

float sinf(float x)
{
	calls++;
	return x / 2;
}

int count(void)
{
	return calls;
}

#else

int count(void);

static volatile double d = -2.75;
static volatile float f = 2.5f;

int main(void)
{
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		sum += __builtin_floor(d) + __builtin_sinf(f);
		d = d - 1;
	}
	printf("%g %d\n", sum, count());
	return 0;
}

#endif
