/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings: shadows.
 *
 * The shadow of address p is at p - shift, a constant of the context, which %gs
 * adds.  So what the program can map has to be known beforehand: windows around
 * the groups of mappings that there are when the first context is made, in
 * which the kernel goes on mapping, MARGIN in each direction.  All other
 * addresses are reserved, so that nothing else gets there; shadows of the
 * windows take the place of such reservations.  A shift is chosen so that no
 * shadow of any window meets a window or another shadow.
 *
 * What the program maps at an address of its own choice, outside of the
 * windows, has no shadow: hook_map.c ends the program there.  Below LOWEST, an
 * address minus a shift is none of a process: an access traps.  Windows are
 * where a replay can have memory as well (CAIRN_REPLAY_LOWEST).
 *
 * The low bits of a shift are skewed, or memory and shadow would compete for
 * the same lines of the caches (DESIGN.md 3.5: 8.8 against 1.5 times).
 *
 * A second runtime in the process finds the reservations of the first, and has
 * no room for its own.
 *
 * Invariant: two contexts have no shadow in common, and none is in a window.
 * Breaks when: somebody maps over a reservation by a bare system call.
 * Cost: one look at /proc/self/maps; per context two system calls per window,
 * and the pages that it touches.
 */
#include "runtime/record.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/sys.h"

#define GIB ((uintptr_t)1 << 30)
#define MARGIN (128 * GIB)
#define LOWEST (4 * GIB) /* of reservations and shadows */
#define HIGHEST (((uintptr_t)1 << 47) - RT_PAGE)
#define SKEW ((uintptr_t)0x1540)
#define STEP GIB /* between shifts */
#define NWINDOWS 8u
#define HWCAP2_FSGSBASE 2u

struct range {
	uintptr_t lo, hi;
};

static struct {
	struct range window[NWINDOWS];
	unsigned nwindows;
	bool is_ready;
	bool has_other;           /* runtime in this process, which reserves */
	struct context *contexts; /* that have one, by next_shadow */
} shadow;

static bool overlap(const struct range *a, const struct range *b)
{
	return a->lo < b->hi && b->lo < a->hi;
}

/* --- windows ----------------------------------------------------------------
 */

/* Ranges come in ascending order. */
static bool add_range(uintptr_t lo, uintptr_t hi)
{
	const uintptr_t lowest = CAIRN_REPLAY_LOWEST;
	struct range r = {lo > lowest + MARGIN ? lo - MARGIN : lowest,
	                  hi < HIGHEST - MARGIN ? hi + MARGIN : HIGHEST};
	struct range *last =
	        shadow.nwindows ? &shadow.window[shadow.nwindows - 1] : NULL;

	if (lo >= HIGHEST) /* vsyscall */
		return true;
	if (lo < lowest)
		return false;
	r.lo &= ~(GIB - 1);
	if (r.hi != HIGHEST)
		r.hi = (r.hi + GIB - 1) & ~(GIB - 1);
	if (last && r.lo <= last->hi) {
		if (r.hi > last->hi)
			last->hi = r.hi;
		return true;
	}
	if (shadow.nwindows == NWINDOWS)
		return false;
	shadow.window[shadow.nwindows++] = r;
	return true;
}

/* One line of maps after the other, a byte at a time. */
struct lines {
	struct range r;
	bool in_hi, is_done; /* of the two numbers */
	uintptr_t brk;       /* 0: has been added */
};

/* The lowest reservation of a runtime: none of its shadows begins there. */
static bool is_reservation(const struct range *r)
{
	return r->lo == LOWEST && r->hi - r->lo >= GIB;
}

static bool end_of_line(struct lines *l)
{
	bool ok = true;

	shadow.has_other |= is_reservation(&l->r);
	if (l->brk && l->r.lo > l->brk) { /* before it, so in order */
		ok = add_range(l->brk, l->brk);
		l->brk = 0;
	}
	ok = ok && add_range(l->r.lo, l->r.hi);
	l->r = (struct range){0, 0};
	l->in_hi = l->is_done = false;
	return ok;
}

