/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of a stream: how often each sequence of up to k elements occurred,
 * whatever k is.
 *
 * An element is (owner, id): a path of a function, or a call.  A *node* is the
 * last k - 1 elements, fewer at the beginning of a stream (anchored).  A *slot*
 * is a window, a node and the element behind it, with its count and the node
 * that comes next.  The state of a stream is the slot of its last window, which
 * remembers two that came behind it, the more frequent one first:
 *
 *     step   s = state + state->succ
 *            if (s->key != state->next + id)  s = state + state->other
 *            if (s->key != state->next + id)  s = look for it
 *            s->count++;  state = s
 *
 * Slots are made one behind the other, so that windows which follow each other
 * are neighbours in memory.  (Tried before: slots in a hash table, where each
 * is in a page of its own.  Lua at k = 16 took 1.53 times as long as at k = 2.)
 *
 * Which node is next is found once, when the slot is made: the last k - 1
 * elements are looked up in an index by what they are.  (An anchored node is
 * not: the only way to it is the slot that is being made.)  A node has no list
 * of its elements: it has the last one and the node that was the state before
 * it, whose last element is the one before, and so on.  So nodes are a forest,
 * each tree grows from the beginnings of streams, and a node costs the same for
 * any k.  Windows of fewer than k elements are sums over those that end with
 * them; readers make these.
 *
 * When the memory is used up, a window that has no slot is counted as a shorter
 * one: the last 7, 3, 1 or 0 elements before it, of which the node is not
 * anchored: longer windows there are lost, and known to be.  The last quarter
 * of the memory is kept for these.  If there is no room for that either the
 * element is counted nowhere, and is the difference to the counts of the paths.
 *
 * Invariants: whoever follows `prev` from a node of length n finds n elements
 * that came one after the other.  A slot stays where it is; its key is written
 * last.  A count is one addition, `succ` and `other` are always the distance to
 * some slot, or 0.  A slot or a node belongs to whoever has taken its number,
 * by one addition.  So a signal handler may come in between any two
 * instructions, and make steps, or never come back; at worst it makes a window
 * once more, whose counts add up.  Whoever reads the file at any time finds
 * whole windows.
 * Breaks when: there are more than 2^24 nodes or slots; it is then full.
 * Cost: a step that was foreseen, 8 instructions; forest_find O(1) for what is
 * there, O(k) when full; forest_make O(k).  What costs time is lines that no
 * cache has, mostly those of the indices: a number there has 8 bits of its
 * hash, so that no other slot or node is looked at, and nothing is locked,
 * which would wait for all stores before it.  (Tried, and of no use: the first
 * slot behind a node in an array by node, so that windows of new nodes are not
 * looked for; both lines of the indices fetched ahead; large pages for indices;
 * chunks whose pages are there at once.)  Memory: per window 48 bytes, 24 for
 * its node, and 8 to 32 in the two indices.
 */
#include "runtime/forest_steps.h"

#define START 0u /* no element, and there was none before */
#define EMPTY 1u /* the same, but nobody knows what was before */
#define FIRST_INDEX 1024u
#define OFTEN 64u
#define START_ID 0xffffffffu /* in the key of the slot of a beginning */
/* What a state may be besides a slot. */
#define STATE_BEGIN 0u
#define STATE_UNKNOWN 1u

_Static_assert(
        sizeof(struct forest_slot) == CAIRN_FOREST_SLOT &&
                offsetof(struct forest_slot, owner) == CAIRN_SLOT_OWNER &&
                offsetof(struct forest_slot, count) == CAIRN_SLOT_COUNT &&
                offsetof(struct forest_slot, next) == CAIRN_SLOT_NEXT &&
                offsetof(struct forest_slot, succ) == CAIRN_SLOT_SUCC &&
                offsetof(struct forest_slot, other) == CAIRN_SLOT_OTHER &&
                sizeof(struct forest_node) == CAIRN_NODE_SIZE &&
                offsetof(struct forest_node, prev) == CAIRN_NODE_PREV &&
                offsetof(struct forest_node, id) == CAIRN_NODE_ID &&
                offsetof(struct forest_node, len) == CAIRN_NODE_LEN &&
                offsetof(struct forest_node, is_anchored) ==
                        CAIRN_NODE_ANCHORED,
        "abi/file.h");

