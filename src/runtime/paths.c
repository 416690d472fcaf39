/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of path counts, for functions with too many paths for a counter each.
 *
 * Ball and Larus, "Efficient path profiling", MICRO 1996, count such paths in a
 * hash table, with a call each time; Bond and McKinley, "Practical path
 * profiling", CGO 2005, show what that costs.  Here the generated code looks at
 * one slot, the path's home, and comes here only if another path is in it.  So
 * a table is not judged by how long a search takes but by how much of the count
 * is not at home:
 *
 * - A path is inserted by open addressing with linear probing: first come,
 *   first served.  slow.S does the search for one that is in the table already,
 *   in a dozen instructions, and counts such misses down.
 * - A table more than a quarter full is replaced by a larger one.
 * - When enough misses came together, the counts tell which share of them is
 *   not at home.  If it is more than 1 in 192, a new table is made: the hottest
 *   paths get their homes first, under the multiplier of several by which the
 *   least count is lost, and the table is made larger only if none will do.
 *
 * A table that was replaced stays as it is, with its counts: those of all
 * tables add up.  The new one begins with the same paths and counts of zero.
 * Tables are cut from arenas, PATHS chunks of the (thread, module).  Before a
 * path is put into a table, order.c notes when that was.
 *
 * Invariants: the key of a slot, once written, stays; a slot is claimed by one
 * compare-and-exchange and counted by one add, so that a signal handler on the
 * same thread may come in between any two instructions, and may even replace
 * the table: whoever has a slot with the right key may count in it.  At least
 * an eighth of a table is empty, so every search ends.  A table never follows
 * one that is larger (abi/rt.h says why).
 * Breaks when: a signal handler suspends the code that it interrupted (a switch
 * of stacks) and the program then forks: the child's tables are new ones.
 * Cost: a search is about 20 instructions; a first count of a path saves all
 * vector state besides.  Building: some passes over the paths of a table; a
 * function has few tables, since each is larger than the one before, or one of
 * at most two of the same size.  Memory: 16 bytes per slot, mostly 16 to 64
 * slots per path, at most 128 in one table.
 */
#include "runtime/paths.h"

#include <errno.h>

#include "runtime/finish.h"
#include "runtime/order.h"
#include "runtime/out.h"
#include "runtime/rt.h"
#include "runtime/sys.h"

#define FIRST_ARENA ((size_t)16384)
#define MAX_ARENA ((size_t)1 << 20)
#define FIRST_SLOTS 16u
#define MAX_SLOTS ((uint64_t)1 << 20)
#define BIG_SLOTS 4096u /* from here on tables only double */
#define SPARSE 64u      /* most slots per path, when misses call for it */
#define MIN_MISSES 64u
#define GOOD 256u /* a table that loses 1 of so many is good */
#define BAD 192u  /* and one that loses this is not */
#define REBUILDS 2u
#define FEW_KEYS 256u /* so few that 64 multipliers can be tried */

/* In words->offset where nothing is counted: slow.S then returns at once.  The
 * slot that generated code looks at is the next word, which is 0. */
#define IS_OFF 8u

struct slot {
	uint64_t key;
	uint64_t count;
};

/* What abi/file.h says of a table. */
struct table {
	uint64_t owner;
	uint64_t nslots;
	uint64_t state;  /* keys, rebuilds, multiplier: see below */
	uint64_t misses; /* to come before the table is looked at */
	struct slot slots[];
};

_Static_assert(offsetof(struct table, owner) == CAIRN_TABLE_OWNER &&
                       offsetof(struct table, nslots) == CAIRN_TABLE_SLOTS &&
                       offsetof(struct table, state) == CAIRN_TABLE_KEYS &&
                       offsetof(struct table, misses) == CAIRN_TABLE_MISSES &&
                       sizeof(struct table) == CAIRN_TABLE_HEAD &&
                       sizeof(struct slot) == CAIRN_TABLE_SLOT,
               "abi/file.h");

