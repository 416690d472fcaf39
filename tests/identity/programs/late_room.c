/* SPDX-License-Identifier: Apache-2.0 */
// Room on the stack that is asked for behind a call is made at the beginning:
// what counts behind that call is not.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf back;

__attribute__((noinline)) static int number(int n)
{
	if (n > 90)
		longjmp(back, n);
	return n + 1;
}

__attribute__((noinline)) static int straight(int n)
{
	int a = number(n);
	char *room = __builtin_alloca(32);

	number(a);
	snprintf(room, 32, "%d", a);
	return (int)strlen(room);
}

__attribute__((noinline)) static int back_again(int n)
{
	volatile int turns = 0;
	int came = setjmp(back);
	char *room = __builtin_alloca(48);

	number(turns);
	if (turns++ < n)
		number(91 + turns);
	snprintf(room, 48, "%d", turns);
	return atoi(room);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 12; i++)
		sum += straight(i);
	printf("%d %d\n", sum, back_again(1));
	return 0;
}
