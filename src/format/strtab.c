/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned strings: file and function names repeat thousands of times in a
 * map, and equal names must compare equal by number.
 *
 * A hash table with linear probing over FNV-1a (Fowler, Noll, Vo, 1991), at
 * most half full.  Invariant: every string is reachable from its hash without
 * crossing an empty slot; nothing is ever removed.  Cost: O(length) each.
 */
#include "format/strtab.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(const char *s, size_t n)
{
	uint32_t h = 2166136261u;

	while (n--)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h ^ h >> 15;
}

static bool equals(const char *item, const char *s, size_t n)
{
	return !strncmp(item, s, n) && item[n] == '\0';
}

/* The slot that holds the string, or the empty one where it belongs. */
static uint32_t *slot_of(const struct strtab *t, const char *s, size_t n)
{
	uint32_t mask = t->nslots - 1;
	uint32_t i = hash_of(s, n) & mask;

	while (t->slots[i] && !equals(t->items[t->slots[i] - 1], s, n))
		i = (i + 1) & mask;
	return &t->slots[i];
}

static void grow(struct strtab *t)
{
	free(t->slots);
	t->nslots = t->nslots ? 2 * t->nslots : 64;
	t->slots = xcalloc(t->nslots, sizeof(*t->slots));
	for (uint32_t i = 0; i < t->n; i++)
		*slot_of(t, t->items[i], strlen(t->items[i])) = i + 1;
}

uint32_t strtab_find(const struct strtab *t, const char *s, size_t n)
{
	uint32_t slot = t->nslots ? *slot_of(t, s, n) : 0;

	return slot ? slot - 1 : STRTAB_NONE;
}

uint32_t strtab_add(struct strtab *t, const char *s, size_t n)
{
	uint32_t *slot;

	if (2 * (uint64_t)(t->n + 1) > t->nslots)
		grow(t);
	slot = slot_of(t, s, n);
	if (!*slot) {
		VEC_RESERVE(t->items, t->n, t->cap);
		t->items[t->n++] = xstrndup(s, n);
		*slot = t->n;
	}
	return *slot - 1;
}

void strtab_release(struct strtab *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->items[i]);
	free(t->items);
	free(t->slots);
	*t = (struct strtab){0};
}
