/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of a dynamic control-flow graph: a hash table over pairs of nodes,
 * linear probing, at most half full.  A trace mostly takes an edge that it took
 * before, so that an addition is one probe.
 */
#include "analysis/twpp_edges.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void twpp_edges_release(struct twpp_edges *e)
{
	free(e->items);
	free(e->slots);
	*e = (struct twpp_edges){0};
}

static size_t home(const struct twpp_edges *e, uint32_t from, uint32_t to)
{
	uint64_t key = (uint64_t)from << 32 | to;

	return (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (e->nslots - 1);
}

/* Its slot, or the free one where it belongs. */
static size_t find(const struct twpp_edges *e, uint32_t from, uint32_t to)
{
	size_t i = home(e, from, to);

	while (e->slots[i]) {
		const struct twpp_edge *edge = &e->items[e->slots[i] - 1];

		if (edge->from == from && edge->to == to)
			break;
		i = (i + 1) & (e->nslots - 1);
	}
	return i;
}

void twpp_edges_clear(struct twpp_edges *e)
{
	/* in the order they came, a slot may be found behind a freed one */
	if (e->n * 8 > e->nslots) {
		memset(e->slots, 0, e->nslots * sizeof(*e->slots));
	} else {
		for (size_t i = e->n; i-- > 0;)
			e->slots[find(e, e->items[i].from, e->items[i].to)] = 0;
	}
	e->n = 0;
}

static void grow(struct twpp_edges *e)
{
	free(e->slots);
	e->nslots = e->nslots ? 2 * e->nslots : 16;
	e->slots = xcalloc(e->nslots, sizeof(*e->slots));
	for (size_t i = 0; i < e->n; i++)
		e->slots[find(e, e->items[i].from, e->items[i].to)] =
		        (uint32_t)i + 1;
}

size_t twpp_edges_add(struct twpp_edges *e, uint32_t from, uint32_t to,
                      uint64_t count)
{
	size_t slot;

	if (2 * e->n >= e->nslots)
		grow(e);
	slot = find(e, from, to);
	if (!e->slots[slot]) {
		VEC_RESERVE(e->items, e->n, e->cap);
		e->items[e->n] = (struct twpp_edge){from, to, 0};
		e->slots[slot] = (uint32_t)++e->n;
	}
	e->items[e->slots[slot] - 1].count += count;
	return e->slots[slot] - 1;
}
