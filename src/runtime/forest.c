/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forests of the threads: where windows of streams are counted
 * (forest_steps.c), in chunks of the file, so that they survive as all counts
 * do.
 *
 * Each thread has a forest, which the next thread takes over together with its
 * record.  Their memory is bounded together; beyond it nothing new is made.
 * How long a run's windows are, its first step says.
 *
 * A child of fork begins new ones.  Frames that it has inherited have states of
 * the parent's, slots that are zeros here: nobody knows what was before. States
 * of chains are nodes, with a tag that each forest of a process, and of its
 * parents, has for itself.
 *
 * A process counts windows or chains, as its first step says; steps of the
 * other kind are counted nowhere.
 *
 * Invariant: a word of STARTS is 0, or how far a slot is; one store writes it.
 * Cost: core_forest_find is called without saving vector state, and uses none;
 * forest_take_saved saves it for more memory, which alone blocks signals and
 * takes the lock.  core_forest_make is for the first step of a thread, and for
 * those behind the end.
 */
#include "runtime/forest.h"

#include "abi/rt.h"
#include "runtime/forest_steps.h"
#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/sys.h"

#define HIDDEN __attribute__((visibility("hidden")))
/* The memory, if nobody says. */
#define FOREST_MEMORY ((uint64_t)64 << 20)
#define IS_OFF ((struct forest *)1)
#define HOW_K 255u
#define CACHE 8192u /* slots that are found at once */
#define REFUSED 16u
#define TAGS 256u /* chains: forests that a process may have */

HIDDEN extern const uint64_t __cairn_forest_memory;
HIDDEN __attribute__((weak)) const uint64_t __cairn_forest_memory =
        FOREST_MEMORY;

_Static_assert(
        offsetof(struct rt_thread, forest_starts) == CAIRN_FOREST_STARTS &&
                offsetof(struct rt_thread, forest) == CAIRN_FOREST &&
                offsetof(struct rt_thread, chain) == CAIRN_CHAIN_TARGET &&
                offsetof(struct rt_thread, chain_cache) == CAIRN_CHAIN_CACHE &&
                offsetof(struct rt_thread, chain_mask) == CAIRN_CHAIN_MASK &&
                TAGS << CAIRN_NODE_BITS == 0 &&
                sizeof(struct rt_thread) == 8 * CAIRN_THREAD_WORDS &&
                RT_MODULES >= CAIRN_STARTS_N,
        "abi/rt.h");

/* A forest, where its streams begin, and the slots that were last found. */
struct place {
	struct forest forest;
	uint64_t starts[CAIRN_STARTS_N];
	uint64_t cache[1 + CACHE];
};

/* Of all forests of the process.  Threads: under the lock. */
static struct {
	uint64_t k;    /* AUX1 of chunks; 0: nobody has made a step */
	uint64_t used; /* bytes */
	uint32_t ntags;
	/* addresses of counters that would be taken for others */
	struct range {
		uint64_t first, end;
	} refused[REFUSED];
	uint32_t nrefused;
} all;

static bool is_in(uint64_t owner, const struct range *r)
{
	return owner >= r->first && owner < r->end;
}

static bool is_refused(uint64_t owner)
{
	uint32_t n = __atomic_load_n(&all.nrefused, __ATOMIC_ACQUIRE);

	owner &= ((uint64_t)1 << CAIRN_LINK_SHIFT) - 1;
	for (uint32_t i = 0; i < n; i++)
		if (is_in(owner, &all.refused[i]))
			return true;
	return false;
}

static void *take_chunk(const struct forest *f, enum forest_what what,
                        uint64_t n, size_t size, uint64_t first)
{
	const struct thread *t = f->context;
	const struct out_spec spec = {
	        .type = what == FOREST_SLOTS ? CAIRN_CHUNK_FOREST
	                                     : CAIRN_CHUNK_NODES,
	        .id = t->serial,
	        .n = n,
	        .aux0 = first,
	        .aux1 = all.k,
	        .payload = size,
	        .flags = CAIRN_CHUNK_LIVE,
	};
	struct chunk *c = out_chunk(&spec);

	if (c)
		out_publish(c);
	return c ? out_payload(c) : NULL;
}

