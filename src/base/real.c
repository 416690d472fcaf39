/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of reals.  The plugin is loaded into a program that is not ours and
 * brings no libm along, and results must not depend on the one that is there.
 */
#include "base/real.h"

#include <math.h> /* frexp and ldexp, which need no libm */

#define LN2 0.69314718055994530942
#define HALF_ROOT 0.70710678118654752440

/* Newton's steps, from a guess that is right to a quarter: five of them do. */
double real_sqrt(double x)
{
	int exponent;
	double m, root;

	if (!(x > 0))
		return 0;
	m = frexp(x, &exponent);
	if (exponent % 2) {
		m /= 2;
		exponent++;
	}
	root = (m + 1) / 2; /* m is from 1/4 up to 1 */
	for (int i = 0; i < 5; i++)
		root = (root + m / root) / 2;
	return ldexp(root, exponent / 2);
}

/* By the series of atanh. */
double real_log(double x)
{
	int exponent;
	double m = frexp(x, &exponent), t, square, term, sum = 0;

	if (m < HALF_ROOT) {
		m *= 2;
		exponent--;
	}
	t = (m - 1) / (m + 1); /* less than 0.172 */
	square = t * t;
	term = t;
	for (int k = 1; k < 28; k += 2) {
		sum += term / k;
		term *= square;
	}
	return exponent * LN2 + 2 * sum;
}
