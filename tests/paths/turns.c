/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that turn so often, in so many ways, that what is held of them in a
 * register has to be let go: 255 times in one of 5 ways and more, 1023 times in
 * one of 3 or 4, 65535 times in one of 2.
 */
#include "log.h"

/* 1 way; w is one of them, or any if it is 1 */
static int ways1(int turns, int w)
{
	ENTER;
	int sum = 0;
	AT;
	for (int i = 0; i < turns; i++) {
		AT;
	}
	AT;
	RETURN(sum);
}

/* 2 ways; w is one of them, or any if it is 2 */
static int ways2(int turns, int w)
{
	ENTER;
	int sum = 0;
	AT;
	for (int i = 0; i < turns; i++) {
		AT;
		switch ((w == 2) * ((i ^ i >> 3) % 2) + (w != 2) * w) {
		case 0:
			AT;
			sum += i;
			break;
		default:
			AT;
			sum -= 1;
		}
		AT;
	}
	AT;
	RETURN(sum);
}

/* 4 ways; w is one of them, or any if it is 4 */
static int ways4(int turns, int w)
{
	ENTER;
	int sum = 0;
	AT;
	for (int i = 0; i < turns; i++) {
		AT;
		switch ((w == 4) * ((i ^ i >> 3) % 4) + (w != 4) * w) {
		case 0:
			AT;
			sum += i;
			break;
		case 1:
			AT;
			sum ^= i;
			continue;
		case 2:
			AT;
			sum += i;
			break;
		default:
			AT;
			sum -= 1;
		}
		AT;
	}
	AT;
	RETURN(sum);
}

/* 5 ways; w is one of them, or any if it is 5 */
static int ways5(int turns, int w)
{
	ENTER;
	int sum = 0;
	AT;
	for (int i = 0; i < turns; i++) {
		AT;
		switch ((w == 5) * ((i ^ i >> 3) % 5) + (w != 5) * w) {
		case 0:
			AT;
			sum += i;
			break;
		case 1:
			AT;
			sum ^= i;
			continue;
		case 2:
			AT;
			sum += i;
			break;
		case 3:
			AT;
			sum ^= i;
			continue;
		default:
			AT;
			sum -= 1;
		}
		AT;
	}
	AT;
	RETURN(sum);
}

/* 8 ways; w is one of them, or any if it is 8 */
static int ways8(int turns, int w)
{
	ENTER;
	int sum = 0;
	AT;
	for (int i = 0; i < turns; i++) {
		AT;
		switch ((w == 8) * ((i ^ i >> 3) % 8) + (w != 8) * w) {
		case 0:
			AT;
			sum += i;
			break;
		case 1:
			AT;
			sum ^= i;
			continue;
		case 2:
			AT;
			sum += i;
			break;
		case 3:
			AT;
			sum ^= i;
			continue;
		case 4:
			AT;
			sum += i;
			break;
		case 5:
			AT;
			sum ^= i;
			continue;
		case 6:
			AT;
			sum += i;
			break;
		default:
			AT;
			sum -= 1;
		}
		AT;
	}
	AT;
	RETURN(sum);
}

/* 9 ways; w is one of them, or any if it is 9 */
static int ways9(int turns, int w)
{
	ENTER;
	int sum = 0;
	AT;
	for (int i = 0; i < turns; i++) {
		AT;
		switch ((w == 9) * ((i ^ i >> 3) % 9) + (w != 9) * w) {
		case 0:
			AT;
			sum += i;
			break;
		case 1:
			AT;
			sum ^= i;
			continue;
		case 2:
			AT;
			sum += i;
			break;
		case 3:
			AT;
			sum ^= i;
			continue;
		case 4:
			AT;
			sum += i;
			break;
		case 5:
			AT;
			sum ^= i;
			continue;
		case 6:
			AT;
			sum += i;
			break;
		case 7:
			AT;
			sum ^= i;
			continue;
		default:
			AT;
			sum -= 1;
		}
		AT;
	}
	AT;
	RETURN(sum);
}

typedef int loop(int, int);

static int around(loop *f, int ways, int turns)
{
	ENTER;
	int sum = 0;
	AT;
	for (int n = turns - 2; n < turns + (turns > 9999 ? 2 : 6); n++) {
		AT;
		sum += f(n, n % ways);
		AT;
	}
	AT;
	RETURN(sum);
}

static int little(loop *f, int ways)
{
	ENTER;
	int sum = 0;
	AT;
	for (int n = 0; n < 6; n++) {
		AT;
		sum += f(n, ways);
		AT;
	}
	AT;
	RETURN(sum);
}

int main(void)
{
	log_open();
	ENTER;
	AT;
	int sum = little(ways1, 1);
	AT;
	sum += around(ways1, 1, 65535);
	AT;
	sum += little(ways1, 1);
	AT;
	sum += ways1(2 * 65535 + 7, 1);
	AT;
	sum += around(ways2, 2, 65535);
	AT;
	sum += little(ways2, 2);
	AT;
	sum += ways2(2 * 65535 + 7, 2);
	AT;
	sum += around(ways4, 4, 1023);
	AT;
	sum += little(ways4, 4);
	AT;
	sum += ways4(2 * 1023 + 7, 4);
	AT;
	sum += around(ways5, 5, 255);
	AT;
	sum += little(ways5, 5);
	AT;
	sum += ways5(2 * 255 + 7, 5);
	AT;
	sum += around(ways8, 8, 255);
	AT;
	sum += little(ways8, 8);
	AT;
	sum += ways8(2 * 255 + 7, 8);
	AT;
	sum += around(ways9, 9, 255);
	AT;
	sum += little(ways9, 9);
	AT;
	sum += ways9(2 * 255 + 7, 9);
	AT;
	RETURN(sum == 0);
}
