/* SPDX-License-Identifier: Apache-2.0 */
// An alarm nobody catches ends a loop that only waits.
// exit: -14
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	puts("waits");
	fflush(stdout);
	for (int i = 0;; i++)
		if (i == 2)
			raise(SIGALRM);
	return 0;
}
