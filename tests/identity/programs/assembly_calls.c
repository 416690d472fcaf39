/* SPDX-License-Identifier: Apache-2.0 */
// Inline assembly that calls: what it calls leaves by longjmp, or by exit, or
// comes back; and some that jumps, but only to labels of its own.
// exit: 3
// uncovered: trace by_jump by_exit
// uncovered: record by_jump by_exit
// differs: paths by_jump by_exit
// differs: paths,overlap by_jump by_exit
// ask: edges | 0 | report --format lcov {file} | ^DA:54,5
// ask: edges | 0 | report --format lcov {file} | ^DA:62,0
// ask: edges,strict | 0 | report --format lcov {file} | ^DA:54,5
// ask: edges,strict | 0 | report --format lcov {file} | ^DA:62,0
// ask: paths | 0 | report --format lcov {file} | ^DA:54,5
// ask: paths | 0 | report --format lcov {file} | ^DA:62,0
// ask: paths,overlap | 0 | report --format lcov {file} | ^DA:54,5
// ask: paths,overlap | 0 | report --format lcov {file} | ^DA:62,0
// ask: trace | 0 | report {file} | inline assembly calls functions
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define CALL(f, x)                                                          \
	__asm__ volatile("call " #f                                         \
	                 : "+D"(x)                                          \
	                 :                                                  \
	                 : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10",   \
	                   "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",   \
	                   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
	                   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",     \
	                   "memory", "cc")

static jmp_buf out;
static volatile int sink;

NOINLINE __attribute__((used)) void odd(int x)
{
	sink++;
	if (x & 1)
		longjmp(out, 1);
}

NOINLINE __attribute__((used)) void leave(int x)
{
	printf("%d\n", sink);
	if (x)
		exit(3);
}

NOINLINE static int by_jump(int x)
{
	odd(0); /* so that the stack is aligned for calls */
	CALL(odd, x);
	sink += 2;
	return 5;
}

NOINLINE static int by_exit(int x)
{
	leave(0);
	CALL(leave, x);
	sink += 7;
	return 6;
}

NOINLINE static int power(int n)
{
	int x = 1;

	__asm__("1: decl %0\n\tjs 2f\n\taddl %1, %1\n\tjmp 1b\n2:"
	        : "+r"(n), "+r"(x)
	        :
	        : "cc");
	sink += x;
	return x;
}

int main(void)
{
	for (volatile int i = 0; i < 10; i++)
		if (!setjmp(out))
			sink += by_jump(i) + power(i);
	by_exit(1);
	return sink;
}
