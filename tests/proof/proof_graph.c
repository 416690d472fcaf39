/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof of the graph core: proof_graph N SEED [FIRST]
 *
 * N random control-flow graphs, each with random executions: walks from the
 * entry, some of which die in the middle, and walks that begin in the middle.
 * Every edge and block is counted along the way; that is the truth.  Then the
 * counters are placed, only what they would have seen is kept, and everything
 * is recovered.  All counts must equal the truth; on small graphs the cost of
 * the placement must equal the least found by trying all sets of edges.
 *
 * Then the same as the compiler plugin does it: counters on edges and in
 * blocks, on the graph in which blocks are edges too, with some edges that
 * need a jump and some that cannot carry a counter.  On small graphs the cost
 * must be the least of all choices of edges and blocks; on all of them it must
 * not be above that of edges alone.
 *
 * No code runs on the edge outside -> entry: a counter there reads 0.
 *
 * The same checks then judge five wrong versions of the work, each a wrong view
 * of the graph that is handed to the same code.  A version counts as found if
 * some check rejects it on some graph where the right version passes.
 *
 * Graph number i depends on SEED and i only: FIRST = i runs it again.
 * The last line is RESULT.  Status 0: no mismatch, all five found, and the
 * graphs as varied as promised; 1 otherwise; 2 for bad arguments.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/blocks.h"
#include "graph/cfg.h"
#include "graph/dfs.h"
#include "graph/dominators.h"
#include "graph/loops.h"
#include "graph/place.h"
#include "graph/recover.h"
#include "graph/weight.h"
#include "../unit/graphs.h"
#include "proof.h"

enum {
	SMALL_EDGES = 12,  /* try all sets of edges up to here */
	SMALL_SPLIT = 14,  /* and of edges and blocks */
	SHARE_PERCENT = 30 /* irreducible, and with several exits */
};

/* --- a graph, its weights, its executions ---------------------------- */

struct subject {
	struct cfg g;
	uint64_t *weight;
	bool weight_is_flow;     /* conserved at every block */
	bool *needs_jump, *must; /* edges, for counters on edges and blocks */
	/* the truth */
	uint64_t *edge, *block, *extra_in, *extra_out;
};

static uint32_t random_size(struct rng *r)
{
	if (rng_percent(r, 40))
		return 2 + rng_below(r, 6);
	if (rng_percent(r, 70))
		return 8 + rng_below(r, 33);
	return 41 + rng_below(r, 160);
}

/* Walks on from b until the walk leaves, dies or has taken its steps. */
static void subject_walk(struct subject *s, struct rng *r, block_id b,
                         uint64_t times)
{
	const struct cfg *g = &s->g;
	uint32_t nsteps = 1 + rng_below(r, 4 * g->nblocks);
	uint32_t death = rng_percent(r, 30) ? 10 : 0;

	while (b != CFG_OUTSIDE) {
		uint32_t nout = g->out_at[b + 1] - g->out_at[b];
		edge_id e;

		s->block[b] += times;
		if (nout == 0 || nsteps-- == 0 || rng_percent(r, death)) {
			s->extra_out[b] += times;
			return;
		}
		e = g->out[g->out_at[b] + rng_below(r, nout)];
		s->edge[e] += times;
		b = g->edges[e].dst;
	}
}

static void subject_run(struct subject *s, struct rng *r)
{
	uint32_t nwalks = rng_below(r, 8);
	bool forked = rng_percent(r, 25);

	for (uint32_t i = 0; i < nwalks; i++) {
		uint64_t times = rng_percent(r, 20) ? rng_next(r) >> 24 : 1;
		block_id b = s->g.edges[0].dst;

		if (forked && rng_percent(r, 50)) {
			b = 1 + rng_below(r, s->g.nblocks - 1);
			s->extra_in[b] += times;
		} else {
			s->edge[0] += times;
			s->block[CFG_OUTSIDE] += times;
		}
		subject_walk(s, r, b, times);
	}
}

static bool subject_has_extras(const struct subject *s)
{
	for (block_id b = 0; b < s->g.nblocks; b++)
		if (s->extra_in[b] || s->extra_out[b])
			return true;
	return false;
}

