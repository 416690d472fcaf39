/* SPDX-License-Identifier: Apache-2.0 */
// A collector's write barrier: a store to a protected page comes to a
// handler, which unprotects it; the store is made again.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static char *heap;
static volatile int dirty[8], faults;

static void handler(int sig, siginfo_t *info, void *context)
{
	size_t page = (size_t)((char *)info->si_addr - heap) / 4096;

	faults++;
	dirty[page] = 1;
	mprotect(heap + page * 4096, 4096, PROT_READ | PROT_WRITE);
}

__attribute__((noinline)) static void store(size_t at, char c)
{
	if (c != 'z')
		heap[at] = c;
	if (heap[at] == 'q')
		heap[at + 1] = 'r';
}

int main(void)
{
	struct sigaction sa;
	int sum = 0;

	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = handler;
	sa.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &sa, NULL);
	heap = mmap(NULL, 8 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	            0);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < 8; i += 1 + (size_t)round)
			store(i * 4096 + 7, "qaz"[round]);
		for (int i = 0; i < 8; i++)
			sum = sum * 3 + dirty[i] + heap[i * 4096 + 8];
		memset((void *)dirty, 0, sizeof(dirty));
		mprotect(heap, 8 * 4096, PROT_READ);
	}
	printf("%d %d\n", faults, sum);
	return 0;
}
