/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Witnesses: codes on few edges, from which a run is regenerated.
 *
 * T. Ball and J. Larus, "Optimally profiling and tracing programs", TOPLAS
 * 16(4), 1994, section 4.  witness_place.c chooses the edges.  Here they get
 * codes, and a place and a code are turned into a way (figure 7, up to the next
 * witness).
 *
 * No two witnesses of a function have the same code in the paper.  But who
 * reads knows where the function is, and only has to tell apart what can be
 * written next.  Two witnesses that one vertex sees part at some predicate, so
 * they must differ; others need not.  All that sees a witness is below a vertex
 * that no arc without a witness leads to, a root.  So a witness takes the first
 * code that is free in all roots above it.  127 codes fit into a byte (other
 * values are no witnesses).  If they do not suffice, more witnesses are placed,
 * so that fewer are seen from one vertex.  Where a block has more ways out than
 * there are codes that is of no use: then every witness has a number of its
 * own, and those that do not fit have four bytes.
 *
 * Invariant: what one vertex sees has different codes, and the arcs to it are
 * known (ways[]).  A vertex that sees nothing comes to a call, the exit or the
 * last block, along arcs that are the only ones.
 * Oracle: witness_check(), proof_witness.
 * Cost: placement; a walk upwards from each witness for its code; for ways[],
 * O(witnesses seen) per predicate.
 */
#include "graph/witness.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "graph/witness_check.h"
#include "graph/witness_place.h"

#define WITNESS_NCODES (WITNESS_LAST - WITNESS_FIRST + 1) /* of a byte */

/* --- where --------------------------------------------------------------- */

/* What is asked for; false if a slot is none, or not in order. */
static bool witness_take(const struct slots *s, const struct witness_options *o,
                         bool *at_arc)
{
	for (uint32_t i = 0; i < o->nplaces; i++) {
		uint32_t slot = o->places[i];

		if (slot >= slots_count(s) || s->arc_of[slot] == CFG_NONE ||
		    (i && slot <= o->places[i - 1]))
			return false;
		at_arc[s->arc_of[slot]] = true;
	}
	return true;
}

static void witness_choose(const struct slots *s,
                           const struct witness_options *o, bool *at_arc)
{
	struct witness_place_options how = {
	        .weight = o->weight,
	        .is_alone = o->is_alone,
	};

	witness_place(s, &how, at_arc);
}

/* The most ways out of one place, which need as many codes. */
static uint32_t witness_most_ways(const struct slots *s)
{
	uint32_t most = 0;

	for (uint32_t v = 0; v < s->nvertices; v++)
		if (s->out_at[v + 1] - s->out_at[v] > most)
			most = s->out_at[v + 1] - s->out_at[v];
	return most;
}

static uint32_t *witness_code(struct witness *w, uint32_t slot)
{
	uint32_t nedges = w->graph.g->nedges;

	return slot < nedges ? &w->on_edge[slot] : &w->at_head[slot - nedges];
}

/* Gives every witness a number of its own. */
static void witness_number(struct witness *w)
{
	w->width = w->nslots <= WITNESS_NCODES ? 1 : 4;
	for (uint32_t i = 0; i < w->nslots; i++)
		*witness_code(w, w->slots[i]) = WITNESS_FIRST + i;
}

static void witness_list(struct witness *w, const bool *at_arc)
{
	const struct slots *s = &w->graph;

	w->nslots = 0;
	for (uint32_t slot = 0; slot < slots_count(s); slot++) {
		*witness_code(w, slot) = WITNESS_NONE;
		if (s->arc_of[slot] != CFG_NONE && at_arc[s->arc_of[slot]])
			w->slots[w->nslots++] = slot;
	}
	witness_number(w);
}

/* --- codes --------------------------------------------------------------- */

#define WITNESS_WORDS 2
_Static_assert(WITNESS_LAST == 64 * WITNESS_WORDS - 1, "one bit per code");

struct witness_painter {
	struct witness *w;
	const bool *at_arc;
	uint64_t (*used)[WITNESS_WORDS]; /* per vertex: codes below a root */
	uint32_t *above, nabove;         /* of the witness at hand */
	uint32_t *seen_by;               /* per vertex: last one, plus 1 */
};

static void witness_add_above(struct witness_painter *p, uint32_t v,
                              uint32_t witness)
{
	if (p->seen_by[v] == witness + 1)
		return;
	p->seen_by[v] = witness + 1;
	p->above[p->nabove++] = v;
}

