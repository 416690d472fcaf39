/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory on demand: a fault maps the piece of 1 MiB that has the address, or,
 * where something else is in the way, the page.
 *
 * Nothing that is mapped already is ever replaced: the replayer itself cannot
 * be hit.  A fault in memory that is mapped is somebody's mistake and ends the
 * replay, as does an address where nothing can be mapped.
 *
 * Invariant: pieces[] are all mappings made here, and slots[] has each of them.
 * Cost: a signal for each piece that is touched.
 */
#include "replay/shadow.h"

#include "base/err.h"
#include "replay/fatal.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PIECE ((uintptr_t)1 << 20)
#define PAGE ((uintptr_t)4096)
#define NPIECES_MAX ((size_t)1 << 24)
#define NSLOTS (2 * NPIECES_MAX)
#define SLOT_SHIFT 39 /* leaves the bits of a slot */
#define STACK_SIZE ((size_t)256 << 10)
#define SCRAP_SIZE ((size_t)1 << 20)
/* Low: %gs has to be an address, when it is as far from there as any place that
 * replay code uses, and those of SHADOW_SEEN are. */
#define SCRAP_HINT ((uintptr_t)1 << 43)
#define NHUMOURED_MAX 4u
#define HAS_FSGSBASE 2ul /* in AT_HWCAP2 */

struct piece {
	uintptr_t at, size;
};

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
#define NSIGNALS (sizeof(signals) / sizeof(signals[0]))

static struct {
	void (*fault)(int, uint64_t, uint64_t);
	struct piece *pieces; /* mapped for the most there can be */
	size_t npieces;
	bool is_full;    /* the system gave no more */
	uint32_t *slots; /* numbers of pieces by address, from 1 on; likewise */
	void *stack;
	uint64_t pc;          /* of the last fault without remedy */
	unsigned nhumoured;   /* how often it came again */
	unsigned char *scrap; /* for accesses that lead nowhere */
	uintptr_t forbidden;  /* an access there is a fault; 0: none is */
	int protection;       /* of its page, but while it is looked past */
	bool is_passing;
	struct sigaction old[NSIGNALS];
	bool is_open;
} shadow;

static void write_gs(uint64_t base)
{
	__asm__ volatile("wrgsbase %0" : : "r"(base));
}

/* Where the number of the piece at this address is noted, or where it would be:
 * pieces of 1 MiB and single pages have different addresses, or the page lies
 * in no piece. */
static uint32_t *slot_of(uintptr_t at)
{
	size_t i = (size_t)(at * UINT64_C(0x9e3779b97f4a7c15) >> SLOT_SHIFT);

	while (shadow.slots[i] && shadow.pieces[shadow.slots[i] - 1].at != at)
		i = (i + 1) % NSLOTS;
	return &shadow.slots[i];
}

/* The piece that has an address, or NULL. */
static const struct piece *find_piece(uintptr_t at)
{
	const uintptr_t places[] = {at & ~(PIECE - 1), at & ~(PAGE - 1)};

	for (size_t i = 0; i < 2; i++) {
		uint32_t number = *slot_of(places[i]);

		if (number && at - places[i] < shadow.pieces[number - 1].size)
			return &shadow.pieces[number - 1];
	}
	return NULL;
}

static void forget_slots(void)
{
	madvise(shadow.slots, NSLOTS * sizeof(*shadow.slots), MADV_DONTNEED);
}

static bool map_piece(uintptr_t at, uintptr_t size)
{
	void *p;

	if (shadow.npieces == NPIECES_MAX)
		return false;
	p = mmap((void *)at, size, PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
	                 MAP_FIXED_NOREPLACE,
	         -1, 0);
	if (p == MAP_FAILED) {
		shadow.is_full |= errno == ENOMEM;
		return false;
	}
	if (p != (void *)at) {
		munmap(p, size);
		return false;
	}
	shadow.pieces[shadow.npieces] = (struct piece){at, size};
	*slot_of(at) = (uint32_t)++shadow.npieces;
	return true;
}

/* Is there memory of the context at this address, from now on at least? */
static bool have_page(uintptr_t at)
{
	return find_piece(at) || map_piece(at & ~(PIECE - 1), PIECE) ||
	       map_piece(at & ~(PAGE - 1), PAGE);
}

bool shadow_is_full(void)
{
	return shadow.is_full;
}

bool shadow_has(uint64_t p, uint64_t n)
{
	uintptr_t at = p - SHADOW_DISTANCE, last = at + (n ? n - 1 : 0);

	if (last < at)
		return false;
	for (at &= ~(PAGE - 1); have_page(at); at += PAGE)
		if (at >= (last & ~(PAGE - 1)))
			return true;
	return false;
}

