/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording by hand: marks as the compiler would make them, and what the log
 * has to be, in lines that tests/record/run.py reads:
 *
 *     = TICK EVENT...   the next event of the context is this one
 *
 * main itself is foreign.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "marks.h"

CELLS(cells, 64);

static unsigned char *page; /* of 64 KiB, zeros */
static unsigned char *other;

/* In one piece: each call of printf is an event of its own. */
static void expect_in(unsigned cell, size_t offset, const void *p, size_t n)
{
	static char line[2 * 4096 + 1];

	line[0] = 0;
	for (size_t i = 0; i < n; i++)
		sprintf(line + 2 * i, "%02x", ((const unsigned char *)p)[i]);
	printf("= %llu IN 1 %u %zu %s\n", (unsigned long long)TICK, cell,
	       offset, line);
}

#define IS(condition)                                                       \
	do {                                                                \
		if (!(condition)) {                                         \
			printf("FAIL line %d: %s\n", __LINE__, #condition); \
		}                                                           \
	} while (0)

static uint64_t enter(unsigned cell)
{
	uint64_t tick = TICK, old = mark_enter(&cells[cell]);

	printf("= %llu CALLBACK 1 %u\n", (unsigned long long)tick, cell);
	TICK++;
	return old;
}

/* Loads: what the program stored is known, what others wrote is not. */
static void loads(void)
{
	uint64_t old = enter(0);

	STORE((uint32_t *)(page + 8), 7u);
	IS(LOAD(&cells[1], (uint32_t *)(page + 8)) == 7);
	page[9] = 3; /* somebody else */
	IS(LOAD(&cells[1], (uint32_t *)(page + 8)) == 0x307);
	expect_in(1, 0, page + 8, 4);
	IS(LOAD(&cells[1], (uint32_t *)(page + 8)) == 0x307);
	TICK += 300;
	page[9] = 4;
	IS(LOAD(&cells[2], page + 9) == 4);
	expect_in(2, 0, page + 9, 1);
	mark_leave(old);
}

/* A run goes on over gaps of less than 16 bytes, and ends with the page. */
static void runs(void)
{
	uint64_t old = enter(0);

	memset(page + 1024, 0x55, 100);
	page[1024 + 111] = 1;
	page[1024 + 140] = 2; /* too far */
	IS(LOAD(&cells[3], (uint16_t *)(page + 1024)) == 0x5555);
	/* two bytes, then whole words up to one with the last that differs */
	expect_in(3, 0, page + 1024, 114);
	IS(LOAD(&cells[3], page + 1024 + 111) == 1);
	IS(LOAD(&cells[4], page + 1024 + 140) == 2);
	expect_in(4, 0, page + 1024 + 140, 1);
	memset(page + 8000, 0x66, 1000);
	IS(LOAD(&cells[4], (uint64_t *)(page + 8000)) == 0x6666666666666666);
	expect_in(4, 0, page + 8000, 192);
	IS(LOAD(&cells[4], (uint64_t *)(page + 8192)) == 0x6666666666666666);
	expect_in(4, 0, page + 8192, 808);
	mark_leave(old);
}

/* Values that are no memory. */
static void values(void)
{
	uint64_t old = enter(0), v = 0x1234567890abcdef;

	INPUT(&cells[5], v);
	expect_in(5, 0, &v, 8);
	INPUT(&cells[5], v);
	INPUT(&cells[6], 0);
	v = 1;
	INPUT(&cells[5], v);
	expect_in(5, 0, &v, 8);
	IS(cells[5] == 0);
	mark_leave(old);
}

/* Copies: of known and of unknown memory, over each other, of any length. */
static void copies(void)
{
	uint64_t old = enter(0);
	unsigned char before[600];

	for (unsigned i = 0; i < 200; i++)
		STORE(other + i, (unsigned char)(i * 3));
	__cairn_record_copy(&cells[7], page + 20000, other, 200);
	IS(memcmp(page + 20000, other, 200) == 0);
	IS(LOAD(&cells[8], (uint64_t *)(page + 20000 + 100)) ==
	   *(uint64_t *)(other + 100));
	other[50] = 1;
	other[150] = 2;
	other[152] = 3;
	__cairn_record_copy(&cells[7], page + 21000, other, 200);
	IS(memcmp(page + 21000, other, 200) == 0);
	expect_in(7, 48, other + 48, 3);
	expect_in(7, 144, other + 144, 9);
	for (int shift = -40; shift <= 40; shift++) {
		memcpy(before, page + 20000, 200);
		__cairn_record_copy(&cells[7], page + 20000 + shift,
		                    page + 20000, 200);
		IS(memcmp(before, page + 20000 + shift, 200) == 0);
		for (int i = -40; i < 240; i++)
			LOAD(&cells[8], page + 20000 + i);
	}
	for (unsigned n = 0; n < 40; n++) {
		__cairn_record_set(page + 20000, (int)n, n);
		for (unsigned i = 0; i < n; i++)
			IS(page[20000 + i] == n);
		IS(page[20000 + n] != n);
		for (unsigned i = 0; i < 100; i++)
			LOAD(&cells[9], page + 20000 + i);
	}
	mark_leave(old);
}

/* More than a piece, and much more than a buffer. */
static void many(void)
{
	uint64_t old = enter(0);
	static unsigned char big[1 << 20] __attribute__((aligned(4096)));

	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (unsigned char)(i * 2654435761u >> 13 | 1);
	__cairn_record_copy(&cells[10], other, big, 5000);
	expect_in(10, 0, big, 2048);
	expect_in(10, 2048, big + 2048, 2048);
	expect_in(10, 4096, big + 4096, 904);
	for (size_t i = 0; i < sizeof(big); i += 8192) {
		TICK++;
		LOAD(&cells[11], (uint64_t *)(big + i));
		if (i < 5000)
			continue;
		expect_in(11, 0, big + i, 2048);
		expect_in(11, 2048, big + i + 2048, 2048);
	}
	mark_leave(old);
}

/* Registers: nothing of the caller's may change. */
static double sum;

static void floats(void)
{
	uint64_t old = enter(0);
	double a = 1.5, b = 2.25, c = 3.125, d = 4.0;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t v = i + 1;

		a += 0.5;
		b += a;
		c += b * 0.25;
		d += c;
		INPUT(&cells[12], v);
		expect_in(12, 0, &v, 8);
	}
	sum = a + b + c + d;
	printf("# %.17g\n", sum);
	mark_leave(old);
}

