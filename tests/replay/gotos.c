/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asm goto: with and without results, with constants and memory as operands,
 * with labels that are one block, in loops and inlined, one that changes how
 * arithmetic rounds.
 */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>

static int flag;

static inline int is_odd(int x)
{
	__asm__ goto("testl $1, %0\n\tjnz %l[odd]" : : "r"(x) : "cc" : odd);
	return 0;
odd:
	return 1;
}

/* A key: what it goes by is no input of the code. */
static int looks(void)
{
	__asm__ goto("cmpl $0, %0\n\tjne %l1" : : "m"(flag) : "cc" : set);
	return 10;
set:
	return 20;
}

/* Memory that it writes, and a constant. */
static int writes(int *p)
{
	__asm__ goto("addl $%c1, %0\n\tjs %l[less]"
	             :
	             : "m"(*p), "i"(7)
	             : "cc", "memory"
	             : less);
	return *p;
less:
	return -*p + 1;
}

/* Results, also where it jumps. */
static int computes(unsigned a, unsigned b, unsigned *sum)
{
	unsigned s = a, t;

	__asm__ goto("addl %2, %0\n\tmovl %0, %1\n\tjc %l[carry]\n\t"
	             "jz %l[zero]"
	             : "+r"(s), "=&r"(t)
	             : "r"(b)
	             : "cc"
	             : carry, zero);
	*sum = s + t;
	return 1;
carry:
#ifdef __OPTIMIZE__ /* else clang 19 itself does not store the results here */
	*sum = s - t + 5;
#endif
	return 2;
zero:
	return 3;
}

/* One label twice. */
static int either(int x)
{
	__asm__ goto("cmpl $3, %0\n\tje %l[out]\n\tcmpl $5, %0\n\tje %l[out2]"
	             :
	             : "r"(x)
	             : "cc"
	             : out, out2);
	return 0;
out:
out2:
	return 1;
}

/* From label to label. */
static int loop(int n)
{
	int k = 0;

again:
	k += rand() & 3;
	__asm__ goto("cmpl %1, %0\n\tjl %l[again]"
	             :
	             : "r"(k), "r"(n)
	             : "cc"
	             : again);
	return k;
}

static double rounds(volatile double x)
{
	unsigned up = 0x5f80;

	__asm__ goto("ldmxcsr %0\n\tjmp %l[done]" : : "m"(up) : : done);
	return 0;
done:
	return x / 3;
}

int main(void)
{
	unsigned sum = 0, total = 0;
	int count = 0, at = -40;

	for (int i = 0; i < 40; i++) {
		flag = i % 5 == 0;
		count += is_odd(i) + looks() + either(i % 7);
		count += 3 * computes((unsigned)i * 0x0cccccccu,
		                      (unsigned)i * 0x0fffffffu, &sum);
		total = 31 * total + sum + (unsigned)loop(i);
		total += (unsigned)writes(&at);
	}
	printf("%d %u %d %.20f\n", count, total, at, rounds(1));
	fesetround(FE_TONEAREST);
	printf("%.20f\n", 1.0 / (count + 2));
	return 0;
}
