/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_BOOKS_H
#define CAIRN_TESTS_BOOKS_H

/*
 * Programs that keep books of their own pairs of paths.  A branch is a TURN,
 * which no compiler removes; what a function did is a number of such bits.  At
 * the end a program prints, for each kind of pair and each two functions, how
 * often each different pair occurred.
 */
#include <stdint.h>
#include <stdio.h>

#define BOOK_ROWS 64

struct book {
	const char *kind, *from, *to;
	unsigned long n[BOOK_ROWS][BOOK_ROWS];
};

static inline void book_add(struct book *b, unsigned first, unsigned second)
{
	__atomic_fetch_add(&b->n[first][second], 1, __ATOMIC_RELAXED);
}

static inline void book_print(const struct book *b)
{
	printf("%s %s %s", b->kind, b->from, b->to);
	for (int i = 0; i < BOOK_ROWS - 1; i++) /* the last is for no pairs */
		for (int k = 0; k < BOOK_ROWS; k++)
			if (b->n[i][k])
				printf(" %lu", b->n[i][k]);
	printf("\n");
}

/* Pseudo-random bits, of a state that the caller has. */
#define BIT(state)                                                          \
	(((state) = (state)*6364136223846793005u + 1442695040888963407u) >> \
	         61 &                                                       \
	 1)

/* Goes one way or the other, and notes which: way = 2 * way + bit. */
#define TURN(way, bit)                                        \
	do {                                                  \
		if (bit) {                                    \
			__asm__ volatile("nop" ::: "memory"); \
			(way) = 2 * (way) + 1;                \
			__asm__ volatile("" ::: "memory");    \
		} else {                                      \
			__asm__ volatile("" ::: "memory");    \
			(way) = 2 * (way);                    \
			__asm__ volatile("nop" ::: "memory"); \
		}                                             \
	} while (0)

#endif /* CAIRN_TESTS_BOOKS_H */
