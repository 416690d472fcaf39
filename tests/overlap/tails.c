/* SPDX-License-Identifier: Apache-2.0 */
/* Tail calls that keep books: who takes a function's place was called by it,
 * and comes back to its caller. */
#include "books.h"

static struct book call_first = {"call", "drives", "first", {{0}}};
static struct book call_next = {"call", "first", "next", {{0}}};
static struct book call_last = {"call", "next", "last", {{0}}};
static struct book returns = {"return", "last", "drives", {{0}}};
static struct book none = {"return", "first", "drives", {{0}}};
static unsigned before;

__attribute__((noinline)) static unsigned last(uint64_t *s)
{
	unsigned way = 0;

	TURN(way, BIT(*s));
	TURN(way, BIT(*s));
	book_add(&call_last, before, way);
	return way;
}

/* It has two tail calls, in blocks of their own. */
__attribute__((noinline)) static unsigned next(uint64_t *s)
{
	unsigned way = 0;

	TURN(way, BIT(*s));
	book_add(&call_next, before, way);
	before = way;
	if (way)
		__attribute__((musttail)) return last(s);
	__asm__ volatile("nop" ::: "memory");
	__attribute__((musttail)) return last(s);
}

__attribute__((noinline)) static unsigned first(uint64_t *s)
{
	unsigned way = 0;

	TURN(way, BIT(*s));
	book_add(&call_first, 0, way);
	before = way;
	__attribute__((musttail)) return next(s);
}

__attribute__((noinline)) static void drives(uint64_t *s)
{
	unsigned rest = 0, got = first(s);

	TURN(rest, BIT(*s));
	book_add(&returns, got, rest);
}

/* A function that comes back itself, or lets another one do so, which is known
 * to those that call it directly. */
static struct book call_may = {"call", "turns", "may", {{0}}};
static struct book returns_may = {"return", "may", "turns", {{0}}};
static struct book call_other = {"call", "may", "other", {{0}}};
static struct book returns_other = {"return", "other", "turns", {{0}}};
static struct book call_direct = {"call", "direct", "other", {{0}}};
static struct book returns_direct = {"return", "other", "direct", {{0}}};
static struct book *by, *back;

__attribute__((noinline)) static unsigned other(uint64_t *s)
{
	unsigned way = 0;

	TURN(way, BIT(*s));
	TURN(way, BIT(*s));
	book_add(by, before, way);
	back = &returns_other;
	return way;
}

__attribute__((noinline)) static unsigned may(uint64_t *s)
{
	unsigned way = 0;

	TURN(way, BIT(*s));
	book_add(&call_may, 0, way);
	by = &call_other;
	before = way;
	back = &returns_may;
	if (way)
		__attribute__((musttail)) return other(s);
	return way;
}

__attribute__((noinline)) static void turns(uint64_t *s)
{
	unsigned rest = 0, got = may(s);

	TURN(rest, BIT(*s));
	book_add(back, got, rest);
}

__attribute__((noinline)) static void direct(uint64_t *s)
{
	unsigned rest = 0, got;

	by = &call_direct;
	before = 0;
	got = other(s);
	TURN(rest, BIT(*s));
	book_add(&returns_direct, got, rest);
}

int main(void)
{
	uint64_t s = 31;

	for (int i = 0; i < 300; i++) {
		drives(&s);
		turns(&s);
		direct(&s);
	}
	book_print(&call_may);
	book_print(&returns_may);
	book_print(&call_other);
	book_print(&returns_other);
	book_print(&call_direct);
	book_print(&returns_direct);
	book_print(&call_first);
	book_print(&call_next);
	book_print(&call_last);
	book_print(&returns);
	book_print(&none);
	return 0;
}
