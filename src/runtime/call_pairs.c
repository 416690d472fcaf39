/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of paths across calls: what the caller did before the call and the
 * first path of the callee, the callee's last path and what the caller did
 * then.
 *
 * S. Tallam, X. Zhang and R. Gupta, "Extending path profiling across loop
 * backedges and procedure boundaries", CGO 2004, section 3.3: a count of four
 * dimensions, callee, call site, path in the callee, path in the caller.  Most
 * of it is empty: here it is a hash table per thread, of slots of three words
 * and a count.  slow.S looks at eight slots from a pair's home on; who is not
 * there comes here.
 *
 * A table more than a quarter full is replaced by one of four times as many
 * slots, with the same keys and counts of zero; the old one stays as it is, in
 * a chunk of its own, and counts of all tables add up.
 *
 * Invariants: the key of a slot, once its first word is written, which is last,
 * stays; a count is one addition: so a handler may come in between any two
 * instructions, and a reader of the file at any time finds whole keys.  A pair
 * may be in two tables, or twice in one, never under another key. Cost: about
 * 25 instructions per pair in slow.S; a new pair saves all vector state
 * besides, and blocks signals.  Memory: 32 bytes per slot, 128 to 512 per pair.
 */
#include "runtime/call_pairs.h"

#include "abi/rt.h"
#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/sys.h"

#define FIRST_SLOTS ((uint64_t)1024)
#define MAX_SLOTS ((uint64_t)1 << 21)
#define GROWTH 4
#define PROBES 8 /* slow.S */
#define IS_OFF ((uint64_t)1)

struct slot {
	uint64_t site, callee, paths, count;
};

_Static_assert(offsetof(struct rt_thread, calls) == CAIRN_CALLS_TARGET &&
                       CAIRN_CALLS_TABLE - CAIRN_CALLS_TARGET ==
                               8 * RT_CALL_WORDS &&
                       sizeof(struct slot) == CAIRN_CALLS_SLOT &&
                       sizeof(struct rt_thread) == 8 * CAIRN_THREAD_WORDS,
               "abi/rt.h");

#define WORD(offset) (&__cairn_thread.calls[((offset)-CAIRN_CALLS_TARGET) / 8])
#define TABLE WORD(CAIRN_CALLS_TABLE)
#define MASK WORD(CAIRN_CALLS_MASK)

/* In bytes; as slow.S finds it. */
static uint64_t home(const struct slot *key, uint64_t mask)
{
	uint64_t hash = key->site + key->callee * 8;

	hash = (hash * 0x9e3779b97f4a7c15u + key->paths) * 0x9e3779b97f4a7c15u;
	return hash >> 27 & mask;
}

/* The slot of a pair, or an empty one; NULL if it has to be another table.  A
 * table has PROBES slots behind its last home. */
static struct slot *find(struct slot *slots, uint64_t mask,
                         const struct slot *key)
{
	struct slot *s = (struct slot *)((char *)slots + home(key, mask));

	for (unsigned i = 0; i < PROBES; i++, s++)
		if (!s->site ||
		    (s->site == key->site && s->callee == key->callee &&
		     s->paths == key->paths))
			return s;
	return NULL;
}

static void put(struct slot *s, const struct slot *key)
{
	s->callee = key->callee;
	s->paths = key->paths;
	rt_put64(&s->site, key->site);
}

/* Of zeros; NULL if there is no memory. */
static struct slot *new_table(const struct thread *t, uint64_t nslots)
{
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_CALLS,
	        .id = t->serial,
	        .n = nslots + PROBES,
	        .payload = (nslots + PROBES) * sizeof(struct slot),
	        .flags = CAIRN_CHUNK_LIVE,
	};
	struct chunk *c = out_chunk(&spec);

	if (c)
		out_publish(c);
	return c ? out_payload(c) : NULL;
}

static uint64_t nslots_of(uint64_t mask)
{
	return mask / sizeof(struct slot) + 1;
}

/* Moves on to a larger table; false if there is none.  A key that has no room
 * in it will come again. */
static bool grow(const struct thread *t)
{
	struct slot *old = (struct slot *)*TABLE, *slots;
	uint64_t nold = old ? nslots_of(*MASK) : 0;
	uint64_t n = old ? nold * GROWTH : FIRST_SLOTS;
	uint64_t mask = (n - 1) * sizeof(struct slot);

	if (n > MAX_SLOTS || !(slots = new_table(t, n)))
		return false;
	for (uint64_t i = 0; old && i < nold + PROBES; i++) {
		struct slot *s;

		if (!old[i].site)
			continue;
		s = find(slots, mask, &old[i]);
		if (s && !s->site)
			put(s, &old[i]);
	}
	rt_put64(TABLE, (uintptr_t)slots);
	rt_put64(MASK, mask);
	return true;
}

static void count(const struct thread *t, const struct slot *key)
{
	struct slot *s = NULL;

	while (!*TABLE || !(s = find((struct slot *)*TABLE, *MASK, key)))
		if (!grow(t)) {
			out_lose();
			return;
		}
	if (!s->site)
		put(s, key);
	__asm__ volatile("incq %0" : "+m"(s->count) : : "cc");
}

void core_count_call(uint64_t site, uint64_t callee, uint64_t paths)
{
	struct slot key = {site, callee, paths, 0};
	struct thread *t = rt_self();
	uint64_t mask;

	if (!t || process.is_off) {
		if (t && !*TABLE)
			*TABLE = IS_OFF;
		return;
	}
	rt_enter_running(&mask);
	if (process.is_sealed)
		out_unseal();
	count(t, &key);
	rt_leave(&mask);
}

bool call_pairs_is_table(const struct chunk *c)
{
	return rt_get32(c->mem + CAIRN_CHK_TYPE) == CAIRN_CHUNK_CALLS;
}

void call_pairs_fork(void)
{
	*MASK = 0;
	*TABLE = 0;
}
