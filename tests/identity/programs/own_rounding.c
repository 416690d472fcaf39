/* SPDX-License-Identifier: Apache-2.0 */
// Functions of libm that the program has itself, and that the code generator
// makes calls of.
// cc: -fno-math-errno
// uncovered: record floor fmod roundf sin
#include <stdio.h>

static volatile double d = -2.75;
static volatile float f = 2.5f;
static volatile int calls;

__attribute__((noinline)) static double whole(double x)
{
	calls++;
	return (double)(long)x;
}

double floor(double x)
{
	calls++;
	return whole(x) - 1;
}

float roundf(float x)
{
	calls++;
	return (float)(int)x + 10;
}

double fmod(double x, double y)
{
	calls++;
	return x + y;
}

double sin(double x)
{
	return whole(x) / 2;
}

int main(void)
{
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		sum += __builtin_floor(d);
		sum += __builtin_roundf(f);
		sum += __builtin_fmod(d, 2);
		sum += __builtin_sin(d);
		d = d - 1;
	}
	printf("%g %d\n", sum, calls);
	return 0;
}
