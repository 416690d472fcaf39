/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_BATTERY_H
#define CAIRN_TESTS_BATTERY_H

/*
 * The books that a battery program keeps itself.
 *
 * HIT() stands alone on its line and counts how often that line is executed,
 * in a file that is mapped shared: the kernel keeps it whatever happens to the
 * process.  The harness finds the HIT() lines in the source and compares each
 * with what a profiler says about the line.
 *
 * The table sits at a fixed address, so that HIT() is a single instruction
 * with constant operands: nothing of it can be hoisted out of the line, merged
 * with another line or interrupted half way.  It is atomic, since threads and
 * signal handlers count in the same table.
 *
 * Each process (each image of it, after exec) has a table of its own in the
 * directory BATTERY_TRUTH.  battery.c maps it, and is never instrumented.
 */
#define BATTERY_BASE 0x20000000
#define BATTERY_LINES 256
#define BATTERY_UNITS 32
#define BATTERY_SIZE (BATTERY_LINES * BATTERY_UNITS * 8)

/* Names the source file among those of a program; line 0 of unit 0 is the pid.
 */
#ifndef BATTERY_UNIT
#define BATTERY_UNIT 0
#endif

#define BATTERY_SLOT(line) \
	(BATTERY_BASE + 8 * (BATTERY_UNIT * BATTERY_LINES + (line)))

/* clang-format off */
#define HIT() \
	__asm__ volatile("lock incq %c0" : : "i"(BATTERY_SLOT(__LINE__)) \
	                 : "memory", "cc")
/* clang-format on */

/*
 * For loops that must stay as they are, without a locked instruction: MARK(k)
 * makes a line of its own, that no compiler merges with another, and costs
 * nothing; BOOK(k, n) says elsewhere that it was executed n times.  In a
 * comment it does the same for a line that must not have anything put before
 * it.
 */
#define BATTERY_MARKS 32
#define MARK(k) __asm__ volatile("" : : "i"(__LINE__))
#define BOOK(k, n)                                                           \
	__atomic_fetch_add(                                                  \
	        (unsigned long *)BATTERY_SLOT(BATTERY_LINES - 1 - (k)), (n), \
	        __ATOMIC_SEQ_CST)

/* HIT() without the lock, for a line that only one thread ever executes. */
/* clang-format off */
#define HIT_ALONE() \
	__asm__ volatile("incq %c0" : : "i"(BATTERY_SLOT(__LINE__)) \
	                 : "memory", "cc")
/* clang-format on */

#define NOINLINE __attribute__((noinline))

#ifdef __cplusplus
extern "C" {
#endif

/* Tells the harness, on stdout, that the program waits to be killed. */
void battery_ready(void);
/* An opaque value, so that no compiler can see a bound or a condition. */
int battery_int(int value);
/* Does nothing that a compiler can see through. */
void battery_nop(void);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_TESTS_BATTERY_H */
