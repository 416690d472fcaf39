/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Witness placement: where a function writes which way it goes.
 *
 * T. Ball and J. Larus, "Optimally profiling and tracing programs", TOPLAS
 * 16(4), 1994, section 4.  One who regenerates a run is at a predicate and
 * looks at the next witness.  It must be of this function: so no way without a
 * witness may lead from a predicate to a call or to the exit.  And it must tell
 * the ways apart: that is so if edges without witnesses form neither a directed
 * cycle nor a diamond (theorem 4.2).
 *
 * Three steps.  Blocking: on every way from a watcher (a predicate, or the head
 * of a loud block) to a sink the arc out of the last watcher gets a witness, as
 * far from the sink as possible.  Tree: of the other arcs those outside of a
 * maximum-weight spanning tree.  The tree has no undirected cycle, which is
 * more than needed.  Thinning, which the paper does not have: witnesses are
 * taken back again, the heaviest first, if what theorem 4.2 and blocking ask
 * for still holds (the best set is NP-complete to find).  Measured on 5000
 * random graphs with calls: 3 % fewer places, but light ones, 0.05 % of the
 * cost.
 *
 * Where more witnesses are seen than codes can tell apart, arcs that cost least
 * for what they hide get one, too.
 *
 * Invariant: from the second step on, arcs without a witness ("open" ones) form
 * no directed cycle, and no diamond between calls; no open way leads from a
 * watcher to a sink.
 * Breaks when: the arcs without room break it by themselves; slots.c says why
 * they do not.
 * Oracle: witness_check(), and proof_witness, which regenerates random
 * programs. Cost: O(E log E), and for thinning O(V) for each witness: it stops
 * after WITNESS_EFFORT steps.
 */
#include "graph/witness_place.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/forest.h"
#include "graph/slots.h"

/* Steps of thinning, arcs looked at: about 0.1 s. */
#define WITNESS_EFFORT ((uint64_t)1 << 25)

static bool witness_is_sink(const struct slots *s,
                            const struct witness_place_options *o, uint32_t v)
{
	return s->is_sink[v] && !(o->is_alone && v == slots_before(s, 0));
}

/* --- blocking ------------------------------------------------------------ */

struct witness_queue {
	uint32_t *items, n;
	bool *is_in; /* per vertex: was put in */
};

static void witness_queue_put(struct witness_queue *q, uint32_t v)
{
	if (!q->is_in[v])
		q->items[q->n++] = v;
	q->is_in[v] = true;
}

/* Nothing leads from a watcher through v to a sink any more. */
static void witness_block(const struct slots *s, struct witness_queue *q,
                          uint32_t v, bool *at_arc)
{
	for (uint32_t i = s->in_at[v]; i < s->in_at[v + 1]; i++) {
		const struct slots_arc *arc = &s->arcs[s->in[i]];

		if (!s->is_watcher[arc->src] || arc->slot != SLOTS_NONE)
			continue;
		/* an indirect branch: v is in front of its target's head */
		at_arc[s->out_at[v]] = true;
		return;
	}
	for (uint32_t i = s->in_at[v]; i < s->in_at[v + 1]; i++) {
		uint32_t src = s->arcs[s->in[i]].src;

		if (s->is_watcher[src])
			at_arc[s->in[i]] = true;
		else
			witness_queue_put(q, src);
	}
}

static void witness_block_all(const struct slots *s,
                              const struct witness_place_options *o,
                              bool *at_arc)
{
	struct witness_queue q = {
	        .items = xcalloc(s->nvertices, sizeof(*q.items)),
	        .is_in = xcalloc(s->nvertices, sizeof(*q.is_in)),
	};

	for (uint32_t v = 0; v < s->nvertices; v++)
		if (witness_is_sink(s, o, v))
			witness_queue_put(&q, v);
	while (q.n)
		witness_block(s, &q, q.items[--q.n], at_arc);
	free(q.items);
	free(q.is_in);
}