/* Lock held. */
static void take_zeros(struct forest *f, enum forest_what what, uint64_t n,
                       unsigned sixteenths, void **where)
{
	size_t size = n * (what == FOREST_SLOTS   ? sizeof(struct forest_slot)
	                   : what == FOREST_NODES ? sizeof(struct forest_node)
	                                          : sizeof(uint32_t));
	uint64_t first;

	if (*where || all.used + size > __cairn_forest_memory / 16 * sixteenths)
		return;
	if (what == FOREST_INDEX) {
		*where = sys_map_zeros(size);
	} else {
		first = (uint64_t)(where - (what == FOREST_SLOTS
		                                    ? (void **)f->slots
		                                    : (void **)f->nodes)) *
		        FOREST_PIECE;
		*where = take_chunk(f, what, n, size, first);
	}
	if (*where)
		all.used += size;
}

bool forest_take(struct forest *f, enum forest_what what, uint64_t n,
                 unsigned sixteenths, void **where)
{
	uint64_t mask;

	rt_enter_running(&mask);
	if (process.is_sealed)
		out_unseal();
	take_zeros(f, what, n, sixteenths, where);
	rt_leave(&mask);
	return *where != NULL;
}

static bool counts_chains(void)
{
	return all.k >= CAIRN_CHAINS;
}

/* NULL if there is no memory, or no tag.  Lock held. */
static struct forest *new_forest(struct thread *t)
{
	struct place *p;

	if (counts_chains() && all.ntags == TAGS)
		return NULL;
	p = sys_map_zeros(sizeof(*p));
	if (!p)
		return NULL;
	forest_init(&p->forest);
	p->forest.take = forest_take_saved;
	p->forest.context = t;
	p->forest.tag = all.ntags++ << CAIRN_NODE_BITS;
	return &p->forest;
}

/* Lock held. */
static void find_forest(struct thread *t)
{
	struct place *p;

	if (!t->forest)
		t->forest = new_forest(t);
	p = (struct place *)t->forest;
	__cairn_thread.forest = p ? &p->forest : IS_OFF;
	if (!p)
		return;
	__cairn_thread.forest_starts = p->starts;
	rt_put64(&__cairn_thread.chain_cache, (uintptr_t)p->cache);
	rt_put64(&__cairn_thread.chain_mask, (CACHE - 1) * 8);
}

/* Puts a slot where forest.S looks first. */
static void remember(struct forest *f, const struct forest_slot *s)
{
	uint64_t *cache = ((struct place *)f)->cache;
	uint64_t hash = s->key + s->owner * 8;

	hash = hash * CAIRN_FOREST_MULTIPLIER >> 48;
	rt_put64(&cache[1 + hash % (8 * CACHE) / 8],
	         (uintptr_t)s - (uintptr_t)cache);
}

/* Is there a file that new windows are a part of? */
static bool can_make(void)
{
	return !process.is_off && !process.is_sealed;
}

/* What a beginning stands for: its slot, if there is one. */
static uint64_t begin(struct forest *f, uint64_t state, uint64_t how,
                      const struct forest_slot *start)
{
	uint64_t *starts = ((struct place *)f)->starts;

	if (state || !start)
		return state;
	starts[how >> CAIRN_STARTS_SHIFT] =
	        (uintptr_t)start - (uintptr_t)starts;
	return (uintptr_t)start;
}

uint64_t core_forest_find(uint64_t state, uint64_t owner, uint64_t id,
                          uint64_t how)
{
	struct forest *f = __cairn_thread.forest;
	uint64_t next;

	if (f == IS_OFF || counts_chains() || is_refused(owner))
		return 0;
	if (!f)
		return FOREST_ABSENT;
	if (!state)
		state = begin(f, state, how, forest_find_start(f, owner));
	next = forest_find(f, state, owner, (uint32_t)id);
	if (next == FOREST_ABSENT && state && can_make())
		next = forest_make(f, state, owner, (uint32_t)id,
		                   (unsigned)all.k);
	if (next > CAIRN_CHAIN_UNKNOWN && next != FOREST_ABSENT)
		remember(f, (const struct forest_slot *)(uintptr_t)next);
	return next;
}

/* The first step of a thread, or one behind the end. */
static void prepare(struct thread *t, uint64_t how)
{
	uint64_t mask;

	rt_enter_running(&mask);
	if (process.is_sealed)
		out_unseal();
	if (!all.k)
		all.k = how &
		        (how & CAIRN_CHAINS ? CAIRN_CHAINS | HOW_K : HOW_K);
	find_forest(t);
	rt_leave(&mask);
}

/* That of the calling thread; NULL if it has none. */
static struct forest *use_forest(uint64_t how)
{
	struct thread *t = rt_self();

	if (!t || process.is_off) {
		if (t)
			__cairn_thread.forest = IS_OFF;
		return NULL;
	}
	if (!__cairn_thread.forest || process.is_sealed)
		prepare(t, how);
	return __cairn_thread.forest == IS_OFF ? NULL : __cairn_thread.forest;
}