/* Bits of state: 0-31 number of keys; 32-39 how often the table was built anew
 * in this size; 40-47 number of its multiplier; 48: it should be larger, and
 * there was no memory. */
#define STATE_REBUILDS 32
#define STATE_MULTIPLIER 40
#define STATE_STUCK ((uint64_t)1 << 48)

static uint64_t nkeys(const struct table *table)
{
	return (uint32_t)__atomic_load_n(&table->state, __ATOMIC_RELAXED);
}

static uint64_t rebuilds(const struct table *table)
{
	return table->state >> STATE_REBUILDS & 0xff;
}

static uint64_t next_rebuild(const struct table *table)
{
	return rebuilds(table) < 0xff ? rebuilds(table) + 1 : 0xff;
}

static size_t table_size(uint64_t nslots)
{
	return CAIRN_TABLE_HEAD + nslots * CAIRN_TABLE_SLOT;
}

/* Odd numbers that look random: the finalizer of splitmix64 (Steele, Lea,
 * Flood, OOPSLA 2014). */
static uint64_t multiplier(uint64_t number)
{
	uint64_t z = (number + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) | 1;
}

/* The number of a path's home, as generated code finds it. */
static uint64_t home(uint64_t key, uint64_t by, uint64_t nslots)
{
	_Static_assert(CAIRN_TABLE_SLOT == 16, "four bits");
	return key * by >> (CAIRN_TABLE_SHIFT + 4) & (nslots - 1);
}

static struct table *table_of(const uint64_t *words)
{
	uint64_t offset =
	        __atomic_load_n(&words[CAIRN_TABLE_OFFSET], __ATOMIC_RELAXED);

	if (offset == 0 || offset == IS_OFF)
		return NULL;
	return (struct table *)((uintptr_t)&words[CAIRN_TABLE_KEY] + offset -
	                        CAIRN_TABLE_HEAD);
}

/* Words, and whose they are. */
struct origin {
	struct thread *t;
	uint32_t module;
	uint64_t *words;
};

/* The link-time address of a module's first counter.
 * Requires: the module is loaded. */
static uint64_t first_counter(uint32_t module)
{
	const struct module *m = &process.modules[module];

	return (uintptr_t)m->live->counters - m->bias;
}

/* The link-time address of the words. */
static uint64_t owner_of(const struct origin *o)
{
	const void *shard = out_payload(o->t->counts[o->module]);

	return first_counter(o->module) +
	       ((uintptr_t)o->words - (uintptr_t)shard);
}

/* --- counting ------------------------------------------------------------- */

/* Before a slot is claimed, so that no handler can fill the table. */
static bool reserve_key(struct table *table)
{
	if ((uint32_t)__atomic_fetch_add(&table->state, 1, __ATOMIC_RELAXED) <
	    table->nslots / 8 * 7)
		return true;
	__atomic_fetch_sub(&table->state, 1, __ATOMIC_RELAXED);
	return false;
}

/* The slot of a path, made if need be; NULL if the table is full.  If a handler
 * came with another table meanwhile, the multiplier may be that one's: any slot
 * will do. */
static struct slot *find(const struct origin *o, struct table *table,
                         uint64_t by, uint64_t r)
{
	uint64_t last = table->nslots - 1, at = home(r, by, table->nslots);

	for (uint64_t i = 0; i <= last; i++, at = (at + 1) & last) {
		struct slot *s = &table->slots[at];
		uint64_t there = __atomic_load_n(&s->key, __ATOMIC_RELAXED);

		if (!there) {
			order_note(o->module, owner_of(o), r);
			if (!reserve_key(table))
				return NULL;
			if (__atomic_compare_exchange_n(&s->key, &there, r,
			                                false, __ATOMIC_RELAXED,
			                                __ATOMIC_RELAXED))
				return s;
			__atomic_fetch_sub(&table->state, 1, __ATOMIC_RELAXED);
		}
		if (there == r)
			return s;
	}
	return NULL;
}

