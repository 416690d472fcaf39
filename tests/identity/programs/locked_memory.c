/* SPDX-License-Identifier: Apache-2.0 */
// What is mapped from now on has to stay in memory, of which there is little.
// limits: ulimit -l 64
// wrap: setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock
// wants: setpriv
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
	char *p;

	printf("%d\n", mlockall(MCL_FUTURE) ? 1 : 0);
	p = malloc(3000);
	if (p)
		memset(p, 1, 3000);
	printf("%d\n", p ? p[2999] : 1);
	munlockall();
	return 0;
}
