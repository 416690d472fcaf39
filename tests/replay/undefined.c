/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the language leaves open: signed overflow as an index, variables that
 * nobody set, shifts that are too far, conversions that do not fit, arithmetic
 * that may be done in another order.  Two compilers, or one at two moments,
 * may differ; a recording and its replay may not.  What comes out decides how
 * often the last loop turns, and so how many ticks there are.
 */
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 512 };

static int table[N];
static float floats[N];
static double doubles[N];
static volatile int zero;
static unsigned long way;

/* Mixes a value in. */
static __attribute__((noinline)) void go(unsigned long value)
{
	for (int i = 0; i < 16; i++, value >>= 4)
		if (value & 1)
			way = way * 31 + (unsigned)table[value & (N - 1)];
		else
			way ^= value + (unsigned long)i;
}

/* The index wraps as an int, or goes on as a long. */
static __attribute__((noinline)) void overflows(int first, int step)
{
	const int *middle = table + N / 2;
	long sum = 0;

	for (int i = 0, x = first; i < 100; i++, x += step)
		sum += middle[(x * 3 + 7) >> 24];
	go((unsigned long)sum);
	go(first + 1 > first);
	go((unsigned long)(long)(first + step));
	go((unsigned long)(first * 2 / 2));
}

static __attribute__((noinline)) void unset(int n)
{
	int one, row[8], *heap = malloc(64 * sizeof(*heap));
	struct {
		char c;
		long l;
	} padded, copy;
	double d;

	if (n > 1000) {
		one = n;
		d = n;
	}
	padded.c = (char)n;
	padded.l = n;
	copy = padded;
	go((unsigned)one);
	go((unsigned)table[one & (N - 1)]);
	for (int i = 0; i < 8; i++)
		go((unsigned)row[(i + n) & 7]);
	for (int i = 0; heap && i < 64; i++)
		go((unsigned)heap[i]);
	go(d > 1 ? 3 : 5);
	for (size_t i = 0; i < sizeof(copy); i++)
		go(((unsigned char *)&copy)[i]);
	free(heap);
}

static __attribute__((noinline)) void shifts(int x, int n)
{
	int row[16];

	for (int i = 0; i < 16; i++)
		row[i] = (x + i) << (n + i);
	for (int i = 0; i < 16; i++)
		go((unsigned)row[i] + (unsigned)(x >> (n + i)));
	go((unsigned)__builtin_ctz((unsigned)zero));
	go((unsigned)__builtin_clzll((unsigned)zero));
	go((unsigned)abs(INT_MIN + zero));
	go((unsigned)(1U << (n & 63)));
}

static __attribute__((noinline)) void conversions(float huge, double nan)
{
	unsigned char bytes[16];

	go((unsigned)(int)huge);
	go((unsigned)huge);
	go((unsigned long)(huge * 1e30f));
	go((unsigned)(int)nan);
	go((unsigned char)(huge / 7));
	for (int i = 0; i < 16; i++)
		bytes[i] = (unsigned char)(floats[i] * huge);
	for (int i = 0; i < 16; i++)
		go(bytes[i]);
}

static void go_bits(double d)
{
	unsigned long bits;

	memcpy(&bits, &d, sizeof(bits));
	go(bits);
	go(bits >> 1);
}

/* Sums and products that -ffast-math and -ffp-contract may rearrange. */
static __attribute__((noinline)) void arithmetic(int n)
{
	double s = 0, t = 1;
	float f = 0;

	for (int i = 0; i < n; i++) {
		s += doubles[i] * doubles[N - 1 - i];
		t = t * 0.999 + doubles[i] / 3;
		f += floats[i] * floats[i] - f * 0.25f;
	}
	go_bits(s);
	go_bits(t);
	go_bits((double)f);
	go_bits(sqrt(s * s + t) / t + fmin(s, t) - 1 / sqrt(t + 2));
	for (int i = 0; i < n; i++)
		go_bits((double)(floats[i] / 3.0f));
}

/* What there is one more of in a vector, and one less. */
static __attribute__((noinline)) void elements(int n)
{
	typedef int v4 __attribute__((ext_vector_type(4)));
	v4 v = {n, n * 3, n * 5, n * 7};

	for (int i = -2; i < 10; i++)
		go((unsigned)v[i + n]);
	v[n * 9] = 5;
	go((unsigned)v[1] + (unsigned)v[3]);
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < N; i++) {
		table[i] = i * 7919 ^ argc;
		floats[i] = (float)(i % 37) + 0.1f;
		doubles[i] = 1.0 / (i + argc);
	}
	overflows(INT_MAX - 50 + argc, 1);
	overflows(INT_MAX / 3 + argc, 12345678);
	unset(argc);
	shifts(argc + 5, 20 + argc);
	shifts(argc - 500, 40 + argc);
	conversions(3e9f * (float)argc, (double)argc * NAN);
	arithmetic(N - argc);
	elements(argc);
	for (unsigned long turns = way % 1000003; turns; turns--)
		zero = 0;
	return way == 0;
}
