/* SPDX-License-Identifier: Apache-2.0 */
// Mappings that move: mremap, also over another one; realloc of large blocks.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
	char *a = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *b = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *c, *d = malloc(200000);
	int sum = 0;

	strcpy(a + 100, "moved");
	strcpy(b + 100, "buried");
	c = mremap(a, 1 << 16, 1 << 16, MREMAP_MAYMOVE | MREMAP_FIXED, b);
	sum += c == b;
	c[0] = c[100];
	c = mremap(c, 1 << 16, 1 << 22, MREMAP_MAYMOVE);
	c[1 << 21] = c[104];
	memset(d, 5, 200000);
	for (size_t size = 400000; size < 10000000; size *= 2) {
		d = realloc(d, size);
		sum += d[199999] + d[0];
		d[size - 1] = 1;
	}
	printf("%s %c %c %d\n", c + 100, c[0], c[1 << 21], sum);
	free(d);
	return 0;
}
