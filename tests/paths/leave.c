/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that do not return: longjmps over several of them, a setjmp in the
 * middle of a loop, and at the end exit, deep within calls.
 */
#include "log.h"

#include <setjmp.h>

static jmp_buf top, inner;

static int leaf(int n)
{
	ENTER;
	AT;
	if (n % 5 == 3) {
		AT;
		longjmp(top, 1);
	}
	if (n == 1600) {
		AT;
		exit(0);
	}
	AT;
	RETURN(n + 1);
}

/* The call comes in the middle of paths that began in three ways. */
static int middle(int n)
{
	ENTER;
	int sum = 0;
	AT;
	if (n & 1) {
		AT;
		sum = 1;
	} else {
		AT;
		sum = 2;
	}
	AT;
	for (int i = 0; i < 4; i++) {
		AT;
		if ((n >> i) & 1) {
			AT;
			sum += leaf(n + i);
		} else {
			AT;
			sum ^= i;
		}
		AT;
	}
	AT;
	sum += leaf(n) + leaf(sum % 2 * n);
	AT;
	RETURN(sum);
}

static int deep(int n, int depth)
{
	ENTER;
	AT;
	if (depth > 0) {
		AT;
		int sum = deep(n, depth - 1);
		if (sum & 1) {
			AT;
			sum++;
		}
		AT;
		RETURN(sum);
	}
	AT;
	n = middle(n);
	RETURN(n);
}

static void jump(int n)
{
	ENTER;
	AT;
	if (n % 4 == 1) {
		AT;
		longjmp(inner, n);
	}
	AT;
	RETURN_VOID;
}

/* Paths begin at the setjmp; its second return begins one more. */
static int again(volatile int n)
{
	ENTER;
	volatile int sum = 0, turns = 0;
	AT;
	if (n & 1) {
		AT;
		sum += 1;
	}
	AT;
	if (setjmp(inner)) {
		WRITE(LOG_AGAIN);
		AT;
		n++;
	}
	AT;
	while (turns < 12) {
		AT;
		turns++;
		if ((n + turns) % 3 == 0) {
			AT;
			jump(n + turns);
			sum++;
		}
		AT;
	}
	AT;
	RETURN(sum);
}

int main(void)
{
	log_open();
	for (volatile int i = 0; i < 120; i++)
		if (!setjmp(top))
			deep(i, i % 6);
	for (int i = 0; i < 60; i++)
		again(i);
	return deep(1600, 7);
}