/* A foreign call that calls back, and one that does not return here. */
static jmp_buf env;

static int compare(const void *a, const void *b)
{
	uint64_t old = enter(20);
	int x, y;

	INPUT(&cells[21], (uintptr_t)a - (uintptr_t)other);
	INPUT(&cells[22], (uintptr_t)b - (uintptr_t)other);
	x = LOAD(&cells[23], (char *)(uintptr_t)a);
	y = LOAD(&cells[24], (char *)(uintptr_t)b);
	printf("= any\n");
	if (x == 'z') {
		EXPECT = (uint64_t)(uintptr_t)longjmp;
		longjmp(env, 1);
	}
	mark_leave(old);
	return x - y;
}

static void calls(void)
{
	uint64_t old = enter(0), frame = STACK;
	unsigned long long tick;

	EXPECT = 1;
	if (setjmp(env) == 0) {
		TICK++;
		EXPECT = (uint64_t)(uintptr_t)qsort;
		strcpy((char *)other, "zyx");
		qsort(other, 3, 1, compare);
	} else {
		TICK++;
		tick = TICK;
		mark_again(&cells[25], frame);
		EXPECT = 0;
		printf("= %llu BACK 1 25 %llu\n", tick,
		       (unsigned long long)frame);
		mark_land(&cells[26]);
		printf("= %llu BACK 1 26 0\n", tick);
	}
	mark_leave(old);
	IS(EXPECT == old);
}

static void nothing(void)
{
	mark_leave(enter(30));
}

static void map_memory(void)
{
	page = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	other = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void end_as(const char *how)
{
	uint64_t old = enter(31);

	if (strcmp(how, "exit") == 0) {
		TICK++;
		printf("= %llu END\n", (unsigned long long)TICK);
		exit(3);
	}
	if (strcmp(how, "abort") == 0) {
		TICK += 2;
		printf("= %llu STOP\n", (unsigned long long)TICK);
		fflush(stdout);
		abort();
	}
	if (strcmp(how, "kill") == 0) {
		TICK += 2;
		fflush(stdout);
		kill(getpid(), SIGKILL);
	}
	mark_leave(old);
	printf("= %llu END\n", (unsigned long long)TICK);
}

int main(int argc, char **argv)
{
	static char buffer[1 << 16];

	(void)argc;
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	map_memory();
	printf("= 0 BEGIN 0 1 %d\n= 0 STACK any\n", getpid());
	loads();
	runs();
	values();
	copies();
	many();
	floats();
	calls();
	for (int i = 0; i < 1000; i++)
		nothing();
	end_as(argv[1]);
	return 0;
}
