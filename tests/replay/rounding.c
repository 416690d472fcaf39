/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How arithmetic rounds is no memory: modes of rounding, flush to zero, in
 * callbacks, threads and behind handlers.  Every bit of a result decides about
 * a branch, so that a replay that computes another one goes another way.
 * loose.c: the same where the compiler may move arithmetic.
 */
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#ifndef LOOSE
#pragma STDC FENV_ACCESS ON
#endif

#define NOINLINE __attribute__((noinline))

static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                            FE_TOWARDZERO};
static volatile double one = 1, three = 3, tiny = 1e-308;
static volatile float fone = 1, fthree = 3, ftiny = 1e-38f;
static volatile long double lone = 1, lthree = 3;
static sigjmp_buf env;

static NOINLINE void show(const void *value, size_t n)
{
	unsigned char bytes[16] = {0};
	uint64_t sum = 0;

	memcpy(bytes, value, n);
	for (size_t i = 0; i < 8 * n; i++)
		if (bytes[i / 8] >> i % 8 & 1)
			sum += (uint64_t)abs((int)i) * 31 + sum;
	printf("%016llx\n", (unsigned long long)sum);
}

static NOINLINE void compute(void)
{
	double d = one / three - three * 1e16;
	float f = fone / fthree;
	long double l = lone / lthree;
	double v[4] = {one, three, tiny, d}, w[4];
	double denormal = tiny / 16;
	float fdenormal = ftiny / 16;
	int k = (int)(d * 0 + one / three * 10), c = denormal != 0;

	for (int i = 0; i < 4; i++)
		w[i] = v[i] / (three + i);
	show(&d, sizeof(d));
	show(&f, sizeof(f));
	show(&l, 10);
	show(w, 16);
	show(&w[2], 16);
	show(&denormal, sizeof(denormal));
	show(&fdenormal, sizeof(fdenormal));
	show(&k, sizeof(k));
	show(&c, sizeof(c));
}

/* Both are computed in one function, and from the same. */
static NOINLINE void around(void)
{
	double up, down;
	float fup;

	fesetround(FE_UPWARD);
	up = one / three;
	fup = (float)one / (float)three;
	fesetround(FE_DOWNWARD);
	down = one / three;
	fesetround(FE_TONEAREST);
	show(&up, sizeof(up));
	show(&fup, sizeof(fup));
	show(&down, sizeof(down));
}

static NOINLINE void set(int mode)
{
	if (fesetround(mode))
		abort();
}

static NOINLINE void around_calls(void)
{
	double a = one, b = three, up, down;

	set(FE_UPWARD);
	up = a / b;
	set(FE_DOWNWARD);
	down = a / b;
	set(FE_TONEAREST);
	show(&up, sizeof(up));
	show(&down, sizeof(down));
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a / three, y = *(const double *)b / three;

	show(&x, sizeof(x));
	return x < y ? -1 : x > y;
}

static void *in_thread(void *arg)
{
	compute();
	fesetround(FE_DOWNWARD);
	compute();
	return arg;
}

static void on_signal(int sig)
{
	compute();
	siglongjmp(env, sig);
}

static void in_callbacks(void)
{
	double v[] = {3, 1, 2};
	pthread_t t;

	fesetround(FE_UPWARD);
	qsort(v, 3, sizeof(v[0]), compare);
	pthread_create(&t, NULL, in_thread, NULL);
	pthread_join(t, NULL);
	signal(SIGUSR1, on_signal);
	if (!sigsetjmp(env, 1))
		raise(SIGUSR1);
	compute();
	fesetround(FE_TONEAREST);
}

static void in_registers(void)
{
	unsigned csr = _mm_getcsr(), other = csr | 0x8040;
	unsigned short word, old;
	fenv_t kept;

	_mm_setcsr(other);
	compute();
	_mm_setcsr(csr);
	compute();
	__asm__ volatile("ldmxcsr %0" : : "m"(other));
	compute();
	__asm__ volatile("ldmxcsr %0" : : "m"(csr));
	__asm__ volatile("fnstcw %0" : "=m"(old));
	word = (unsigned short)((old & ~0x300u) | 0xc00u);
	__asm__ volatile("fldcw %0" : : "m"(word));
	compute();
	__asm__ volatile("fldcw %0" : : "m"(old));
	feholdexcept(&kept);
	fesetround(FE_TOWARDZERO);
	compute();
	feupdateenv(&kept);
	compute();
	fesetround(FE_DOWNWARD);
	fesetenv(FE_DFL_ENV);
	compute();
}

int main(void)
{
	for (int i = 0; i < 4; i++) {
		fesetround(modes[i]);
		compute();
	}
	fesetround(FE_TONEAREST);
	around();
	around_calls();
	in_callbacks();
	in_registers();
	return 0;
}