static bool count(const struct origin *o, uint64_t r)
{
	struct table *table = table_of(o->words);
	struct slot *s = NULL;

	if (table)
		s = find(o, table, o->words[CAIRN_TABLE_MULTIPLIER], r);
	if (s)
		__asm__ volatile("incq %0" : "+m"(s->count) : : "cc");
	return s != NULL;
}

/* --- arenas --------------------------------------------------------------- */

static size_t room(const struct chunk *c)
{
	return c->size - CAIRN_CHUNK_HEADER_SIZE;
}

static struct chunk *new_arena(const struct thread *t, uint32_t module,
                               size_t size)
{
	size_t whole =
	        (size + CAIRN_CHUNK_HEADER_SIZE + RT_PAGE - 1) & ~(RT_PAGE - 1);
	const struct out_spec spec = {
	        .type = CAIRN_CHUNK_PATHS,
	        .id = t->serial,
	        .module = module,
	        .n = whole - CAIRN_CHUNK_HEADER_SIZE,
	        .payload = whole - CAIRN_CHUNK_HEADER_SIZE,
	        .flags = CAIRN_CHUNK_LIVE,
	};
	struct chunk *c = out_chunk(&spec);

	if (c)
		out_publish(c);
	return c;
}

/* Zeros for a table; NULL if there is no memory.  A big one gets an arena to
 * itself. */
static struct table *cut(struct thread *t, uint32_t module, uint64_t nslots)
{
	size_t size = table_size(nslots), next = FIRST_ARENA;
	struct chunk *c = t->paths[module];
	void *result;

	if (c && c->size * 2 < MAX_ARENA)
		next = c->size * 2;
	else if (c)
		next = MAX_ARENA;
	if (!c || room(c) - c->used < size) {
		bool is_big = size > next / 2;

		c = new_arena(t, module,
		              is_big ? size : next - CAIRN_CHUNK_HEADER_SIZE);
		if (!c)
			return NULL;
		if (!is_big)
			t->paths[module] = c;
	}
	result = (char *)out_payload(c) + c->used;
	c->used += size;
	return result;
}

/* --- building ------------------------------------------------------------- */

/* The paths of a table, hottest first as far as the bits of their counts tell,
 * and room to try where they would go. */
struct keys {
	struct slot *item;
	uint64_t n, total;
	uint64_t away; /* how much of the total is not at home */
	unsigned char *taken;
	size_t size; /* of all the memory */
};

static unsigned magnitude(uint64_t n)
{
	return n ? 64 - (unsigned)__builtin_clzll(n) : 0;
}

/* Sorts by magnitude; item has room for all. */
static void sort_keys(struct keys *k, const struct table *table, uint64_t by)
{
	uint64_t start[65 + 1];

	rt_zero(start, sizeof(start));
	for (uint64_t i = 0; i < table->nslots; i++) {
		const struct slot *s = &table->slots[i];

		if (!s->key)
			continue;
		start[64 - magnitude(s->count) + 1]++;
		k->total += s->count;
		if (home(s->key, by, table->nslots) != i)
			k->away += s->count;
	}
	for (unsigned i = 1; i <= 65; i++)
		start[i] += start[i - 1];
	k->n = start[65];
	for (uint64_t i = 0; i < table->nslots; i++) {
		const struct slot *s = &table->slots[i];

		if (s->key)
			k->item[start[64 - magnitude(s->count)]++] = *s;
	}
}

/* False if there is no memory.  `most`: slots of the largest table to try. */
static bool keys_init(struct keys *k, const struct table *table, uint64_t by,
                      uint64_t most)
{
	size_t nitems = nkeys(table) * sizeof(struct slot);

	rt_zero(k, sizeof(*k));
	k->size = nitems + most / 8;
	k->item = sys_map_zeros(k->size);
	if (!k->item)
		return false;
	k->taken = (unsigned char *)k->item + nitems;
	sort_keys(k, table, by);
	return true;
}

