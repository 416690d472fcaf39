/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are witnesses enough?  The definitions of the paper, taken at their word.
 *
 * T. Ball and J. Larus, "Optimally profiling and tracing programs", TOPLAS
 * 16(4), 1994, section 4.  The witness set of every edge out of a predicate is
 * collected by a search over edges that write nothing, and sets of edges out of
 * the same block are compared.  The search meets a call, the exit or a block
 * without edges out only if the blocking property does not hold.
 *
 * It works on the control-flow graph and shares nothing with the placement, so
 * that a mistake in one shows in the other; not even the graph of slots.c.
 *
 * Breaks when: nothing is known to.
 * Oracle: test_witness takes witnesses away, and lists all ways of small
 * graphs.
 * Cost: O(V+E) for each edge out of a predicate; the search ends at witnesses,
 * and where they are it is short.
 */
#include "graph/witness_check.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/err.h"
#include "graph/witness.h"

struct check_found {
	uint32_t code;
	edge_id edge; /* out of the predicate */
};

struct check {
	const struct cfg *g;
	const struct witness *w;
	const struct witness_options *o;
	bool *is_taken;            /* per edge */
	uint32_t *blocks, nblocks; /* to look at */
	uint32_t *seen;            /* per block: in the search with number */
	uint32_t nsearches;
	struct check_found *found;
	size_t nfound, found_cap;
};

static enum dag_how check_how(const struct check *c, edge_id e)
{
	return c->o->slots.asked ? c->o->slots.asked[e] : DAG_THROUGH;
}

static bool check_calls(const struct check *c, edge_id e)
{
	const struct cfg_edge *edge = &c->g->edges[e];

	return c->o->slots.is_call && c->o->slots.is_call[e] &&
	       check_how(c, e) != DAG_INDIRECT && edge->src != CFG_OUTSIDE &&
	       edge->dst != CFG_OUTSIDE;
}

/* Edges that nobody takes, and indirect ones that an earlier one stands for. */
static bool check_stands_aside(const struct check *c, edge_id e)
{
	const struct cfg_edge *edge = &c->g->edges[e];

	if (check_how(c, e) != DAG_INDIRECT)
		return check_how(c, e) == DAG_IGNORED;
	for (uint32_t i = c->g->out_at[edge->src]; c->g->out[i] != e; i++)
		if (check_how(c, c->g->out[i]) == DAG_INDIRECT &&
		    c->g->edges[c->g->out[i]].dst == edge->dst)
			return true;
	return false;
}

/* --- witness sets -------------------------------------------------------- */

static void check_find(struct check *c, edge_id from, uint32_t code)
{
	VEC_RESERVE(c->found, c->nfound, c->found_cap);
	c->found[c->nfound++] = (struct check_found){code, from};
}

/* Comes to a block; `from` is where the search began. */
static void check_come(struct check *c, edge_id from, block_id b)
{
	if (c->w->at_head[b] != WITNESS_NONE) {
		check_find(c, from, c->w->at_head[b]);
		return;
	}
	if (c->seen[b] == c->nsearches)
		return;
	c->seen[b] = c->nsearches;
	c->blocks[c->nblocks++] = b;
}

/* Takes an edge; false if somebody else could write now. */
static bool check_take(struct check *c, edge_id from, edge_id e)
{
	block_id dst = c->g->edges[e].dst;

	if (c->w->on_edge[e] != WITNESS_NONE) {
		check_find(c, from, c->w->on_edge[e]);
		return true;
	}
	if (check_calls(c, e))
		return false;
	if (dst != CFG_OUTSIDE) {
		check_come(c, from, dst);
		return true;
	}
	if (c->o->is_alone)
		check_find(c, from, WITNESS_EOF);
	return c->o->is_alone;
}

/* Searches on from what is in blocks[]; false if somebody else could write. */
static bool check_search(struct check *c, edge_id from)
{
	const struct cfg *g = c->g;

	while (c->nblocks) {
		block_id b = c->blocks[--c->nblocks];
		bool ends = true;

		for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++) {
			if (!c->is_taken[g->out[i]])
				continue;
			ends = false;
			if (!check_take(c, from, g->out[i]))
				return false;
		}
		if (ends)
			return false;
	}
	return true;
}

static int check_by_code(const void *pa, const void *pb)
{
	const struct check_found *a = pa, *b = pb;

	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return a->edge < b->edge ? -1 : a->edge > b->edge;
}

static int check_compare(struct check *c, struct cairn_err *err)
{
	if (c->nfound > 1)
		qsort(c->found, c->nfound, sizeof(*c->found), check_by_code);
	for (size_t i = 1; i < c->nfound; i++)
		if (c->found[i].code == c->found[i - 1].code &&
		    c->found[i].edge != c->found[i - 1].edge)
			return cairn_fail(
			        err, CAIRN_E_CORRUPT,
			        "the same witness follows edges %" PRIu32
			        " and %" PRIu32 " out of a block",
			        c->found[i - 1].edge, c->found[i].edge);
	return 0;
}

static int check_unheard(block_id b, struct cairn_err *err)
{
	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "a call or the exit follows block %" PRIu32
	                  " without a witness",
	                  b);
}

/* Rules 1 and 2 for a block with two edges out, or more. */
static int check_predicate(struct check *c, block_id b, struct cairn_err *err)
{
	const struct cfg *g = c->g;

	c->nfound = 0;
	for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++) {
		edge_id e = g->out[i];
		size_t before = c->nfound;

		if (!c->is_taken[e])
			continue;
		c->nsearches++;
		c->nblocks = 0;
		if (!check_take(c, e, e) || !check_search(c, e))
			return check_unheard(b, err);
		if (c->nfound == before)
			return cairn_fail(err, CAIRN_E_CORRUPT,
			                  "no witness follows edge %" PRIu32,
			                  e);
	}
	return check_compare(c, err);
}

