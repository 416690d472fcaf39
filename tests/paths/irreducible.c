/* SPDX-License-Identifier: Apache-2.0 */
/* Loops with two entries, one inside another, and knots of three. */
#include "log.h"

static uint32_t x = 7;
#define CHANCE(n) (RANDOM(x) % (n) == 0)

static int two(int n)
{
	ENTER;
	int sum = 0;
	AT;
	if (n & 1) {
		AT;
		goto right;
	}
	AT;
left:
	AT;
	sum++;
	if (CHANCE(5)) {
		AT;
		goto out;
	}
	AT;
right:
	AT;
	sum += 2;
	if (CHANCE(3)) {
		AT;
		goto out;
	}
	AT;
	goto left;
out:
	AT;
	RETURN(sum);
}

static int knot(int n)
{
	ENTER;
	int sum = n;
	AT;
	switch (n % 3) {
	case 0:
		AT;
		goto a;
	case 1:
		AT;
		goto b;
	default:
		AT;
		goto c;
	}
a:
	AT;
	sum += 1;
	if (CHANCE(2)) {
		AT;
		goto c;
	}
	AT;
b:
	AT;
	sum += 2;
	if (CHANCE(2)) {
		AT;
		goto a;
	}
	AT;
c:
	AT;
	sum += 3;
	if (CHANCE(4)) {
		AT;
		RETURN(sum);
	}
	if (CHANCE(2)) {
		AT;
		goto b;
	}
	AT;
	goto a;
}

static int inner(int n)
{
	ENTER;
	int sum = 0;
	AT;
	for (int i = 0; i < n; i++) {
		AT;
		if (i % 2) {
			AT;
			goto middle;
		}
		AT;
	again:
		AT;
		sum++;
	middle:
		AT;
		sum += 2;
		if (CHANCE(2)) {
			AT;
			goto again;
		}
		AT;
	}
	AT;
	RETURN(sum);
}

int main(void)
{
	log_open();
	for (int i = 0; i < 400; i++)
		two(i), knot(i), inner(i % 20);
	return 0;
}
