/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops and branches for preferred and residual paths: `many` has so many paths
 * that they are in a table, inner loops with one turn and with several, with
 * and without a call; `few` has not.  The first argument says how long it runs,
 * a second one in which call of `note` it ends.
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define OPAQUE(x) __asm__ volatile("nop" : "+r"(x))

static unsigned word[18];

static unsigned left; /* calls of note until the program ends; 0: it does not */

static NOINLINE unsigned note(unsigned s)
{
	if (left && --left == 0)
		exit(0);
	return s ^ 5;
}

/* clang-format off */
#define FORK(k)               \
	if (word[k] & 1) {    \
		s += word[k]; \
		OPAQUE(s);    \
	} else {              \
		s ^= k * 7u;  \
		OPAQUE(s);    \
	}

static NOINLINE unsigned many(unsigned n)
{
	unsigned s = 0;

	for (unsigned j = 0; j < n; j++) {
		FORK(0) FORK(1) FORK(2) FORK(3) FORK(4) FORK(5)
		FORK(6) FORK(7) FORK(8) FORK(9) FORK(10) FORK(11)
		FORK(12) FORK(13) FORK(14) FORK(15) FORK(16) FORK(17)
		if (j > 100) /* later than a brief run */
			s += note(j);
		for (unsigned i = 0; i < (j & 7); i++) {
			if (word[i] > 3 + j)
				s += 7 * s;
			else
				s = note(s * word[i] / 3);
		}
		for (unsigned i = 0; i < 5; i++) {
			s = s * 3 + (s >> 3);
			OPAQUE(s);
			if (s == 77)
				break;
		}
		for (unsigned i = 0; i < 9; i++) {
			OPAQUE(s);
			if (s & 1u << i)
				s += i;
			else if (s & 2)
				s -= 3;
			OPAQUE(s);
		}
		for (unsigned k = 0; k < 18; k++)
			word[k] = word[k] * (k + 3) + j % 3;
	}
	return s;
}

static NOINLINE unsigned few(unsigned x)
{
	if (x & 1)
		return 1;
	if (x & 2)
		return note(x);
	while (x > 10)
		x /= 2;
	return x;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1, s;

	left = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	for (unsigned i = 0; i < 18; i++)
		word[i] = i * i + 7;
	s = many(n);
	for (unsigned i = 0; i < n; i++)
		s += few(i);
	printf("%u\n", s);
	return 0;
}
