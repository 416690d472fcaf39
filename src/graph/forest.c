/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maximum-weight spanning forests, for counters on edges and on vertices.
 *
 * J. Kruskal, "On the shortest spanning subtree of a graph", Proc. AMS 7,
 * 1956: take the links in order, keep each that joins two trees.  Ranks are
 * infinitely large steps of weight, so the greedy proof covers them.
 *
 * Invariant: two nodes share a union-find root exactly when links that were
 * kept connect them.
 * Cost: O(E log E) to sort, O(E log V) to choose.
 */
#include "graph/forest.h"

#include <stddef.h>
#include <stdlib.h>

#include "graph/unionfind.h"

static int forest_compare(const void *pa, const void *pb)
{
	const struct forest_link *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

void forest_choose(uint32_t nnodes, struct forest_link *links, uint32_t nlinks,
                   bool *tree)
{
	uint32_t *up = unionfind_new(nnodes);

	if (nlinks > 1)
		qsort(links, nlinks, sizeof(*links), forest_compare);
	for (uint32_t i = 0; i < nlinks; i++) {
		uint32_t a = unionfind_find(up, links[i].a);
		uint32_t b = unionfind_find(up, links[i].b);

		tree[links[i].id] = a != b;
		up[a] = b;
	}
	free(up);
}
