/* SPDX-License-Identifier: Apache-2.0 */
// A segment that ends in exit is no return; what a test did is all tested; and
// threads are called 1.
// levels: -O1
// defect: 14
// ask: paths | 0 | residual --tested {file} {file} | no untested paths
// ask: trace | 0 | segments --all {file} | noreturn +quit 2
// ask: trace | 1 | match-path {file} "quit quit" | thread 1:
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void quit(int x)
{
	printf("%d\n", x);
	exit(0);
}

int main(int argc, char **argv)
{
	for (int i = 0;; i += argc)
		if (i > 4)
			quit(i);
}
