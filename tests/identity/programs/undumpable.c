/* SPDX-License-Identifier: Apache-2.0 */
// The process may not be looked at, also not by itself in /proc.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void)
{
	char *p;

	if (prctl(PR_SET_DUMPABLE, 0))
		return 1;
	p = malloc(100000);
	sprintf(p, "%d", prctl(PR_GET_DUMPABLE));
	puts(p);
	free(p);
	return 0;
}
