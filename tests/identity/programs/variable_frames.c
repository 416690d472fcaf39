/* SPDX-License-Identifier: Apache-2.0 */
// alloca in loops and arrays of any length, left by longjmp.
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf out;

struct list {
	struct list *next;
	int value;
};

__attribute__((noinline)) static int chain(int n)
{
	struct list *head = NULL;
	int sum = 0;

	for (int i = 0; i < n; i++) {
		struct list *l = alloca(sizeof(*l) + (size_t)i);
		l->next = head;
		l->value = i;
		head = l;
	}
	for (struct list *l = head; l; l = l->next)
		sum += l->value;
	if (n % 4 == 3)
		longjmp(out, sum);
	return sum;
}

static int square(int n, int (*f)(int))
{
	int table[n][n], sum = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			table[i][j] = i * j;
	for (int i = 0; i < n; i++)
		sum += table[i][n - 1 - i];
	return sum + f(n);
}

int main(void)
{
	volatile int all = 0;

	for (volatile int i = 1; i < 12; i++) {
		int got = setjmp(out);

		if (got)
			all += got;
		else
			all += square(i, chain);
	}
	printf("%d\n", all);
	return 0;
}
