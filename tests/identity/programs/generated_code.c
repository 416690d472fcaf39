/* SPDX-License-Identifier: Apache-2.0 */
// It writes machine code into memory, calls it, and is called by it.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef long code(long);
static int called;

static long back(long x)
{
	called++;
	return x > 5 ? x * 2 : x + 1;
}

/* push %rbx; mov %rdi,%rbx; movabs $back,%rax; call *%rax; add %rbx,%rax;
 * pop %rbx; ret */
static code *generate(unsigned char *at, int constant)
{
	static const unsigned char head[] = {0x53, 0x48, 0x89,
	                                     0xfb, 0x48, 0xb8};
	static const unsigned char tail[] = {0xff, 0xd0, 0x48, 0x01, 0xd8};
	unsigned char *p = at;
	long (*target)(long) = back;

	memcpy(p, head, sizeof(head)), p += sizeof(head);
	memcpy(p, &target, 8), p += 8;
	memcpy(p, tail, sizeof(tail)), p += sizeof(tail);
	*p++ = 0x48, *p++ = 0x83, *p++ = 0xc0, *p++ = (unsigned char)constant;
	*p++ = 0x5b, *p++ = 0xc3;
	return (code *)at;
}

int main(void)
{
	unsigned char *page =
	        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long sum = 0;

	for (int i = 0; i < 10; i++)
		sum += generate(page + 64 * (i % 3), i)(i);
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	sum += ((code *)(page + 64))(3);
	printf("%ld %d\n", sum, called);
	return 0;
}
