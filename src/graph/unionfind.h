/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_UNIONFIND_H
#define CAIRN_GRAPH_UNIONFIND_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"

/*
 * Disjoint sets as a plain array of parents; a root is its own parent.  Paths
 * are halved on the way (R. Tarjan and J. van Leeuwen, JACM 31(2), 1984):
 * O(log n) amortised, whatever root a union keeps.  Callers free() the array.
 */
static inline uint32_t *unionfind_new(uint32_t n)
{
	uint32_t *up = xcalloc((size_t)n + 1, sizeof(*up));

	for (uint32_t x = 0; x < n; x++)
		up[x] = x;
	return up;
}

static inline uint32_t unionfind_find(uint32_t *up, uint32_t x)
{
	while (up[x] != x) {
		up[x] = up[up[x]];
		x = up[x];
	}
	return x;
}

#endif /* CAIRN_GRAPH_UNIONFIND_H */
