/* SPDX-License-Identifier: Apache-2.0 */
/* Values of all kinds: vectors, long doubles, atomics, libm, assembly, thread-
 * local and uninitialised variables, computed gotos, arrays of any length. */
#include <complex.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int v4 __attribute__((vector_size(16)));

static _Thread_local int local = 3;

static int gotos(int n)
{
	static void *const to[] = {&&one, &&two, &&three};
	int c = 0;

	goto *to[n % 3];
one:
	c += 1;
two:
	c += 2;
	if (c < 10)
		goto *to[c % 3];
three:
	return c;
}

static int lengths(int n)
{
	int v[n], s = 0;

	for (int i = 0; i < n; i++)
		v[i] = i * n;
	for (int i = 0; i < n; i++)
		s += v[i];
	return s;
}

static __attribute__((noinline)) int overflows(int n, const int *v)
{
	int x = 2147483600 + n * 47, undefined;

	x += 10; /* wraps */
	if (n > 5)
		undefined = v[0];
	return v[(unsigned)x % 4] + (n > 5 ? undefined : 1);
}

int main(int argc, char **argv)
{
	const int table[4] = {10, 20, 30, 40};
	unsigned e = (unsigned)argc;
	v4 x = {1, 2, 3, argc}, y = x * x + x;
	long double l = (long double)argc / 3;
	double complex z = argc + 2 * I;
	__int128 q = (__int128)argc << 100;
	atomic_int a = 0;
	int expected = 45;

	__asm__("imul $3, %0" : "+r"(e));
	local += argc;
	for (int i = 0; i < 10; i++)
		atomic_fetch_add(&a, i);
	atomic_compare_exchange_strong(&a, &expected, 7);
	z = z * z;
	q /= 7;
	printf("%u %d %d %d\n", e, local, y[0], y[3]);
	printf("%.20Lf %f %f\n", l, creal(z), cimag(z));
	printf("%f %f %f\n", sin(argc), pow(argc + 1, 0.5), exp(argc));
	printf("%d %llx\n", a, (unsigned long long)(q >> 64));
	printf("%d %d %d\n", gotos(argc), lengths(argc * 10),
	       overflows(argc, table));
	printf("%d\n", strcmp(argv[1], "input") == 0);
	return 0;
}
