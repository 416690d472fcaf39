/* SPDX-License-Identifier: Apache-2.0 */
// Ends in an exit handler, which calls exit, whose handler calls _exit.
// exit: 5
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int n;

static void second(void)
{
	n++;
	printf("second %d\n", n);
	fflush(stdout);
	if (n > 1)
		_exit(5);
	exit(4);
}

static void first(void)
{
	puts("first");
	atexit(second);
	exit(2);
}

int main(void)
{
	atexit(second);
	atexit(first);
	return 1;
}
