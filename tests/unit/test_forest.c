/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forests of windows and of chains: random streams, and random calls, against
 * counting by brute force.  Without a bound every window or chain of each
 * length has its count; within one, what is not lost has it, and what is lost
 * is as much as the counts say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* the runtime is no library of ours */
#include "runtime/forest_steps.c"

#include "abi/rt.h"

#define STEPS 6000
#define ALPHABET 6
#define MAX_K 16

struct room {
	uint64_t bound, used; /* bytes */
	void *taken[4096];
	unsigned n;
	const struct forest_slot *tables[64];
	uint64_t nslots[64];
	unsigned ntables;
};

static bool take_zeros(struct forest *f, enum forest_what what, uint64_t n,
                       unsigned sixteenths, void **where)
{
	struct room *r = f->context;
	size_t size = n * (what == FOREST_SLOTS   ? sizeof(struct forest_slot)
	                   : what == FOREST_NODES ? sizeof(struct forest_node)
	                                          : sizeof(uint32_t));

	if (r->used + size > r->bound / 16 * sixteenths)
		return false;
	r->used += size;
	*where = calloc(1, size);
	assert_non_null(*where);
	assert_true(r->n < 4096);
	r->taken[r->n++] = *where;
	if (what == FOREST_SLOTS) {
		r->tables[r->ntables] = *where;
		r->nslots[r->ntables++] = n;
	}
	return true;
}

static uint32_t seed = 1;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* Streams of one thread, interleaved as those of frames are, in all. */
struct stream {
	uint64_t state;
	uint64_t owner;
	uint32_t history[STEPS + 1];
	unsigned n;
};

static uint64_t make_step(struct forest *f, struct stream *s, uint32_t id,
                          unsigned k)
{
	const struct forest_slot *last = (void *)(uintptr_t)s->state, *slot;
	uint64_t next;

	/* as generated code does it */
	if (s->state > STATE_UNKNOWN) {
		slot = (void *)(uintptr_t)(s->state + last->succ);
		if (slot->key == last->next + id) {
			((struct forest_slot *)slot)->count++;
			return (uintptr_t)slot;
		}
	}
	if (s->state == STATE_BEGIN) {
		slot = forest_make_start(f, s->owner);
		s->state = slot ? (uintptr_t)slot : STATE_BEGIN;
	}
	next = forest_find(f, s->state, s->owner, id);
	if (next == FOREST_ABSENT)
		next = forest_make(f, s->state, s->owner, id, k);
	return next;
}

/* The elements of a window, newest first; returns how many. */
static unsigned read_window(const struct forest *f,
                            const struct forest_slot *slot, uint32_t *id,
                            bool *anchored)
{
	uint32_t n = (uint32_t)(slot->key >> 32);
	unsigned len = len_of(f, n);

	*anchored = is_anchored(f, n);
	id[0] = (uint32_t)slot->key;
	for (unsigned i = 1; i <= len; i++) {
		assert_true(node_at(f, n)->owner == slot->owner);
		id[i] = node_at(f, n)->id;
		n = node_at(f, n)->prev;
	}
	return len + 1;
}

/* How often the stream had these elements, and nothing but (or anything)
 * before them. */
static uint64_t occurrences(const struct stream *s, const uint32_t *id,
                            unsigned len, bool anchored)
{
	uint64_t n = 0;

	for (unsigned at = len - 1; at < s->n; at++) {
		unsigned i = 0;

		if (anchored && at != len - 1)
			break;
		while (i < len && s->history[at - i] == id[i])
			i++;
		n += i == len;
	}
	return n;
}

/* Sums what all tables have of one window of one length or longer. */
static uint64_t sum_of(const struct forest *f, const struct room *r,
                       uint64_t owner, const uint32_t *id, unsigned len)
{
	uint64_t sum = 0;

	for (unsigned t = 0; t < r->ntables; t++)
		for (uint64_t i = 0; i < r->nslots[t]; i++) {
			const struct forest_slot *slot = &r->tables[t][i];
			uint32_t other[MAX_K + 1];
			bool anchored;

			if (!slot->count || slot->owner != owner ||
			    read_window(f, slot, other, &anchored) < len ||
			    memcmp(id, other, len * sizeof(*id)))
				continue;
			sum += slot->count;
		}
	return sum;
}

