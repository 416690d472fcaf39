/* SPDX-License-Identifier: Apache-2.0 */
// All descriptors are closed, and none is to be had.
// limits: ulimit -n 12
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	int n = 0, last = -1;

	close_range(3, ~0u, 0);
	for (int fd; (fd = dup(1)) >= 0; n++)
		last = fd;
	printf("%d %d\n", n, last);
	fflush(stdout);
	close_range(3, ~0u, 0);
	return 0;
}