/* What a window falls back to when there is no room for it. */
static const unsigned char shorter[] = {7, 3, 1, 0};
#define NSHORTER 4

void forest_init(struct forest *f)
{
	f->nslots = 1;
	f->nnodes = EMPTY + 1;
	f->refused = CAIRN_CHAINS_MAX + 1;
}

static const struct forest_node *node_at(const struct forest *f, uint32_t n)
{
	return &f->nodes[n / FOREST_PIECE][n % FOREST_PIECE];
}

static struct forest_slot *slot_at(const struct forest *f, uint32_t n)
{
	return &f->slots[n / FOREST_PIECE][n % FOREST_PIECE];
}

static unsigned len_of(const struct forest *f, uint32_t n)
{
	return n <= EMPTY ? 0 : node_at(f, n)->len;
}

static bool is_anchored(const struct forest *f, uint32_t n)
{
	return n == START || (n != EMPTY && node_at(f, n)->is_anchored);
}

/* --- room ----------------------------------------------------------------- */

/* Shorter windows may take more of the memory. */
static unsigned share_of(unsigned len)
{
	return len > 7 ? 12 : len > 3 ? 13 : len > 1 ? 14 : len ? 15 : 16;
}

static bool has_room(const struct forest *f, unsigned len)
{
	return len < f->refused;
}

/* There is none for windows of this length, and never will be. */
static bool refuse(struct forest *f, unsigned len)
{
	if (len < f->refused)
		f->refused = len;
	return false;
}

/* A piece for number n, if it has none yet. */
static bool grow_pieces(struct forest *f, void **pieces, enum forest_what what,
                        uint32_t n, unsigned len)
{
	uint32_t piece = n / FOREST_PIECE;

	if (piece >= FOREST_PIECES)
		return refuse(f, 0);
	return pieces[piece] ||
	       f->take(f, what, FOREST_PIECE, share_of(len), &pieces[piece]) ||
	       refuse(f, len);
}

/* --- indices -------------------------------------------------------------- */

/* Numbers have 24 bits; above them are the upper ones of the hash, so that what
 * is something else is not looked at. */
#define NUMBER_MASK (FOREST_PIECE * FOREST_PIECES - 1)

_Static_assert((NUMBER_MASK & (NUMBER_MASK + 1)) == 0, "a mask");

static bool may_be(uint32_t entry, uint64_t hash)
{
	return !((entry ^ hash) & ~NUMBER_MASK & UINT32_MAX);
}

/* Writes a number if there is none.  Only handlers of this thread may come in
 * between, so that one instruction does. */
static bool put_first(uint32_t *where, uint32_t n)
{
	uint32_t none = 0;

	__asm__ volatile("cmpxchgl %2, %1"
	                 : "+a"(none), "+m"(*where)
	                 : "r"(n)
	                 : "cc", "memory");
	return !none;
}

static void add_to_index(struct forest_index *index, uint32_t n, uint64_t hash)
{
	uint64_t i = hash & index->mask;

	n |= (uint32_t)hash & ~NUMBER_MASK;
	while (!put_first(&index->number[i], n))
		i = (i + 1) & index->mask;
	__asm__ volatile("incq %0" : "+m"(index->n) : : "cc");
}

/* The next number, which is that of whoever asks. */
static uint32_t take_number(uint32_t *next)
{
	uint32_t n = 1;

	__asm__ volatile("xaddl %0, %1" : "+r"(n), "+m"(*next) : : "cc");
	return n;
}

/* An index with twice the room; NULL if there is no memory. */
static struct forest_index *larger(struct forest *f,
                                   const struct forest_index *old, unsigned len)
{
	uint64_t n = old ? 2 * (old->mask + 1) : FIRST_INDEX;
	void *zeros = NULL;
	struct forest_index *index;

	if (!f->take(f, FOREST_INDEX, n + sizeof(*old) / sizeof(*old->number),
	             share_of(len), &zeros))
		return NULL;
	index = zeros;
	index->mask = n - 1;
	return index;
}

static bool is_crowded(const struct forest_index *index)
{
	return !index || index->n > index->mask / 2;
}

