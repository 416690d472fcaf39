/* SPDX-License-Identifier: Apache-2.0 */
/* More segments than a build has counters for, few of which a list has: it
 * counts the others as one. */
#include <stdint.h>
#include <stdio.h>

static uint32_t state = 4711;
static volatile unsigned sink;

static unsigned bit(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 31;
}

__attribute__((noinline)) static void leaf(unsigned n)
{
	if (n)
		sink += n;
}

#define TURN(n)                                               \
	do {                                                  \
		if (bit()) {                                  \
			__asm__ volatile("nop" ::: "memory"); \
			sink += (n);                          \
		}                                             \
	} while (0)

__attribute__((noinline)) static void many(unsigned n)
{
	if (n % 4) {
		leaf(n);
		return;
	}
	TURN(1);
	TURN(2);
	TURN(3);
	TURN(4);
	TURN(5);
	TURN(6);
	TURN(7);
	TURN(8);
	TURN(9);
	TURN(10);
	TURN(11);
	TURN(12);
	TURN(13);
	TURN(14);
	TURN(15);
	TURN(16);
	TURN(17);
	leaf(n);
}

int main(void)
{
	for (unsigned i = 0; i < 400; i++)
		many(i);
	printf("%u\n", sink);
	return 0;
}
