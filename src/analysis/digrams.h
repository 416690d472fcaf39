/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_DIGRAMS_H
#define CAIRN_ANALYSIS_DIGRAMS_H

/*
 * The table of digrams of sequitur.c: where each pair of neighbours is.
 *
 * Open addressing with linear probing; what is removed leaves no trace, as
 * those behind it move up.  A slot holds the node where the pair begins and 32
 * bits of the pair's hash.  They say where the slot's home is and nearly always
 * that a pair is another one, so that a search for a pair that is not there
 * touches one line of memory, and moving or growing never looks at nodes.
 */
#include "base/alloc.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DIGRAMS_HUGE ((size_t)1 << 21)

struct digrams_slot {
	uint32_t node; /* 0: empty */
	uint32_t hash;
};

struct digrams {
	struct digrams_slot *slots;
	size_t mask, n;
};

/* Zeroed memory that is hit at random: in huge pages if it is large (measured:
 * 1.4 times as fast with a grammar of a million items). */
static inline void *digrams_alloc(size_t size)
{
	size_t align = size < DIGRAMS_HUGE ? 64 : DIGRAMS_HUGE;
	void *p = aligned_alloc(align, (size + align - 1) / align * align);

	if (!p)
		return xcalloc(1, size); /* which says that there is none */
	if (align == DIGRAMS_HUGE)
		(void)madvise(p, size, MADV_HUGEPAGE);
	return memset(p, 0, size);
}

static inline void digrams_init(struct digrams *d)
{
	*d = (struct digrams){.mask = 1023};
	d->slots = digrams_alloc((d->mask + 1) * sizeof(*d->slots));
}

static inline void digrams_release(struct digrams *d)
{
	free(d->slots);
	*d = (struct digrams){0};
}

static inline size_t digrams_home(const struct digrams *d, uint32_t hash)
{
	return hash & d->mask;
}

static inline void digrams_prefetch(const struct digrams *d, uint32_t hash)
{
	__builtin_prefetch(&d->slots[digrams_home(d, hash)], 1);
}

static inline void digrams_grow(struct digrams *d)
{
	struct digrams old = *d;

	d->mask = 2 * d->mask + 1;
	assert(d->mask <= UINT32_MAX);
	d->slots = digrams_alloc((d->mask + 1) * sizeof(*d->slots));
	for (size_t i = 0; i <= old.mask; i++) {
		size_t k = digrams_home(d, old.slots[i].hash);

		if (!old.slots[i].node)
			continue;
		while (d->slots[k].node)
			k = (k + 1) & d->mask;
		d->slots[k] = old.slots[i];
	}
	free(old.slots);
}

/* Puts a node into the empty slot where a search has ended. */
static inline void digrams_put(struct digrams *d, struct digrams_slot *slot,
                               uint32_t hash, uint32_t node)
{
	*slot = (struct digrams_slot){node, hash};
	if (++d->n > d->mask / 2)
		digrams_grow(d);
}

/* Removes the node, if it is there. */
static inline void digrams_remove(struct digrams *d, uint32_t hash,
                                  uint32_t node)
{
	size_t k = digrams_home(d, hash), hole;

	while (d->slots[k].node != node) {
		if (!d->slots[k].node)
			return;
		k = (k + 1) & d->mask;
	}
	hole = k;
	for (;;) {
		k = (k + 1) & d->mask;
		if (!d->slots[k].node)
			break;
		/* may it stand in the hole: is that not before its home? */
		if (((k - digrams_home(d, d->slots[k].hash)) & d->mask) >=
		    ((k - hole) & d->mask)) {
			d->slots[hole] = d->slots[k];
			hole = k;
		}
	}
	d->slots[hole] = (struct digrams_slot){0};
	d->n--;
}

#endif /* CAIRN_ANALYSIS_DIGRAMS_H */