static void subject_random_weights(struct subject *s, struct rng *r)
{
	uint32_t kind = rng_below(r, 4);

	for (edge_id e = 0; e < s->g.nedges; e++) {
		if (kind == 0)
			s->weight[e] = 0;
		else if (kind == 1)
			s->weight[e] = rng_below(r, 4);
		else if (kind == 2)
			s->weight[e] = rng_next(r) >> 4;
		else
			s->weight[e] = (uint64_t)1 << rng_below(r, 60);
	}
}

static void subject_weigh(struct subject *s, struct rng *r)
{
	switch (rng_below(r, 4)) {
	case 0:
		weight_heuristic(&s->g, s->weight);
		break;
	case 1: { /* the jump of an edge that leads from many ways to many */
		bool *critical = xcalloc(s->g.nedges, sizeof(*critical));

		for (edge_id e = 0; e < s->g.nedges; e++)
			critical[e] = rng_percent(r, 30);
		weight_heuristic(&s->g, s->weight);
		weight_add_jumps(&s->g, critical, s->weight);
		free(critical);
		break;
	}
	case 2:
		weight_from_counts(&s->g, s->edge, s->weight);
		s->weight_is_flow = !subject_has_extras(s);
		/* saturated weights are a flow no more */
		for (edge_id e = 0; e < s->g.nedges; e++)
			if (s->weight[e] == WEIGHT_MAX)
				s->weight_is_flow = false;
		break;
	default:
		subject_random_weights(s, r);
	}
}

/* What the plugin may find: critical edges, and edges that cannot carry a
 * counter, at most one out of each block and never the entry. */
static void subject_hinder(struct subject *s, struct rng *r)
{
	uint32_t jumps = rng_below(r, 3) * 30, musts = rng_below(r, 3) * 20;

	for (edge_id e = 0; e < s->g.nedges; e++)
		s->needs_jump[e] = rng_percent(r, jumps);
	for (block_id b = 1; b < s->g.nblocks; b++) {
		uint32_t nout = s->g.out_at[b + 1] - s->g.out_at[b];

		if (nout && rng_percent(r, musts))
			s->must[s->g.out[s->g.out_at[b] + rng_below(r, nout)]] =
			        true;
	}
}

static void subject_init(struct subject *s, uint64_t seed, uint64_t number)
{
	struct rng r = {seed};
	struct graph_taste taste;

	r.state = rng_next(&r) + number * 0xd1342543de82ef95u;
	taste = graph_random_taste(&r, random_size(&r));
	*s = (struct subject){0};
	graph_random(&s->g, &taste, &r);
	s->weight = xcalloc(s->g.nedges, sizeof(*s->weight));
	s->edge = xcalloc(s->g.nedges, sizeof(*s->edge));
	s->block = xcalloc(s->g.nblocks, sizeof(*s->block));
	s->extra_in = xcalloc(s->g.nblocks, sizeof(*s->extra_in));
	s->extra_out = xcalloc(s->g.nblocks, sizeof(*s->extra_out));
	s->needs_jump = xcalloc(s->g.nedges, sizeof(*s->needs_jump));
	s->must = xcalloc(s->g.nedges, sizeof(*s->must));
	subject_run(s, &r);
	subject_weigh(s, &r);
	subject_hinder(s, &r);
}

static void subject_release(struct subject *s)
{
	cfg_release(&s->g);
	free(s->weight);
	free(s->needs_jump);
	free(s->must);
	free(s->edge);
	free(s->block);
	free(s->extra_in);
	free(s->extra_out);
}

/* --- views: the graph as the right version and the wrong ones see it -- */

enum version {
	RIGHT,
	UNSEEDED,        /* the outside edge is an edge like others */
	EXIT_FORGOTTEN,  /* one edge to the outside is missing */
	CASES_MERGED,    /* edges between the same blocks are one */
	SELF_SKIPPED,    /* self loops are left out */
	WEIGHT_OVERFLOW, /* weights are kept in 32 bits */
	NVERSIONS
};

static const char *const version_name[NVERSIONS] = {
        "right",
        "outside edge not seeded",
        "one exit edge forgotten",
        "duplicate switch edges merged",
        "self loop skipped",
        "weight overflow",
};

struct view {
	struct cfg g;
	uint64_t *weight;
	edge_id *image; /* per edge of the subject: the view's, or CFG_NONE */
};

