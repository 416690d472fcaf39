/* SPDX-License-Identifier: Apache-2.0 */
/* Tail calls behind a loop: what the edges behind such a call add to the number
 * of the path has its place before it.  Prints how many there were, by the
 * number of turns: those of one turn, and of more. */
#include <stdio.h>

static volatile int left = 40, turns = 1;
static long one, more;

__attribute__((noinline)) static int called(int x)
{
	if (x & 1)
		turns ^= 2;
	return x * 3;
}

__attribute__((noinline)) static int calls(int x)
{
	int n = 0;

	do {
		turns++;
		n++;
	} while (left-- > 0 && turns & 1);
	if (x < 8 && left-- > -100) {
		one += n == 1;
		more += n > 1;
		return called(x + 2);
	}
	return x * 2;
}

int main(void)
{
	int s = 0;

	for (int k = 0; k < 10; k++)
		s += calls(k);
	printf("%ld %ld\n", one, more);
	return 0 * s;
}
