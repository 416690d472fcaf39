/* SPDX-License-Identifier: Apache-2.0 */
/* Tail calls of an optimizer, which share a return with each other and with a
 * way that makes none. */
#include "books.h"

static struct book call_picks = {"call", "drives", "picks", {{0}}};
static struct book call_one = {"call", "picks", "one", {{0}}};
static struct book call_two = {"call", "picks", "two", {{0}}};
static struct book return_one = {"return", "one", "drives", {{0}}};
static struct book return_two = {"return", "two", "drives", {{0}}};
static struct book return_picks = {"return", "picks", "drives", {{0}}};
static struct book *back;
static unsigned way;

__attribute__((noinline)) static unsigned one(uint64_t *s)
{
	way = 0;
	TURN(way, BIT(*s));
	book_add(&call_one, 0, way);
	back = &return_one;
	return way;
}

__attribute__((noinline)) static unsigned two(uint64_t *s)
{
	way = 0;
	TURN(way, BIT(*s));
	TURN(way, BIT(*s));
	book_add(&call_two, 0, way);
	back = &return_two;
	return way;
}

__attribute__((noinline)) static unsigned picks(uint64_t *s, unsigned n)
{
	back = &return_picks;
	book_add(&call_picks, 0, n);
	switch (n) {
	case 0:
		return one(s);
	case 1:
		return two(s);
	default:
		return 0;
	}
}

__attribute__((noinline)) static void drives(uint64_t *s, unsigned n)
{
	unsigned rest = 0, got = picks(s, n);

	TURN(rest, BIT(*s));
	book_add(back, got, rest);
}

int main(void)
{
	uint64_t s = 5;

	for (unsigned i = 0; i < 300; i++)
		drives(&s, i % 3);
	book_print(&call_picks);
	book_print(&call_one);
	book_print(&call_two);
	book_print(&return_one);
	book_print(&return_two);
	book_print(&return_picks);
	return 0;
}