static void keys_fini(struct keys *k)
{
	sys3(SYS_munmap, (long)k->item, (long)k->size, 0);
}

/* A table to be made. */
struct plan {
	uint64_t nslots, number; /* of its multiplier */
	uint64_t away;
};

/* What would be counted away from home, or anything that is not less than
 * `enough`. */
static uint64_t try_multiplier(const struct keys *k, const struct plan *p,
                               uint64_t enough)
{
	uint64_t by = multiplier(p->number), away = 0;

	rt_zero(k->taken, p->nslots / 8);
	for (uint64_t i = 0; i < k->n && away < enough; i++) {
		uint64_t at = home(k->item[i].key, by, p->nslots);
		unsigned char bit = (unsigned char)(1u << at % 8);

		if (k->taken[at / 8] & bit)
			away += k->item[i].count;
		k->taken[at / 8] |= bit;
	}
	return away;
}

/* The best of several multipliers for a table of p->nslots. */
static void choose_multiplier(const struct keys *k, struct plan *p)
{
	struct plan best = {.nslots = p->nslots, .away = ~(uint64_t)0};

	p->number = 0;
	for (uint64_t n = k->n <= FEW_KEYS ? 64 : 16; n && best.away; n--) {
		p->away = try_multiplier(k, p, best.away);
		if (p->away < best.away)
			best = *p;
		p->number++;
	}
	*p = best;
}

/* Puts the paths into an empty table: at home where that is free, hottest
 * first, and the rest where there is room then. */
static void fill(struct table *table, const struct keys *k, uint64_t n,
                 uint64_t by)
{
	uint64_t last = table->nslots - 1;

	for (uint64_t i = 0; i < n; i++) {
		struct slot *s =
		        &table->slots[home(k->item[i].key, by, table->nslots)];

		if (!s->key)
			s->key = k->item[i].key;
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t key = k->item[i].key;
		uint64_t at = home(key, by, table->nslots);

		if (table->slots[at].key == key)
			continue;
		while (table->slots[at].key)
			at = (at + 1) & last;
		table->slots[at].key = key;
	}
}

static uint64_t next_look(uint64_t nslots, uint64_t away)
{
	uint64_t n = nslots / 16;

	n = n > away ? n : away;
	return n > MIN_MISSES ? n : MIN_MISSES;
}

/* Generated code reads multiplier, mask, offset, in this order. */
static void set_words(uint64_t *words, const struct table *table,
                      uint64_t number)
{
	rt_put64(&words[CAIRN_TABLE_OFFSET],
	         (uintptr_t)table->slots - (uintptr_t)&words[CAIRN_TABLE_KEY]);
	rt_put64(&words[CAIRN_TABLE_MASK],
	         (table->nslots - 1) * CAIRN_TABLE_SLOT);
	rt_put64(&words[CAIRN_TABLE_MULTIPLIER], multiplier(number));
}

/*
 * Makes a table and lets the words point at it; false if there is no memory.
 * k may be NULL.  A quarter of the greatest table is room for its hottest
 * paths; the others will come again.
 */
static bool build(const struct origin *o, const struct plan *p,
                  const struct keys *k)
{
	const struct table *old = table_of(o->words);
	struct table *table = cut(o->t, o->module, p->nslots);
	uint64_t n = k ? k->n : 0;

	if (!table)
		return false;
	if (n > p->nslots / 4)
		n = p->nslots / 4;
	table->nslots = p->nslots;
	if (n)
		fill(table, k, n, multiplier(p->number));
	table->state = n | p->number << STATE_MULTIPLIER;
	if (old && old->nslots == p->nslots)
		table->state |= next_rebuild(old) << STATE_REBUILDS;
	table->misses = next_look(p->nslots, 0);
	/* now a reader of the file may see it */
	rt_put64(&table->owner, owner_of(o));
	set_words(o->words, table, p->number);
	return true;
}

