/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that keep books: with a test at the end, at the head, one in the other,
 * left in the middle. */
#include "books.h"

static struct book at_end = {"loop", "ends", "ends", {{0}}};
static struct book at_head = {"loop", "heads", "heads", {{0}}};
static struct book nested = {"loop", "nests", "nests", {{0}}};
static struct book left = {"loop", "leaves", "leaves", {{0}}};

/* Books have no branches of their own: this row is for what is no pair. */
#define NONE (BOOK_ROWS - 1)

/* Every turn is three branches. */
__attribute__((noinline)) static void ends(uint64_t *s)
{
	unsigned before = NONE, n = 0;

	do {
		unsigned way = 0;

		TURN(way, BIT(*s));
		TURN(way, BIT(*s));
		TURN(way, BIT(*s));
		book_add(&at_end, before, way);
		before = way;
		__asm__ volatile("" : "+r"(n)::"memory");
	} while (++n < 50);
}

/* That it is left at the head is a second half, too, if the compiler has not
 * put the test at the end. */
__attribute__((noinline)) static void heads(uint64_t *s)
{
	unsigned before = NONE, n = 0;

	while (n < 30) {
		unsigned way = 0;

		TURN(way, BIT(*s));
		TURN(way, BIT(*s));
		book_add(&at_head, before, way);
		before = way;
		n++;
		__asm__ volatile("" : "+r"(n)::"memory");
	}
#ifndef __OPTIMIZE__
	book_add(&at_head, before, 5);
#endif
}

/*
 * The inner loop has one branch, and 1 to 4 turns.  A first half of the outer
 * one is the last turn of the inner one, and if that was the first, what came
 * before it as well.  Its second halves end with the inner loop's first turn,
 * or if there is no other, go on to the end.
 */
__attribute__((noinline)) static void nests(uint64_t *s)
{
	unsigned n = 0, before = NONE;

	do {
		unsigned outer = 0, inner, first = 0, turns = 1 + n % 4, k = 0;
		unsigned last = NONE - 16;

		TURN(outer, BIT(*s));
		do {
			inner = 0;
			TURN(inner, BIT(*s));
			/* inner pairs are told from outer ones by 16 */
			book_add(&nested, 16 + last, 16 + inner);
			first += (k == 0) * inner;
			last = inner;
			__asm__ volatile("" : "+r"(k)::"memory");
		} while (++k < turns);
		book_add(&nested, before, 4 * (turns == 1) + 2 * outer + first);
		before = (turns == 1) * (4 + 2 * outer) + inner;
		__asm__ volatile("" : "+r"(n)::"memory");
	} while (++n < 100);
}

/* A break between two branches: a turn that is left has one of them. */
__attribute__((noinline)) static void leaves(uint64_t *s)
{
	unsigned before = NONE, n = 0;

	for (;;) {
		unsigned way = 1;

		TURN(way, BIT(*s));
		__asm__ volatile("" : "+r"(n)::"memory");
		if (n >= 20) {
			book_add(&left, before, way);
			break;
		}
		TURN(way, BIT(*s));
		book_add(&left, before, way);
		before = way;
		n++;
	}
}

int main(void)
{
	uint64_t s = 12345;

	for (int i = 0; i < 40; i++) {
		ends(&s);
		heads(&s);
		nests(&s);
		leaves(&s);
	}
	book_print(&at_end);
	book_print(&at_head);
	book_print(&nested);
	book_print(&left);
	return 0;
}