static edge_id view_add(struct view *v, const struct subject *s, edge_id e)
{
	v->weight[v->g.nedges] = s->weight[e];
	return cfg_add_edge(&v->g, s->g.edges[e].src, s->g.edges[e].dst);
}

static edge_id last_exit(const struct cfg *g)
{
	edge_id found = CFG_NONE;

	for (edge_id e = 0; e < g->nedges; e++)
		if (g->edges[e].dst == CFG_OUTSIDE)
			found = e;
	return found;
}

/* The view's edge between the same blocks, or CFG_NONE. */
static edge_id view_twin(const struct view *v, const struct cfg_edge *edge)
{
	for (edge_id e = 0; e < v->g.nedges; e++)
		if (v->g.edges[e].src == edge->src &&
		    v->g.edges[e].dst == edge->dst)
			return e;
	return CFG_NONE;
}

static void view_init(struct view *v, const struct subject *s,
                      enum version version)
{
	edge_id forgotten = last_exit(&s->g);

	cfg_init(&v->g, s->g.nblocks);
	v->weight = xcalloc((size_t)s->g.nedges + 1, sizeof(*v->weight));
	v->image = xcalloc(s->g.nedges, sizeof(*v->image));
	if (version == UNSEEDED) /* takes the place of edge 0, no tree's edge */
		cfg_add_edge(&v->g, CFG_OUTSIDE, CFG_OUTSIDE);
	for (edge_id e = 0; e < s->g.nedges; e++) {
		const struct cfg_edge *edge = &s->g.edges[e];

		v->image[e] = CFG_NONE;
		if (version == EXIT_FORGOTTEN && e == forgotten)
			continue;
		if (version == SELF_SKIPPED && edge->src == edge->dst)
			continue;
		if (version == CASES_MERGED)
			v->image[e] = view_twin(v, edge);
		if (v->image[e] == CFG_NONE)
			v->image[e] = view_add(v, s, e);
		if (version == WEIGHT_OVERFLOW)
			v->weight[v->image[e]] = (uint32_t)s->weight[e];
	}
	cfg_link(&v->g);
}

static void view_release(struct view *v)
{
	cfg_release(&v->g);
	free(v->weight);
	free(v->image);
}

/* --- placement, measurement, recovery -------------------------------- */

struct outcome {
	enum recover_result result;
	bool *chord; /* per edge of the subject */
	uint64_t *edge, *block;
};

/* What the counters of the chords would have read at the end of the run. */
static void measure(const struct subject *s, const struct view *v,
                    const bool *chord, uint64_t *count)
{
	memset(count, 0, v->g.nedges * sizeof(*count));
	for (edge_id e = 0; e < s->g.nedges; e++)
		if (v->image[e] != CFG_NONE && chord[v->image[e]] &&
		    s->g.edges[e].src != CFG_OUTSIDE)
			count[v->image[e]] += s->edge[e];
}

/* An edge of the view that stands for several gives its count to the first. */
static void outcome_take(struct outcome *o, const struct subject *s,
                         const struct view *v, const bool *chord,
                         uint64_t *count)
{
	for (edge_id e = 0; e < s->g.nedges; e++) {
		o->edge[e] = 0;
		o->chord[e] = false;
		if (v->image[e] == CFG_NONE)
			continue;
		o->chord[e] = chord[v->image[e]];
		o->edge[e] = count[v->image[e]];
		count[v->image[e]] = 0;
	}
}

static void outcome_init(struct outcome *o, const struct subject *s,
                         enum version version)
{
	struct view v;
	bool *chord;
	uint64_t *count;
	uint32_t bad;

	view_init(&v, s, version);
	chord = xcalloc(v.g.nedges, sizeof(*chord));
	count = xcalloc(v.g.nedges, sizeof(*count));
	*o = (struct outcome){
	        .chord = xcalloc(s->g.nedges, sizeof(*o->chord)),
	        .edge = xcalloc(s->g.nedges, sizeof(*o->edge)),
	        .block = xcalloc(s->g.nblocks, sizeof(*o->block)),
	};
	place_edges(&v.g, v.weight, NULL, chord);
	measure(s, &v, chord, count);
	o->result = recover_counts(&v.g, chord, s->extra_in, s->extra_out,
	                           count, o->block, &bad);
	outcome_take(o, s, &v, chord, count);
	free(chord);
	free(count);
	view_release(&v);
}

