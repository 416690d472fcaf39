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
 * the parent's, slots that are zeros here: nobody knows what was before.
 *
 * Invariant: a word of STARTS is 0, or how far a slot is; one store writes it.
 * Cost: core_forest_find is called without saving vector state, and uses none;
 * core_forest_make blocks signals and takes the lock only for more memory.
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

HIDDEN extern const uint64_t __cairn_forest_memory;
HIDDEN __attribute__((weak)) const uint64_t __cairn_forest_memory =
        FOREST_MEMORY;

_Static_assert(offsetof(struct rt_thread, forest_starts) ==
                               CAIRN_FOREST_STARTS &&
                       offsetof(struct rt_thread, forest) == CAIRN_FOREST &&
                       sizeof(struct rt_thread) == 8 * CAIRN_THREAD_WORDS &&
                       RT_MODULES >= CAIRN_STARTS_N,
               "abi/rt.h");

/* A forest, and where its streams begin. */
struct place {
	struct forest forest;
	uint64_t starts[CAIRN_STARTS_N];
};

/* Of all forests of the process.  Threads: under the lock. */
static struct {
	uint64_t k;    /* 0: nobody has made a step */
	uint64_t used; /* bytes */
} all;

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

static bool take(struct forest *f, enum forest_what what, uint64_t n,
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

/* NULL if there is no memory. */
static struct forest *forest_of(struct thread *t)
{
	struct place *p;

	if (!t->forest) {
		p = sys_map_zeros(sizeof(*p));
		if (!p)
			return NULL;
		forest_init(&p->forest);
		p->forest.take = take;
		p->forest.context = t;
		t->forest = &p->forest;
	}
	p = (struct place *)t->forest;
	__cairn_thread.forest = t->forest;
	__cairn_thread.forest_starts = p->starts;
	return t->forest;
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

	if (f == IS_OFF)
		return 0;
	if (!f)
		return FOREST_ABSENT;
	if (!state)
		state = begin(f, state, how, forest_find_start(f, owner));
	return forest_find(f, state, owner, (uint32_t)id);
}

/* The first step of a thread, or one behind the end. */
static void prepare(struct thread *t, uint64_t how)
{
	uint64_t mask;

	rt_enter_running(&mask);
	if (process.is_sealed)
		out_unseal();
	if (!all.k)
		all.k = how & HOW_K;
	forest_of(t);
	rt_leave(&mask);
}

uint64_t core_forest_make(uint64_t state, uint64_t owner, uint64_t id,
                          uint64_t how)
{
	struct thread *t = rt_self();
	struct forest *f;
	uint64_t next;

	if (!t || process.is_off) {
		if (t)
			__cairn_thread.forest = IS_OFF;
		return 0;
	}
	if (!__cairn_thread.forest || process.is_sealed)
		prepare(t, how);
	f = __cairn_thread.forest;
	if (!f)
		return 0;
	if (!state)
		state = begin(f, state, how, forest_make_start(f, owner));
	next = forest_find(f, state, owner, (uint32_t)id);
	if (next == FOREST_ABSENT)
		next = forest_make(f, state, owner, (uint32_t)id,
		                   (unsigned)all.k);
	return next;
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
	__cairn_thread.forest = NULL;
}
