/* SPDX-License-Identifier: Apache-2.0 */
// The legacy layout of memory: the heap of mmap grows up from below.
// limits: ulimit -s unlimited
// defect: 4
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static long sum(const unsigned char *p, size_t n)
{
	long s = 0;

	for (size_t i = 0; i < n; i += 97)
		s += p[i];
	return s;
}

int main(void)
{
	unsigned char *small = malloc(1000);
	unsigned char *large = malloc(400000);
	unsigned char *page = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
	                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long s = 0;

	memset(small, 3, 1000);
	for (int i = 0; i < 400000; i++)
		large[i] = (unsigned char)(i * 7);
	page[5] = 9;
	large = realloc(large, 3000000);
	s = sum(small, 1000) + sum(large, 400000) + page[5];
	free(large);
	free(small);
	printf("%ld\n", s);
	return 0;
}
