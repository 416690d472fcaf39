/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is mapped, used and given back, N times 4 MiB, each time at
 * another address; a second thread looks at it, too.  Prints what was read, and
 * whether it ever had much more than it needs: memory and two shadows.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define SIZE ((size_t)4 << 20)
#define PAGE 4096u
#define MOST (10 * (SIZE >> 10)) /* KB; all of it would be N times as much */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned char *shown; /* to the other thread */
static int is_over;
static unsigned long seen;

static unsigned long sum(const unsigned char *p, size_t n)
{
	unsigned long s = 0;

	for (size_t i = 0; i < n; i += PAGE)
		s += p[i];
	return s;
}

static void *look(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!is_over) {
		if (shown) {
			seen += sum(shown, SIZE);
			shown = NULL;
			pthread_cond_broadcast(&changed);
		}
		pthread_cond_wait(&changed, &lock);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

static void show(unsigned char *p)
{
	pthread_mutex_lock(&lock);
	shown = p;
	pthread_cond_broadcast(&changed);
	while (shown)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static unsigned char *map(void *at, size_t n)
{
	unsigned char *p = mmap(at, n, PROT_READ | PROT_WRITE,
	                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	return p;
}

/* Old contents have to be gone, and what is left has to be there. */
static unsigned long use(unsigned char *p, unsigned i)
{
	unsigned long before = sum(p, SIZE), after;

	for (size_t k = 0; k < SIZE; k += PAGE)
		p[k] = (unsigned char)(k / PAGE + i);
	show(p);
	if (i % 4 == 1)
		madvise(p, SIZE / 2, MADV_DONTNEED);
	if (i % 4 == 2)
		p = mremap(p, SIZE, SIZE / 2, 0);
	after = sum(p, SIZE / 2);
	munmap(p, i % 4 == 2 ? SIZE / 2 : SIZE);
	return before * 1000003 + after;
}

static unsigned long with_sbrk(void)
{
	unsigned char *p = sbrk(1 << 20);
	unsigned long s;

	memset(p, 7, 1 << 20);
	s = sum(p, 1 << 20);
	sbrk(-(1 << 20));
	p = sbrk(1 << 20);
	return s + sum(p, 1 << 20);
}

int main(int argc, char **argv)
{
	unsigned n = (unsigned)atoi(argv[1]);
	unsigned char *at = map(NULL, SIZE);
	unsigned long total = 0;
	struct rusage r;
	pthread_t t;

	(void)argc;
	munmap(at, SIZE);
	pthread_create(&t, NULL, look, NULL);
	for (unsigned i = 0; i < n; i++) {
		/* twice at the same address, then further down */
		at -= i % 2 ? 0 : 2 * SIZE;
		total = total * 31 + use(map(at, SIZE), i);
	}
	pthread_mutex_lock(&lock);
	is_over = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(t, NULL);
	total += with_sbrk();
	getrusage(RUSAGE_SELF, &r);
	printf("%lu %lu", total, seen);
	if ((size_t)r.ru_maxrss > MOST)
		printf(" %ld KB", r.ru_maxrss);
	printf("\n");
	return 0;
}
