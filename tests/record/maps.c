/* SPDX-License-Identifier: Apache-2.0 */
/* Memory at all kinds of addresses, in a recording. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

static unsigned long use(unsigned char *p, size_t n)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < n; i += 4096)
		p[i] = (unsigned char)(i >> 12);
	for (size_t i = 0; i < n; i += 4096)
		sum += p[i];
	return sum;
}

/* One file, or one piece of memory, at two addresses. */
static int twice(const char *how)
{
	const int prot = PROT_READ | PROT_WRITE;
	int fd = memfd_create("twice", 0);
	int *a, *b;

	if (fd < 0 || ftruncate(fd, 8192))
		return 1;
	a = mmap(NULL, 4096, prot, MAP_SHARED, fd, 0);
	if (a == MAP_FAILED)
		return 1;
	if (strcmp(how, "again") == 0) { /* one after the other */
		munmap(a, 4096);
		a = mmap(NULL, 4096, prot, MAP_SHARED, fd, 0);
		b = mmap(NULL, 4096, prot, MAP_SHARED, fd, 4096);
	} else if (strcmp(how, "remap") == 0) {
		b = mremap(a, 0, 4096, MREMAP_MAYMOVE);
	} else if (strcmp(how, "attach") == 0) {
		int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);

		a = shmat(id, NULL, 0);
		shmctl(id, IPC_RMID, NULL); /* when all have left it */
		puts("attached");
		fflush(stdout);
		b = shmat(id, NULL, 0);
	} else {
		b = mmap(NULL, 4096, prot, MAP_SHARED, fd, 0);
	}
	if (b == MAP_FAILED)
		return 1;
	*a = 5;
	*b += 6;
	printf("%d\n", *a);
	return 0;
}

int main(int argc, char **argv)
{
	const int prot = PROT_READ | PROT_WRITE;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	size_t n = (size_t)1 << 20;
	void *at = NULL;
	unsigned char *p;

	if (argc > 2)
		return twice(argv[2]);
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