static void outcome_release(struct outcome *o)
{
	free(o->chord);
	free(o->edge);
	free(o->block);
}

/* --- the checks ------------------------------------------------------- */

/* Joins the ends of the edges in the set; false if they contain a cycle. */
static bool is_forest(const struct cfg *g, uint32_t set)
{
	uint8_t up[2 * SMALL_SPLIT];

	for (block_id b = 0; b < g->nblocks; b++)
		up[b] = (uint8_t)b;
	for (; set != 0; set &= set - 1) {
		edge_id e = (edge_id)__builtin_ctz(set);
		block_id a = g->edges[e].src, b = g->edges[e].dst;

		while (up[a] != a)
			a = up[a];
		while (up[b] != b)
			b = up[b];
		if (a == b)
			return false;
		up[a] = (uint8_t)b;
	}
	return true;
}

static uint64_t set_weight(const uint64_t *weight, uint32_t set)
{
	uint64_t sum = 0;

	for (; set != 0; set &= set - 1)
		sum += weight[__builtin_ctz(set)];
	return sum;
}

/* The least cost of the edges outside a forest that holds all of `seed`. */
static uint64_t least_cost(const struct subject *s, uint32_t seed)
{
	uint32_t all = (1u << s->g.nedges) - 1;
	uint64_t best = UINT64_MAX;

	for (uint32_t set = 0; set <= all; set++) {
		uint64_t cost;

		if ((set & seed) != seed)
			continue;
		cost = set_weight(s->weight, all & ~set);
		if (cost < best && is_forest(&s->g, set))
			best = cost;
	}
	return best;
}

static bool is_small(const struct subject *s)
{
	return s->g.nedges <= SMALL_EDGES && s->g.nblocks <= SMALL_EDGES;
}

static uint64_t cost_of(const struct subject *s, const struct outcome *o)
{
	uint64_t cost = 0;

	for (edge_id e = 0; e < s->g.nedges; e++)
		cost += o->chord[e] ? s->weight[e] : 0;
	return cost;
}

/* What is wrong with the counts of an outcome, or NULL. */
static const char *judge_counts(const struct subject *s,
                                const struct outcome *o)
{
	if (o->result == RECOVER_UNSOLVABLE)
		return "the counters do not determine all edges";
	if (o->result != RECOVER_OK)
		return "the recovered flow does not add up";
	if (memcmp(o->edge, s->edge, s->g.nedges * sizeof(*o->edge)) != 0)
		return "an edge count is wrong";
	if (memcmp(o->block, s->block, s->g.nblocks * sizeof(*o->block)) != 0)
		return "a block count is wrong";
	return NULL;
}

/* What is wrong with the cost of an outcome, or NULL. */
static const char *judge_cost(const struct subject *s, const struct outcome *o)
{
	uint64_t cost = cost_of(s, o), least;

	if (!is_small(s))
		return NULL;
	least = least_cost(s, 1);
	if (cost > least)
		return "a cheaper placement exists";
	if (cost < least)
		return "the placement is cheaper than any that works";
	if (s->weight_is_flow && cost != least_cost(s, 0))
		return "seeding with the outside edge costs something";
	return NULL;
}

/*
 * The right version has to stand both tests.  The wrong ones are to be found
 * by what they spoil: with weights that overflow the counts are still right,
 * with the others they are not.
 */
static const char *judge(const struct subject *s, const struct outcome *o,
                         enum version version)
{
	const char *wrong = NULL;

	if (version != WEIGHT_OVERFLOW)
		wrong = judge_counts(s, o);
	if (!wrong && (version == RIGHT || version == WEIGHT_OVERFLOW))
		wrong = judge_cost(s, o);
	return wrong;
}

static const char *judge_version(const struct subject *s, enum version version)
{
	struct outcome o;
	const char *wrong;

	outcome_init(&o, s, version);
	wrong = judge(s, &o, version);
	outcome_release(&o);
	return wrong;
}

/* --- counters on edges and in blocks ----------------------------------- */

/* Costs of large weights do not fit 64 bits. */
__extension__ typedef unsigned __int128 cost_t;

struct mixture {
	struct cfg split;
	uint64_t *weight;
	bool *must, *chord;
	uint32_t nimpossible;
};

