/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation that does not fail: a tool without memory cannot go on, so it
 * says so and stops (exit status 2).  Sizes are checked for overflow.
 */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *p, size_t size)
{
	if (!p) {
		fprintf(stderr, "cairn: out of memory (asked for %zu bytes)\n",
		        size);
		exit(2);
	}
	return p;
}

void *xmalloc(size_t size)
{
	return must(malloc(size ? size : 1), size);
}

void *xcalloc(size_t n, size_t size)
{
	return must(calloc(n ? n : 1, size ? size : 1), n);
}

void *xrealloc(void *p, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		must(NULL, n);
	return must(realloc(p, total ? total : 1), total);
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
	char *copy = xmalloc(n + 1);

	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *xasprintf(const char *format, ...)
{
	va_list args;
	char *s;
	int n;

	va_start(args, format);
	n = vasprintf(&s, format, args);
	va_end(args);
	return n < 0 ? must(NULL, 0) : s;
}
