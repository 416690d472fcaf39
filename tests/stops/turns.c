/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop that holds its turns, in a function with so many paths that some are
 * cut before it: turns FILE, where the program counts its turns itself.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define TURNS ((unsigned long *)0x10000000000)
#define CODE(t) __asm__ volatile(t : : : "memory")
/* clang-format off */
#define FORK(k)               \
	if (x >> (k) & 1) {   \
		CODE("nop");  \
		x += (k) + 1; \
		CODE("nop # a"); \
	} else {              \
		CODE("");     \
		x ^= (k) * 77; \
		CODE("# b");  \
	}
#define FORKS FORK(0) FORK(1) FORK(2) FORK(3) FORK(4) FORK(5) FORK(6) FORK(7)
#define OFTEN(x, p) __builtin_expect_with_probability(!!(x), 1, p)

unsigned long many(unsigned long x, long n);
__attribute__((noinline)) unsigned long many(unsigned long x, long n)
{
	FORKS FORKS FORKS FORKS
	if (OFTEN(n > 0, 0.1)) {
		do {
			CODE("");
			TURNS[0]++; /* truth */
			CODE("");
		} while (OFTEN(--n != 0, 0.9999));
		CODE("");
		TURNS[1]++;
		CODE("");
	}
	FORKS FORKS FORKS FORKS
	return x;
}
/* clang-format on */

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600)
	                   : -1;

	if (fd < 0 || ftruncate(fd, 4096) ||
	    mmap(TURNS, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
	         fd, 0) != TURNS)
		return 1;
	many((unsigned long)argc - 1, fd * 0L + 1000);
	return 0;
}