/* The roots above a witness: keeps only them in above[]. */
static void witness_find_roots(struct witness_painter *p, uint32_t witness)
{
	const struct slots *s = &p->w->graph;
	uint32_t arc = s->arc_of[p->w->slots[witness]], nroots = 0;

	p->nabove = 0;
	witness_add_above(p, s->arcs[arc].src, witness);
	for (uint32_t i = 0; i < p->nabove; i++) {
		uint32_t v = p->above[i];
		bool is_root = true;

		for (uint32_t k = s->in_at[v];
		     k < s->in_at[v + 1] && !slots_is_call(s, v); k++) {
			if (p->at_arc[s->in[k]])
				continue;
			is_root = false;
			witness_add_above(p, s->arcs[s->in[k]].src, witness);
		}
		if (is_root)
			p->above[nroots++] = v;
	}
	p->nabove = nroots;
}

/* The first code that is free in all roots; above WITNESS_LAST if none is. */
static uint32_t witness_free_code(const struct witness_painter *p)
{
	for (uint32_t word = 0; word < WITNESS_WORDS; word++) {
		uint64_t used = word ? 0 : (1u << WITNESS_FIRST) - 1;

		for (uint32_t i = 0; i < p->nabove; i++)
			used |= p->used[p->above[i]][word];
		if (used != UINT64_MAX)
			return 64 * word + (uint32_t)__builtin_ctzll(~used);
	}
	return WITNESS_LAST + 1;
}

/* False if one byte is not enough. */
static bool witness_paint(struct witness_painter *p)
{
	for (uint32_t i = 0; i < p->w->nslots; i++) {
		uint32_t code;

		witness_find_roots(p, i);
		code = witness_free_code(p);
		if (code > WITNESS_LAST)
			return false;
		*witness_code(p->w, p->w->slots[i]) = code;
		for (uint32_t k = 0; k < p->nabove; k++)
			p->used[p->above[k]][code / 64] |= 1ull << code % 64;
	}
	return true;
}

/* Codes of one byte; false if they are not enough. */
static bool witness_assign(struct witness *w, const bool *at_arc)
{
	uint32_t n = w->graph.nvertices;
	struct witness_painter p = {
	        .w = w,
	        .at_arc = at_arc,
	        .used = xcalloc(n, sizeof(*p.used)),
	        .above = xcalloc(n, sizeof(*p.above)),
	        .seen_by = xcalloc(n, sizeof(*p.seen_by)),
	};
	bool is_enough = witness_paint(&p);

	if (is_enough)
		w->width = 1;
	free(p.used);
	free(p.above);
	free(p.seen_by);
	return is_enough;
}

/* The same, with more witnesses if necessary: fewer are then seen from one
 * place.  More bytes only where that does not help. */
static void witness_assign_more(struct witness *w, const uint64_t *weight,
                                bool *at_arc)
{
	uint64_t most = witness_most_ways(&w->graph), limit = WITNESS_NCODES;
	bool is_wide = most > limit;

	if (is_wide) /* ways[] is not to grow without bound, either */
		limit = most;
	while (!witness_assign(w, at_arc)) {
		if (limit == 0) {
			witness_number(w);
			return;
		}
		witness_narrow(&w->graph, weight, limit, at_arc);
		witness_list(w, at_arc);
		limit = is_wide ? 0 : limit / 2;
	}
}

/* --- ways ---------------------------------------------------------------- */

struct witness_ways {
	struct witness *w;
	const bool *at_arc;
	uint32_t n, cap;
};

static int witness_by_code(const void *pa, const void *pb)
{
	const struct witness_way *a = pa, *b = pb;

	return a->code < b->code ? -1 : a->code > b->code;
}

static void witness_add_way(struct witness_ways *ways, uint32_t code,
                            uint32_t arc)
{
	struct witness *w = ways->w;

	VEC_RESERVE(w->ways, ways->n, ways->cap);
	w->ways[ways->n++] = (struct witness_way){code, arc};
}

static void witness_add_ways(struct witness_ways *ways, uint32_t arc)
{
	struct witness *w = ways->w;
	const struct slots_arc *a = &w->graph.arcs[arc];

	if (ways->at_arc[arc]) {
		witness_add_way(ways, *witness_code(w, a->slot), arc);
		return;
	}
	for (uint32_t i = 0; i < w->nways[a->dst]; i++)
		witness_add_way(ways, w->ways[w->ways_at[a->dst] + i].code,
		                arc);
}