static uint64_t sum_all(const struct room *r)
{
	uint64_t sum = 0;

	for (unsigned t = 0; t < r->ntables; t++)
		for (uint64_t i = 0; i < r->nslots[t]; i++)
			sum += r->tables[t][i].count;
	return sum;
}

static void run(struct forest *f, struct stream *streams, unsigned nstreams,
                unsigned k, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++) {
		struct stream *s = &streams[random_below(nstreams)];
		/* mostly what came before, so that windows repeat */
		uint32_t id = random_below(4) && s->n >= 3
		                      ? s->history[s->n - 3]
		                      : 1 + random_below(ALPHABET);

		s->history[s->n++] = id;
		s->state = make_step(f, s, id, k);
	}
}

static struct forest *new_forest(struct room *r, uint64_t bytes)
{
	struct forest *f = calloc(1, sizeof(*f));

	*r = (struct room){.bound = bytes};
	f->take = take_zeros;
	f->context = r;
	forest_init(f);
	return f;
}

static void free_forest(struct forest *f, struct room *r)
{
	for (unsigned i = 0; i < r->n; i++)
		free(r->taken[i]);
	free(f);
}

static struct stream *new_streams(unsigned n)
{
	struct stream *s = calloc(n, sizeof(*s));

	for (unsigned i = 0; i < n; i++)
		s[i].owner = 0x5000 + 64 * (uint64_t)i;
	return s;
}

/* Windows that were seen at random places have their counts. */
static void check_some(const struct forest *f, const struct room *r,
                       const struct stream *s, unsigned k)
{
	for (unsigned tries = 0; tries < 20 && s->n; tries++) {
		unsigned at = random_below(s->n), len = 1 + random_below(k);
		uint32_t id[MAX_K + 1];

		if (len > at + 1)
			len = at + 1;
		for (unsigned i = 0; i < len; i++)
			id[i] = s->history[at - i];
		assert_int_equal(sum_of(f, r, s->owner, id, len),
		                 occurrences(s, id, len, false));
	}
}

static void all_windows_are_counted(void **unused)
{
	(void)unused;
	for (unsigned k = 2; k <= MAX_K; k += 3) {
		struct stream *streams = new_streams(3);
		struct room r;
		struct forest *f = new_forest(&r, UINT64_MAX);

		run(f, streams, 3, k, STEPS);
		assert_int_equal(sum_all(&r), STEPS);
		for (unsigned i = 0; i < 3; i++)
			check_some(f, &r, &streams[i], k);
		free_forest(f, &r);
		free(streams);
	}
}

/* The newest table and all before it: a slot says what its window is. */
static void check_slots(const struct forest *f, const struct room *r,
                        const struct stream *streams, unsigned n, unsigned k)
{
	for (unsigned t = 0; t < r->ntables; t++)
		for (uint64_t i = 0; i < r->nslots[t]; i++) {
			const struct forest_slot *slot = &r->tables[t][i];
			const struct stream *s;
			uint32_t id[MAX_K + 1];
			unsigned len;
			bool anchored;

			if (!slot->count)
				continue;
			len = read_window(f, slot, id, &anchored);
			assert_true(len <= k);
			s = &streams[(slot->owner - 0x5000) / 64];
			assert_true(s < streams + n);
			/* never more than there were */
			assert_true(slot->count <=
			            occurrences(s, id, len, anchored));
		}
}

static void what_does_not_fit_is_lost(void **unused)
{
	uint64_t short_ones = 0, missing = 0;

	(void)unused;
	for (unsigned round = 0; round < 12; round++) {
		unsigned k = 2 + random_below(MAX_K - 1);
		struct stream *streams = new_streams(2);
		struct room r;
		/* at first there is no room for the smallest index */
		uint64_t bytes = round ? 20000 + random_below(400000) : 4000;
		struct forest *f = new_forest(&r, bytes);
		uint64_t sum;

		run(f, streams, 2, k, STEPS);
		sum = sum_all(&r);
		assert_true(sum <= STEPS);
		missing += STEPS - sum;
		check_slots(f, &r, streams, 2, k);
		for (unsigned t = 0; t < r.ntables; t++)
			for (uint64_t i = 0; i < r.nslots[t]; i++) {
				uint32_t id[MAX_K + 1];
				bool anchored;
				const struct forest_slot *slot =
				        &r.tables[t][i];

				if (slot->count &&
				    read_window(f, slot, id, &anchored) < k &&
				    !anchored)
					short_ones += slot->count;
			}
		free_forest(f, &r);
		free(streams);
	}
	/* or the bounds are not as small as they were meant to be */
	assert_true(short_ones > 0);
	assert_true(missing > 0);
}