/* As the plugin chooses what to count. */
static void mixture_init(struct mixture *m, const struct subject *s)
{
	bool *needs_jump;

	blocks_split(&s->g, &m->split);
	m->weight = xcalloc(m->split.nedges, sizeof(*m->weight));
	m->must = xcalloc(m->split.nedges, sizeof(*m->must));
	m->chord = xcalloc(m->split.nedges, sizeof(*m->chord));
	needs_jump = xcalloc(m->split.nedges, sizeof(*needs_jump));
	memcpy(m->must, s->must, s->g.nedges * sizeof(*m->must));
	memcpy(needs_jump, s->needs_jump, s->g.nedges * sizeof(*needs_jump));
	blocks_weigh(&s->g, s->weight, m->weight);
	weight_add_jumps(&m->split, needs_jump, m->weight);
	m->nimpossible = place_edges(&m->split, m->weight, m->must, m->chord);
	free(needs_jump);
}

static void mixture_release(struct mixture *m)
{
	cfg_release(&m->split);
	free(m->weight);
	free(m->must);
	free(m->chord);
}

/* A block runs as often as edges lead to it; only a jump costs more. */
static bool has_right_weights(const struct mixture *m, const struct subject *s)
{
	const struct cfg *g = &s->g;

	for (edge_id e = 0; e < g->nedges; e++) {
		uint64_t w = s->weight[e];

		if (s->needs_jump[e])
			w = w > WEIGHT_MAX / (1 + WEIGHT_JUMP)
			            ? WEIGHT_MAX
			            : (1 + WEIGHT_JUMP) * w;
		if (m->weight[e] != w)
			return false;
	}
	for (block_id b = 1; b < g->nblocks; b++) {
		cost_t sum = 0;

		for (uint32_t i = g->in_at[b]; i < g->in_at[b + 1]; i++)
			sum += s->weight[g->in[i]];
		if (m->weight[blocks_edge(g, b)] !=
		    (sum < UINT64_MAX ? sum : UINT64_MAX))
			return false;
	}
	return true;
}

static cost_t cost_of_chords(const uint64_t *weight, const bool *chord,
                             uint32_t n)
{
	cost_t cost = 0;

	for (uint32_t i = 0; i < n; i++)
		cost += chord[i] ? weight[i] : 0;
	return cost;
}

/* The least cost, over all sets, of the split edges outside a forest that
 * holds the entry and what cannot be counted. */
static cost_t least_mixture(const struct mixture *m)
{
	uint32_t all = (1u << m->split.nedges) - 1, seed = 1;
	cost_t best = ~(cost_t)0;

	for (edge_id e = 0; e < m->split.nedges; e++)
		seed |= (uint32_t)m->must[e] << e;
	for (uint32_t set = seed; set <= all; set = (set + 1) | seed) {
		cost_t cost = 0;

		for (uint32_t out = all & ~set; out; out &= out - 1)
			cost += m->weight[__builtin_ctz(out)];
		if (cost < best && is_forest(&m->split, set))
			best = cost;
	}
	return best;
}

/* Is the mixture worse than the best placement on edges alone?  Edges that
 * cannot be counted may leave none, or none that keeps the entry free. */
static bool is_worse_than_edges(const struct mixture *m,
                                const struct subject *s, cost_t cost)
{
	bool *chord = xcalloc(s->g.nedges, sizeof(*chord));
	bool worse = place_edges(&s->g, m->weight, s->must, chord) == 0 &&
	             !chord[0] &&
	             cost > cost_of_chords(m->weight, chord, s->g.nedges);

	free(chord);
	return worse;
}

static const char *judge_mixture_cost(const struct mixture *m,
                                      const struct subject *s)
{
	cost_t cost = cost_of_chords(m->weight, m->chord, m->split.nedges);

	if (!has_right_weights(m, s))
		return "the weight of a block is not that of its edges";
	if (m->nimpossible)
		return "a counter stands where none can";
	if (is_worse_than_edges(m, s, cost))
		return "edges alone would be cheaper than edges and blocks";
	if (m->split.nedges > SMALL_SPLIT)
		return NULL;
	return cost == least_mixture(m)
	               ? NULL
	               : "edges and blocks do not have the least cost";
}