/* --- the tree ------------------------------------------------------------ */

enum { WITNESS_NO_ROOM, WITNESS_ROOM };

/* All but a maximum spanning tree of what is left. */
static void witness_grow_tree(const struct slots *s,
                              const struct witness_place_options *o,
                              bool *at_arc)
{
	struct forest_link *links =
	        xcalloc((size_t)s->narcs + 1, sizeof(*links));
	bool *tree = xcalloc((size_t)s->narcs + 1, sizeof(*tree));
	uint32_t n = 0;

	for (uint32_t a = 0; a < s->narcs; a++) {
		const struct slots_arc *arc = &s->arcs[a];
		bool has_room = arc->slot != SLOTS_NONE;

		if (at_arc[a])
			continue;
		links[n++] = (struct forest_link){
		        .a = arc->src,
		        .b = arc->dst,
		        .rank = has_room ? WITNESS_ROOM : WITNESS_NO_ROOM,
		        .weight = has_room ? slots_weight(s->g, o->weight,
		                                          arc->slot)
		                           : 0,
		        .id = a,
		};
	}
	forest_choose(s->nvertices, links, n, tree);
	for (uint32_t a = 0; a < s->narcs; a++)
		at_arc[a] = s->arcs[a].slot != SLOTS_NONE && !tree[a];
	free(links);
	free(tree);
}

/* --- thinning ------------------------------------------------------------ */

/* Vertices found from somewhere, each once; q.is_in says which. */
struct witness_thinner {
	const struct slots *s;
	const struct witness_place_options *o;
	bool *at_arc;
	struct witness_queue above, below, beside;
	uint64_t effort;
};

static void witness_queue_clear(struct witness_queue *q)
{
	while (q->n)
		q->is_in[q->items[--q->n]] = false;
}

/* All that open arcs lead to from what is in q; calls end the way, or not. */
static void witness_look_down(struct witness_thinner *t,
                              struct witness_queue *q, bool through_calls)
{
	const struct slots *s = t->s;

	for (uint32_t i = 0; i < q->n; i++) {
		uint32_t v = q->items[i];

		if (slots_is_call(s, v) && !through_calls)
			continue;
		t->effort += s->out_at[v + 1] - s->out_at[v] + 1;
		for (uint32_t a = s->out_at[v]; a < s->out_at[v + 1]; a++)
			if (!t->at_arc[a])
				witness_queue_put(q, s->arcs[a].dst);
	}
}

/* All that leads to what is in q along open arcs, since the last call. */
static void witness_look_up(struct witness_thinner *t, struct witness_queue *q)
{
	const struct slots *s = t->s;

	for (uint32_t i = 0; i < q->n; i++) {
		uint32_t v = q->items[i];

		if (slots_is_call(s, v))
			continue;
		t->effort += s->in_at[v + 1] - s->in_at[v] + 1;
		for (uint32_t k = s->in_at[v]; k < s->in_at[v + 1]; k++)
			if (!t->at_arc[s->in[k]])
				witness_queue_put(q, s->arcs[s->in[k]].src);
	}
}

static bool witness_closes_cycle(struct witness_thinner *t,
                                 const struct slots_arc *arc)
{
	bool closes;

	witness_queue_put(&t->below, arc->dst);
	witness_look_down(t, &t->below, true);
	closes = t->below.is_in[arc->src];
	witness_queue_clear(&t->below);
	return closes;
}

/*
 * Would an open arc let a watcher see a sink, or two ways lead to the same
 * vertex?  What is above it then sees what is below it.
 */
