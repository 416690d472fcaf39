/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph on which witnesses are placed.
 *
 * T. Ball and J. Larus, "Optimally profiling and tracing programs", TOPLAS
 * 16(4), 1994, section 4, has calls in vertices and witnesses on all edges.
 * Here calls are on edges, and some edges have no room for code.  So the graph
 * is drawn again: an edge that calls becomes an arc to a vertex of its own, the
 * call, and one from there on; a block gets a second vertex in front of its
 * head.  The arc between the two has room for a witness if the block is loud
 * (what comes in may come from a call of anything, and has to be heard) and not
 * itself the call, or an indirect branch leads to it (a witness of which fits
 * nowhere else).
 *
 * Invariant: an arc without room is an indirect edge, which leads to a vertex
 * whose only arc out has room; or it leads from a call, or from in front of a
 * head to its block.  No two of them lead from one vertex to the same one.  So
 * they form neither directed cycles nor diamonds, and a placement exists.
 * Cost: O(V+E) time and memory.
 */
#include "graph/slots.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/err.h"

struct slots_maker {
	struct slots *s;
	const struct slots_options *o;
	bool *has_head;   /* per block: a witness fits there */
	uint32_t *led_to; /* per block: the last block with an indirect edge */
	struct slots_arc *arcs; /* not yet by source */
	uint32_t ncalls;
};

static bool slots_is_loud(const struct slots_maker *m, block_id b)
{
	return m->o->loud && b != CFG_OUTSIDE && m->o->loud[b];
}

static bool slots_is_call_block(const struct slots_maker *m, block_id b)
{
	return m->o->is_call_block && m->o->is_call_block[b];
}

static enum dag_how slots_how(const struct slots_maker *m, edge_id e)
{
	const struct cfg_edge *edge = &m->s->g->edges[e];
	enum dag_how how = m->o->asked ? m->o->asked[e] : DAG_THROUGH;

	if (how == DAG_INDIRECT || how == DAG_IGNORED)
		return how;
	return m->o->is_call && m->o->is_call[e] && edge->src != CFG_OUTSIDE &&
	                       edge->dst != CFG_OUTSIDE
	               ? DAG_CUT
	               : DAG_THROUGH;
}

static void slots_add(struct slots_maker *m, uint32_t src, uint32_t dst,
                      uint32_t slot, edge_id of)
{
	m->arcs[m->s->narcs++] = (struct slots_arc){src, dst, slot, of};
}

static void slots_add_edge(struct slots_maker *m, edge_id e)
{
	const struct cfg_edge *edge = &m->s->g->edges[e];
	uint32_t to = slots_before(m->s, edge->dst);
	uint32_t call = 2 * m->s->g->nblocks + m->ncalls;

	switch (slots_how(m, e)) {
	case DAG_IGNORED:
		return;
	case DAG_INDIRECT:
		if (m->led_to[edge->dst] == edge->src)
			return;
		m->led_to[edge->dst] = edge->src;
		slots_add(m, edge->src, to, SLOTS_NONE, e);
		return;
	case DAG_CUT:
		slots_add(m, edge->src, call, e, e);
		slots_add(m, call, to, SLOTS_NONE, CFG_NONE);
		m->ncalls++;
		return;
	default:
		slots_add(m, edge->src, to, e, e);
	}
}

static int slots_find_heads(struct slots_maker *m, struct cairn_err *err)
{
	const struct cfg *g = m->s->g;

	for (block_id b = 0; b < g->nblocks; b++)
		m->has_head[b] =
		        slots_is_loud(m, b) && !slots_is_call_block(m, b);
	for (edge_id e = 0; e < g->nedges; e++) {
		if (slots_how(m, e) != DAG_INDIRECT)
			continue;
		if (g->edges[e].src == CFG_OUTSIDE ||
		    g->edges[e].dst == CFG_OUTSIDE)
			return cairn_fail(err, CAIRN_E_CORRUPT,
			                  "edge %" PRIu32 " leads in or out "
			                  "and has no room for a witness",
			                  e);
		if (slots_is_call_block(m, g->edges[e].src) ||
		    slots_is_call_block(m, g->edges[e].dst))
			return cairn_fail(err, CAIRN_E_CORRUPT,
			                  "indirect edge %" PRIu32
			                  " leads to or from a call",
			                  e);
		m->has_head[g->edges[e].dst] = true;
	}
	return 0;
}

