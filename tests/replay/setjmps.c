/* SPDX-License-Identifier: Apache-2.0 */
/* Few ticks: a replay can begin at each.  What lives across a setjmp is there
 * when a longjmp comes back. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf b;
static int steps;

/* Loops and arguments that live across a setjmp. */
__attribute__((noinline)) static int loops(int n, int add, double factor)
{
	volatile int count = 0;
	int sum = 0;

	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 3; k++)
			sum += k * add;
		if (setjmp(b) == 0) {
			count++;
			if (i % 2)
				longjmp(b, 7);
		} else {
			sum += i * add + (int)factor;
		}
		steps += i;
	}
	return sum + count + (int)(factor * add);
}

int main(void)
{
	printf("%d\n", loops(5, 3, 1.5));
	printf("%d %d\n", loops(3, 11, 2.5), steps);
	return 0;
}