static bool is_crowded(const struct table *table)
{
	return nkeys(table) * 4 > table->nslots && table->nslots < MAX_SLOTS &&
	       !(table->state & STATE_STUCK);
}

/* A larger table; or, if there is none, another one of the same size.  Without
 * memory that is tried again only from time to time. */
static bool grow(const struct origin *o)
{
	struct table *old = table_of(o->words);
	struct plan p = {.nslots = FIRST_SLOTS};
	struct keys k;
	bool ok;

	if (!old) {
		order_begin();
		return build(o, &p, NULL);
	}
	if (old->state & STATE_STUCK && (int64_t)--old->misses > 0)
		return false;
	old->state |= STATE_STUCK;
	old->misses = next_look(old->nslots, 0);
	p.nslots = old->nslots * (old->nslots < BIG_SLOTS ? 4 : 2);
	if (p.nslots > MAX_SLOTS)
		p.nslots = MAX_SLOTS;
	if (!keys_init(&k, old, o->words[CAIRN_TABLE_MULTIPLIER], p.nslots))
		return false;
	choose_multiplier(&k, &p);
	ok = build(o, &p, &k);
	keys_fini(&k);
	return ok;
}

/* The smallest table that is good, or the best there is; false if none is much
 * better than what we have. */
static bool choose_plan(const struct keys *k, const struct table *old,
                        uint64_t most, struct plan *p)
{
	p->away = k->away;
	p->nslots = old->nslots;
	if (rebuilds(old) >= REBUILDS)
		p->nslots *= 2;
	for (; p->nslots <= most; p->nslots *= 2) {
		choose_multiplier(k, p);
		if (p->away <= k->total / GOOD)
			return true;
	}
	p->nslots = most;
	return p->away <= k->away / 2;
}

/* Enough misses came: are they too many? */
static void improve(const struct origin *o)
{
	struct table *old = table_of(o->words);
	uint64_t most = old->nslots;
	struct plan p;
	struct keys k;

	while (most < nkeys(old) * SPARSE && most < MAX_SLOTS)
		most *= 2;
	old->misses = next_look(old->nslots, 0);
	if (!keys_init(&k, old, o->words[CAIRN_TABLE_MULTIPLIER], most))
		return;
	old->misses = next_look(old->nslots, k.away);
	if (k.away > k.total / BAD && choose_plan(&k, old, most, &p))
		build(o, &p, &k);
	keys_fini(&k);
}

/* --- the call ------------------------------------------------------------- */

static bool is_in(const uint64_t *words, uintptr_t start,
                  const struct cairn_module *m)
{
	size_t size =
	        (size_t)((uintptr_t)m->counters_end - (uintptr_t)m->counters);

	return (uintptr_t)words - start < size;
}

/* Nothing is counted there, now and for ever. */
static void ignore(const struct cairn_module *m, uint64_t *words)
{
	uintptr_t scratch = (uintptr_t)m->counters + (uintptr_t)m->scratch;

	if ((process.is_off || is_in(words, scratch, m)) &&
	    !words[CAIRN_TABLE_OFFSET])
		words[CAIRN_TABLE_OFFSET] = IS_OFF;
}

/* Replaces the table that was `seen`, if it is still there and there is reason
 * to.  False if a path cannot be counted for want of a table. */
static bool tend(const struct origin *o, const struct table *seen, bool is_full)
{
	const struct table *table;
	bool ok = true;
	uint64_t mask;

	rt_enter_running(&mask);
	if (process.is_sealed)
		out_unseal();
	table = table_of(o->words);
	if (table == seen) {
		if (!table || is_full)
			ok = grow(o);
		else if (is_crowded(table))
			grow(o);
		else if ((int64_t)table->misses <= 0)
			improve(o);
	}
	if (!ok)
		out_lose();
	rt_leave(&mask);
	return ok;
}

