/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovery: all counts from those of the chords.
 *
 * T. Ball and J. Larus, "Optimally profiling and tracing programs", TOPLAS
 * 16(4), 1994, section 3.1 and figure 4.  What comes into a block leaves it,
 * frames that died there or began there included.  A block with one unknown
 * edge gives its count; the edge becomes known at its other end, and so on
 * from the leaves of the forest of unknown edges inwards.  One equation of
 * each tree is left over, and has to hold.
 *
 * Arithmetic is modulo 2^64: sums that pass through negative values come out
 * right, and a result that is negative shows as one above 2^63.
 *
 * Invariant: net[b] = known counts in - known counts out + extra_in -
 * extra_out; unknown[b] edges at b are not known yet, and trace[b] is the
 * exclusive or of their names: the name itself when one is left.
 * Cost: O(V+E) time and memory.
 */
#include "graph/recover.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/cfg.h"

struct recovery {
	const struct cfg *g;
	uint64_t *edge;
	uint64_t *net;
	uint32_t *unknown, *trace;
	block_id *work; /* blocks that had one unknown edge */
	uint32_t nwork, nunknown;
};

/* An edge is known: enters it into the equations of both its ends. */
static void recovery_count(struct recovery *r, edge_id e)
{
	r->net[r->g->edges[e].dst] += r->edge[e];
	r->net[r->g->edges[e].src] -= r->edge[e];
}

static void recovery_drop(struct recovery *r, block_id b, edge_id e)
{
	r->trace[b] ^= e;
	if (--r->unknown[b] == 1)
		r->work[r->nwork++] = b;
}

/* The outside takes in who died and gives out who began in the middle. */
static void recovery_extras(struct recovery *r, const uint64_t *extra_in,
                            const uint64_t *extra_out)
{
	for (block_id b = 1; b < r->g->nblocks; b++) {
		uint64_t extra = 0;

		if (extra_in)
			extra += extra_in[b];
		if (extra_out)
			extra -= extra_out[b];
		r->net[b] += extra;
		r->net[CFG_OUTSIDE] -= extra;
	}
}

static void recovery_start(struct recovery *r, const bool *known)
{
	for (edge_id e = 0; e < r->g->nedges; e++) {
		const struct cfg_edge *edge = &r->g->edges[e];

		if (known[e]) {
			recovery_count(r, e);
			continue;
		}
		r->edge[e] = 0;
		r->nunknown++;
		r->unknown[edge->src]++;
		r->unknown[edge->dst]++;
		r->trace[edge->src] ^= e;
		r->trace[edge->dst] ^= e;
	}
	for (block_id b = 0; b < r->g->nblocks; b++)
		if (r->unknown[b] == 1)
			r->work[r->nwork++] = b;
}

/* Solves leaf after leaf.  What stays unknown lies between cycles. */
static void recovery_solve(struct recovery *r)
{
	for (uint32_t i = 0; i < r->nwork; i++) {
		block_id b = r->work[i];
		edge_id e = r->trace[b];
		const struct cfg_edge *edge = &r->g->edges[e];

		if (r->unknown[b] == 0)
			continue; /* its edge was solved from the other end */
		r->edge[e] = edge->src == b ? r->net[b] : -r->net[b];
		r->nunknown--;
		recovery_count(r, e);
		recovery_drop(r, edge->src, e);
		recovery_drop(r, edge->dst, e);
	}
}

static void recovery_blocks(const struct recovery *r, const uint64_t *extra_in,
                            uint64_t *block)
{
	for (block_id b = 0; b < r->g->nblocks; b++)
		block[b] = b != CFG_OUTSIDE && extra_in ? extra_in[b] : 0;
	for (edge_id e = 0; e < r->g->nedges; e++) {
		if (r->g->edges[e].dst != CFG_OUTSIDE)
			block[r->g->edges[e].dst] += r->edge[e];
		if (r->g->edges[e].src == CFG_OUTSIDE)
			block[CFG_OUTSIDE] += r->edge[e];
	}
}

static enum recover_result recovery_check(const struct recovery *r,
                                          const uint64_t *block, uint32_t *bad)
{
	for (block_id b = 0; b < r->g->nblocks; b++) {
		if (r->net[b] == 0)
			continue;
		*bad = b;
		return RECOVER_UNBALANCED;
	}
	for (edge_id e = 0; e < r->g->nedges; e++) {
		if (r->edge[e] <= INT64_MAX)
			continue;
		*bad = e;
		return RECOVER_NEGATIVE;
	}
	for (block_id b = 0; b < r->g->nblocks; b++) {
		if (block[b] <= INT64_MAX)
			continue;
		*bad = b;
		return RECOVER_UNBALANCED;
	}
	return RECOVER_OK;
}

/* The arrays are parallel and all named at every call, so a struct of them
 * would hide nothing. */
/* NOLINTNEXTLINE(readability-function-size) */
enum recover_result recover_counts(const struct cfg *g, const bool *known,
                                   const uint64_t *extra_in,
                                   const uint64_t *extra_out, uint64_t *edge,
                                   uint64_t *block, uint32_t *bad)
{
	struct recovery r = {
	        .g = g,
	        .net = xcalloc(g->nblocks, sizeof(*r.net)),
	        .unknown = xcalloc(g->nblocks, sizeof(*r.unknown)),
	        .trace = xcalloc(g->nblocks, sizeof(*r.trace)),
	        .work = xcalloc(g->nblocks, sizeof(*r.work)),
	};
	enum recover_result result = RECOVER_UNSOLVABLE;

	r.edge = edge;
	recovery_extras(&r, extra_in, extra_out);
	recovery_start(&r, known);
	recovery_solve(&r);
	recovery_blocks(&r, extra_in, block);
	if (r.nunknown == 0)
		result = recovery_check(&r, block, bad);
	free(r.net);
	free(r.unknown);
	free(r.trace);
	free(r.work);
	return result;
}