/* Rule 2 for the head of a loud block. */
static int check_loud(struct check *c, block_id b, struct cairn_err *err)
{
	c->nfound = 0;
	c->nsearches++;
	c->nblocks = 0;
	check_come(c, CFG_NONE, b);
	return check_search(c, CFG_NONE) ? 0 : check_unheard(b, err);
}

static int check_ways(struct check *c, struct cairn_err *err)
{
	for (block_id b = 0; b < c->g->nblocks; b++) {
		uint32_t nways = 0;

		for (uint32_t i = c->g->out_at[b]; i < c->g->out_at[b + 1]; i++)
			nways += c->is_taken[c->g->out[i]];
		if (nways > 1)
			CAIRN_TRY(check_predicate(c, b, err));
		if (b != CFG_OUTSIDE && c->o->slots.loud && c->o->slots.loud[b])
			CAIRN_TRY(check_loud(c, b, err));
	}
	return 0;
}

/* --- cycles -------------------------------------------------------------- */

/* Does an edge between blocks write nothing, its target's head included? */
static bool check_is_mute(const struct check *c, edge_id e)
{
	const struct cfg_edge *edge = &c->g->edges[e];

	return edge->src != CFG_OUTSIDE && edge->dst != CFG_OUTSIDE &&
	       c->is_taken[e] && c->w->on_edge[e] == WITNESS_NONE &&
	       c->w->at_head[edge->dst] == WITNESS_NONE;
}

/* Rule 3: takes blocks away that no mute edge leads to, until none is left. */
static int check_cycles(struct check *c, struct cairn_err *err)
{
	const struct cfg *g = c->g;
	uint32_t *nin = xcalloc(g->nblocks, sizeof(*nin));
	block_id left = CFG_OUTSIDE;

	c->nblocks = 0;
	for (edge_id e = 0; e < g->nedges; e++)
		nin[g->edges[e].dst] += check_is_mute(c, e);
	for (block_id b = 1; b < g->nblocks; b++)
		if (!nin[b])
			c->blocks[c->nblocks++] = b;
	while (c->nblocks) {
		block_id b = c->blocks[--c->nblocks];

		for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++)
			if (check_is_mute(c, g->out[i]) &&
			    --nin[g->edges[g->out[i]].dst] == 0)
				c->blocks[c->nblocks++] =
				        g->edges[g->out[i]].dst;
	}
	for (block_id b = 1; b < g->nblocks; b++)
		if (nin[b])
			left = b;
	free(nin);
	if (left == CFG_OUTSIDE)
		return 0;
	return cairn_fail(
	        err, CAIRN_E_CORRUPT,
	        "a cycle that leads to block %" PRIu32 " has no witness", left);
}

/* --- places -------------------------------------------------------------- */

static bool check_fits(uint32_t code)
{
	return code == WITNESS_NONE ||
	       (code >= WITNESS_FIRST && code <= WITNESS_LAST_WIDE);
}

static bool check_has_head(const struct check *c, block_id b)
{
	if (b != CFG_OUTSIDE && c->o->slots.loud && c->o->slots.loud[b])
		return !c->o->slots.is_call_block ||
		       !c->o->slots.is_call_block[b];
	for (uint32_t i = c->g->in_at[b]; i < c->g->in_at[b + 1]; i++)
		if (check_how(c, c->g->in[i]) == DAG_INDIRECT)
			return true;
	return false;
}

/* Rule 4. */
static int check_places(const struct check *c, struct cairn_err *err)
{
	for (edge_id e = 0; e < c->g->nedges; e++) {
		bool has_room = check_how(c, e) != DAG_INDIRECT &&
		                check_how(c, e) != DAG_IGNORED;

		if (!check_fits(c->w->on_edge[e]) ||
		    (!has_room && c->w->on_edge[e] != WITNESS_NONE))
			return cairn_fail(err, CAIRN_E_CORRUPT,
			                  "a witness does not fit on edge "
			                  "%" PRIu32,
			                  e);
	}
	for (block_id b = 0; b < c->g->nblocks; b++)
		if (!check_fits(c->w->at_head[b]) ||
		    (c->w->at_head[b] != WITNESS_NONE && !check_has_head(c, b)))
			return cairn_fail(err, CAIRN_E_CORRUPT,
			                  "a witness does not fit at the head "
			                  "of block %" PRIu32,
			                  b);
	return 0;
}

static int check_all(struct check *c, struct cairn_err *err)
{
	CAIRN_TRY(check_places(c, err));
	CAIRN_TRY(check_cycles(c, err));
	return check_ways(c, err);
}

int witness_check(const struct witness *w,
                  const struct witness_options *options, struct cairn_err *err)
{
	const struct cfg *g = w->graph.g;
	struct check c = {
	        .g = g,
	        .w = w,
	        .o = options,
	        .is_taken = xcalloc((size_t)g->nedges + 1, sizeof(bool)),
	        .blocks = xcalloc(g->nblocks, sizeof(*c.blocks)),
	        .seen = xcalloc(g->nblocks, sizeof(*c.seen)),
	};
	int result;

	for (edge_id e = 0; e < g->nedges; e++)
		c.is_taken[e] = !check_stands_aside(&c, e);
	result = check_all(&c, err);
	free(c.is_taken);
	free(c.blocks);
	free(c.seen);
	free(c.found);
	return result;
}
