/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_GRAPH_GCORE_H
#define CAIRN_GRAPH_GCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/turns.h"

/*
 * A biconnected graph that shrinks, for gstar.c.  A link stands for all simple
 * paths of a part that hangs together with the rest at the link's two ends
 * only; there is at most one link between two nodes.  Link l is the two half
 * links 2 l, in the list of its node a, and 2 l + 1, in that of its node b.
 */
struct gcore_link {
	uint32_t a, b;
	turns_set turns; /* of the paths from a to b */
};

struct gcore {
	uint32_t nnodes, nlinks; /* ever made */
	uint32_t nalive;         /* nodes left */
	struct gcore_link *links;
	uint32_t *next, *prev; /* per half link */
	uint32_t *first;       /* per node: a half link, or GCORE_NONE */
	uint32_t *degree;      /* per node: 0 once it is gone */
	uint32_t *work;        /* nodes that may have two links left */
	uint32_t nwork, work_cap;
	bool bad;        /* a cycle turns more than twice */
	uint64_t budget; /* steps left */
};

#define GCORE_NONE UINT32_MAX

/* Room for nnodes nodes and nlinks calls of gcore_add. */
void gcore_init(struct gcore *c, uint32_t nnodes, uint32_t nlinks,
                uint64_t budget);
void gcore_release(struct gcore *c);

/* Uses up a number of steps.  False if there are not as many. */
bool gcore_spend(struct gcore *c, uint64_t nsteps);

/* Adds paths from a to b; sets bad if a cycle with those known is. */
void gcore_add(struct gcore *c, uint32_t a, uint32_t b, turns_set turns);
void gcore_remove(struct gcore *c, uint32_t link);
/* The link between a and b, or GCORE_NONE. */
uint32_t gcore_find(const struct gcore *c, uint32_t a, uint32_t b);

/* The node at the other end of a half link, and the paths that lead to it. */
uint32_t gcore_to(const struct gcore *c, uint32_t half);
turns_set gcore_turns(const struct gcore *c, uint32_t half);

/* Replaces nodes with two links by one link, until there are none, or bad. */
void gcore_reduce(struct gcore *c);

#endif /* CAIRN_GRAPH_GCORE_H */