/* Reads the counters, recovers the rest, compares with the truth. */
static const char *judge_mixture_counts(const struct mixture *m,
                                        const struct subject *s)
{
	struct outcome o = {
	        .chord = xcalloc(s->g.nedges, sizeof(*o.chord)),
	        .edge = xcalloc(s->g.nedges, sizeof(*o.edge)),
	        .block = xcalloc(s->g.nblocks, sizeof(*o.block)),
	};
	bool *counted = xcalloc(s->g.nblocks, sizeof(*counted));
	const char *wrong;
	uint32_t bad;

	for (edge_id e = 0; e < s->g.nedges; e++) {
		o.chord[e] = m->chord[e];
		if (o.chord[e] && s->g.edges[e].src != CFG_OUTSIDE)
			o.edge[e] = s->edge[e];
	}
	for (block_id b = 1; b < s->g.nblocks; b++) {
		counted[b] = m->chord[blocks_edge(&s->g, b)];
		if (counted[b]) /* at the top: who began below was not seen */
			o.block[b] = s->block[b] - s->extra_in[b];
	}
	o.result = blocks_recover(&s->g, o.chord, counted, s->extra_in,
	                          s->extra_out, o.edge, o.block, &bad);
	wrong = judge_counts(s, &o);
	outcome_release(&o);
	free(counted);
	return wrong;
}

static const char *judge_mixture(const struct subject *s)
{
	struct mixture m;
	const char *wrong;

	mixture_init(&m, s);
	wrong = judge_mixture_counts(&m, s);
	if (!wrong)
		wrong = judge_mixture_cost(&m, s);
	mixture_release(&m);
	return wrong;
}

/* --- how varied the graphs are ---------------------------------------- */

enum feature {
	IRREDUCIBLE,
	SEVERAL_EXITS,
	INFINITE_LOOP,
	UNREACHABLE,
	PARALLEL,
	SELF_LOOP,
	ZERO_WEIGHT,
	EXTRA_OUT,
	EXTRA_IN,
	SMALL,
	SMALL_MIXTURE,
	MUST,
	NFEATURES
};

static const char *const feature_name[NFEATURES] = {
        "irreducible",    "several exits",   "infinite loop",
        "unreachable",    "parallel edges",  "self loop",
        "zero weight",    "died in a block", "began in a block",
        "all sets tried", "blocks too",      "not countable",
};

/* By the definition; the loop forest must agree, or *differs is set. */
static bool is_irreducible(const struct cfg *g, const struct dfs *d,
                           bool *differs)
{
	struct dominators dom;
	struct loops l;
	bool by_edges = false, by_loops = false;

	dominators_init(&dom, g, d);
	for (edge_id e = 0; e < g->nedges; e++)
		if (dfs_edge_kind(d, g, e) == DFS_RETREATING &&
		    !dominators_dominates(&dom, g->edges[e].dst,
		                          g->edges[e].src))
			by_edges = true;
	dominators_release(&dom);
	loops_init(&l, g, d);
	for (uint32_t i = 0; i < l.n; i++)
		by_loops |= l.loop[i].irreducible;
	loops_release(&l);
	*differs = by_edges != by_loops;
	return by_edges;
}

/* Can some block be reached that lies on a cycle and reaches no way out? */
static bool has_infinite_loop(const struct cfg *g, const struct dfs *d)
{
	bool *leaves = xcalloc(g->nblocks, sizeof(*leaves));
	bool grown = true, found = false;

	leaves[CFG_OUTSIDE] = true;
	while (grown) {
		grown = false;
		for (edge_id e = 0; e < g->nedges; e++) {
			block_id src = g->edges[e].src, dst = g->edges[e].dst;

			if (leaves[dst] && !leaves[src])
				leaves[src] = grown = true;
		}
	}
	for (edge_id e = 0; e < g->nedges; e++)
		if (dfs_edge_kind(d, g, e) == DFS_RETREATING &&
		    !leaves[g->edges[e].src])
			found = true;
	free(leaves);
	return found;
}

static bool has_parallel(const struct cfg *g)
{
	for (edge_id e = 0; e < g->nedges; e++) {
		block_id b = g->edges[e].src;

		for (uint32_t i = g->out_at[b]; i < g->out_at[b + 1]; i++)
			if (g->out[i] != e &&
			    g->edges[g->out[i]].dst == g->edges[e].dst)
				return true;
	}
	return false;
}