uint64_t core_forest_make(uint64_t state, uint64_t owner, uint64_t id,
                          uint64_t how)
{
	struct forest *f = use_forest(how);
	uint64_t next;

	if (!f || counts_chains())
		return 0;
	if (!state)
		state = begin(f, state, how, forest_make_start(f, owner));
	next = forest_find(f, state, owner, (uint32_t)id);
	if (next == FOREST_ABSENT)
		next = forest_make(f, state, owner, (uint32_t)id,
		                   (unsigned)all.k);
	return next;
}

/* Counts a path; says what the state behind a call is.  The next time it is
 * found at once, unless the slot is of fewer calls. */
static uint64_t take_link(struct forest *f, struct forest_slot *s,
                          uint64_t state, uint64_t owner, uint64_t id)
{
	if (s && s->key == state + id)
		remember(f, s);
	if (owner >> CAIRN_LINK_SHIFT)
		return s ? s->next : CAIRN_CHAIN_UNKNOWN;
	if (s)
		__asm__ volatile("incq %0" : "+m"(s->count) : : "cc");
	return 0;
}

uint64_t core_chain_find(uint64_t state, uint64_t owner, uint64_t id,
                         uint64_t how)
{
	struct forest *f = __cairn_thread.forest;
	struct forest_slot *s;

	(void)how; /* what is there says how deep it is */
	if (f == IS_OFF || (f && !counts_chains()) || is_refused(owner))
		return CAIRN_CHAIN_UNKNOWN;
	s = f ? forest_find_link(f, state, owner, (uint32_t)id)
	      : FOREST_NO_SLOT;
	if (f && s == FOREST_NO_SLOT && can_make())
		s = forest_make_link(f, state, owner, (uint32_t)id,
		                     (unsigned)(all.k & HOW_K));
	return s == FOREST_NO_SLOT ? FOREST_ABSENT
	                           : take_link(f, s, state, owner, id);
}

uint64_t core_chain_make(uint64_t state, uint64_t owner, uint64_t id,
                         uint64_t how)
{
	struct forest *f = use_forest(how);
	struct forest_slot *s;

	if (!f || !counts_chains())
		return CAIRN_CHAIN_UNKNOWN;
	s = forest_find_link(f, state, owner, (uint32_t)id);
	if (s == FOREST_NO_SLOT)
		s = forest_make_link(f, state, owner, (uint32_t)id,
		                     (unsigned)(all.k & HOW_K));
	return take_link(f, s, state, owner, id);
}

/* Forgets slots with owners in a range, of n words that say how far they are
 * from `from`. */
static void forget(const uint64_t *from, uint64_t *words, uint32_t n,
                   const struct range *r)
{
	uint64_t link = ((uint64_t)1 << CAIRN_LINK_SHIFT) - 1;

	for (uint32_t i = 0; i < n; i++) {
		const struct forest_slot *s =
		        (const void *)((uintptr_t)from + words[i]);

		if (words[i] && is_in(s->owner & link, r))
			rt_put64(&words[i], 0);
	}
}

void forest_refuse(uint64_t first, uint64_t end)
{
	struct range *last = &all.refused[REFUSED - 1];
	struct range r = {first, end};

	if (all.nrefused < REFUSED) {
		all.refused[all.nrefused] = r;
		__atomic_store_n(&all.nrefused, all.nrefused + 1,
		                 __ATOMIC_RELEASE);
	} else { /* what is between them has bad luck */
		last->first = first < last->first ? first : last->first;
		last->end = end > last->end ? end : last->end;
	}
	for (struct thread *t = process.threads; t; t = t->next) {
		struct place *p = (struct place *)t->forest;

		if (!p)
			continue;
		forget(p->starts, p->starts, CAIRN_STARTS_N, &r);
		forget(p->cache, p->cache + 1, CACHE, &r);
	}
}

bool forest_is_part(const struct chunk *c)
{
	uint32_t type = rt_get32(c->mem + CAIRN_CHK_TYPE);

	return type == CAIRN_CHUNK_FOREST || type == CAIRN_CHUNK_NODES;
}

void forest_fork(uint64_t *zeros)
{
	for (struct thread *t = process.threads; t; t = t->next)
		t->forest = NULL;
	all.used = 0;
	__cairn_thread.forest_starts = zeros;
	rt_put64(&__cairn_thread.chain_mask, 0); /* before the cache */
	rt_put64(&__cairn_thread.chain_cache, (uintptr_t)zeros);
	__cairn_thread.forest = NULL;
}
