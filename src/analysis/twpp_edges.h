/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_ANALYSIS_TWPP_EDGES_H
#define CAIRN_ANALYSIS_TWPP_EDGES_H

#include <stddef.h>
#include <stdint.h>

/* An edge of a dynamic control-flow graph, and how often it was taken. */
struct twpp_edge {
	uint32_t from, to;
	uint64_t count;
};

/* Edges, each once, in the order they came.  {0}: none. */
struct twpp_edges {
	struct twpp_edge *items;
	size_t n, cap;
	uint32_t *slots; /* 1 + index, 0 is free */
	size_t nslots;   /* 0 or a power of two */
};

void twpp_edges_release(struct twpp_edges *e);
/* None again; keeps its memory. */
void twpp_edges_clear(struct twpp_edges *e);
/* Adds to the count of one; returns its index. */
size_t twpp_edges_add(struct twpp_edges *e, uint32_t from, uint32_t to,
                      uint64_t count);

#endif /* CAIRN_ANALYSIS_TWPP_EDGES_H */
