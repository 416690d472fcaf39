/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (Executables that are recorded only, by the name of the first.)  Memory that
 * the program maps where it likes: MAP_FIXED, MAP_32BIT, shmat.  Where the
 * kernel chooses, the shadow follows (record_shadow.c); elsewhere a mark would
 * find another shadow, or none, so that the program ends here.  An address that
 * is no more than a hint is not taken if it would end the program.  Memory that
 * it gives back: so is its shadow.  (What libc unmaps by itself, in free, does
 * not come by here.)
 *
 * Memory that is mapped twice has two shadows, of which a store changes one: a
 * load through the other address, if it is one without a check
 * (plugin/seen.cpp), would not see it.  A program that does so ends here, too.
 * What is mapped is what the kernel says: lines of /proc/self/maps with the
 * same file, of which one is shared and can be written.
 *
 * Cost: a look at a few numbers per mapping; three system calls more for what
 * is given back; two looks at /proc/self/maps for what is shared.
 */
#include <errno.h>
#include <fcntl.h>
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

/* --- memory that is mapped twice ----------------------------------------- */

/* A line of /proc/self/maps: "lo-hi perms offset major:minor inode name". */
struct vma {
	uint64_t lo, hi, offset, device, inode;
	bool is_writable, is_shared;
};

struct vma_reader {
	int fd;
	long at, n;
	char buffer[512];
};

static int next_char(struct vma_reader *r)
{
	if (r->at == r->n) {
		r->n = sys3(SYS_read, r->fd, (long)r->buffer,
		            sizeof(r->buffer));
		r->at = 0;
	}
	return r->n > 0 ? (unsigned char)r->buffer[r->at++] : -1;
}

/* A number, and what stands behind it. */
static uint64_t next_number(struct vma_reader *r, unsigned base, int *end)
{
	uint64_t v = 0;
	int c;

	for (;;) {
		c = next_char(r);
		if (c >= '0' && c <= '9')
			v = v * base + (unsigned)(c - '0');
		else if (base == 16 && c >= 'a' && c <= 'f')
			v = v * base + (unsigned)(c - 'a') + 10;
		else
			break;
	}
	*end = c;
	return v;
}

/* The next line; false if there is none. */
static bool next_vma(struct vma_reader *r, struct vma *v)
{
	int c;

	v->lo = next_number(r, 16, &c);
	v->hi = next_number(r, 16, &c);
	v->is_writable = v->is_shared = false;
	while (c >= 0 && (c = next_char(r)) != ' ') {
		v->is_writable |= c == 'w';
		v->is_shared |= c == 's';
	}
	v->offset = next_number(r, 16, &c);
	v->device = next_number(r, 16, &c) << 32;
	v->device |= next_number(r, 16, &c);
	v->inode = next_number(r, 10, &c);
	while (c >= 0 && c != '\n')
		c = next_char(r);
	return c == '\n';
}

static bool may_differ(const struct vma *a, const struct vma *b)
{
	return (a->is_shared && a->is_writable) ||
	       (b->is_shared && b->is_writable);
}

static bool is_same_memory(const struct vma *a, const struct vma *b)
{
	/* memory of System V may have the number 0 */
	return (a->inode || a->device) && a->inode == b->inode &&
	       a->device == b->device && a->lo != b->lo &&
	       a->offset < b->offset + (b->hi - b->lo) &&
	       b->offset < a->offset + (a->hi - a->lo) && may_differ(a, b);
}

/* Is what lies at p mapped elsewhere as well? */
static bool is_mapped_twice(uintptr_t p)
{
	struct vma_reader r;
	struct vma ours, v;
	bool is_twice = false;

	ours.inode = ours.device = 0;
	for (int pass = 0; pass < 2; pass++) {
		r.fd = (int)sys3(SYS_open, (long)"/proc/self/maps",
		                 O_RDONLY | O_CLOEXEC, 0);
		r.at = r.n = 0;
		if (r.fd < 0)
			return false; /* it was there when we began */
		while (next_vma(&r, &v)) {
			if (pass)
				is_twice |= is_same_memory(&ours, &v);
			else if (v.lo <= p && p < v.hi)
				ours = v;
		}
		sys1(SYS_close, r.fd);
	}
	return is_twice;
}

static void *shared(void *p)
{
	if (p != MAP_FAILED && process.is_recording &&
	    is_mapped_twice((uintptr_t)p))
		rt_refuse("it maps the same memory at two addresses, which a "
		          "recording cannot follow",
		          "map it once, or not as shared");
	return p;
}

/* --- hooks ---------------------------------------------------------------- */

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

static bool is_hint(const void *at, int flags)
{
	return at && !(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT));
}

static void *map(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	long r = sys6(SYS_mmap, (long)at, (long)n, prot, flags, fd, offset);
	void *p;

	if ((r >= 0 || r < -4095) && is_hint(at, flags) &&
	    !record_shadow_follows((uintptr_t)r, n)) {
		sys3(SYS_munmap, r, (long)n, 0);
		r = sys6(SYS_mmap, 0, (long)n, prot, flags, fd, offset);
	}
	p = mapped(r, n);

	return flags & MAP_ANONYMOUS ? p : shared(p);
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
	if (!nold)
		return shared(
		        at); /* a second mapping, if the first is shared */
	if (at != old)
		gone((uintptr_t)old, nold);
	else if (n < nold)
		gone((uintptr_t)old + n, nold - n);
	return at;
}

SHOWN void *shmat(int id, const void *at, int flags)
{
	return shared(mapped(sys3(SYS_shmat, id, (long)at, flags), 1));
}