static bool witness_is_needed(struct witness_thinner *t,
                              const struct slots_arc *arc)
{
	bool watched = false, seen = false, twice = false;

	witness_queue_put(&t->above, arc->src);
	witness_look_up(t, &t->above);
	witness_queue_put(&t->below, arc->dst);
	witness_look_down(t, &t->below, false);
	for (uint32_t i = 0; i < t->above.n; i++) {
		watched |= t->s->is_watcher[t->above.items[i]];
		witness_queue_put(&t->beside, t->above.items[i]);
	}
	witness_look_down(t, &t->beside, false);
	for (uint32_t i = 0; i < t->below.n; i++) {
		uint32_t v = t->below.items[i];

		seen |= witness_is_sink(t->s, t->o, v);
		twice |= t->beside.is_in[v];
	}
	witness_queue_clear(&t->above);
	witness_queue_clear(&t->below);
	witness_queue_clear(&t->beside);
	return twice || (watched && seen);
}

struct witness_choice {
	uint32_t arc;
	uint64_t weight;
};

static int witness_by_weight(const void *pa, const void *pb)
{
	const struct witness_choice *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->arc < b->arc ? -1 : a->arc > b->arc;
}

static void witness_thin_in_turn(struct witness_thinner *t)
{
	const struct slots *s = t->s;
	struct witness_choice *choices =
	        xcalloc((size_t)s->narcs + 1, sizeof(*choices));
	uint32_t n = 0;

	for (uint32_t a = 0; a < s->narcs; a++)
		if (t->at_arc[a])
			choices[n++] = (struct witness_choice){
			        a, slots_weight(s->g, t->o->weight,
			                        s->arcs[a].slot)};
	if (n > 1)
		qsort(choices, n, sizeof(*choices), witness_by_weight);
	for (uint32_t i = 0; i < n && t->effort < WITNESS_EFFORT; i++) {
		const struct slots_arc *arc = &s->arcs[choices[i].arc];

		t->at_arc[choices[i].arc] = witness_closes_cycle(t, arc) ||
		                            witness_is_needed(t, arc);
	}
	free(choices);
}

static struct witness_queue witness_queue_new(const struct slots *s)
{
	return (struct witness_queue){
	        .items = xcalloc(s->nvertices, sizeof(uint32_t)),
	        .is_in = xcalloc(s->nvertices, sizeof(bool)),
	};
}

static void witness_thin(const struct slots *s,
                         const struct witness_place_options *o, bool *at_arc)
{
	struct witness_thinner t = {
	        .s = s,
	        .o = o,
	        .at_arc = at_arc,
	        .above = witness_queue_new(s),
	        .below = witness_queue_new(s),
	        .beside = witness_queue_new(s),
	};

	witness_thin_in_turn(&t);
	free(t.above.items);
	free(t.above.is_in);
	free(t.below.items);
	free(t.below.is_in);
	free(t.beside.items);
	free(t.beside.is_in);
}

/* --- width --------------------------------------------------------------- */

/* One frame of the walk: a vertex, and its next arc. */
struct witness_step {
	uint32_t v, next;
};

/* Goes down from v, and writes what is finished. */
static void witness_go_down(const struct slots *s, const bool *at_arc,
                            struct witness_step *stack, bool *is_seen,
                            uint32_t *order, uint32_t *n)
{
	uint32_t depth = 1;

	while (depth) {
		struct witness_step *top = &stack[depth - 1];
		uint32_t a = top->next, to;

		if (slots_is_call(s, top->v) || a == s->out_at[top->v + 1]) {
			order[(*n)++] = top->v;
			depth--;
			continue;
		}
		top->next++;
		to = s->arcs[a].dst;
		if (at_arc[a] || is_seen[to])
			continue;
		is_seen[to] = true;
		stack[depth++] = (struct witness_step){to, s->out_at[to]};
	}
}

void witness_order(const struct slots *s, const bool *at_arc, uint32_t *order)
{
	struct witness_step *stack = xcalloc(s->nvertices, sizeof(*stack));
	bool *is_seen = xcalloc(s->nvertices, sizeof(*is_seen));
	uint32_t n = 0;

	for (uint32_t v = 0; v < s->nvertices; v++) {
		if (is_seen[v])
			continue;
		is_seen[v] = true;
		stack[0] = (struct witness_step){v, s->out_at[v]};
		witness_go_down(s, at_arc, stack, is_seen, order, &n);
	}
	free(stack);
	free(is_seen);
}