static void note_edges(const struct subject *s, const struct dfs *d, bool *has)
{
	uint32_t nexits = 0;

	for (edge_id e = 0; e < s->g.nedges; e++) {
		nexits += dfs_edge_kind(d, &s->g, e) == DFS_OUT;
		has[SELF_LOOP] |= s->g.edges[e].src == s->g.edges[e].dst;
		has[ZERO_WEIGHT] |= s->weight[e] == 0;
		has[MUST] |= s->must[e];
	}
	has[SEVERAL_EXITS] = nexits > 1;
}

/* Counts the features of a graph.  False if loops and dominators differ. */
static bool note_features(const struct subject *s, uint64_t *nwith)
{
	bool has[NFEATURES] = {0}, differs;
	struct dfs d;

	dfs_init(&d, &s->g);
	has[IRREDUCIBLE] = is_irreducible(&s->g, &d, &differs);
	has[INFINITE_LOOP] = has_infinite_loop(&s->g, &d);
	has[UNREACHABLE] = d.nreached < s->g.nblocks;
	has[PARALLEL] = has_parallel(&s->g);
	has[SMALL] = is_small(s);
	has[SMALL_MIXTURE] = s->g.nedges + s->g.nblocks - 1 <= SMALL_SPLIT;
	note_edges(s, &d, has);
	for (block_id b = 0; b < s->g.nblocks; b++) {
		has[EXTRA_OUT] |= s->extra_out[b] != 0;
		has[EXTRA_IN] |= s->extra_in[b] != 0;
	}
	dfs_release(&d);
	for (int f = 0; f < NFEATURES; f++)
		nwith[f] += has[f];
	return !differs;
}

/* Prints the shares; false if one is below what was promised. */
static bool report_features(const uint64_t *nwith, uint64_t n)
{
	bool enough = true;

	for (int f = 0; f < NFEATURES; f++) {
		bool promised = f == IRREDUCIBLE || f == SEVERAL_EXITS;
		bool ok = nwith[f] > 0;

		if (promised)
			ok = nwith[f] * 100 >= n * SHARE_PERCENT;
		printf("%-18s %5.1f %% of the graphs%s\n", feature_name[f],
		       100.0 * (double)nwith[f] / (double)n,
		       ok ? "" : ": too few");
		enough &= ok;
	}
	return enough;
}

/* --- the run ------------------------------------------------------------ */

struct proof {
	uint64_t n, seed, first;
	uint64_t nmismatches;
	uint64_t nwith[NFEATURES];
	bool found[NVERSIONS];
};

static void proof_graph(struct proof *p, uint64_t number)
{
	struct subject s;
	const char *wrong;

	subject_init(&s, p->seed, number);
	wrong = judge_version(&s, RIGHT);
	if (!wrong)
		wrong = judge_mixture(&s);
	if (!note_features(&s, p->nwith) && !wrong)
		wrong = "loops and dominators disagree";
	if (wrong) {
		printf("MISMATCH graph %" PRIu64 ": %s\n", number, wrong);
		p->nmismatches++;
	}
	for (enum version v = RIGHT + 1; v < NVERSIONS && !wrong; v++) {
		const char *why = p->found[v] ? NULL : judge_version(&s, v);

		if (!why)
			continue;
		p->found[v] = true;
		printf("planted: %s: found by graph %" PRIu64 ": %s\n",
		       version_name[v], number, why);
	}
	subject_release(&s);
}

int main(int argc, char **argv)
{
	struct proof p = {0};
	uint32_t nfound = 0;
	bool varied;

	if (!proof_arguments(argc, argv, "proof_graph", &p.n, &p.seed,
	                     &p.first))
		return 2;
	printf("SEED=%" PRIu64 "\n", p.seed);
	for (uint64_t i = 0; i < p.n; i++)
		proof_graph(&p, p.first + i);
	varied = report_features(p.nwith, p.n);
	for (enum version v = RIGHT + 1; v < NVERSIONS; v++) {
		nfound += p.found[v];
		if (!p.found[v])
			printf("planted: %s: NOT found\n", version_name[v]);
	}
	printf("RESULT proof graphs=%" PRIu64 " mismatches=%" PRIu64
	       " planted_bugs_found=%" PRIu32 "\n",
	       p.n, p.nmismatches, nfound);
	return p.nmismatches || nfound < NVERSIONS - 1 || !varied;
}