/* What v sees, when all below it is known; a single arc shares the list. */
static void witness_look(struct witness_ways *ways, uint32_t v, bool is_alone)
{
	struct witness *w = ways->w;
	const struct slots *s = &w->graph;
	uint32_t a = s->out_at[v], end = s->out_at[v + 1];

	if (slots_is_call(s, v))
		return;
	if (end - a == 1 && !ways->at_arc[a]) {
		w->ways_at[v] = w->ways_at[s->arcs[a].dst];
		w->nways[v] = w->nways[s->arcs[a].dst];
		return;
	}
	w->ways_at[v] = ways->n;
	if (is_alone && v == slots_before(s, CFG_OUTSIDE))
		witness_add_way(ways, WITNESS_EOF, CFG_NONE);
	for (; a < end; a++)
		witness_add_ways(ways, a);
	w->nways[v] = ways->n - w->ways_at[v];
	if (w->nways[v] > 1)
		qsort(&w->ways[w->ways_at[v]], w->nways[v], sizeof(*w->ways),
		      witness_by_code);
}

static void witness_find_ways(struct witness *w, const bool *at_arc,
                              bool is_alone)
{
	uint32_t n = w->graph.nvertices;
	uint32_t *order = xcalloc(n, sizeof(*order));
	struct witness_ways ways = {.w = w, .at_arc = at_arc};

	w->ways_at = xcalloc(n, sizeof(*w->ways_at));
	w->nways = xcalloc(n, sizeof(*w->nways));
	witness_order(&w->graph, at_arc, order);
	VEC_RESERVE(w->ways, ways.n, ways.cap); /* there may be none */
	for (uint32_t i = 0; i < n; i++)
		witness_look(&ways, order[i], is_alone);
	free(order);
}

/* --- all of it ----------------------------------------------------------- */

static int witness_set_up(struct witness *w, const struct witness_options *o,
                          bool *at_arc, struct cairn_err *err)
{
	if (!o->is_placed)
		witness_choose(&w->graph, o, at_arc);
	else if (!witness_take(&w->graph, o, at_arc))
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "witnesses stand where none fit");
	witness_list(w, at_arc);
	if (o->is_placed) {
		CAIRN_TRY(witness_check(w, o, err));
		if (!witness_assign(w, at_arc))
			witness_number(w);
	} else {
		witness_assign_more(w, o->weight, at_arc);
	}
	witness_find_ways(w, at_arc, o->is_alone);
	return 0;
}

int witness_init(struct witness *w, const struct cfg *g,
                 const struct witness_options *options, struct cairn_err *err)
{
	bool *at_arc;
	int result;

	*w = (struct witness){0};
	CAIRN_TRY(slots_init(&w->graph, g, &options->slots, err));
	w->slots =
	        xcalloc((size_t)slots_count(&w->graph) + 1, sizeof(*w->slots));
	w->on_edge = xcalloc((size_t)g->nedges + 1, sizeof(*w->on_edge));
	w->at_head = xcalloc(g->nblocks, sizeof(*w->at_head));
	at_arc = xcalloc((size_t)w->graph.narcs + 1, sizeof(*at_arc));
	result = witness_set_up(w, options, at_arc, err);
	free(at_arc);
	if (result < 0)
		witness_release(w);
	return result;
}

void witness_release(struct witness *w)
{
	slots_release(&w->graph);
	free(w->slots);
	free(w->on_edge);
	free(w->at_head);
	free(w->ways);
	free(w->ways_at);
	free(w->nways);
	*w = (struct witness){0};
}

uint64_t witness_cost(const struct witness *w, const uint64_t *weight)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < w->nslots; i++)
		if (__builtin_add_overflow(
		            sum, slots_weight(w->graph.g, weight, w->slots[i]),
		            &sum))
			return UINT64_MAX;
	return sum;
}

/* --- reading ------------------------------------------------------------- */

uint32_t witness_find(const struct witness *w, witness_place_id at,
                      uint32_t code)
{
	const struct witness_way *ways = w->ways + w->ways_at[at];
	uint32_t low = 0, high = w->nways[at];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (ways[middle].code < code)
			low = middle + 1;
		else
			high = middle;
	}
	return low < w->nways[at] && ways[low].code != code ? w->nways[at]
	                                                    : low;
}

/* The arc out of v that leads to a code; CFG_NONE if there is none. */
static uint32_t witness_find_arc(const struct witness *w, uint32_t v,
                                 uint32_t code)
{
	const struct slots *s = &w->graph;
	uint32_t i;

	if (s->out_at[v] == s->out_at[v + 1])
		return CFG_NONE;
	if (!slots_is_predicate(s, v))
		return s->out_at[v];
	i = witness_find(w, v, code);
	return i < w->nways[v] ? w->ways[w->ways_at[v] + i].arc : CFG_NONE;
}