/* There is no larger one: does this one do for a short window? */
static bool has_place(struct forest *f, const struct forest_index *index,
                      unsigned len)
{
	if (index && len <= 1 && index->n < index->mask / 8 * 7)
		return true;
	return refuse(f, len);
}

/* --- slots ---------------------------------------------------------------- */

/* A call is in the upper bits of its owner, which a product would not bring to
 * the lower ones. */
static uint64_t spread(uint64_t owner)
{
	return owner * 8 + (owner >> CAIRN_LINK_SHIFT) * 0x9e3779b1u;
}

static uint64_t hash_key(uint64_t key, uint64_t owner)
{
	uint64_t h = (key + spread(owner)) * CAIRN_FOREST_MULTIPLIER;

	return h >> 32;
}

static uint64_t key_of(uint32_t node, uint32_t id)
{
	return (uint64_t)node << 32 | id;
}

/* The slot of a window, NULL if it has none. */
static struct forest_slot *look(const struct forest *f, uint64_t key,
                                uint64_t owner)
{
	const struct forest_index *index =
	        *(struct forest_index *const volatile *)&f->windows;
	uint64_t hash = hash_key(key, owner);
	uint32_t n;

	if (!index)
		return NULL;
	for (uint64_t i = hash & index->mask; (n = index->number[i]);
	     i = (i + 1) & index->mask) {
		struct forest_slot *s;

		if (!may_be(n, hash))
			continue;
		s = slot_at(f, n & NUMBER_MASK);
		if (s->key == key && s->owner == owner)
			return s;
	}
	return NULL;
}

static bool grow_windows(struct forest *f, unsigned len)
{
	struct forest_index *index;

	if (!is_crowded(f->windows))
		return true;
	index = larger(f, f->windows, len);
	if (!index)
		return has_place(f, f->windows, len);
	for (uint32_t i = 1; i < f->nslots; i++)
		add_to_index(
		        index, i,
		        hash_key(slot_at(f, i)->key, slot_at(f, i)->owner));
	*(struct forest_index *volatile *)&f->windows = index;
	return true;
}

/* A new slot behind a node of this length; NULL if there is no room. */
static struct forest_slot *add_slot(struct forest *f, uint64_t key,
                                    uint64_t owner, uint32_t next, unsigned len)
{
	struct forest_slot *s;
	uint32_t n;

	if (!has_room(f, len) || !grow_windows(f, len) ||
	    !grow_pieces(f, (void **)f->slots, FOREST_SLOTS, f->nslots, len))
		return NULL;
	n = take_number(&f->nslots);
	if (!grow_pieces(f, (void **)f->slots, FOREST_SLOTS, n, 0))
		return NULL; /* a handler has taken the last one of a piece */
	s = slot_at(f, n);
	s->owner = owner;
	s->next = (uint64_t)next << 32;
	__atomic_store_n(&s->key, key, __ATOMIC_RELEASE);
	add_to_index(f->windows, n, hash_key(key, owner));
	return s;
}

static void count(struct forest_slot *s)
{
	__asm__ volatile("incq %0" : "+m"(s->count) : : "cc");
}

struct forest_slot *forest_find_start(const struct forest *f, uint64_t owner)
{
	return look(f, key_of(START, START_ID), owner);
}

struct forest_slot *forest_make_start(struct forest *f, uint64_t owner)
{
	struct forest_slot *s = forest_find_start(f, owner);

	return s ? s : add_slot(f, key_of(START, START_ID), owner, START, 0);
}

/* --- nodes ---------------------------------------------------------------- */

/* The last elements: one, and those of a node before it. */
struct tail {
	uint64_t owner;
	uint32_t id, prev;
};

static uint64_t mix(uint64_t h, uint64_t owner, uint32_t id)
{
	h = (h ^ (spread(owner) + id)) * CAIRN_FOREST_MULTIPLIER;
	return h ^ h >> 29;
}

static uint32_t hash_of(const struct forest *f, const struct tail *t,
                        unsigned len)
{
	uint64_t h = mix(len, t->owner, t->id);
	uint32_t n = t->prev;

	for (unsigned i = 1; i < len; i++) {
		const struct forest_node *node = node_at(f, n);

		h = mix(h, node->owner, node->id);
		n = node->prev;
	}
	return (uint32_t)(h >> 32);
}

