/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open addressing with linear probing, at most half full, never shrinking.
 * The order of slots depends on addresses: never iterate over it for output.
 */
#include "base/ptrmap.h"

#include "base/alloc.h"

#include <stdlib.h>

static size_t slot_of(const struct ptrmap *m, const void *key)
{
	uint64_t hash = ((uint64_t)(uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(hash >> 20) & (m->cap - 1);

	while (m->keys[i] && m->keys[i] != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static void grow(struct ptrmap *m)
{
	struct ptrmap bigger = {.n = m->n, .cap = m->cap ? 2 * m->cap : 64};

	bigger.keys = xcalloc(bigger.cap, sizeof(*bigger.keys));
	bigger.values = xcalloc(bigger.cap, sizeof(*bigger.values));
	for (size_t i = 0; i < m->cap; i++) {
		if (!m->keys[i])
			continue;
		size_t slot = slot_of(&bigger, m->keys[i]);

		bigger.keys[slot] = m->keys[i];
		bigger.values[slot] = m->values[i];
	}
	free(m->keys);
	free(m->values);
	*m = bigger;
}

void ptrmap_release(struct ptrmap *m)
{
	free(m->keys);
	free(m->values);
	*m = (struct ptrmap){0};
}

void ptrmap_set(struct ptrmap *m, const void *key, uint32_t value)
{
	size_t i;

	if (2 * m->n >= m->cap)
		grow(m);
	i = slot_of(m, key);
	m->n += m->keys[i] == NULL;
	m->keys[i] = key;
	m->values[i] = value;
}

uint32_t ptrmap_get(const struct ptrmap *m, const void *key)
{
	size_t i;

	if (m->cap == 0)
		return PTRMAP_NONE;
	i = slot_of(m, key);
	return m->keys[i] ? m->values[i] : PTRMAP_NONE;
}
