/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames table: where frames died or began in the middle, and how often.
 *
 * Ball and Larus, "Optimally profiling and tracing programs", TOPLAS 1994,
 * figure 4: a frame that leaves by other ways than a return is one more edge
 * to the outside.  Each thread has its own table, open addressing with linear
 * probing, in chunks of the output file; when one is three quarters full a
 * bigger one is put before it.  A key may then occur in both: counts add up.
 *
 * Invariant: a key, once written, stays in its slot.  A slot is claimed by one
 * compare-and-exchange and counted by one add, so that a signal handler on the
 * same thread may come in between any two instructions.
 * Cost: a few instructions per frame; the lock only when a table is added.
 */
#include "runtime/frames.h"

#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/sys.h"

#define FIRST_SLOTS 248u /* with the header less than one page */
#define MAX_SLOTS (1u << 20)

struct slot {
	uint64_t key;
	uint64_t count;
};

/* Requires: lock held. */
static bool add_table(struct thread *t, uint64_t nslots)
{
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_FRAMES,
	        .id = t->serial,
	        .n = nslots,
	        .payload = nslots * sizeof(struct slot),
	        .flags = CAIRN_CHUNK_LIVE,
	};
	struct chunk *c = out_chunk(&spec);

	if (!c)
		return false;
	out_publish(c);
	c->sibling = t->frames;
	__atomic_store_n(&t->frames, c, __ATOMIC_RELEASE);
	return true;
}

bool frames_ensure(struct thread *t)
{
	return t->frames || add_table(t, FIRST_SLOTS);
}

/* A bigger table in front of `full`, unless somebody was faster. */
static bool grow(struct thread *t, const struct chunk *full)
{
	uint64_t mask, n = rt_get64(full->mem + CAIRN_CHK_N) * 4;
	bool ok = true;

	rt_enter(&mask);
	if (t->frames == full)
		ok = add_table(t, n < MAX_SLOTS ? n : MAX_SLOTS);
	rt_leave(&mask);
	return ok;
}

/* Its home among n slots: the high bits of a product, without a division. */
static uint64_t home(uint64_t key, uint64_t n)
{
	key *= 0x9e3779b97f4a7c15u;
	return (key >> 32) * n >> 32;
}

/* NULL if three quarters of the places from its home on are taken. */
static uint64_t *find(const struct chunk *c, uint64_t key)
{
	struct slot *slots = out_payload(c);
	uint64_t n = rt_get64(c->mem + CAIRN_CHK_N);
	uint64_t at = home(key, n);

	for (uint64_t i = 0; i < n / 4 * 3; i++) {
		uint64_t there =
		        __atomic_load_n(&slots[at].key, __ATOMIC_RELAXED);

		if (!there && __atomic_compare_exchange_n(
		                      &slots[at].key, &there, key, false,
		                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return &slots[at].count;
		if (there == key)
			return &slots[at].count;
		if (++at == n)
			at = 0;
	}
	return NULL;
}

uint64_t *frames_slot(struct thread *t, unsigned kind, uint32_t module,
                      uintptr_t pc)
{
	uint64_t key =
	        (uint64_t)kind << CAIRN_FRAME_KIND_SHIFT |
	        (uint64_t)module << CAIRN_FRAME_MODULE_SHIFT |
	        ((pc - process.modules[module].bias) & CAIRN_FRAME_PC_MASK);

	for (;;) {
		const struct chunk *c = t->frames;
		uint64_t *count = c ? find(c, key) : NULL;

		if (count)
			return count;
		if (!c || !grow(t, c)) {
			out_flag(CAIRN_FILE_FRAMES_LOST, 1);
			return NULL;
		}
	}
}

void frames_add(struct thread *t, unsigned kind, uint32_t module, uintptr_t pc,
                int64_t n)
{
	uint64_t *count = frames_slot(t, kind, module, pc);

	if (count)
		__asm__ volatile("addq %1, %0" : "+m"(*count) : "r"(n) : "cc");
}

void __cairn_core_dying(uintptr_t pc, bool is_async)
{
	struct thread *t = rt_self();
	uint32_t module = rt_module_of(is_async ? pc : pc - 1);

	if (t && module)
		frames_add(t,
		           is_async ? CAIRN_FRAME_OUT_ASYNC : CAIRN_FRAME_OUT,
		           module, pc, 1);
}
