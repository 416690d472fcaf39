/* SPDX-License-Identifier: Apache-2.0 */
/* A program with its own malloc, which libc and the loader call as well. */
#include "battery.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static _Alignas(16) unsigned char heap[1 << 22];
static size_t used;

void *malloc(size_t n)
{
	size_t need = (n + 31) & ~(size_t)15;
	size_t at = __atomic_fetch_add(&used, need, __ATOMIC_RELAXED);

	if (at + need > sizeof(heap)) {
		errno = ENOMEM;
		return NULL;
	}
	memcpy(heap + at, &n, sizeof(n));
	return heap + at + 16;
}

void free(void *p)
{
	if (p)
		battery_nop();
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size);
}

void *realloc(void *p, size_t n)
{
	void *q = malloc(n);
	size_t old;

	if (!p || !q)
		return q;
	memcpy(&old, (unsigned char *)p - 16, sizeof(old));
	memcpy(q, p, old < n ? old : n);
	return q;
}

static void *run(void *arg)
{
	char *text = NULL;

	for (int i = 1; i < 40; i++)
		text = realloc(text, (size_t)i * 8);
	free(text);
	return arg;
}

int main(void)
{
	pthread_t t;
	char line[64];

	for (int i = 0; i < 5; i++) {
		pthread_create(&t, NULL, run, NULL);
		pthread_join(t, NULL);
		snprintf(line, sizeof(line), "%d %f\n", i, i / 3.0);
	}
	return line[0] == 'x';
}
