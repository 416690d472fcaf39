/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_GRAPHS_H
#define CAIRN_TESTS_GRAPHS_H

/*
 * Graphs for tests: those of the papers, and random ones.  Everything is
 * static inline, so that tests and the proof program share it without a
 * library of their own.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/cfg.h"

/* G. Steele, D. Lea and C. Flood's splitmix64: any seed will do. */
struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* A number in 0 .. n - 1. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)(rng_next(r) >> 32) % n;
}

static inline bool rng_percent(struct rng *r, uint32_t percent)
{
	return rng_below(r, 100) < percent;
}

/* SEED from the environment, so that a failure can be run again. */
static inline struct rng rng_from_environment(uint64_t fallback)
{
	const char *seed = getenv("SEED");
	struct rng r = {seed ? strtoull(seed, NULL, 0) : fallback};

	printf("SEED=%llu\n", (unsigned long long)r.state);
	return r;
}

struct graph_arc {
	block_id src, dst;
};

/* Builds and links a graph from a list of arcs. */
static inline void graph_make(struct cfg *g, uint32_t nblocks,
                              const struct graph_arc *arcs, size_t narcs)
{
	cfg_init(g, nblocks);
	for (size_t i = 0; i < narcs; i++)
		cfg_add_edge(g, arcs[i].src, arcs[i].dst);
	cfg_link(g);
}

#define GRAPH_MAKE(g, nblocks, arcs) \
	graph_make((g), (nblocks), (arcs), sizeof(arcs) / sizeof(*(arcs)))

/* Figure 1 of the paper of 1994.  The outside is its EXIT. */
enum { FIG1_P = 1, FIG1_Q, FIG1_A, FIG1_B, FIG1_R, FIG1_C, FIG1_NBLOCKS };
enum {
	FIG1_EXIT_P,
	FIG1_P_Q,
	FIG1_P_EXIT,
	FIG1_Q_A,
	FIG1_Q_B,
	FIG1_A_R,
	FIG1_B_R,
	FIG1_R_C,
	FIG1_R_EXIT,
	FIG1_C_P,
	FIG1_NEDGES
};

static inline void graph_figure_1(struct cfg *g)
{
	static const struct graph_arc arcs[] = {
	        {0, FIG1_P},      {FIG1_P, FIG1_Q}, {FIG1_P, 0},
	        {FIG1_Q, FIG1_A}, {FIG1_Q, FIG1_B}, {FIG1_A, FIG1_R},
	        {FIG1_B, FIG1_R}, {FIG1_R, FIG1_C}, {FIG1_R, 0},
	        {FIG1_C, FIG1_P},
	};

	GRAPH_MAKE(g, FIG1_NBLOCKS, arcs);
}

/* Figure 6 of the paper of 1994. */
enum { FIG6_P = 1, FIG6_A, FIG6_B, FIG6_C, FIG6_NBLOCKS };
enum {
	FIG6_EXIT_P,
	FIG6_P_A,
	FIG6_P_B,
	FIG6_A_C,
	FIG6_B_A,
	FIG6_B_C,
	FIG6_C_P,
	FIG6_C_EXIT,
	FIG6_NEDGES
};

static inline void graph_figure_6(struct cfg *g)
{
	static const struct graph_arc arcs[] = {
	        {0, FIG6_P},      {FIG6_P, FIG6_A}, {FIG6_P, FIG6_B},
	        {FIG6_A, FIG6_C}, {FIG6_B, FIG6_A}, {FIG6_B, FIG6_C},
	        {FIG6_C, FIG6_P}, {FIG6_C, 0},
	};

	GRAPH_MAKE(g, FIG6_NBLOCKS, arcs);
}

/* How a random graph is drawn; the numbers are per cent. */
struct graph_taste {
	uint32_t nblocks;
	uint32_t fall;  /* blocks that may go on to the next */
	uint32_t back;  /* targets that lie before their source */
	uint32_t far;   /* targets anywhere */
	uint32_t leave; /* blocks that leave the function */
	uint32_t stuck; /* blocks without successor */
	uint32_t swtch; /* blocks that end in a switch, with equal targets */
	uint32_t self;  /* blocks with an edge to themselves */
};

