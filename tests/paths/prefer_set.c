/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of paths that are preferred by name.  `sift` has too many paths to count
 * each in an array, and lines that few of them run through; `churn` has such a
 * line in a loop that counts its turns; `middling` has so many paths that only
 * an array for preferred ones holds them; `few` has not.  The argument says how
 * long it runs.
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define OPAQUE(x) __asm__ volatile("nop" : "+r"(x))

static unsigned word[18];

/* clang-format off */
#define FORK(k)               \
	if (word[k] & 1) {    \
		s += word[k]; \
		OPAQUE(s);    \
	} else {              \
		s ^= k * 7u;  \
		OPAQUE(s);    \
	}
#define FORKS_2_TO_7 FORK(2) FORK(3) FORK(4) FORK(5) FORK(6) FORK(7)
#define FORKS_8_TO_15                                                 \
	FORK(8) FORK(9) FORK(10) FORK(11) FORK(12) FORK(13) FORK(14) \
	        FORK(15)
/* clang-format on */

/* Moves on; the words have no short period. */
static NOINLINE void step(unsigned j)
{
	for (unsigned k = 0; k < 18; k++)
		word[k] = word[k] * (2 * k + 5) / 3 + j % (k + 2);
}

static NOINLINE unsigned sift(unsigned n)
{
	unsigned s = 0;

	for (unsigned j = 0; j < n; j++) {
		step(j);
		if (word[0] % 3 == 0) {
			OPAQUE(s); /* LINE rare */
			FORK(1)
			FORK(2)
			if (word[16] & 1) {
				s += 5;
				OPAQUE(s); /* LINE rarer */
			}
		} else {
			FORK(1)
			FORKS_2_TO_7
			FORKS_8_TO_15
			FORK(16)
			FORK(17)
		}
		s = s * 3 + 1;
		OPAQUE(s); /* LINE common */
	}
	return s;
}

static NOINLINE unsigned churn(unsigned n)
{
	unsigned s = 1;

	for (unsigned j = 0; j < n; j++) {
		step(j);
		if (word[1] & 1) {
			for (unsigned i = 0; i < (j & 7); i++) {
				OPAQUE(s);
				if (s & 1u << i) {
					s += i;
					OPAQUE(s); /* LINE turn */
				} else {
					s -= 3;
					OPAQUE(s);
				}
			}
		} else {
			FORK(1)
			FORKS_2_TO_7
			FORKS_8_TO_15
			FORK(16)
			FORK(17)
		}
	}
	return s;
}

static NOINLINE unsigned middling(unsigned j)
{
	unsigned s = j;

	step(j);
	FORK(0)
	FORK(1)
	FORKS_2_TO_7
	FORKS_8_TO_15
	return s;
}

static NOINLINE unsigned few(unsigned x)
{
	if (x & 1) {
		x += 2;
		OPAQUE(x); /* LINE few */
		return x;
	}
	return x & 2 ? x * 3 : 7;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1, s;

	for (unsigned i = 0; i < 18; i++)
		word[i] = i * i * 2654435761u + 7;
	s = sift(n) + churn(n);
	for (unsigned i = 0; i < n; i++)
		s += few(i) + middling(i);
	printf("%u\n", s);
	return 0;
}
