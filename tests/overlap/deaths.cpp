// SPDX-License-Identifier: Apache-2.0
// Frames that die, by exceptions and longjmp: what they had under way is no
// pair.
#include "books.h"

#include <csetjmp>

static book calls = {"call", "tries", "throws", {{0}}};
static book returns = {"return", "throws", "tries", {{0}}};
static book jumps = {"call", "sets", "jumpy", {{0}}};
static book backs = {"return", "jumpy", "sets", {{0}}};

static unsigned caller; // the way of who calls

// A path of two branches, or one and a call that does not come back: that path
// is over then, and was called, but does not return.
__attribute__((noinline)) static unsigned throws(uint64_t *s)
{
	unsigned way = 0;

	TURN(way, BIT(*s));
	if (BIT(*s) & BIT(*s)) {
		book_add(&calls, caller, 8 + way);
		throw 1;
	}
	TURN(way, BIT(*s));
	return way;
}

__attribute__((noinline)) static void tries(uint64_t *s)
{
	unsigned way = 0, rest = 0;

	TURN(way, BIT(*s));
	caller = way;
	try {
		unsigned got = throws(s);

		book_add(&calls, way, got);
		TURN(rest, BIT(*s));
		book_add(&returns, got, rest);
	} catch (int) {
	}
}

static jmp_buf place;

__attribute__((noinline)) static unsigned jumpy(uint64_t *s)
{
	unsigned way = 0;

	TURN(way, BIT(*s));
	if (BIT(*s) & BIT(*s)) {
		book_add(&jumps, caller, 8 + way);
		longjmp(place, 1);
	}
	TURN(way, BIT(*s));
	return way;
}

__attribute__((noinline)) static void sets(uint64_t *s)
{
	volatile unsigned way = 0;
	unsigned rest = 0, got;

	if (setjmp(place))
		return;
	TURN(way, BIT(*s));
	caller = way;
	got = jumpy(s);
	book_add(&jumps, way, got);
	TURN(rest, BIT(*s));
	book_add(&backs, got, rest);
}

int main()
{
	uint64_t s = 4711;

	for (int i = 0; i < 500; i++) {
		tries(&s);
		sets(&s);
	}
	book_print(&calls);
	book_print(&returns);
	book_print(&jumps);
	book_print(&backs);
	return 0;
}
