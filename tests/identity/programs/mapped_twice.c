/* SPDX-License-Identifier: Apache-2.0 */
// The same memory at two addresses: what is written at one is read at the
// other.
// refuses: record "it maps the same memory at two addresses"
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
	int fd = memfd_create("twice", 0), n = 0;
	int *a, *b;

	if (ftruncate(fd, 8192))
		return 1;
	a = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	b = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (a == MAP_FAILED || b == MAP_FAILED)
		return 1;
	for (int i = 0; i < 100; i++) {
		a[i] = i * i;
		b[i] += 1;
		if (a[i] != i * i + 1 || b[99 - i] % 3 == 1)
			n++;
	}
	if (pwrite(fd, "abcd", 4, 40) != 4)
		return 1;
	printf("%d %.4s %d\n", n, (char *)(a + 10), b[10] == a[10]);
	return 0;
}