static bool is_same(const struct forest *f, const struct forest_node *node,
                    const struct tail *t, unsigned len)
{
	uint32_t a = node->prev, b = t->prev;

	if (node->owner != t->owner || node->id != t->id)
		return false;
	for (unsigned i = 1; i < len && a != b; i++) {
		const struct forest_node *x = node_at(f, a);
		const struct forest_node *y = node_at(f, b);

		if (x->owner != y->owner || x->id != y->id)
			return false;
		a = x->prev;
		b = y->prev;
	}
	return true;
}

/* The node of the last `len` elements, which are not all; EMPTY if there is
 * none yet. */
static uint32_t find_node(const struct forest *f, const struct tail *t,
                          unsigned len, uint32_t hash)
{
	const struct forest_index *index =
	        *(struct forest_index *const volatile *)&f->states;
	uint32_t n;

	if (!index)
		return EMPTY;
	for (uint64_t i = hash & index->mask; (n = index->number[i]);
	     i = (i + 1) & index->mask) {
		const struct forest_node *node;

		if (!may_be(n, hash))
			continue;
		n &= NUMBER_MASK;
		node = node_at(f, n);
		if (node->hash == hash && node->len == len &&
		    !node->is_anchored && is_same(f, node, t, len))
			return n;
	}
	return EMPTY;
}

static bool grow_states(struct forest *f, unsigned len)
{
	struct forest_index *index;

	if (!is_crowded(f->states))
		return true;
	index = larger(f, f->states, len);
	if (!index)
		return has_place(f, f->states, len);
	for (uint32_t i = EMPTY + 1; i < f->nnodes; i++)
		if (!is_anchored(f, i))
			add_to_index(index, i, node_at(f, i)->hash);
	*(struct forest_index *volatile *)&f->states = index;
	return true;
}

/* A new node; EMPTY if there is no room. */
static uint32_t add_node(struct forest *f, const struct forest_node *node)
{
	uint32_t n;

	if (!grow_pieces(f, (void **)f->nodes, FOREST_NODES, f->nnodes,
	                 node->len))
		return EMPTY;
	n = take_number(&f->nnodes);
	if (!grow_pieces(f, (void **)f->nodes, FOREST_NODES, n, 0))
		return EMPTY;
	f->nodes[n / FOREST_PIECE][n % FOREST_PIECE] = *node;
	return n;
}

/* The node of all elements since a beginning.  It is in no index: what leads
 * there is one slot, and who makes that asks for it. */
static uint32_t add_anchored(struct forest *f, const struct tail *t,
                             unsigned len)
{
	const struct forest_node node = {
	        .owner = t->owner,
	        .prev = t->prev,
	        .id = t->id,
	        .len = (uint8_t)len,
	        .is_anchored = true,
	};

	return has_room(f, len) ? add_node(f, &node) : EMPTY;
}

/* The node of the last `len` elements, which are not all, made if there is
 * room; else EMPTY. */
static uint32_t need_node(struct forest *f, const struct tail *t, unsigned len)
{
	const struct forest_node node = {
	        .owner = t->owner,
	        .prev = t->prev,
	        .id = t->id,
	        .hash = hash_of(f, t, len),
	        .len = (uint8_t)len,
	};
	uint32_t n = find_node(f, t, len, node.hash);

	if (n != EMPTY || !has_room(f, len) || !grow_states(f, len))
		return n;
	n = add_node(f, &node);
	if (n != EMPTY)
		add_to_index(f->states, n, node.hash);
	return n;
}

/* The node of the last of at most `len` elements, which are not all. */
static uint32_t need_shorter(struct forest *f, const struct tail *t,
                             unsigned len)
{
	uint32_t n = EMPTY;

	for (unsigned i = 0; i < NSHORTER - 1 && n == EMPTY; i++)
		if (shorter[i] < len)
			n = need_node(f, t, shorter[i]);
	return n;
}

