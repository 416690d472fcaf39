/* SPDX-License-Identifier: Apache-2.0 */
/* Inline assembly, asm goto (callbr) and a naked function: the last two may be
 * left out of a profile, and must still work. */
#include <stdio.h>

static unsigned long bits(unsigned long x)
{
	unsigned long n = 0;

	while (x) {
		unsigned long low;

		__asm__("bsfq %1, %0" : "=r"(low) : "r"(x) : "cc");
		x &= ~(1ul << low);
		n += low;
	}
	return n;
}

__attribute__((noinline)) static int is_odd(long x)
{
	__asm__ goto("testq $1, %0\n\tjnz %l1" : : "r"(x) : "cc" : odd);
	return 0;
odd:
	return 1;
}

__attribute__((naked)) static long twice(long x __attribute__((unused)))
{
	__asm__("leaq (%rdi,%rdi), %rax\n\tret");
}

int main(void)
{
	long s = 0;

	for (long i = 0; i < 1000; i++) {
		s += (long)bits((unsigned long)i * 0x9e3779b97f4a7c15ul);
		if (is_odd(i ^ (i >> 1)))
			s += twice(i);
	}
	printf("%ld\n", s);
	return 0;
}
