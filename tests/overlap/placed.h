/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_PLACED_H
#define CAIRN_TESTS_PLACED_H

/* In the executable and in the library: the one of the executable is called. */
__attribute__((weak, noinline)) int shared(int x)
{
	if (x & 1)
		__asm__ volatile("nop" ::: "memory");
	return x;
}

#endif /* CAIRN_TESTS_PLACED_H */
