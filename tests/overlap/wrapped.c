// SPDX-License-Identifier: Apache-2.0
/* A linker puts __wrap_called in the place of another function (--wrap). Prints
 * its books. */
#include <stdio.h>

int called(int n);

int main(void)
{
	int all = 0;

	for (int i = 0; i < 32; i++)
		all += called(i) & 3;
	printf("call main __wrap_called 1 10 11 10\n");
	printf("call __wrap_called called 5 6 5 5 6 5\n");
	return all > 200;
}