#define TRAP_FLAG 0x100 /* a SIGTRAP comes behind the next instruction */

static void protect(int protection)
{
	mprotect((void *)(shadow.forbidden & ~(PAGE - 1)), PAGE, protection);
}

/* An access to the page of what is forbidden: is it another one?  Then it goes
 * on, with the page as it was for one instruction. */
static bool pass_by(int signal, const siginfo_t *info, ucontext_t *u)
{
	uintptr_t at = (uintptr_t)info->si_addr;

	if (shadow.is_passing && signal == SIGTRAP) {
		shadow.is_passing = false;
		u->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
		protect(shadow.protection);
		return true;
	}
	if (!shadow.forbidden || signal != SIGSEGV ||
	    info->si_code != SEGV_ACCERR || at == shadow.forbidden ||
	    (at ^ shadow.forbidden) & ~(PAGE - 1))
		return false;
	shadow.is_passing = true;
	u->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	protect(PROT_READ | PROT_WRITE);
	return true;
}

void shadow_forbid(uint64_t p, bool only_writes)
{
	uintptr_t at = p - SHADOW_DISTANCE;

	shadow_permit();
	if (!have_page(at))
		return; /* it is a fault already */
	shadow.forbidden = at;
	shadow.protection = only_writes ? PROT_READ : PROT_NONE;
	protect(shadow.protection);
}

void shadow_permit(void)
{
	if (!shadow.forbidden)
		return;
	protect(PROT_READ | PROT_WRITE);
	shadow.forbidden = 0;
}

static void handle(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	uintptr_t at = (uintptr_t)info->si_addr;
	uint64_t pc = (uint64_t)u->uc_mcontext.gregs[REG_RIP];
	int e = errno;

	if (fatal_is_compiling())
		fatal_signal(signal);
	if (signal == SIGSEGV && info->si_code == SEGV_MAPERR &&
	    have_page(at)) {
		errno = e;
		return;
	}
	if (pass_by(signal, info, u)) {
		errno = e;
		return;
	}
	shadow.nhumoured = pc == shadow.pc ? shadow.nhumoured + 1 : 0;
	shadow.pc = pc;
	shadow.fault(signal,
	             info->si_code == SEGV_MAPERR || (shadow.forbidden &&
	                                              at == shadow.forbidden)
	                     ? at + SHADOW_DISTANCE
	                     : 0,
	             pc);
	errno = e;
}

static int install(struct cairn_err *err)
{
	stack_t stack = {.ss_sp = shadow.stack, .ss_size = STACK_SIZE};
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK |
	                                       SA_NODEFER};

	action.sa_sigaction = handle;
	sigemptyset(&action.sa_mask);
	if (sigaltstack(&stack, NULL))
		return cairn_fail(err, CAIRN_E_SYSTEM, "sigaltstack: %s",
		                  strerror(errno));
	for (size_t i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &action, &shadow.old[i]);
	return 0;
}

