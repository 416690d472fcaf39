/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory below 2 GiB: one reservation, given out page by page, upwards, from a
 * place that is another one in every process.
 *
 * Invariant: all that was given out is from `base` on and below `used`,
 * readable and writable or sealed; the rest cannot be touched.
 * Cost: a system call for each piece.
 */
#include "replay/arena.h"

#include "base/err.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#define LOWEST ((uintptr_t)0x10000000)
#define END ((uintptr_t)0x7ff00000)
#define PAGE ((size_t)4096)
#define NPLACES 0x10000u /* where it may begin: in the lowest 256 MiB */

static struct {
	uintptr_t base, used; /* 0: there is none */
} arena;

/* Who sends a recording cannot know it. */
static uintptr_t choose_base(void)
{
	uint64_t n = 0;

	if (getrandom(&n, sizeof(n), GRND_NONBLOCK) != sizeof(n))
		n = (uint64_t)(uintptr_t)&n / PAGE; /* random, too */
	return LOWEST + (uintptr_t)(n % NPLACES) * PAGE;
}

int arena_open(struct cairn_err *err)
{
	uintptr_t base = choose_base();
	void *p = mmap((void *)base, END - base, PROT_NONE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
	                       MAP_FIXED_NOREPLACE,
	               -1, 0);

	if (p != (void *)base)
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "cannot reserve memory below 2 GiB for the "
		                  "replay: %s; raise ulimit -v",
		                  p == MAP_FAILED ? strerror(errno)
		                                  : "old kernel");
	arena.base = arena.used = base;
	return 0;
}

void arena_close(void)
{
	if (arena.used)
		munmap((void *)arena.base, END - arena.base);
	arena.base = arena.used = 0;
}

bool arena_has(uint64_t address)
{
	return address >= arena.base && address < arena.used;
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

int arena_seal(void *p, size_t size, bool is_code, struct cairn_err *err)
{
	if (mprotect(p, whole_pages(size ? size : 1),
	             is_code ? PROT_READ | PROT_EXEC : PROT_READ))
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "cannot make code of the replay "
		                  "executable: %s",
		                  strerror(errno));
	return 0;
}

void arena_unseal(void *p, size_t size)
{
	mprotect(p, whole_pages(size), PROT_READ | PROT_WRITE);
}