static void slots_add_all(struct slots_maker *m)
{
	const struct cfg *g = m->s->g;

	for (block_id b = 0; b < g->nblocks; b++) {
		for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++)
			slots_add_edge(m, g->out[i]);
		if (b != CFG_OUTSIDE)
			slots_add(m, slots_before(m->s, b), b,
			          m->has_head[b] ? g->nedges + b : SLOTS_NONE,
			          CFG_NONE);
	}
	m->s->nvertices = 2 * g->nblocks + m->ncalls;
}

static void slots_sum(uint32_t *at, uint32_t n)
{
	for (uint32_t v = 0; v < n; v++)
		at[v + 1] += at[v];
}

/* Sorts the arcs by source, and lists them by target. */
static void slots_link(struct slots_maker *m)
{
	struct slots *s = m->s;
	uint32_t *next = xcalloc((size_t)s->nvertices + 1, sizeof(*next));

	s->out_at = xcalloc((size_t)s->nvertices + 1, sizeof(*s->out_at));
	s->in_at = xcalloc((size_t)s->nvertices + 1, sizeof(*s->in_at));
	s->arcs = xcalloc((size_t)s->narcs + 1, sizeof(*s->arcs));
	s->in = xcalloc((size_t)s->narcs + 1, sizeof(*s->in));
	for (uint32_t a = 0; a < s->narcs; a++) {
		s->out_at[m->arcs[a].src + 1]++;
		s->in_at[m->arcs[a].dst + 1]++;
	}
	slots_sum(s->out_at, s->nvertices);
	slots_sum(s->in_at, s->nvertices);
	for (uint32_t a = 0; a < s->narcs; a++) {
		uint32_t src = m->arcs[a].src;

		s->arcs[s->out_at[src] + next[src]++] = m->arcs[a];
	}
	for (uint32_t v = 0; v < s->nvertices; v++)
		next[v] = 0;
	for (uint32_t a = 0; a < s->narcs; a++) {
		uint32_t dst = s->arcs[a].dst;

		s->in[s->in_at[dst] + next[dst]++] = a;
	}
	free(next);
}

static void slots_mark(struct slots_maker *m)
{
	struct slots *s = m->s;
	uint32_t n = s->g->nblocks;

	s->arc_of = xcalloc((size_t)slots_count(s) + 1, sizeof(*s->arc_of));
	s->is_sink = xcalloc(s->nvertices, sizeof(*s->is_sink));
	s->is_watcher = xcalloc(s->nvertices, sizeof(*s->is_watcher));
	for (uint32_t slot = 0; slot < slots_count(s); slot++)
		s->arc_of[slot] = CFG_NONE;
	for (uint32_t a = 0; a < s->narcs; a++)
		if (s->arcs[a].slot != SLOTS_NONE)
			s->arc_of[s->arcs[a].slot] = a;
	for (uint32_t v = 0; v < s->nvertices; v++) {
		s->is_sink[v] = slots_is_call(s, v) ||
		                (v && s->out_at[v] == s->out_at[v + 1]);
		s->is_watcher[v] =
		        slots_is_predicate(s, v) ||
		        (v >= n && v < 2 * n && slots_is_loud(m, v - n));
	}
}

int slots_init(struct slots *s, const struct cfg *g,
               const struct slots_options *options, struct cairn_err *err)
{
	struct slots_maker m = {.s = s, .o = options};
	int result;

	assert((uint64_t)g->nedges + 2 * (uint64_t)g->nblocks < CFG_NONE / 2);
	*s = (struct slots){.g = g};
	m.has_head = xcalloc(g->nblocks, sizeof(*m.has_head));
	m.led_to = xcalloc(g->nblocks, sizeof(*m.led_to));
	m.arcs = xcalloc(2 * (size_t)g->nedges + g->nblocks, sizeof(*m.arcs));
	result = slots_find_heads(&m, err);
	if (result == 0) {
		slots_add_all(&m);
		slots_link(&m);
		slots_mark(&m);
	}
	free(m.has_head);
	free(m.led_to);
	free(m.arcs);
	return result;
}

void slots_release(struct slots *s)
{
	free(s->arcs);
	free(s->out_at);
	free(s->in_at);
	free(s->in);
	free(s->arc_of);
	free(s->is_sink);
	free(s->is_watcher);
	*s = (struct slots){0};
}

uint64_t slots_weight(const struct cfg *g, const uint64_t *weight,
                      uint32_t slot)
{
	uint64_t sum = 0;
	block_id b;

	if (slot < g->nedges)
		return weight ? weight[slot] : 1;
	b = slot - g->nedges;
	for (uint32_t i = g->in_at[b]; i < g->in_at[b + 1]; i++)
		if (__builtin_add_overflow(sum, weight ? weight[g->in[i]] : 1,
		                           &sum))
			return UINT64_MAX;
	return sum;
}