static void *reserve(uintptr_t hint, size_t size)
{
	return mmap((void *)hint, size, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

int shadow_open(void (*fault)(int signal, uint64_t p, uint64_t pc),
                struct cairn_err *err)
{
	if (!(getauxval(AT_HWCAP2) & HAS_FSGSBASE))
		return cairn_fail(err, CAIRN_E_SYSTEM,
		                  "programs cannot set %%gs on this machine; a "
		                  "replay needs Linux 5.9 or newer and a "
		                  "processor with FSGSBASE");
	shadow.fault = fault;
	shadow.pieces = reserve(0, NPIECES_MAX * sizeof(*shadow.pieces));
	shadow.slots = reserve(0, NSLOTS * sizeof(*shadow.slots));
	shadow.stack = reserve(0, STACK_SIZE);
	shadow.scrap = reserve(SCRAP_HINT, SCRAP_SIZE);
	if ((void *)shadow.pieces == MAP_FAILED ||
	    (void *)shadow.slots == MAP_FAILED || shadow.stack == MAP_FAILED ||
	    (void *)shadow.scrap == MAP_FAILED)
		return cairn_fail(err, CAIRN_E_SYSTEM, "mmap: %s",
		                  strerror(errno));
	shadow.npieces = 0;
	CAIRN_TRY(install(err));
	write_gs(-SHADOW_DISTANCE);
	shadow.is_open = true;
	return 0;
}

/*
 * The address is not known if no such can be (the processor does not tell); it
 * is then one that is fine where memory usually is, while %gs was elsewhere for
 * another one.
 */
bool shadow_humour(uint64_t p)
{
	if (shadow.nhumoured > NHUMOURED_MAX)
		return false;
	if (shadow.nhumoured % 2)
		write_gs(-SHADOW_DISTANCE);
	else
		write_gs((uint64_t)(uintptr_t)shadow.scrap + SCRAP_SIZE / 2 -
		         p);
	return true;
}

/* Whole pages of memory of ours are given back. */
static void zero(uintptr_t lo, uintptr_t hi)
{
	uintptr_t first = (lo + PAGE - 1) & ~(PAGE - 1);
	uintptr_t last = hi & ~(PAGE - 1);

	if (first >= last) {
		memset((void *)lo, 0, hi - lo);
		return;
	}
	memset((void *)lo, 0, first - lo);
	madvise((void *)first, last - first, MADV_DONTNEED);
	memset((void *)last, 0, hi - last);
}

/* Costs a look at every piece. */
void shadow_zero(uint64_t p, uint64_t n)
{
	uintptr_t from = p - SHADOW_DISTANCE;

	for (size_t i = 0; i < shadow.npieces; i++) {
		uintptr_t lo = shadow.pieces[i].at;
		uintptr_t hi = lo + shadow.pieces[i].size;
		uintptr_t skipped = lo < from ? from - lo : 0;

		if (skipped >= hi - lo || (lo > from && lo - from >= n))
			continue;
		lo += skipped;
		zero(lo, hi - from > n ? from + n : hi);
	}
}

/* Copies bytes of a shadow; false if nothing is mapped there. */
static bool peek(uintptr_t at, unsigned char *out, size_t n)
{
	while (n) {
		const struct piece *piece = find_piece(at);
		size_t part;

		if (!piece)
			return false;
		part = piece->at + piece->size - at;
		part = part < n ? part : n;
		memcpy(out, (const void *)at, part);
		out += part;
		at += part;
		n -= part;
	}
	return true;
}

bool shadow_read(uint64_t p, void *to, size_t n)
{
	unsigned char seen[64], *out = to;

	while (n) {
		size_t part = n < sizeof(seen) ? n : sizeof(seen);

		if (!peek((uintptr_t)shadow_at(p - SHADOW_SEEN), seen, part) ||
		    memchr(seen, 0, part) ||
		    !peek((uintptr_t)shadow_at(p), out, part))
			return false;
		p += part;
		out += part;
		n -= part;
	}
	return true;
}

void shadow_note(uint64_t p, size_t n)
{
	memset(shadow_at(p - SHADOW_SEEN), 0xff, n);
}

static int by_place(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static bool is_zero(const unsigned char *page)
{
	const uint64_t *words = (const uint64_t *)(const void *)page;
	uint64_t all = 0;

	for (size_t i = 0; i < PAGE / sizeof(*words); i++)
		all |= words[i];
	return !all;
}

/* Puts pieces in order, which matters to nobody. */
int shadow_each_page(int (*told)(void *context, uint64_t at,
                                 const unsigned char *page),
                     void *context)
{
	qsort(shadow.pieces, shadow.npieces, sizeof(*shadow.pieces), by_place);
	forget_slots();
	for (size_t i = 0; i < shadow.npieces; i++)
		*slot_of(shadow.pieces[i].at) = (uint32_t)i + 1;
	for (size_t i = 0; i < shadow.npieces; i++) {
		const struct piece *p = &shadow.pieces[i];

		for (uintptr_t at = p->at; at < p->at + p->size; at += PAGE) {
			const unsigned char *page = (const void *)at;
			int rc = is_zero(page) ? 0 : told(context, at, page);

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

bool shadow_has_contents(uint64_t at)
{
	uintptr_t seen = (uintptr_t)(at - SHADOW_SEEN);

	return find_piece(seen) && !is_zero((const unsigned char *)seen);
}

unsigned char *shadow_page(uint64_t at)
{
	uintptr_t page = at & ~(PAGE - 1);

	return have_page(page) ? (unsigned char *)page : NULL;
}

void shadow_clear(void)
{
	write_gs(-SHADOW_DISTANCE);
	shadow.pc = 0;
	forget_slots();
	while (shadow.npieces) {
		struct piece *p = &shadow.pieces[--shadow.npieces];

		munmap((void *)p->at, p->size);
	}
}

void shadow_close(void)
{
	stack_t none = {.ss_flags = SS_DISABLE};

	if (!shadow.is_open)
		return;
	shadow_clear();
	for (size_t i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &shadow.old[i], NULL);
	sigaltstack(&none, NULL);
	write_gs(0);
	munmap(shadow.pieces, NPIECES_MAX * sizeof(*shadow.pieces));
	munmap(shadow.slots, NSLOTS * sizeof(*shadow.slots));
	munmap(shadow.stack, STACK_SIZE);
	munmap(shadow.scrap, SCRAP_SIZE);
	shadow.is_open = false;
}
