/* SPDX-License-Identifier: Apache-2.0 */
// It takes its own address space away; what is asked for after that fails.
// modes: -paths,overlap
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

int main(void)
{
	struct rlimit none = {1 << 20, 1 << 20};
	int failed = 0;

	if (setrlimit(RLIMIT_AS, &none))
		return 1;
	for (int i = 0; i < 5; i++) {
		void *p = mmap(NULL, 64 << 20, PROT_READ,
		               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		failed += p == MAP_FAILED;
	}
	printf("%d\n", failed);
	return 0;
}
