/* SPDX-License-Identifier: Apache-2.0 */
/* exit in a function that is inlined into its callers: they end there, too. */
#include <stdio.h>
#include <stdlib.h>

static void leave_at(int i, int last)
{
	if (i >= last) {
		printf("left at %d\n", i);
		exit(i == last ? 0 : 1);
	}
	printf("went on at %d\n", i);
}

static int twice(int i, int last)
{
	leave_at(i, last);
	leave_at(i + 1, last);
	return i + 2;
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0;;)
		i = twice(i, 10 + argc);
}
