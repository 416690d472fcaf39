/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of libc that only read: what they read was written by the program,
 * by libc, by another thread, and ends where a page does. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char *page; /* the last before one that is not there */
static volatile int stop;
static char shared[64];

static int sign(int x)
{
	return (x > 0) - (x < 0);
}

static void *write_shared(void *unused)
{
	unsigned k = 1;

	(void)unused;
	while (!stop) {
		k = k * 1103515245u + 12345u;
		((volatile char *)shared)[k >> 16 & 31] =
		        (char)('a' + (k >> 24) % 3);
	}
	return NULL;
}

static void at_ends_of_pages(void)
{
	for (size_t n = 0; n < 70; n++) {
		char *a = page + 4096 - n - 1;
		char b[80];

		memset(a, 'x', n);
		a[n] = 0;
		snprintf(b, sizeof(b), "%.*s%s", (int)n, a, n % 3 ? "" : "y");
		printf("%zu %d %d %d %d %ld %ld\n", strlen(a), strcmp(a, b),
		       strncmp(a, b, n + 1), memcmp(a, b, n + 1),
		       memcmp(a, b, n) == 0,
		       (long)(strchr(b, 'y') ? strchr(b, 'y') - b : -1),
		       (long)((char *)memchr(a, 0, 4096) - a));
	}
}

static void in_random_memory(void)
{
	static unsigned char a[300], b[300];

	srand(5);
	for (int turn = 0; turn < 3000; turn++) {
		size_t i = (size_t)rand() % 60, j = (size_t)rand() % 60;
		size_t n = (size_t)rand() % 100;
		int c = rand() % 3;

		for (size_t k = 0; k < sizeof(a) - 1; k++)
			a[k] = b[k] = (unsigned char)('a' + (k + i) % 2);
		a[i + n] = (unsigned char)(rand() % 256);
		b[j + n] = (unsigned char)(rand() % 3 ? 'a' : rand() % 256);
		printf("%d %d %d %zu %d %d\n", memcmp(a + i, b + j, n),
		       strcmp((char *)a + i, (char *)b + j),
		       strncmp((char *)a + i, (char *)b + j, n),
		       strlen((char *)a + i), memchr(b + j, 'a' + c, n) != NULL,
		       strchr((char *)a + i, 'a' + c) != NULL);
	}
}

/* What it reads changes while it reads: only that nothing diverges counts. */
static void while_others_write(void)
{
	pthread_t t;
	long sum = 0;

	memset(shared, 'a', 40);
	pthread_create(&t, NULL, write_shared, NULL);
	for (int i = 0; i < 20000; i++) {
		sum += sign(strcmp(shared, "aabbabaabab")) +
		       (long)strlen(shared) + (strchr(shared, 'c') != NULL) +
		       sign(memcmp(shared, shared + 16, 16));
	}
	stop = 1;
	pthread_join(t, NULL);
	printf("%d\n", sum > 0);
}

int main(void)
{
	char line[100];
	FILE *f = fopen("input", "r");

	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	at_ends_of_pages();
	in_random_memory();
	while (f && fgets(line, sizeof(line), f))
		printf("%zu %d\n", strlen(line), strcmp(line, "what it"));
	printf("%d\n", getenv("PATH") && strchr(getenv("PATH"), '/') != NULL);
	while_others_write();
	return 0;
}
