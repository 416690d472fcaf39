/* SPDX-License-Identifier: Apache-2.0 */
// An interpreter of threaded code: labels in a table, one indirect jump each.
#include <stdio.h>

static long run(const short *code, long n)
{
	static const void *const labels[] = {&&push, &&add, &&mul, &&dup,
	                                     &&dec,  &&jnz, &&halt};
	long stack[16], *sp = stack;
	const short *pc = code;

#define NEXT goto *labels[*pc++]
	*sp++ = n;
	NEXT;
push:
	*sp++ = *pc++;
	NEXT;
add:
	sp--;
	sp[-1] += *sp;
	NEXT;
mul:
	sp--;
	sp[-1] *= *sp;
	NEXT;
dup:
	*sp = sp[-1];
	sp++;
	NEXT;
dec:
	sp[-1]--;
	NEXT;
jnz:
	if (sp[-1])
		pc += *pc;
	else
		pc++;
	NEXT;
halt:
	return sp[-1];
}

int main(void)
{
	static const short loop[] = {3, 4, 5, -2, 0, 7, 6};
	static const short sum[] = {0, 5, 1, 3, 2, 4, 6};
	long all = 0;

	for (int i = 2; i < 60; i++)
		all += run(i & 1 ? loop : sum, i);
	printf("%ld\n", all);
	return 0;
}