void core_count_path(struct cairn_module *m, uint64_t *words, uint64_t r)
{
	struct origin o = {rt_self(), m->index, words};
	struct table *table;
	struct chunk *c = o.t && m->index ? o.t->counts[m->index] : NULL;

	if (!c || process.is_off || m->is_off ||
	    !is_in(words, (uintptr_t)out_payload(c), m)) {
		ignore(m, words);
		return;
	}
	table = table_of(words);
	while (r && !count(&o, r)) {
		if (!tend(&o, table, true))
			return;
		table = table_of(words);
	}
	table = table_of(words);
	if (table && (process.is_sealed || is_crowded(table) ||
	              (int64_t)table->misses <= 0))
		tend(&o, table, false);
}

/* --- fork ----------------------------------------------------------------- */

bool paths_any(const struct thread *t)
{
	for (uint32_t i = 1; i <= process.nmodules; i++)
		if (t->paths[i])
			return true;
	return false;
}

/* The table at an offset of a payload, NULL if the last is before it. */
static struct table *table_at(const struct chunk *c, size_t at)
{
	struct table *table = (struct table *)((char *)out_payload(c) + at);

	return room(c) - at > CAIRN_TABLE_HEAD && table->owner ? table : NULL;
}

static void *copy_of(const struct chunk *c)
{
	void *copy = sys_map_zeros(c->size);

	if (copy)
		rt_copy(copy, c->mem, c->size);
	return copy;
}

static void drop_copy(const struct chunk *c, void *copy)
{
	sys3(SYS_munmap, (long)copy, (long)c->size, 0);
}

void paths_renew(struct chunk *c)
{
	void *copy = copy_of(c);
	struct table *table;

	out_renew(c);
	if (!copy) {
		out_flag(CAIRN_FILE_TRUNCATED, 1);
		return;
	}
	/* what the parent has made of the rest meanwhile is not ours */
	rt_copy(out_payload(c), (char *)copy + CAIRN_CHUNK_HEADER_SIZE,
	        c->used);
	drop_copy(c, copy);
	for (size_t at = 0; (table = table_at(c, at));
	     at += table_size(table->nslots))
		for (uint64_t i = 0; i < table->nslots; i++)
			table->slots[i].count = 0;
}

void paths_hold(struct chunk *c)
{
	void *copy = copy_of(c);

	out_abandon(c);
	if (!copy)
		return;
	rt_copy(c->mem, copy, c->size);
	drop_copy(c, copy);
}

/* Does it follow the table that the words point at? */
static bool is_newer(const struct table *table, const uint64_t *words)
{
	const struct table *now = table_of(words);

	return !now || table->nslots > now->nslots ||
	       (table->nslots == now->nslots &&
	        rebuilds(table) >= rebuilds(now));
}

static void adopt_tables(const struct thread *t, const struct chunk *c)
{
	uint32_t module = rt_get32(c->mem + CAIRN_CHK_MODULE);
	char *shard = out_payload(t->counts[module]);
	struct table *table;
	uint64_t first;

	if (!process.modules[module].live)
		return;
	first = first_counter(module);
	for (size_t at = 0; (table = table_at(c, at));
	     at += table_size(table->nslots)) {
		uint64_t *words = (uint64_t *)(shard + (table->owner - first));

		if (is_newer(table, words))
			set_words(words, table,
			          table->state >> STATE_MULTIPLIER & 0xff);
	}
}

void paths_adopt(struct thread *t, const struct chunk *chunks)
{
	for (const struct chunk *c = chunks; c; c = c->next)
		if (rt_get32(c->mem + CAIRN_CHK_TYPE) == CAIRN_CHUNK_PATHS &&
		    rt_get32(c->mem + CAIRN_CHK_ID) == t->serial)
			adopt_tables(t, c);
}