struct witness_hider {
	const struct slots *s;
	const uint64_t *weight;
	uint64_t limit;
	bool *at_arc;
	uint64_t *nseen; /* per vertex: witnesses */
	struct witness_price {
		uint32_t arc;
		uint64_t nhidden, weight;
	} * prices;
};

/* Least weight for what a witness hides first. */
static int witness_by_price(const void *pa, const void *pb)
{
	const struct witness_price *a = pa, *b = pb;
	double x = (double)a->weight / (double)a->nhidden;
	double y = (double)b->weight / (double)b->nhidden;

	if (x != y)
		return x < y ? -1 : 1;
	return a->arc < b->arc ? -1 : a->arc > b->arc;
}

/* The arc to hide behind what an arc leads to: an indirect branch's is at the
 * head of its target. */
static uint32_t witness_screen(const struct slots *s, uint32_t a)
{
	return s->arcs[a].slot != SLOTS_NONE ? a : s->out_at[s->arcs[a].dst];
}

/* Makes v see fewer witnesses, as few as the limit if that can be. */
static void witness_hide(struct witness_hider *h, uint32_t v)
{
	const struct slots *s = h->s;
	uint32_t n = 0;

	for (uint32_t a = s->out_at[v]; a < s->out_at[v + 1]; a++) {
		uint64_t nseen = h->nseen[s->arcs[a].dst];
		uint32_t screen = witness_screen(s, a);

		if (h->at_arc[a] || nseen < 2 ||
		    s->arcs[screen].slot == SLOTS_NONE)
			continue;
		h->prices[n++] = (struct witness_price){
		        .arc = screen,
		        .nhidden = nseen - 1,
		        .weight = slots_weight(s->g, h->weight,
		                               s->arcs[screen].slot),
		};
	}
	if (n > 1)
		qsort(h->prices, n, sizeof(*h->prices), witness_by_price);
	for (uint32_t i = 0; i < n && h->nseen[v] > h->limit; i++) {
		uint32_t a = h->prices[i].arc;

		h->at_arc[a] = true;
		h->nseen[v] -= h->prices[i].nhidden;
		if (s->arcs[a].src != v)
			h->nseen[s->arcs[a].src] = 1;
	}
}

void witness_narrow(const struct slots *s, const uint64_t *weight,
                    uint64_t limit, bool *at_arc)
{
	uint32_t *order = xcalloc(s->nvertices, sizeof(*order));
	struct witness_hider h = {
	        .s = s,
	        .weight = weight,
	        .limit = limit,
	        .at_arc = at_arc,
	        .nseen = xcalloc(s->nvertices, sizeof(*h.nseen)),
	        .prices = xcalloc((size_t)s->narcs + 1, sizeof(*h.prices)),
	};

	witness_order(s, at_arc, order);
	for (uint32_t i = 0; i < s->nvertices; i++) {
		uint32_t v = order[i];

		if (slots_is_call(s, v))
			continue;
		for (uint32_t a = s->out_at[v]; a < s->out_at[v + 1]; a++)
			h.nseen[v] += at_arc[a] ? 1 : h.nseen[s->arcs[a].dst];
		if (h.nseen[v] > limit)
			witness_hide(&h, v);
	}
	free(order);
	free(h.nseen);
	free(h.prices);
}

void witness_place(const struct slots *s,
                   const struct witness_place_options *options, bool *at_arc)
{
	for (uint32_t a = 0; a < s->narcs; a++)
		at_arc[a] = false;
	witness_block_all(s, options, at_arc);
	witness_grow_tree(s, options, at_arc);
	witness_thin(s, options, at_arc);
}
