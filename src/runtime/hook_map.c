/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Executables that are recorded only, by the name of the first.)  Memory that
 * the program maps where it likes: MAP_FIXED, MAP_32BIT, shmat.  Where the
 * kernel chooses, the shadow follows (record_shadow.c); elsewhere a mark would
 * find another shadow, or none, so that the program ends here.  Memory that it
 * gives back: so is its shadow.  (What libc unmaps by itself, in free, does not
 * come by here.)
 *
 * Cost: a look at a few numbers per mapping; three system calls more for what
 * is given back.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "runtime/exe.h"
#include "runtime/record.h"
#include "runtime/rt.h"
#include "runtime/sys.h"

/* weak: a program may have its own */
#define SHOWN __attribute__((visibility("default"), weak))
#define HIDDEN __attribute__((visibility("hidden")))
#define HUGE ((size_t)64 << 30) /* half of what a window has room for */

extern HIDDEN const char __cairn_map_member;
HIDDEN const char __cairn_map_member = 1;

/* record.c calls it if it is there: in a static program only because somebody
 * asks for it.  Without it, nobody knows that a thread came to its end. */
int __cxa_thread_atexit_impl(void (*f)(void *), void *arg, void *dso);
extern HIDDEN int (*const __cairn_thread_end)(void (*)(void *), void *, void *);
HIDDEN int (*const __cairn_thread_end)(void (*)(void *), void *,
                                       void *) = __cxa_thread_atexit_impl;

/* What the kernel returned, as libc's functions do. */
static void *mapped(long r, size_t n)
{
	if (r == -ENOMEM && n >= HUGE && process.is_recording)
		rt_refuse("it maps more memory than a recording can follow",
		          "map less than 64 GiB at a time");
	if (r < 0 && r > -4096)
		return (void *)cairn_set_errno((int)-r);
	if (!record_shadow_follows((uintptr_t)r, n))
		rt_refuse("it maps memory at an address of its own choice, "
		          "which a recording cannot follow",
		          "leave out MAP_FIXED and MAP_32BIT there");
	return (void *)r;
}

static void *map(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	return mapped(
	        sys6(SYS_mmap, (long)at, (long)n, prot, flags, fd, offset), n);
}

SHOWN void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	return map(at, n, prot, flags, fd, offset);
}

SHOWN void *mmap64(void *at, size_t n, int prot, int flags, int fd,
                   off_t offset)
{
	return map(at, n, prot, flags, fd, offset);
}

/* Not by name: other programs that map memory get this member, too, but must
 * not get record.c, which makes them recordings. */
static void gone(uintptr_t p, size_t n)
{
	if (process.is_recording)
		process.trace->gone(p, n);
}

/* What came of giving back n bytes at p. */
static int given_back(long r, void *p, size_t n)
{
	if (r < 0)
		return (int)cairn_set_errno((int)-r);
	gone((uintptr_t)p, n);
	return 0;
}

SHOWN int munmap(void *p, size_t n)
{
	return given_back(sys3(SYS_munmap, (long)p, (long)n, 0), p, n);
}

SHOWN int madvise(void *p, size_t n, int advice)
{
	long r = sys3(SYS_madvise, (long)p, (long)n, advice);

	if (advice == MADV_DONTNEED || advice == MADV_REMOVE)
		return given_back(r, p, n);
	return r < 0 ? (int)cairn_set_errno((int)-r) : 0;
}

void *__sbrk(intptr_t n);

SHOWN void *sbrk(intptr_t n)
{
	void *old = __sbrk(n);

	if (n < 0 && old != (void *)-1) /* -1: errno is set */
		gone((uintptr_t)old + (uintptr_t)n, 0 - (size_t)n);
	return old;
}

SHOWN void *mremap(void *old, size_t nold, size_t n, int flags, ...)
{
	void *at = NULL;
	va_list rest;

	va_start(rest, flags);
	if (flags & MREMAP_FIXED)
		at = va_arg(rest, void *);
	va_end(rest);
	at = mapped(sys6(SYS_mremap, (long)old, (long)nold, (long)n, flags,
	                 (long)at, 0),
	            n);
	if (at == MAP_FAILED)
		return at;
	if (at != old)
		gone((uintptr_t)old, nold);
	else if (n < nold)
		gone((uintptr_t)old + n, nold - n);
	return at;
}

SHOWN void *shmat(int id, const void *at, int flags)
{
	return mapped(sys3(SYS_shmat, id, (long)at, flags), 1);
}