static void witness_pass(struct path *path, edge_id e)
{
	if (e == CFG_NONE)
		return;
	VEC_RESERVE(path->edges, path->nedges, path->edges_cap);
	path->edges[path->nedges++] = e;
}

static void witness_begin(const struct witness *w, uint32_t at,
                          struct path *path)
{
	uint32_t n = w->graph.g->nblocks;

	path->enters = at == CFG_OUTSIDE;
	path->first = at < n ? at : at - n;
	path->nedges = 0;
}

/* The way has come to v and ends there. */
static void witness_end(const struct witness *w, uint32_t v, struct path *path,
                        uint32_t *next)
{
	const struct slots *s = &w->graph;

	path->end = PATH_ENDED;
	if (slots_is_call(s, v))
		*next = s->arcs[s->out_at[v]].dst;
	else if (v == slots_before(s, CFG_OUTSIDE))
		path->end = PATH_LEAVES;
	else
		*next = v;
	if (path->enters)
		path->first = s->g->edges[path->edges[0]].dst;
}

static int witness_stray(const struct witness *w, uint32_t at, uint32_t code,
                         struct cairn_err *err)
{
	uint32_t n = w->graph.g->nblocks;

	return cairn_fail(err, CAIRN_E_CORRUPT,
	                  "no witness behind block %" PRIu32
	                  " has the code %" PRIu32,
	                  at < n ? at : at - n, code);
}

int witness_decode(const struct witness *w, witness_place_id at, uint32_t code,
                   struct path *path, witness_place_id *next,
                   struct cairn_err *err)
{
	const struct slots *s = &w->graph;
	uint32_t v = at;

	assert(at < 2 * s->g->nblocks);
	witness_begin(w, at, path);
	while (!s->is_sink[v]) {
		uint32_t a = witness_find_arc(w, v, code), there;

		if (a == CFG_NONE)
			return witness_stray(w, at, code, err);
		witness_pass(path, s->arcs[a].of);
		v = s->arcs[a].dst;
		if (s->arcs[a].slot == SLOTS_NONE)
			continue;
		there = s->arcs[a].slot < s->g->nedges
		                ? w->on_edge[s->arcs[a].slot]
		                : w->at_head[s->arcs[a].slot - s->g->nedges];
		if (there == WITNESS_NONE)
			continue;
		if (there != code)
			return witness_stray(w, at, code, err);
		witness_end(w, v, path, next);
		return 0;
	}
	/* nothing was written on the way */
	if (code != WITNESS_NONE && !(code == WITNESS_EOF && w->nways[v]))
		return witness_stray(w, at, code, err);
	witness_end(w, v, path, next);
	if (path->end == PATH_ENDED && !slots_is_call(s, v))
		path->end = PATH_STOPS;
	return 0;
}

static int witness_by_number(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static uint32_t witness_arc_of_edge(const struct slots *s, edge_id e)
{
	block_id src = s->g->edges[e].src;

	for (uint32_t a = s->out_at[src]; a < s->out_at[src + 1]; a++)
		if (s->arcs[a].of == e)
			return a;
	return CFG_NONE;
}

uint32_t witness_set(const struct witness *w, edge_id e, uint32_t *set)
{
	const struct slots *s = &w->graph;
	uint32_t arc = witness_arc_of_edge(s, e), n = 0;
	uint32_t *arcs = xcalloc((size_t)s->narcs + 1, sizeof(*arcs)),
	         narcs = 0;
	bool *is_in = xcalloc((size_t)s->narcs + 1, sizeof(*is_in));
	bool has_end = false;

	if (arc != CFG_NONE)
		arcs[narcs++] = arc;
	while (narcs) {
		const struct slots_arc *a = &s->arcs[arcs[--narcs]];

		if (a->slot != SLOTS_NONE &&
		    bsearch(&a->slot, w->slots, w->nslots, sizeof(*w->slots),
		            witness_by_number)) {
			set[n++] = a->slot;
			continue;
		}
		has_end |= a->dst == slots_before(s, CFG_OUTSIDE) &&
		           w->nways[a->dst];
		for (uint32_t k = s->out_at[a->dst];
		     k < s->out_at[a->dst + 1] && !slots_is_call(s, a->dst);
		     k++) {
			if (!is_in[k])
				arcs[narcs++] = k;
			is_in[k] = true;
		}
	}
	qsort(set, n, sizeof(*set), witness_by_number);
	if (has_end)
		set[n++] = WITNESS_EOF;
	free(arcs);
	free(is_in);
	return n;
}