static inline struct graph_taste graph_random_taste(struct rng *r,
                                                    uint32_t nblocks)
{
	return (struct graph_taste){
	        .nblocks = nblocks,
	        .fall = 50 + rng_below(r, 51),
	        .back = rng_below(r, 40),
	        .far = rng_percent(r, 50) ? rng_below(r, 40) : 0,
	        .leave = 2 + rng_below(r, 20),
	        .stuck = rng_percent(r, 30) ? rng_below(r, 10) : 0,
	        .swtch = rng_percent(r, 60) ? rng_below(r, 20) : 0,
	        .self = rng_percent(r, 50) ? rng_below(r, 20) : 0,
	};
}

static inline block_id graph_random_target(const struct graph_taste *t,
                                           struct rng *r, block_id b)
{
	uint32_t ahead = b + 1 + rng_below(r, 4);

	if (rng_percent(r, t->far))
		return 1 + rng_below(r, t->nblocks - 1);
	if (rng_percent(r, t->back))
		return 1 + rng_below(r, b);
	return ahead < t->nblocks ? ahead : CFG_OUTSIDE;
}

static inline void graph_random_switch(struct cfg *g,
                                       const struct graph_taste *t,
                                       struct rng *r, block_id b)
{
	uint32_t ncases = 2 + rng_below(r, 5);
	block_id to = graph_random_target(t, r, b);

	for (uint32_t i = 0; i < ncases; i++) {
		cfg_add_edge(g, b, to);
		if (rng_percent(r, 60))
			to = graph_random_target(t, r, b);
	}
}

/* Edge 0 is outside -> block 1, as everywhere. */
static inline void graph_random(struct cfg *g, const struct graph_taste *t,
                                struct rng *r)
{
	cfg_init(g, t->nblocks);
	cfg_add_edge(g, CFG_OUTSIDE, 1);
	for (block_id b = 1; b < t->nblocks; b++) {
		if (rng_percent(r, t->stuck))
			continue;
		if (rng_percent(r, t->self))
			cfg_add_edge(g, b, b);
		if (rng_percent(r, t->leave))
			cfg_add_edge(g, b, CFG_OUTSIDE);
		if (rng_percent(r, t->swtch)) {
			graph_random_switch(g, t, r, b);
			continue;
		}
		if (b + 1 < t->nblocks && rng_percent(r, t->fall))
			cfg_add_edge(g, b, b + 1);
		else
			cfg_add_edge(g, b, graph_random_target(t, r, b));
		if (rng_percent(r, 60))
			cfg_add_edge(g, b, graph_random_target(t, r, b));
	}
	cfg_link(g);
}

/* A chain of n blocks, each of them a loop of its own if asked for. */
static inline void graph_chain(struct cfg *g, uint32_t n, bool with_loops)
{
	cfg_init(g, n + 1);
	for (block_id b = 0; b < n; b++) {
		cfg_add_edge(g, b, b + 1);
		if (with_loops && b > 0)
			cfg_add_edge(g, b, b);
	}
	cfg_add_edge(g, n, CFG_OUTSIDE);
	cfg_link(g);
}

/* n loops inside each other: heads 1 .. n, n + 1 innermost, then latches. */
static inline void graph_nest(struct cfg *g, uint32_t n)
{
	cfg_init(g, 2 * n + 2);
	for (block_id b = 0; b <= n; b++)
		cfg_add_edge(g, b, b + 1);
	for (uint32_t i = 0; i < n; i++) {
		block_id head = n - i, latch = n + 2 + i;

		cfg_add_edge(g, latch - 1, latch);
		cfg_add_edge(g, latch, head);
	}
	cfg_add_edge(g, 2 * n + 1, CFG_OUTSIDE);
	cfg_link(g);
}

/* Which blocks can be reached from the outside without passing `without`. */
static inline bool *graph_reach(const struct cfg *g, block_id without)
{
	bool *reached = calloc(g->nblocks, sizeof(*reached));
	bool grown = true;

	if (!reached)
		abort();
	reached[CFG_OUTSIDE] = without != CFG_OUTSIDE;
	while (grown) {
		grown = false;
		for (edge_id e = 0; e < g->nedges; e++) {
			block_id src = g->edges[e].src, dst = g->edges[e].dst;

			if (!reached[src] || reached[dst] || dst == without)
				continue;
			reached[dst] = grown = true;
		}
	}
	return reached;
}

#endif /* CAIRN_TESTS_GRAPHS_H */
