/* SPDX-License-Identifier: Apache-2.0 */
// What is mapped from now on has to stay in memory, of which there is little.
// limits: ulimit -l 64
// wrap: setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock
// wants: setpriv
#include <stdio.h>

#include <string.h>
#include <sys/mman.h>

int main(void)
{
	char *p;

	printf("%d\n", mlockall(MCL_FUTURE) ? 1 : 0);
	p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p != MAP_FAILED)
		memset(p, 1, 3000);
	printf("%d\n", p != MAP_FAILED);
	munlockall();
	return 0;
}
