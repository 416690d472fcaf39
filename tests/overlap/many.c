/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function with more paths than pairs can be counted of (2^30): bounds from
 * plain paths need no numbers for pairs.
 */
#include <stdint.h>

static volatile int sink;

#define ONE(i)             \
	if (bits >> (i)&1) \
		sink = (i);
#define FOUR(i) ONE(i) ONE((i) + 1) ONE((i) + 2) ONE((i) + 3)

__attribute__((noinline)) static int leaf(int turn)
{
	if (turn % 3)
		sink = turn;
	return turn & 1;
}

__attribute__((noinline)) static void many(const uint64_t *ways, int n)
{
	for (int turn = 0; turn < n; turn++) {
		uint64_t bits = ways[turn % 4];

		FOUR(0)
		FOUR(4)
		FOUR(8)
		FOUR(12)
		FOUR(16)
		FOUR(20)
		FOUR(24)
		FOUR(28)
		if (leaf(turn))
			sink = n;
	}
}

int main(void)
{
	const uint64_t ways[] = {0, 0xffffffff, 0x0f0f0f0f, 0xffffffff};

	for (int n = 1; n < 40; n++)
		many(ways, n);
	return 0;
}