static bool take_char(struct lines *l, char c)
{
	uintptr_t *v = l->in_hi ? &l->r.hi : &l->r.lo;

	if (c == '\n')
		return end_of_line(l);
	if (l->is_done)
		return true;
	if (c >= '0' && c <= '9')
		*v = *v << 4 | (uintptr_t)(c - '0');
	else if (c >= 'a' && c <= 'f')
		*v = *v << 4 | (uintptr_t)(c - 'a' + 10);
	else if (c == '-')
		l->in_hi = true;
	else
		l->is_done = true;
	return true;
}

/* Would a replay have two of them at one place? */
static bool are_mixed_up(void)
{
	for (unsigned i = 0; i < shadow.nwindows; i++) {
		struct range r = shadow.window[i];

		r.lo += CAIRN_REPLAY_SEEN;
		r.hi += CAIRN_REPLAY_SEEN;
		for (unsigned k = 0; k < shadow.nwindows; k++)
			if (overlap(&r, &shadow.window[k]))
				return true;
	}
	return false;
}

/* False if some mapping cannot be followed. */
static bool find_windows(void)
{
	char *buffer = process.buffers->maps;
	struct lines l = {.brk = (uintptr_t)sys1(SYS_brk, 0)};
	bool ok = true;
	long r;
	int fd = (int)sys3(SYS_open, (long)"/proc/self/maps",
	                   O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		rt_refuse("there is no /proc/self/maps", "mount /proc");
	while (ok && (r = sys3(SYS_read, fd, (long)buffer,
	                       sizeof(process.buffers->maps))) > 0)
		for (long i = 0; ok && i < r; i++)
			ok = take_char(&l, buffer[i]);
	sys1(SYS_close, fd);
	return ok && shadow.nwindows && !are_mixed_up();
}

/* --- reservations -----------------------------------------------------------
 */

static bool map(const struct range *r, int prot, int flags)
{
	void *at = (void *)r->lo, *p;

	if (r->lo >= r->hi)
		return true;
	p = sys_map(at, r->hi - r->lo, prot,
	            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
	if (p && p != at) /* a kernel that takes it for a hint */
		sys3(SYS_munmap, (long)p, (long)(r->hi - r->lo), 0);
	return p == at;
}

static _Noreturn void no_memory(void)
{
	rt_refuse("the address space is limited",
	          "lift ulimit -v and -d, or vm.overcommit_memory=2");
}

/* All between the windows. */
static void reserve(void)
{
	struct range gap = {LOWEST, LOWEST};

	for (unsigned i = 0; i <= shadow.nwindows; i++) {
		gap.hi = i < shadow.nwindows ? shadow.window[i].lo : HIGHEST;
		if (!map(&gap, PROT_NONE, MAP_FIXED_NOREPLACE))
			no_memory();
		if (i < shadow.nwindows)
			gap.lo = shadow.window[i].hi;
	}
}

static _Noreturn void refuse_other(void)
{
	rt_refuse("a library in it has a runtime of its own",
	          "load it without dlmopen and RTLD_DEEPBIND, and link "
	          "it without -Bsymbolic");
}

static void prepare(void)
{
	struct sys_aux aux;
	bool can_follow;

	if (shadow.is_ready)
		return;
	sys_read_aux(&aux);
	if (!(aux.hwcap2 & HWCAP2_FSGSBASE))
		rt_refuse("the kernel does not let programs set %gs",
		          "use Linux 5.9 or later, not under valgrind");
	can_follow = find_windows();
	if (shadow.has_other)
		refuse_other();
	if (!can_follow)
		rt_refuse("memory of the program lies where it cannot be "
		          "followed",
		          "link it as PIE, map nothing at low addresses, and "
		          "set no unusual limit of the stack: ulimit -s 8192");
	reserve();
	shadow.is_ready = true;
}

bool record_shadow_follows(uintptr_t p, size_t n)
{
	for (unsigned i = 0; i < shadow.nwindows; i++)
		if (p >= shadow.window[i].lo && p < shadow.window[i].hi &&
		    n <= shadow.window[i].hi - p)
			return true;
	return !shadow.is_ready;
}

/* --- a shadow ---------------------------------------------------------------
 */

/* Whole pages, and one more for who is at the end. */
static struct range shadow_of(const struct range *w, uintptr_t shift)
{
	return (struct range){(w->lo - shift) & ~(RT_PAGE - 1),
	                      ((w->hi - shift) & ~(RT_PAGE - 1)) + 2 * RT_PAGE};
}

/* What is in the way of a window's shadow; false: nothing. */
static bool is_taken(const struct range *r, struct range *by)
{
	for (unsigned i = 0; i < shadow.nwindows; i++)
		if (overlap(r, &shadow.window[i])) {
			*by = shadow.window[i];
			return true;
		}
	for (struct context *c = shadow.contexts; c; c = c->next_shadow)
		for (unsigned i = 0; i < shadow.nwindows; i++) {
			*by = shadow_of(&shadow.window[i], c->shift);
			if (overlap(r, by))
				return true;
		}
	return false;
}

/* The least shift with which nothing is in the way, 0 if there is none. */
static uintptr_t find_shift(void)
{
	uintptr_t shift = STEP + SKEW;
	unsigned i = 0;

	while (i < shadow.nwindows) {
		const struct range *w = &shadow.window[i++];
		struct range r, by;

		if (w->lo < shift + LOWEST + RT_PAGE)
			return 0;
		r = shadow_of(w, shift);
		if (!is_taken(&r, &by))
			continue;
		shift += (r.hi - by.lo + STEP - 1) & ~(STEP - 1);
		i = 0;
	}
	return shift;
}

static void set_gs(uintptr_t base)
{
	__asm__ volatile("wrgsbase %0" : : "r"(base) : "memory");
}

void record_shadow_make(struct context *c)
{
	uintptr_t shift;

	prepare();
	shift = find_shift();
	if (!shift && !shadow.contexts)
		refuse_other();
	if (!shift)
		rt_refuse("there are too many threads at a time", "use fewer");
	for (unsigned i = 0; i < shadow.nwindows; i++) {
		struct range r = shadow_of(&shadow.window[i], shift);

		if (!map(&r, PROT_READ | PROT_WRITE, MAP_FIXED))
			no_memory();
		sys3(SYS_madvise, (long)r.lo, (long)(r.hi - r.lo),
		     MADV_DONTDUMP);
	}
	c->shift = shift;
	c->next_shadow = shadow.contexts;
	shadow.contexts = c;
	record_shadow_use(c);
}

void record_shadow_use(const struct context *c)
{
	set_gs(0 - c->shift);
}

void record_shadow_clear(const struct context *c)
{
	for (unsigned i = 0; i < shadow.nwindows; i++) {
		struct range r = shadow_of(&shadow.window[i], c->shift);

		sys3(SYS_madvise, (long)r.lo, (long)(r.hi - r.lo),
		     MADV_DONTNEED);
	}
}

bool record_shadow_zero(const struct context *c, uintptr_t p, size_t n,
                        uint64_t range[2])
{
	uintptr_t lo, hi;

	if (!c->shift || p + n < p || !record_shadow_follows(p, n))
		return false;
	lo = (p - c->shift + RT_PAGE - 1) & ~(RT_PAGE - 1);
	hi = (p - c->shift + n) & ~(RT_PAGE - 1);
	if (lo >= hi ||
	    sys3(SYS_madvise, (long)lo, (long)(hi - lo), MADV_DONTNEED) < 0)
		return false;
	range[0] = lo + c->shift;
	range[1] = hi - lo;
	return true;
}

void record_shadow_drop(struct context *c)
{
	struct context **at = &shadow.contexts;

	if (!c->shift)
		return;
	for (unsigned i = 0; i < shadow.nwindows; i++) {
		struct range r = shadow_of(&shadow.window[i], c->shift);

		map(&r, PROT_NONE, MAP_FIXED);
	}
	while (*at != c)
		at = &(*at)->next_shadow;
	*at = c->next_shadow;
	c->shift = 0;
}
