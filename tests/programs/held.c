/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dies in a loop that counts itself: held FILE WAY.  The loop leaves one byte
 * that is not zero per turn in FILE, mapped shared, so that the kernel knows
 * how many turns there were.
 *
 *     short   faults after FAULT of 60000 turns
 *     long    faults after FAULT of 1000000 turns
 *     runs    makes runs of 60000 turns until somebody kills it
 *     run     makes one long run until somebody kills it
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAULT (3 * 4096)
#define SIZE (1u << 30)

__attribute__((noinline)) static void fill(unsigned char *p, long n)
{
	unsigned long x = (unsigned long)n;

	for (long i = 0; i < n; i++) {
		x = x / 7 % 1000003 * 48271 + x % 1013;
		p[i] = (unsigned char)(x | 1); /* a turn */
	}
}

static unsigned char *map(const char *path, const char *way)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	unsigned char *p;

	if (fd < 0 || ftruncate(fd, SIZE))
		return NULL;
	p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (!strcmp(way, "short") || !strcmp(way, "long"))
		mprotect(p + FAULT, SIZE - FAULT, PROT_NONE);
	return p;
}

int main(int argc, char **argv)
{
	unsigned char *p = argc == 3 ? map(argv[1], argv[2]) : NULL;

	if (!p)
		return 1;
	puts("ready");
	fflush(stdout);
	if (!strcmp(argv[2], "short"))
		fill(p, 60000);
	else if (!strcmp(argv[2], "long"))
		fill(p, 1000000);
	else if (!strcmp(argv[2], "runs"))
		for (long at = 0; at + 60000 < SIZE; at += 60000)
			fill(p + at, 60000);
	else
		fill(p, SIZE);
	return 0;
}
