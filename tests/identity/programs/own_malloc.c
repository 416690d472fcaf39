/* SPDX-License-Identifier: Apache-2.0 */
// differs: record malloc calloc free
// A program's own malloc, which libc and the loader call, before main, too.
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static _Alignas(16) char pool[1 << 22];
static size_t used;
static long calls;

void *malloc(size_t n)
{
	size_t *at;

	calls++;
	n = (n + 31) & ~(size_t)15;
	if (used + n > sizeof(pool)) {
		errno = ENOMEM;
		return NULL;
	}
	at = (size_t *)(pool + used);
	used += n;
	at[1] = n - 16;
	return at + 2;
}

void free(void *p)
{
	if (p && (char *)p + ((size_t *)p)[-1] == pool + used)
		used = (size_t)((char *)p - 16 - pool);
}

void *calloc(size_t a, size_t b)
{
	void *p = malloc(a * b);

	return p ? memset(p, 0, a * b) : p;
}

void *realloc(void *old, size_t n)
{
	void *p = malloc(n);

	if (old && p) {
		size_t had = ((size_t *)old)[-1];
		memcpy(p, old, had < n ? had : n);
	}
	return p;
}

int main(void)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	for (int i = 0; f && i < 300; i++)
		fprintf(f, "%d ", i * 3);
	fclose(f);
	printf("%zu %d\n", n, calls > 2);
	return 0;
}