/* A state of the parent's is that of nobody. */
static void states_of_before_are_forgotten(void **unused)
{
	struct forest_slot zeros = {0};
	struct stream s = {.owner = 0x5000, .state = (uintptr_t)&zeros};
	struct room r;
	struct forest *f = new_forest(&r, UINT64_MAX);
	const struct forest_slot *slot;
	uint32_t id[MAX_K + 1];
	bool anchored;

	(void)unused;
	slot = (void *)(uintptr_t)make_step(f, &s, 5, 4);
	assert_int_equal(slot->count, 1);
	assert_int_equal(read_window(f, slot, id, &anchored), 1);
	assert_false(anchored);
	assert_int_equal(zeros.succ, 0);
	free_forest(f, &r);
}

/* --- chains --------------------------------------------------------------- */

#define EVENTS 8000
#define MAX_STACK 24
#define OF_CALLS ((uint64_t)1 << CAIRN_LINK_SHIFT)

struct element {
	uint64_t owner;
	uint32_t id;
};

/* What a path that ended had behind it: the newest call first. */
struct ending {
	struct element path, call[MAX_STACK];
	unsigned depth;
};

static struct forest_slot *follow(struct forest *f, uint64_t state,
                                  const struct element *e, unsigned deepest)
{
	struct forest_slot *s = forest_find_link(f, state, e->owner, e->id);

	if (s == FOREST_NO_SLOT)
		s = forest_make_link(f, state, e->owner, e->id, deepest);
	return s;
}

/* One activation calls, ends paths, and returns, at random. */
static unsigned run_calls(struct forest *f, struct ending *endings,
                          unsigned deepest)
{
	struct element stack[MAX_STACK];
	uint64_t state[MAX_STACK + 1] = {0};
	unsigned depth = 0, n = 0;

	for (unsigned i = 0; i < EVENTS; i++) {
		uint32_t what = random_below(4);
		struct forest_slot *s;

		if (what == 0 && depth < MAX_STACK) {
			struct element *e = &stack[depth];

			*e = (struct element){OF_CALLS * (1 + random_below(3)) +
			                              0x5000 +
			                              64 * random_below(2),
			                      1 + random_below(2)};
			s = follow(f, state[depth], e, deepest);
			state[++depth] = s ? s->next : CAIRN_CHAIN_UNKNOWN;
		} else if (what == 1 && depth) {
			depth--;
		} else {
			struct ending *e = &endings[n++];

			e->path = (struct element){0x5000, 1 + random_below(2)};
			e->depth = depth;
			for (unsigned k = 0; k < depth; k++)
				e->call[k] = stack[depth - 1 - k];
			s = follow(f, state[depth], &e->path, deepest);
			if (s)
				s->count++;
		}
	}
	return n;
}

static bool is_element(const struct element *e, uint64_t owner, uint32_t id)
{
	return e->owner == owner && e->id == id;
}

/* Does the slot count this path behind these calls, or more of them? */
static bool has_chain(const struct forest *f, const struct forest_slot *s,
                      const struct ending *e, unsigned len)
{
	uint32_t n = (uint32_t)(s->key >> 32);

	n = n <= EMPTY ? n : n & NODE_MASK;
	if (!is_element(&e->path, s->owner, (uint32_t)s->key) ||
	    len_of(f, n) < len)
		return false;
	for (unsigned i = 0; i < len; i++) {
		const struct forest_node *node = node_at(f, n);

		if (!is_element(&e->call[i], node->owner, node->id))
			return false;
		n = node->prev;
	}
	return true;
}

static bool is_alike(const struct ending *a, const struct ending *b,
                     unsigned len)
{
	if (b->depth < len || !is_element(&a->path, b->path.owner, b->path.id))
		return false;
	for (unsigned i = 0; i < len; i++)
		if (!is_element(&a->call[i], b->call[i].owner, b->call[i].id))
			return false;
	return true;
}

