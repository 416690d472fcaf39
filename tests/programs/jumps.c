/* SPDX-License-Identifier: Apache-2.0 */
/* setjmp and longjmp, nested. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf outer, inner;

static void deeper(int n)
{
	if (n == 0)
		longjmp(inner, 1);
	if (n == 13)
		longjmp(outer, 2);
	deeper(n - 1);
}

static int nested(int n)
{
	switch (setjmp(inner)) {
	case 0:
		deeper(n);
		return 0;
	case 1:
		return 10 + n;
	default:
		return -1;
	}
}

int main(void)
{
	volatile int sum = 0;

	for (volatile int i = 0; i < 20; i++) {
		int how = setjmp(outer);

		if (how == 2) {
			sum += 1000;
			continue;
		}
		sum += nested(i);
	}
	printf("sum %d\n", sum);
	return 0;
}