/* What is known behind an element that follows node s. */
static uint32_t next_of(struct forest *f, uint32_t s, uint32_t id,
                        uint64_t owner, unsigned k)
{
	struct tail t = {owner, id, s};
	unsigned len = len_of(f, s) + 1;
	uint32_t n;

	if (len > k - 1)
		len = k - 1;
	n = is_anchored(f, s) && len == len_of(f, s) + 1
	            ? add_anchored(f, &t, len)
	            : need_node(f, &t, len);
	return n != EMPTY ? n : need_shorter(f, &t, len);
}

/* --- steps ---------------------------------------------------------------- */

/* The slot of a window, made if there is room; else NULL. */
static struct forest_slot *make(struct forest *f, uint32_t s, uint32_t id,
                                uint64_t owner, unsigned k)
{
	struct forest_slot *slot = look(f, key_of(s, id), owner);
	unsigned len = len_of(f, s);

	if (slot || !has_room(f, len))
		return slot;
	return add_slot(f, key_of(s, id), owner, next_of(f, s, id, owner, k),
	                len);
}

/* Is shorter[i] what a window that begins with s falls back to? */
static bool falls_to(const struct forest *f, uint32_t s, unsigned i)
{
	return shorter[i] < len_of(f, s) || (s == START && !shorter[i]);
}

/* The node of the last `len` elements of s; EMPTY if there is none.  *t is what
 * it would be made of. */
static uint32_t suffix(const struct forest *f, uint32_t s, unsigned len,
                       struct tail *t)
{
	const struct forest_node *node;

	if (!len)
		return EMPTY;
	node = node_at(f, s);
	*t = (struct tail){node->owner, node->id, node->prev};
	return find_node(f, t, len, hash_of(f, t, len));
}

/* The node of a state, and the slot that it is, or NULL. */
static uint32_t node_of(uint64_t state, struct forest_slot **slot)
{
	*slot = NULL;
	if (state <= STATE_UNKNOWN)
		return state == STATE_BEGIN ? START : EMPTY;
	*slot = (struct forest_slot *)(uintptr_t)state;
	if ((*slot)->key)
		return (uint32_t)((*slot)->next >> 32);
	/* a child of fork has zeros where its parent had a slot */
	*slot = NULL;
	return EMPTY;
}

/*
 * There was no window behind this slot, nor room for one, and node n, which
 * knows less, was taken.  If that is so often, more than once in OFTEN times,
 * it is to be so from now on: else each such step is a long search.  What is
 * counted then is known to be shorter; what was foreseen cannot come any more.
 */
static void forget(struct forest *f, struct forest_slot *last, uint32_t n)
{
	if (!last || f->nmisses++ % (last->count / OFTEN + 1))
		return;
	__atomic_store_n(&last->next, (uint64_t)n << 32, __ATOMIC_RELAXED);
	__atomic_store_n(&last->succ, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&last->other, 0, __ATOMIC_RELAXED);
}

/* Remembers that a window came behind the last one: before others if it is
 * more frequent. */
static void foresee(struct forest_slot *last, const struct forest_slot *s)
{
	const struct forest_slot *succ =
	        (const void *)((uintptr_t)last + last->succ);
	uint64_t away = (uintptr_t)s - (uintptr_t)last;
	uint64_t *where = &last->other;

	if (succ == last || s->count > succ->count) {
		__atomic_store_n(where, last->succ, __ATOMIC_RELAXED);
		where = &last->succ;
	}
	__atomic_store_n(where, away, __ATOMIC_RELAXED);
}

/* Counts the window, which is what the state is then. */
static uint64_t go_to(struct forest_slot *last, struct forest_slot *s)
{
	if (!s)
		return STATE_UNKNOWN;
	count(s);
	if (last)
		foresee(last, s);
	return (uintptr_t)s;
}

uint64_t forest_find(struct forest *f, uint64_t state, uint64_t owner,
                     uint32_t id)
{
	struct forest_slot *last, *slot;
	uint32_t s = node_of(state, &last);
	struct tail t;

	slot = look(f, key_of(s, id), owner);
	if (!slot && has_room(f, len_of(f, s)))
		return FOREST_ABSENT;
	for (unsigned i = 0; !slot && i < NSHORTER; i++) {
		uint32_t n;

		if (!falls_to(f, s, i))
			continue;
		n = suffix(f, s, shorter[i], &t);
		if (n != EMPTY || !shorter[i])
			slot = look(f, key_of(n, id), owner);
		if (!slot && has_room(f, shorter[i]))
			return FOREST_ABSENT;
		if (slot)
			forget(f, last, n);
	}
	return go_to(last, slot);
}

