/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the copy of zstd in the archive takes from libc elsewhere
 * (tools/add-zstd renames it).  It works in memory that it was given, so nobody
 * allocates; and it must not call the program's own memcpy, which may have
 * marks.
 */
#include <stddef.h>
#include <stdint.h>

#include "runtime/sys.h"

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN void *cairn_z_malloc(size_t n);
HIDDEN void *cairn_z_calloc(size_t n, size_t size);
HIDDEN void cairn_z_free(void *p);
HIDDEN void *cairn_z_memcpy(void *to, const void *from, size_t n);
HIDDEN void *cairn_z_memmove(void *to, const void *from, size_t n);
HIDDEN void *cairn_z_memset(void *to, int c, size_t n);
HIDDEN void cairn_z_stack_chk_fail(void);

void *cairn_z_malloc(size_t n)
{
	(void)n;
	return NULL;
}

void *cairn_z_calloc(size_t n, size_t size)
{
	(void)n;
	(void)size;
	return NULL;
}

void cairn_z_free(void *p)
{
	(void)p;
}

void *cairn_z_memcpy(void *to, const void *from, size_t n)
{
	rt_copy(to, from, n);
	return to;
}

void *cairn_z_memmove(void *to, const void *from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if ((uintptr_t)to - (uintptr_t)from >= n)
		return cairn_z_memcpy(to, from, n);
	while (n--)
		t[n] = f[n];
	return to;
}

void *cairn_z_memset(void *to, int c, size_t n)
{
	void *p = to;

	__asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(c) : "memory");
	return to;
}

void cairn_z_stack_chk_fail(void)
{
	__builtin_trap();
}
