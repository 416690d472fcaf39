/* SPDX-License-Identifier: Apache-2.0 */
/* A small virtual machine with computed goto: blocks that no edge can be split
 * into, and a hot dispatch. */
#include <stdio.h>

enum { PUSH, ADD, MUL, DUP, JNZ, DEC, SWAP, POP, PRINT, HALT };

static long run(const int *code, long *stack)
{
	static const void *const op[] = {&&push,  &&add, &&mul,  &&dup,
	                                 &&jnz,   &&dec, &&swap, &&pop,
	                                 &&print, &&halt};
	const int *pc = code;
	long *sp = stack, t, executed = 0;

#define NEXT()                   \
	do {                     \
		executed++;      \
		goto *op[*pc++]; \
	} while (0)

	NEXT();
push:
	*sp++ = *pc++;
	NEXT();
add:
	sp--;
	sp[-1] += sp[0];
	NEXT();
mul:
	sp--;
	sp[-1] = (sp[-1] * sp[0]) % 1000003;
	NEXT();
dup:
	sp[0] = sp[-1];
	sp++;
	NEXT();
jnz:
	if (sp[-1]) {
		pc = code + *pc;
		NEXT();
	}
	pc++;
	NEXT();
dec:
	sp[-1]--;
	NEXT();
swap:
	t = sp[-1];
	sp[-1] = sp[-2];
	sp[-2] = t;
	NEXT();
pop:
	sp--;
	NEXT();
print:
	printf("%ld\n", sp[-1]);
	NEXT();
halt:
	return executed;
}

int main(void)
{
	static const int code[] = {PUSH, 1,   PUSH, 3000, SWAP,  PUSH,
	                           7,    MUL, PUSH, 11,   ADD,   SWAP,
	                           DEC,  JNZ, 4,    POP,  PRINT, HALT};
	long stack[16];

	printf("executed %ld\n", run(code, stack));
	return 0;
}
