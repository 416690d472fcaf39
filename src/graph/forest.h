/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_FOREST_H
#define CAIRN_GRAPH_FOREST_H

#include <stdbool.h>
#include <stdint.h>

/* An undirected link between two nodes, for forest_choose. */
struct forest_link {
	uint32_t a, b;
	uint32_t rank;   /* links of a lower rank are tried first ... */
	uint64_t weight; /* ... then heavier ones ... */
	uint32_t id;     /* ... then those with the lower id */
};

/*
 * Chooses a maximum-weight spanning forest of nnodes nodes, lower ranks first:
 * among the forests that hold as many links of rank 0 as possible, then of
 * rank 1 and so on, one of the greatest weight.
 *
 * Requires: ids are distinct.
 * Ensures:  tree[id] for every link; the answer depends on nothing but the set
 *           of links, not on their order.  links[] is sorted in place.
 */
void forest_choose(uint32_t nnodes, struct forest_link *links, uint32_t nlinks,
                   bool *tree);

#endif /* CAIRN_GRAPH_FOREST_H */
