/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts by a pair of numbers: a table with open addressing, which doubles when
 * it is half full.
 *
 * Invariant: an item is at most as far behind the place of its hash as there
 * are no free ones between.
 * Cost: O(1) expected.
 */
#include "analysis/tally.h"

#include <stdlib.h>

#include "base/alloc.h"

#define TALLY_FIRST 16

void tally_release(struct tally *t)
{
	free(t->items);
	*t = (struct tally){0};
}

static size_t tally_hash(uint64_t a, uint64_t b)
{
	uint64_t h = (b + a * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;

	return (size_t)(h ^ h >> 32);
}

static struct tally_item *tally_place(const struct tally *t, uint64_t a,
                                      uint64_t b)
{
	size_t i = tally_hash(a, b) & (t->cap - 1);

	while (t->items[i].count && (t->items[i].a != a || t->items[i].b != b))
		i = (i + 1) & (t->cap - 1);
	return &t->items[i];
}

static void tally_grow(struct tally *t)
{
	struct tally old = *t;

	t->cap = old.cap ? 2 * old.cap : TALLY_FIRST;
	t->items = xcalloc(t->cap, sizeof(*t->items));
	for (size_t i = 0; i < old.cap; i++)
		if (old.items[i].count)
			*tally_place(t, old.items[i].a, old.items[i].b) =
			        old.items[i];
	free(old.items);
}

uint64_t *tally_find(struct tally *t, uint64_t a, uint64_t b)
{
	struct tally_item *item;

	if (2 * t->n >= t->cap)
		tally_grow(t);
	item = tally_place(t, a, b);
	if (!item->count) {
		item->a = a;
		item->b = b;
		t->n++;
	}
	return &item->count;
}
