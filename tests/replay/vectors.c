/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of all widths, with masks, gathers and scatters, in memory, in
 * arguments, in results; with AVX2 and AVX-512 if the machine has them.  Long
 * doubles in rows and in structs.  What they hold comes from libm and rand, so
 * that no compiler knows it; it decides how often the last loop turns, and so
 * how many ticks there are.
 */
#include <complex.h>
#include <immintrin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 256 };

typedef float v8f __attribute__((vector_size(32)));
typedef double v8d __attribute__((vector_size(64)));
typedef unsigned char v3 __attribute__((ext_vector_type(3)));

struct mixed {
	char c;
	long double l;
	v3 three;
	_Complex double z;
};

static float values[N];
static int at[N], out[N];
static double doubles[N];
static volatile int turned;

/* Loops that the optimizer turns into vectors, with a rest. */
static double loops(int n)
{
	double s = 0;

	for (int i = 0; i < n; i++)
		doubles[i] = doubles[i] * 1.5 + values[i];
	for (int i = 0; i < n; i++)
		out[i] = (int)(values[i] * 8) ^ i;
	for (int i = 0; i < n; i++)
		if (out[i] & 1)
			s += doubles[out[i] & (N - 1)];
	return s;
}

static int sse(void)
{
	__m128i sum = _mm_setzero_si128();

	for (int i = 0; i < N; i += 4) {
		__m128i a = _mm_loadu_si128((const void *)&out[i]);

		sum = _mm_add_epi32(sum, _mm_madd_epi16(a, a));
		_mm_stream_si128((void *)&out[i], _mm_xor_si128(a, sum));
	}
	_mm_sfence();
	return _mm_cvtsi128_si32(sum) ^ _mm_movemask_epi8(sum);
}

__attribute__((target("avx2"), noinline)) static __m256i
gathered(const int *from, __m256i index)
{
	__m256i a = _mm256_i32gather_epi32(from, index, 4);

	return _mm256_mask_i32gather_epi32(a, from, _mm256_slli_epi32(index, 1),
	                                   _mm256_slli_epi32(a, 30), 4);
}

__attribute__((target("avx2"))) static int avx2(void)
{
	const __m256i low = _mm256_set1_epi32(N / 2 - 1);
	__m256i sum = _mm256_setzero_si256();
	int found[8];

	for (int i = 0; i < N; i += 8) {
		__m256i index = _mm256_loadu_si256((const void *)&at[i]);
		__m256i a = gathered(out, _mm256_and_si256(index, low));
		__m256i mask = _mm256_cmpgt_epi32(a, sum);

		a = _mm256_add_epi32(a, _mm256_maskload_epi32(&out[i], mask));
		_mm256_maskstore_epi32(&out[i], mask, a);
		sum = _mm256_add_epi32(sum, a);
	}
	_mm256_storeu_si256((void *)found, sum);
	return found[0] ^ found[3] ^ found[7];
}

__attribute__((target("avx512f"))) static int avx512(void)
{
	__m512i sum = _mm512_setzero_si512();

	for (int i = 0; i < N; i += 16) {
		__m512i index = _mm512_loadu_si512(&at[i]);
		__mmask16 mask = (__mmask16)out[i];
		__m512i a =
		        _mm512_mask_i32gather_epi32(sum, mask, index, out, 4);

		_mm512_mask_compressstoreu_epi32(&out[i & 63], mask & 0xff, a);
		_mm512_mask_i32scatter_epi32(out, mask, index, a, 4);
		sum = _mm512_add_epi32(sum, a);
	}
	return _mm512_reduce_add_epi32(sum);
}

__attribute__((noinline)) static v8d widened(v8f a, v8d b, long double l)
{
	return __builtin_convertvector(a, v8d) * b + (double)l;
}

static long double longs(void)
{
	struct mixed rows[20], copy[20];
	long double s = 0;

	memset(rows, 0, sizeof(rows));
	for (int i = 0; i < 20; i++) {
		rows[i].l = sinl(i) * powl(1.5L, rand() % 10);
		rows[i].three = (v3){(unsigned char)i, 2, (unsigned char)at[i]};
		rows[i].z = cexp(I * (double)i);
	}
	memcpy(copy, rows, sizeof(copy));
	for (int i = 0; i < 20; i++)
		s += copy[i].l * copy[i].three.z + creal(copy[i].z);
	return fmodl(s, 1000) + fmal(s, 2, 1);
}

static unsigned hash(unsigned h, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = h * 31 + ((const unsigned char *)p)[i];
	return h;
}

int main(void)
{
	v8d b = {1, 2, 3, 4, 5, 6, 7, 8};
	double results[2];
	unsigned h;
	v8f a;

	srand(3);
	for (int i = 0; i < N; i++) {
		values[i] = (float)sin(i) * (float)(rand() % 100);
		doubles[i] = exp2(i % 20) + log1p(i) + tgamma(1 + i % 9);
		at[i] = rand() % N;
	}
	memcpy(&a, values + 8, sizeof(a));
	b = widened(a, b, expm1l(0.5L));
	results[0] = loops(N - 3);
	results[1] = (double)longs();
	h = hash(sse(), results, sizeof(results));
	h = hash(h, &b, sizeof(b));
	printf("%.17g %.17g\n", results[0], results[1]);
	if (__builtin_cpu_supports("avx2"))
		h += avx2();
	if (__builtin_cpu_supports("avx512f"))
		h += avx512();
	h = hash(h, out, sizeof(out));
	printf("%x\n", h);
	for (h %= 100003; h; h--)
		turned = 1;
	return 0;
}
