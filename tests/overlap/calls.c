/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that keep books: direct ones, through pointers, recursion, in threads;
 * calls of code without marks, which calls back. */
#include "books.h"

#include <pthread.h>
#include <stdlib.h>

typedef unsigned callee(uint64_t *s);

static struct book call_leaf = {"call", "direct", "leaf", {{0}}};
static struct book return_leaf = {"return", "leaf", "direct", {{0}}};
static struct book call_one = {"call", "chooses", "one", {{0}}};
static struct book call_two = {"call", "chooses", "two", {{0}}};
static struct book return_one = {"return", "one", "chooses", {{0}}};
static struct book return_two = {"return", "two", "chooses", {{0}}};
static struct book call_deep = {"call", "deep", "deep", {{0}}};
static struct book return_deep = {"return", "deep", "deep", {{0}}};
static struct book back = {"loop", "sorts", "sorts", {{0}}};

__attribute__((noinline)) static unsigned leaf(uint64_t *s)
{
	unsigned way = 0;

	TURN(way, BIT(*s));
	TURN(way, BIT(*s));
	return way;
}

__attribute__((noinline)) static unsigned one(uint64_t *s)
{
	unsigned way = 0;

	TURN(way, BIT(*s));
	return way;
}

__attribute__((noinline)) static unsigned two(uint64_t *s)
{
	unsigned way = 0;

	TURN(way, BIT(*s));
	TURN(way, BIT(*s));
	return way;
}

/* Two sites; the second half of the first call's return has the second. */
__attribute__((noinline)) static void direct(uint64_t *s)
{
	unsigned way = 1, rest = 1, got, again;

	TURN(way, BIT(*s));
	got = leaf(s);
	book_add(&call_leaf, way, got);
	TURN(rest, BIT(*s));
	TURN(way, rest & 1);
	again = leaf(s);
	book_add(&call_leaf, 8 + way, again);
	TURN(rest, BIT(*s));
	book_add(&return_leaf, got, rest);
	book_add(&return_leaf, 8 + again, rest & 1);
}

__attribute__((noinline)) static void chooses(uint64_t *s)
{
	static callee *volatile callees[] = {one, two};
	unsigned way = 0, rest = 0, which = BIT(*s), got;
	callee *f;

	TURN(way, BIT(*s));
	f = callees[which];
	got = f(s);
	book_add(which ? &call_two : &call_one, way, got);
	TURN(rest, BIT(*s));
	book_add(which ? &return_two : &return_one, got, rest);
}

/* One path is a branch, a call or none, and a branch. */
__attribute__((noinline)) static unsigned deep(uint64_t *s, unsigned n)
{
	unsigned way = 0, rest = 0;

	TURN(way, BIT(*s));
	if (n) {
		unsigned got = deep(s, n - 1);

		book_add(&call_deep, way, got);
		TURN(rest, BIT(*s));
		book_add(&return_deep, got, rest);
		return 4 + 2 * way + rest;
	}
	TURN(way, BIT(*s));
	return way;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Calls of code without marks are part of no pair, and in no one's way. */
__attribute__((noinline)) static void sorts(uint64_t *s)
{
	unsigned before = BOOK_ROWS - 1, n = 0;

	do {
		int numbers[8];
		unsigned way = 0;

		for (unsigned i = 0; i < 8; i++)
			numbers[i] = (int)(*s >> (7 * i) & 1023);
		TURN(way, BIT(*s));
		qsort(numbers, 8, sizeof(*numbers), compare);
		TURN(way, BIT(*s));
		book_add(&back, before, way);
		before = way;
		__asm__ volatile("" : "+r"(n)::"memory");
	} while (++n < 10);
}

static void *work(void *seed)
{
	uint64_t s = (uint64_t)(uintptr_t)seed;

	for (int i = 0; i < 200; i++) {
		direct(&s);
		chooses(&s);
		deep(&s, i % 5);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[3];
	uint64_t s = 99;

	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 7));
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 20; i++)
		sorts(&s);
	book_print(&call_leaf);
	book_print(&return_leaf);
	book_print(&call_one);
	book_print(&call_two);
	book_print(&return_one);
	book_print(&return_two);
	book_print(&call_deep);
	book_print(&return_deep);
	return 0;
}
