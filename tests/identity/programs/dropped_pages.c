/* SPDX-License-Identifier: Apache-2.0 */
// Pages that the system takes back are zero when they are read again.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
	char *p = mmap(NULL, 16 * 4096, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0;

	for (int round = 1; round < 6; round++) {
		for (int i = 0; i < 16; i++)
			p[i * 4096 + round] = (char)(p[i * 4096] + round);
		madvise(p + (round % 3) * 4096, 4096 * 4, MADV_DONTNEED);
		for (int i = 0; i < 16; i++)
			if (p[i * 4096 + round])
				sum += i * round;
		for (int i = 0; i < 16; i++)
			p[i * 4096]++;
	}
	printf("%d\n", sum);
	return 0;
}
