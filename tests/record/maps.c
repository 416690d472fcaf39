/* SPDX-License-Identifier: Apache-2.0 */
/* Memory at all kinds of addresses, in a recording. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static unsigned long use(unsigned char *p, size_t n)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < n; i += 4096)
		p[i] = (unsigned char)(i >> 12);
	for (size_t i = 0; i < n; i += 4096)
		sum += p[i];
	return sum;
}

int main(int argc, char **argv)
{
	const int prot = PROT_READ | PROT_WRITE;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	size_t n = (size_t)1 << 20;
	void *at = NULL;
	unsigned char *p;

	(void)argc;
	if (strcmp(argv[1], "low") == 0)
		flags |= MAP_32BIT;
	if (strcmp(argv[1], "fixed") == 0) {
		flags |= MAP_FIXED;
		at = (void *)0x200000000000;
	}
	if (strcmp(argv[1], "hint") == 0)
		at = (void *)0x200000000000;
	if (strcmp(argv[1], "huge") == 0)
		n = (size_t)8 << 40; /* no window is so large */
	p = mmap(at, n, prot, flags, -1, 0);
	if (p == MAP_FAILED)
		return 1;
	printf("%lu\n", use(p, (size_t)1 << 20));
	p = mremap(p, n, 2 * n, MREMAP_MAYMOVE);
	printf("%lu\n", use(p + n, (size_t)1 << 20));
	p = realloc(NULL, 1000);
	p = realloc(p, 50 << 20);
	printf("%lu\n", use(p, 50 << 20));
	return 0;
}