static uint64_t sum_chain(const struct forest *f, const struct room *r,
                          const struct ending *e, unsigned len)
{
	uint64_t sum = 0;

	for (unsigned t = 0; t < r->ntables; t++)
		for (uint64_t i = 0; i < r->nslots[t]; i++) {
			const struct forest_slot *s = &r->tables[t][i];

			if (s->count && has_chain(f, s, e, len))
				sum += s->count;
		}
	return sum;
}

static uint64_t alike(const struct ending *endings, unsigned n,
                      const struct ending *e, unsigned len)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += is_alike(e, &endings[i], len);
	return sum;
}

static void all_chains_are_counted(void **unused)
{
	struct ending *endings = calloc(EVENTS, sizeof(*endings));

	(void)unused;
	for (unsigned deepest = 1; deepest <= CAIRN_CHAINS_MAX; deepest += 3) {
		struct room r;
		struct forest *f = new_forest(&r, UINT64_MAX);
		unsigned n;

		f->tag = (uint32_t)deepest << CAIRN_NODE_BITS;
		n = run_calls(f, endings, deepest);
		assert_int_equal(sum_all(&r), n);
		for (unsigned tries = 0; tries < 100; tries++) {
			const struct ending *e = &endings[random_below(n)];
			unsigned len = e->depth < deepest ? e->depth : deepest;

			len = random_below(len + 1);
			assert_int_equal(sum_chain(f, &r, e, len),
			                 alike(endings, n, e, len));
		}
		free_forest(f, &r);
	}
	free(endings);
}

static void chains_without_room_are_shorter(void **unused)
{
	struct ending *endings = calloc(EVENTS, sizeof(*endings));
	uint64_t less = 0, missing = 0;

	(void)unused;
	for (unsigned round = 0; round < 12; round++) {
		struct room r;
		uint64_t bytes = round ? 20000 + random_below(300000) : 4000;
		struct forest *f = new_forest(&r, bytes);
		unsigned n;

		n = run_calls(f, endings, CAIRN_CHAINS_MAX);
		assert_true(sum_all(&r) <= n);
		missing += n - sum_all(&r);
		for (unsigned tries = 0; tries < 100; tries++) {
			const struct ending *e = &endings[random_below(n)];
			unsigned len = random_below(e->depth + 1);
			uint64_t found, real;

			if (len > CAIRN_CHAINS_MAX)
				continue;
			found = sum_chain(f, &r, e, len);
			real = alike(endings, n, e, len);
			assert_true(found <= real);
			less += real - found;
		}
		free_forest(f, &r);
	}
	/* or the bounds are not as small as they were meant to be */
	assert_true(less > 0);
	assert_true(missing > 0);
	free(endings);
}

/* Another forest's node says nothing of the calls of this one. */
static void nodes_of_others_are_unknown(void **unused)
{
	const struct element call = {OF_CALLS + 0x5000, 1}, path = {0x5000, 1};
	struct room ra, rb;
	struct forest *a = new_forest(&ra, UINT64_MAX);
	struct forest *b = new_forest(&rb, UINT64_MAX);
	struct forest_slot *s;

	(void)unused;
	a->tag = (uint32_t)1 << CAIRN_NODE_BITS;
	b->tag = (uint32_t)2 << CAIRN_NODE_BITS;
	s = follow(a, 0, &call, 4);
	assert_int_equal(follow(a, s->next, &path, 4)->key >> 32,
	                 s->next >> 32);
	assert_int_equal(follow(b, s->next, &path, 4)->key >> 32, EMPTY);
	free_forest(a, &ra);
	free_forest(b, &rb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_windows_are_counted),
	        cmocka_unit_test(what_does_not_fit_is_lost),
	        cmocka_unit_test(states_of_before_are_forgotten),
	        cmocka_unit_test(all_chains_are_counted),
	        cmocka_unit_test(chains_without_room_are_shorter),
	        cmocka_unit_test(nodes_of_others_are_unknown),
	};
	const char *text = getenv("SEED");

	seed = text ? (uint32_t)strtoul(text, NULL, 10) : 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