uint64_t forest_make(struct forest *f, uint64_t state, uint64_t owner,
                     uint32_t id, unsigned k)
{
	struct forest_slot *last, *slot;
	uint32_t s = node_of(state, &last);
	struct tail t;

	slot = make(f, s, id, owner, k);
	for (unsigned i = 0; !slot && i < NSHORTER; i++) {
		uint32_t n;

		if (!falls_to(f, s, i))
			continue;
		n = suffix(f, s, shorter[i], &t);
		if (n == EMPTY && shorter[i])
			n = need_node(f, &t, shorter[i]);
		if (n != EMPTY || !shorter[i])
			slot = make(f, n, id, owner, k);
	}
	return go_to(last, slot);
}

/* --- chains --------------------------------------------------------------- */

#define NODE_MASK (((uint32_t)1 << CAIRN_NODE_BITS) - 1)

_Static_assert((uint64_t)FOREST_PIECE *FOREST_PIECES <= NODE_MASK + 1ull,
               "nodes and tags share 32 bits");

/* The node of a frame that another forest has led here: of the parent of a
 * fork, of a thread that the frame was on before.  Nobody knows what it is. */
static uint32_t node_here(const struct forest *f, uint64_t state)
{
	uint32_t n = (uint32_t)(state >> 32);

	if (n <= EMPTY)
		return n;
	return (n & ~NODE_MASK) == f->tag ? n & NODE_MASK : EMPTY;
}

static uint32_t tagged(const struct forest *f, uint32_t n)
{
	return n <= EMPTY ? n : n | f->tag;
}

static struct forest_slot *look_behind(const struct forest *f, uint32_t s,
                                       uint64_t owner, uint32_t id)
{
	return look(f, key_of(tagged(f, s), id), owner);
}

static struct forest_slot *make_behind(struct forest *f, uint32_t s,
                                       uint64_t owner, uint32_t id,
                                       unsigned deepest)
{
	struct forest_slot *slot = look_behind(f, s, owner, id);
	unsigned len = len_of(f, s);
	uint32_t next = START;

	if (slot || !has_room(f, len))
		return slot;
	if (owner >> CAIRN_LINK_SHIFT)
		next = next_of(f, s, id, owner, deepest + 1);
	return add_slot(f, key_of(tagged(f, s), id), owner, tagged(f, next),
	                len);
}

struct forest_slot *forest_find_link(const struct forest *f, uint64_t state,
                                     uint64_t owner, uint32_t id)
{
	uint32_t s = node_here(f, state);
	struct forest_slot *slot = look_behind(f, s, owner, id);
	struct tail t;

	if (!slot && has_room(f, len_of(f, s)))
		return FOREST_NO_SLOT;
	for (unsigned i = 0; !slot && i < NSHORTER; i++) {
		uint32_t n;

		if (!falls_to(f, s, i))
			continue;
		n = suffix(f, s, shorter[i], &t);
		if (n != EMPTY || !shorter[i])
			slot = look_behind(f, n, owner, id);
		if (!slot && has_room(f, shorter[i]))
			return FOREST_NO_SLOT;
	}
	return slot;
}

struct forest_slot *forest_make_link(struct forest *f, uint64_t state,
                                     uint64_t owner, uint32_t id,
                                     unsigned deepest)
{
	uint32_t s = node_here(f, state);
	struct forest_slot *slot = make_behind(f, s, owner, id, deepest);
	struct tail t;

	for (unsigned i = 0; !slot && i < NSHORTER; i++) {
		uint32_t n;

		if (!falls_to(f, s, i))
			continue;
		n = suffix(f, s, shorter[i], &t);
		if (n == EMPTY && shorter[i])
			n = need_node(f, &t, shorter[i]);
		if (n != EMPTY || !shorter[i])
			slot = make_behind(f, n, owner, id, deepest);
	}
	return slot;
}
