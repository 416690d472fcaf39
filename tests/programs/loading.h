/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_LOADING_H
#define CAIRN_TESTS_LOADING_H

#include <stdio.h>

#define NOINLINE __attribute__((noinline))
#define HERE_LINES 256

/* Counts that this line was reached; one instruction, so that it is not split
 * from its line, and locked, for threads. */
#define HERE(table) \
	__asm__ volatile("lock incq %0" : "+m"(table[__LINE__]) : : "cc")

static inline void here_print(const char *file, const unsigned long *here)
{
	for (int i = 0; i < HERE_LINES; i++)
		if (here[i])
			printf("%s:%d %lu\n", file, i, here[i]);
	fflush(stdout);
}

int far_combine(int a, int b);
int far_helper(int n);
void far_clear(void);
void far_print(void);

#endif /* CAIRN_TESTS_LOADING_H */
