/* SPDX-License-Identifier: Apache-2.0 */
/* A turn of a loop with 2^32 ways, which is too many for a build that counts
 * pairs: paths are cut.  Behind it a loop that is not. */
#include "books.h"

#define FOUR(way, s)                  \
	do {                          \
		TURN(way, BIT(*(s))); \
		TURN(way, BIT(*(s))); \
		TURN(way, BIT(*(s))); \
		TURN(way, BIT(*(s))); \
	} while (0)

static struct book turns = {"loop", "many", "many", {{0}}};

__attribute__((noinline)) static unsigned leaf(uint64_t *s)
{
	unsigned way = 0;

	TURN(way, BIT(*s));
	return way;
}

__attribute__((noinline)) static unsigned many(uint64_t *s)
{
	unsigned all = 0, before = BOOK_ROWS - 1;

	for (int i = 0; i < 5; i++) {
		unsigned way = 0;

		FOUR(way, s);
		FOUR(way, s);
		FOUR(way, s);
		FOUR(way, s);
		FOUR(way, s);
		FOUR(way, s);
		FOUR(way, s);
		FOUR(way, s);
		all += way + leaf(s);
	}
	for (int i = 0; i < 9; i++) {
		unsigned way = 0;

		TURN(way, BIT(*s));
		TURN(way, BIT(*s));
		book_add(&turns, before, way);
		before = way;
	}
	return all & 1;
}

int main(void)
{
	uint64_t s = 4711;
	unsigned n = 0;

	for (int i = 0; i < 40; i++)
		n += many(&s);
	return n > 40;
}
