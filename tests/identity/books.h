/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_BATTERY_H
#define CAIRN_TESTS_BATTERY_H

/*
 * In the place of tests/battery/battery.h, whose macros count in memory at a
 * low address, where a recording cannot follow: the programs without their
 * books.  The line of a HIT() still has code of its own.
 */
#define HIT() __asm__ volatile("" : : "i"(__LINE__) : "memory")
#define HIT_ALONE() HIT()
#define MARK(k) HIT()
#define BOOK(k, n) ((void)(k), (void)(n))
#define NOINLINE __attribute__((noinline))

#ifdef __cplusplus
extern "C" {
#endif

void battery_ready(void);
int battery_int(int value);
void battery_nop(void);

#ifdef __cplusplus
}
#endif

#endif /* CAIRN_TESTS_BATTERY_H */
