/* SPDX-License-Identifier: Apache-2.0 */
// A row is read up to the page that may not be touched, by all widths.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline)) static long sum(const unsigned char *p, size_t n)
{
	long s = 0;

	for (size_t i = 0; i < n; i++)
		s += p[i];
	return s;
}

__attribute__((noinline)) static size_t find(const char *p, char c)
{
	const char *from = p;

	while (*p != c)
		p++;
	return (size_t)(p - from);
}

int main(void)
{
	char *page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = page + 2 * 4096;
	long all = 0;

	mprotect(end, 4096, PROT_NONE);
	memset(page, 'b', 2 * 4096);
	end[-1] = 'e';
	for (size_t n = 1; n < 70; n++) {
		all += sum((unsigned char *)end - n, n);
		all += (long)find(end - n, 'e');
		all += memchr(end - n, 'e', n) == end - 1;
	}
	munmap(page, 4096);
	printf("%ld\n", all);
	return 0;
}
