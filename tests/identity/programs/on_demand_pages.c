/* SPDX-License-Identifier: Apache-2.0 */
// With userfaultfd another thread puts pages in when they are first touched.
// cc: -pthread
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long fd;

static void *filler(void *unused)
{
	static char page[4096] __attribute__((aligned(4096)));
	struct uffd_msg m;

	for (int i = 0; i < 4 && read((int)fd, &m, sizeof(m)) > 0; i++) {
		struct uffdio_copy copy = {0};

		memset(page, 'a' + i, sizeof(page));
		copy.src = (unsigned long)page;
		copy.dst = m.arg.pagefault.address & ~4095ull;
		copy.len = 4096;
		ioctl((int)fd, UFFDIO_COPY, &copy);
	}
	return unused;
}

static void without(void)
{
	puts("a b c d");
}

int main(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	pthread_t t;
	char *p = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	range.range.start = (unsigned long)p;
	range.range.len = 4 * 4096;
	if (fd < 0 || ioctl((int)fd, UFFDIO_API, &api) ||
	    ioctl((int)fd, UFFDIO_REGISTER, &range)) {
		without();
		return 0;
	}
	pthread_create(&t, NULL, filler, NULL);
	printf("%c %c %c %c\n", p[0], p[4097], p[8192], p[3 * 4096 + 9]);
	pthread_join(t, NULL);
	return 0;
}
