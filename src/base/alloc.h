/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_BASE_ALLOC_H
#define CAIRN_BASE_ALLOC_H

#include <stddef.h>

/*
 * Allocation for the tools: running out of memory ends the tool with a
 * message, so callers need no check.  Never used by the runtime.
 */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Makes room for one more element in a vector (items, n, cap). */
#define VEC_RESERVE(items, n, cap)                                            \
	do {                                                                  \
		if ((n) == (cap)) {                                           \
			(cap) = (cap) ? 2 * (cap) : 16;                       \
			(items) = xrealloc((items), (cap), sizeof(*(items))); \
		}                                                             \
	} while (0)

#endif /* CAIRN_BASE_ALLOC_H */
