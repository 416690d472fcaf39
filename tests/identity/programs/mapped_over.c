/* SPDX-License-Identifier: Apache-2.0 */
// A file takes the place of memory that was written, then nothing does.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
	int fd = memfd_create("over", 0);
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int seen = 0;

	memset(p, 'm', 3 * 4096);
	if (write(fd, "from the file", 13) != 13)
		return 1;
	if (mmap(p + 4096, 4096, PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_FIXED, fd, 0) != p + 4096)
		return 1;
	seen += p[4095] == 'm' && p[4096] == 'f' && p[8192] == 'm';
	p[4096] = 'F';
	if (pwrite(fd, "x", 1, 5) != 1)
		return 1;
	seen += p[4096 + 13] == 0;
	if (mmap(p, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS,
	         -1, 0) != p)
		return 1;
	seen += p[9] == 0;
	printf("%.4s %d\n", p + 4096, seen);
	return 0;
}
