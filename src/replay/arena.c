/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory below 2 GiB: one reservation, given out page by page, upwards.
 *
 * Invariant: all that was given out is below `used`, readable and writable or
 * sealed; the rest cannot be touched.
 * Cost: a system call for each piece.
 */
#include "replay/arena.h"

#include "base/err.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define BASE ((uintptr_t)0x10000000)
#define END ((uintptr_t)0x7ff00000)
#define PAGE ((size_t)4096)

static struct {
	uintptr_t used; /* 0: there is none */
} arena;

int arena_open(struct cairn_err *err)
{
	void *p = mmap((void *)BASE, END - BASE, PROT_NONE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
	                       MAP_FIXED_NOREPLACE,
	               -1, 0);

	if (p != (void *)BASE)
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "cannot reserve memory below 2 GiB for the "
		                  "replay: %s; raise ulimit -v",
		                  p == MAP_FAILED ? strerror(errno)
		                                  : "old kernel");
	arena.used = BASE;
	return 0;
}

void arena_close(void)
{
	if (arena.used)
		munmap((void *)BASE, END - BASE);
	arena.used = 0;
}

bool arena_has(uint64_t address)
{
	return address >= BASE && address < arena.used;
}

static size_t whole_pages(size_t size)
{
	return (size + PAGE - 1) & ~(PAGE - 1);
}

void *arena_take(size_t size)
{
	void *p = (void *)arena.used;

	if (!size)
		size = 1;
	if (!arena.used || size > END - arena.used - PAGE)
		return NULL;
	size = whole_pages(size);
	if (mprotect(p, size, PROT_READ | PROT_WRITE))
		return NULL;
	arena.used += size;
	return p;
}

int arena_seal(void *p, size_t size, struct cairn_err *err)
{
	if (mprotect(p, whole_pages(size ? size : 1), PROT_READ | PROT_EXEC))
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "cannot make code of the replay "
		                  "executable: %s",
		                  strerror(errno));
	return 0;
}
