/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codes for traces: which way a function goes, for one who follows it.
 *
 * A trace that wrote the number of every path could do with less.  One who
 * reads it from the beginning knows in which block the next path begins: where
 * the last one ended.  So a path is written as its number among those that
 * begin in the same block, its code, in as many bits as these need, and where
 * there is only one, as nothing at all.  The numbers are those of paths.c (Ball
 * and Larus 1996), from which the value of the edge that begins the path is
 * left out.
 *
 * Codes are not written one by one.  They are shifted into a register, the
 * history of the activation, which is also where the additions along the path
 * go: its low bits are the path register.  A loop costs a shift and a test per
 * turn, and nothing in memory.  The history is written where other activations
 * may write theirs, before calls and at the end, and when it is full.  Its top
 * bit tells how long it is.
 *
 * Where too many paths begin in one block edges are cut: the path ends there
 * and the next begins, for the price of a shift.  Blocks are visited backwards;
 * one with too many paths to the end has the edges cut that cost least for what
 * they take away.  Where many paths lie behind a rare edge it is cut, too, so
 * that only those who take it pay for them.
 *
 * A loop that has only one way around counts its turns instead, beside the
 * history, and says how many there were where it is left, in CODES_COUNT_BITS
 * or, if they do not suffice, by itself.  The ways in and out of it are cuts.
 *
 * A flight recorder must know the branches that were taken at any moment. There
 * every edge out of a block with several is cut: a path is a straight line, its
 * code says where that ended, and nothing is added up on the way.
 *
 * Writer and reader must agree on when no history is written.  The writer knows
 * where it ends, the reader where it begins: an end is silent if nothing was
 * ever shifted in on the way to it, from wherever, and no history that is loud
 * begins on that way.  A reader who comes to such an end has had nothing to
 * decide.
 *
 * Invariant: codes of paths from one block differ; a silent end is reached by
 * histories of no bits only.
 * Oracle: proof_trace runs random programs and regenerates them.
 * Cost: O(V+E), and a sort of the edges out of each block that has too many
 * paths.
 */
#include "graph/codes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/err.h"

/* --- cuts ---------------------------------------------------------------- */

struct codes_way {
	edge_id e;
	uint64_t npaths; /* behind it */
	uint64_t weight;
};

/* Least weight for what a cut takes away first. */
static int codes_by_price(const void *a, const void *b)
{
	const struct codes_way *x = a, *y = b;
	double px = (double)x->weight / (double)(x->npaths - 1);
	double py = (double)y->weight / (double)(y->npaths - 1);

	if (px != py)
		return px < py ? -1 : 1;
	return x->e < y->e ? -1 : x->e > y->e;
}

#define CODES_PRICE 2 /* of a cut, in bits */

struct codes_cutter {
	const struct dag *d;
	const uint64_t *weight;
	const bool *is_kept; /* per CFG edge: not to be cut */
	uint64_t *npaths;    /* per vertex, with the cuts */
	uint64_t max;
	struct codes_way *ways; /* room for the edges out of a block */
	edge_id *cuts;
	uint32_t ncuts;
};

/* Is the DAG edge a CFG edge that may be cut? */
static bool codes_can_cut(const struct codes_cutter *c, uint32_t e)
{
	const struct dag_edge *edge = &c->d->edges[e];

	return edge->kind == DAG_STEP && edge->src != DAG_START &&
	       edge->dst != dag_end(c->d) && !c->is_kept[edge->of];
}

/* Only those out of one block are asked for, which are the last ones. */
static bool codes_is_cut(const struct codes_cutter *c, edge_id e)
{
	for (uint32_t i = c->ncuts; i-- > 0;)
		if (c->cuts[i] == e)
			return true;
	return false;
}

/* Cuts edges out of v until it has few enough paths, or there are no more. */
static void codes_cut_at(struct codes_cutter *c, uint32_t v)
{
	const struct dag *d = c->d;
	uint32_t n = 0;

	for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++) {
		edge_id of = d->edges[e].of;

		if (codes_can_cut(c, e) && c->npaths[d->edges[e].dst] > 1 &&
		    !codes_is_cut(c, of))
			c->ways[n++] = (struct codes_way){
			        .e = of,
			        .npaths = c->npaths[d->edges[e].dst],
			        .weight = c->weight ? c->weight[of] : 1,
			};
	}
	qsort(c->ways, n, sizeof(*c->ways), codes_by_price);
	for (uint32_t i = 0; i < n && c->npaths[v] > c->max; i++) {
		c->npaths[v] -= c->ways[i].npaths - 1;
		c->cuts[c->ncuts++] = c->ways[i].e;
	}
}

/* The binary logarithm, between powers of two by a straight line. */
static double codes_log(uint64_t n)
{
	unsigned floor = 63 - (unsigned)__builtin_clzll(n);

	return floor + (double)n / (double)(UINT64_C(1) << floor) - 1;
}

/*
 * The bits of a code are for the path with the most company: a loop that is
 * left for a region of a thousand paths would need ten for every turn.  Cuts
 * those edges out of v behind which so much lies for so few that the others
 * save more than these pay.
 */
static void codes_cut_rare(struct codes_cutter *c, uint32_t v)
{
	const struct dag *d = c->d;
	double all = 0;

	for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++)
		if (d->edges[e].kind == DAG_STEP || d->edges[e].kind == DAG_END)
			all += (double)c->weight[d->edges[e].of];
	for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++) {
		uint64_t n = c->npaths[d->edges[e].dst], rest;
		double price;

		if (!codes_can_cut(c, e) || n < 2)
			continue;
		rest = c->npaths[v] - n + 1;
		price = (double)c->weight[d->edges[e].of] *
		        (codes_log(n) + CODES_PRICE);
		if (all * (codes_log(c->npaths[v]) - codes_log(rest)) <= price)
			continue;
		c->npaths[v] = rest;
		c->cuts[c->ncuts++] = d->edges[e].of;
	}
}

static void codes_cut(struct codes_cutter *c)
{
	const struct dag *d = c->d;

	for (uint32_t i = d->norder; i-- > 1;) { /* all but the start */
		uint32_t v = d->order[i];

		c->npaths[v] = v == dag_end(d);
		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++)
			c->npaths[v] += c->npaths[d->edges[e].dst];
		if (c->weight && c->npaths[v] > 2)
			codes_cut_rare(c, v);
		if (c->npaths[v] > c->max)
			codes_cut_at(c, v);
	}
}

/* All that leave a block with a choice. */
static void codes_cut_branches(struct codes_cutter *c)
{
	const struct dag *d = c->d;

	for (uint32_t v = DAG_START + 1; v < d->nvertices; v++) {
		if (d->out_at[v + 1] - d->out_at[v] < 2)
			continue;
		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++)
			if (codes_can_cut(c, e))
				c->cuts[c->ncuts++] = d->edges[e].of;
	}
}

/* The edges to cut; the caller frees them. */
static edge_id *codes_choose(const struct cfg *g,
                             const struct codes_options *options,
                             const bool *is_kept, uint32_t *n)
{
	struct dag d;
	struct codes_cutter c = {
	        .d = &d,
	        .is_kept = is_kept,
	        .weight = options->weight,
	        .npaths = xcalloc((size_t)g->nblocks + 2, sizeof(*c.npaths)),
	        .max = UINT64_C(1) << CODES_BITS,
	        .ways = xcalloc((size_t)g->nedges + 1, sizeof(*c.ways)),
	        .cuts = xcalloc((size_t)g->nedges + 1, sizeof(*c.cuts)),
	};

	dag_init(&d, g, options->asked);
	if (options->branches)
		codes_cut_branches(&c);
	else
		codes_cut(&c);
	dag_release(&d);
	free(c.npaths);
	free(c.ways);
	*n = c.ncuts;
	return c.cuts;
}

/* --- loops that count their turns ---------------------------------------- */

#define CODES_LOOP_BLOCKS 64u
#define CODES_LOOP_EXITS 16u
#define CODES_LOOP_RATIO 2 /* turns per entry, at least */

struct codes_cycle {
	const struct cfg *g;
	const struct codes_options *options;
	bool *is_in;   /* per block */
	bool *is_kept; /* per edge: part of a loop that was found */
	block_id blocks[CODES_LOOP_BLOCKS];
	uint32_t n;
};

/* Can the paths of a loop run through this edge, or end there if it is cut? */
static bool codes_is_free(const struct codes_cycle *y, edge_id e)
{
	return (!y->options->asked || y->options->asked[e] == DAG_THROUGH) &&
	       !(y->options->is_call && y->options->is_call[e]);
}

/*
 * The one way from a block around and back to it: from block to block there is
 * only one successor from which it goes on.  Blocks from which nobody comes
 * back are looked for backwards, from the source of the edge back.
 */
static bool codes_collect(struct codes_cycle *y, block_id head, edge_id back)
{
	const struct cfg *g = y->g;
	block_id b = g->edges[back].src;

	y->n = 0;
	for (;;) {
		edge_id in = CFG_NONE;

		if (y->n == CODES_LOOP_BLOCKS || b == CFG_OUTSIDE ||
		    y->is_in[b])
			return false;
		y->is_in[b] = true;
		y->blocks[y->n++] = b;
		if (b == head)
			return true;
		if (g->in_at[b] + 1 != g->in_at[b + 1])
			return false;
		in = g->in[g->in_at[b]];
		if (!codes_is_free(y, in))
			return false;
		b = g->edges[in].src;
	}
}

static void codes_loop_release(struct codes_loop *l)
{
	free(l->entries);
	free(l->exits);
	free(l->leave);
	*l = (struct codes_loop){0};
}

/* Edges into the head, and out of the loop; false if some do not fit. */
static bool codes_list_ways(struct codes_cycle *y, struct codes_loop *l)
{
	const struct cfg *g = y->g;
	uint32_t nin = g->in_at[l->head + 1] - g->in_at[l->head];

	l->entries = xcalloc(nin, sizeof(*l->entries));
	l->exits = xcalloc(CODES_LOOP_EXITS, sizeof(*l->exits));
	for (edge_id e = 0; e < g->nedges; e++) {
		bool from = y->is_in[g->edges[e].src];
		bool to = y->is_in[g->edges[e].dst];

		if (to && !from) {
			if (g->edges[e].src == CFG_OUTSIDE ||
			    (y->options->asked &&
			     (y->options->asked[e] == DAG_INDIRECT ||
			      y->options->asked[e] == DAG_IGNORED)))
				return false;
			l->entries[l->nentries++] = e;
		} else if (from && !to) {
			if (g->edges[e].dst == CFG_OUTSIDE ||
			    !codes_is_free(y, e) ||
			    l->nexits == CODES_LOOP_EXITS)
				return false;
			l->exits[l->nexits++] = e;
		} else if (from && e != l->back && g->edges[e].dst == l->head) {
			return false;
		}
	}
	while (UINT32_C(1) << l->bits < l->nexits)
		l->bits++;
	return l->nentries && l->nexits;
}

/* Does a block begin a loop with one way around, and no calls in it? */
static bool codes_find_loop(struct codes_cycle *y, block_id head,
                            struct codes_loop *l)
{
	const struct cfg *g = y->g;
	bool found = false;

	for (uint32_t i = g->in_at[head]; i < g->in_at[head + 1] && !found;
	     i++) {
		edge_id back = g->in[i];

		*l = (struct codes_loop){.head = head, .back = back};
		if (!codes_is_free(y, back))
			continue;
		found = codes_collect(y, head, back) && codes_list_ways(y, l);
		for (uint32_t k = 0; k < y->n; k++)
			y->is_in[y->blocks[k]] = false;
		if (!found)
			codes_loop_release(l);
	}
	return found;
}

/* Does it turn often enough for each time it is entered? */
static bool codes_is_worth_it(const struct codes_options *o,
                              const struct codes_loop *l)
{
	uint64_t enter = 0;

	for (uint32_t i = 0; i < l->nentries; i++)
		enter += o->weight[l->entries[i]];
	return o->weight[l->back] / CODES_LOOP_RATIO > enter;
}

static void codes_add_loop(struct codes *c, struct codes_cycle *y,
                           const struct codes_loop *l, enum dag_how *asked)
{
	for (uint32_t i = 0; i + 1 < y->n; i++) /* not into the head */
		y->is_kept[y->g->in[y->g->in_at[y->blocks[i]]]] = true;
	c->loops[c->nloops++] = *l;
	c->loop_of[l->head] = c->nloops;
	asked[l->back] = DAG_CUT;
	for (uint32_t i = 0; i < l->nentries; i++)
		asked[l->entries[i]] = DAG_CUT;
	for (uint32_t i = 0; i < l->nexits; i++)
		asked[l->exits[i]] = DAG_CUT;
}

/* All loops that are worth it, or those that were asked for.  The ways in and
 * out of them become cuts.  Fails: CAIRN_E_CORRUPT if there is no such loop. */
static int codes_find_loops(struct codes *c, const struct cfg *g,
                            const struct codes_options *o, enum dag_how *asked,
                            bool *is_kept, struct cairn_err *err)
{
	struct codes_cycle y = {
	        .g = g,
	        .options = o,
	        .is_kept = is_kept,
	        .is_in = xcalloc(g->nblocks, sizeof(*y.is_in)),
	};
	uint32_t n = o->is_cut                   ? o->nheads
	             : o->weight && !o->branches ? g->nblocks - 1
	                                         : 0;
	int result = 0;

	c->loops = xcalloc((size_t)g->nblocks + 1, sizeof(*c->loops));
	c->loop_of = xcalloc(g->nblocks, sizeof(*c->loop_of));
	for (uint32_t i = 0; i < n && result == 0; i++) {
		block_id head = o->is_cut ? o->heads[i] : i + 1;
		struct codes_loop l;

		if (head < g->nblocks && !c->loop_of[head] &&
		    codes_find_loop(&y, head, &l)) {
			if (o->is_cut || codes_is_worth_it(o, &l))
				codes_add_loop(c, &y, &l, asked);
			else
				codes_loop_release(&l);
		} else if (o->is_cut) {
			result = cairn_fail(err, CAIRN_E_CORRUPT,
			                    "no loop that counts its turns "
			                    "begins in block %" PRIu32,
			                    head);
		}
	}
	free(y.is_in);
	return result;
}

/* The codes that its paths have, and what is shifted in instead of them. */
static void codes_number_loop(struct codes *c, struct codes_loop *l)
{
	const struct dag *d = &c->paths.dag;
	uint64_t sum = 0;
	uint32_t v, step;

	l->leave = xcalloc(l->nexits, sizeof(*l->leave));
	if (d->begin_of[l->head] == CFG_NONE)
		return; /* nobody comes here */
	v = d->edges[d->begin_of[l->head]].dst;
	do {
		step = CFG_NONE;
		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++) {
			const struct dag_edge *edge = &d->edges[e];
			uint64_t code = sum + c->paths.value[e];

			c->value[e] = 0;
			if (edge->kind == DAG_STEP)
				step = e;
			else if (edge->of == l->back)
				l->turn = code;
			for (uint32_t i = 0; i < l->nexits; i++)
				if (edge->kind == DAG_END &&
				    edge->of == l->exits[i])
					l->leave[i] = code;
		}
		if (step != CFG_NONE) {
			sum += c->paths.value[step];
			v = d->edges[step].dst;
		}
	} while (step != CFG_NONE);
	c->width[l->head] = (uint8_t)(CODES_COUNT_BITS + l->bits);
}

/* --- silence ------------------------------------------------------------- */

/* Does a DAG edge end the history, with the path? */
static bool codes_ends_history(const struct codes *c, uint32_t e)
{
	const struct dag_edge *edge = &c->paths.dag.edges[e];

	switch (edge->kind) {
	case DAG_STEP:
		return edge->dst == dag_end(&c->paths.dag);
	case DAG_END:
		return c->is_call[edge->of];
	case DAG_STOP:
		return true;
	default:
		return false;
	}
}

/* Where a path goes on that ends with a DAG edge, but not its history. */
static uint32_t codes_next(const struct codes *c, uint32_t e)
{
	const struct dag_edge *edge = &c->paths.dag.edges[e];

	return edge->kind == DAG_END ? c->paths.dag.g->edges[edge->of].dst
	                             : edge->of; /* SCATTER */
}

/* The vertices that something is heard at: reached from a beginning with
 * alternatives, or a loud one, within one history. */
static bool *codes_hear(const struct codes *c, const bool *loud)
{
	const struct dag *d = &c->paths.dag;
	bool *is_heard = xcalloc(d->nvertices, sizeof(*is_heard));
	uint32_t *work = xcalloc(d->nvertices, sizeof(*work)), n = 0;

	for (uint32_t e = d->out_at[DAG_START]; e < d->out_at[DAG_START + 1];
	     e++) {
		const struct dag_edge *edge = &d->edges[e];
		bool is_begin = edge->kind == DAG_BEGIN;

		if (edge->dst == dag_end(d) || is_heard[edge->dst] ||
		    (c->paths.npaths[edge->dst] == 1 &&
		     !(is_begin && loud && loud[edge->of])))
			continue;
		is_heard[edge->dst] = true;
		work[n++] = edge->dst;
	}
	while (n > 0) {
		uint32_t v = work[--n];

		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++) {
			uint32_t to = d->edges[e].dst;

			if (to == dag_end(d)) {
				if (codes_ends_history(c, e))
					continue;
				to = codes_next(c, e);
			}
			if (is_heard[to])
				continue;
			is_heard[to] = true;
			work[n++] = to;
		}
	}
	free(work);
	return is_heard;
}

static void codes_find_silence(struct codes *c, const bool *loud)
{
	const struct dag *d = &c->paths.dag;
	bool *is_heard = codes_hear(c, loud);

	for (uint32_t e = 0; e < d->nedges; e++)
		c->is_silent[e] = d->edges[e].dst == dag_end(d) &&
		                  codes_ends_history(c, e) &&
		                  !is_heard[d->edges[e].src];
	free(is_heard);
}

/* --- the codes ----------------------------------------------------------- */

static unsigned codes_bits(uint64_t npaths)
{
	unsigned bits = 0;

	while (bits < 64 && (npaths - 1) >> bits)
		bits++;
	return bits;
}

static int codes_measure(struct codes *c, struct cairn_err *err)
{
	const struct dag *d = &c->paths.dag;

	c->full = CODES_FULL;
	for (uint32_t e = d->out_at[DAG_START]; e < d->out_at[DAG_START + 1];
	     e++) {
		const struct dag_edge *edge = &d->edges[e];
		unsigned bits = codes_bits(c->paths.npaths[edge->dst]);

		if (bits > CODES_BITS_MAX)
			return cairn_fail(err, CAIRN_E_LIMIT,
			                  "%" PRIu64
			                  " paths begin in one block",
			                  c->paths.npaths[edge->dst]);
		c->width[edge->kind == DAG_BEGIN ? edge->of : CFG_OUTSIDE] =
		        (uint8_t)bits;
		if (c->full > UINT64_C(1) << (63 - bits))
			c->full = UINT64_C(1) << (63 - bits);
	}
	return 0;
}

/* The graph of paths, cut where it must be. */
static int codes_begin_paths(struct codes *c, const struct cfg *g,
                             struct codes_options options,
                             struct cairn_err *err)
{
	enum dag_how *asked = xcalloc((size_t)g->nedges + 1, sizeof(*asked));
	bool *is_kept = xcalloc((size_t)g->nedges + 1, sizeof(*is_kept));
	struct paths_options how = {
	        .asked = asked,
	        .weight = options.weight,
	        .cuts = options.cuts,
	        .ncuts = options.ncuts,
	};
	edge_id *cuts = NULL;
	int result;

	for (edge_id e = 0; options.asked && e < g->nedges; e++)
		asked[e] = options.asked[e];
	result = codes_find_loops(c, g, &options, asked, is_kept, err);
	options.asked = asked;
	if (result == 0 && !options.is_cut)
		how.cuts = cuts =
		        codes_choose(g, &options, is_kept, &how.ncuts);
	if (result == 0)
		result = paths_init(&c->paths, g, &how, err);
	free(cuts);
	free(asked);
	free(is_kept);
	return result;
}

int codes_init(struct codes *c, const struct cfg *g,
               const struct codes_options *options, struct cairn_err *err)
{
	int result;

	*c = (struct codes){0};
	result = codes_begin_paths(c, g, *options, err);
	if (result < 0) {
		codes_release(c);
		return result;
	}
	c->width = xcalloc(g->nblocks, sizeof(*c->width));
	c->value = xcalloc((size_t)c->paths.dag.nedges + 1, sizeof(*c->value));
	c->is_silent =
	        xcalloc((size_t)c->paths.dag.nedges + 1, sizeof(*c->is_silent));
	c->is_call = xcalloc((size_t)g->nedges + 1, sizeof(*c->is_call));
	for (edge_id e = 0; options->is_call && e < g->nedges; e++)
		c->is_call[e] = options->is_call[e];
	if (codes_measure(c, err) < 0) {
		codes_release(c);
		return CAIRN_E_LIMIT;
	}
	for (uint32_t e = c->paths.dag.out_at[DAG_START + 1];
	     e < c->paths.dag.nedges; e++)
		c->value[e] = c->paths.value[e];
	for (uint32_t i = 0; i < c->nloops; i++)
		codes_number_loop(c, &c->loops[i]);
	codes_find_silence(c, options->loud);
	return 0;
}

void codes_release(struct codes *c)
{
	for (uint32_t i = 0; i < c->nloops; i++)
		codes_loop_release(&c->loops[i]);
	paths_release(&c->paths);
	free(c->loops);
	free(c->loop_of);
	free(c->value);
	free(c->width);
	free(c->is_silent);
	free(c->is_call);
	*c = (struct codes){0};
}

/* --- reading ------------------------------------------------------------- */

/* The edge out of the start that begins paths in a block, or CFG_NONE. */
static uint32_t codes_begin(const struct codes *c, block_id first)
{
	const struct dag *d = &c->paths.dag;

	if (first >= d->g->nblocks)
		return CFG_NONE;
	if (first != CFG_OUTSIDE)
		return d->begin_of[first];
	return d->edges[d->out_at[DAG_START]].kind == DAG_STEP
	               ? d->out_at[DAG_START]
	               : CFG_NONE;
}

int codes_decode(const struct codes *c, block_id first, uint64_t code,
                 struct path *path, struct cairn_err *err)
{
	uint32_t e = codes_begin(c, first);

	if (e == CFG_NONE)
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "no path begins in block %" PRIu32, first);
	if (c->loop_of[first]) {
		const struct codes_loop *l = &c->loops[c->loop_of[first] - 1];

		if (code > l->nexits)
			return cairn_fail(err, CAIRN_E_CORRUPT,
			                  "the loop of block %" PRIu32
			                  " has no exit %" PRIu64,
			                  first, code - 1);
		code = code ? l->leave[code - 1] : l->turn;
	}
	if (code >= c->paths.npaths[c->paths.dag.edges[e].dst])
		return cairn_fail(err, CAIRN_E_CORRUPT,
		                  "no path from block %" PRIu32
		                  " has the code %" PRIu64,
		                  first, code);
	return paths_decode(&c->paths, c->paths.value[e] + code, path, err);
}

/* The DAG edge that ends paths at an operation's place, or in a path's last
 * block. */
static uint32_t codes_stop_of(const struct dag *d, block_id b)
{
	uint32_t e = d->out_at[b];

	while (d->edges[e].kind != DAG_STOP)
		e++;
	return e;
}

static enum codes_end codes_end_at(const struct codes *c, uint32_t e)
{
	if (!codes_ends_history(c, e))
		return CODES_GOES_ON;
	return c->is_silent[e] ? CODES_IS_SILENT : CODES_WRITES;
}

enum codes_end codes_end_of(const struct codes *c, const struct path *path)
{
	const struct dag *d = &c->paths.dag;
	edge_id last;

	if (path->end == PATH_STOPS)
		return codes_end_at(
		        c,
		        codes_stop_of(d, path_block(path, d->g, path->nedges)));
	last = path->edges[path->nedges - 1];
	if (d->how[last] == DAG_INDIRECT)
		return CODES_GOES_ON;
	return codes_end_at(c, d->edge_of[last]);
}

/* --- operations ---------------------------------------------------------- */

/* The bits of the paths that come to a vertex where the sum is known: all begin
 * in the same block. */
static unsigned codes_shift_at(const struct codes *c, uint32_t v)
{
	const struct dag *d = &c->paths.dag;
	block_id first = CFG_OUTSIDE;

	while (v != DAG_START) {
		const struct dag_edge *edge = &d->edges[d->in[d->in_at[v]]];

		first = edge->kind == DAG_BEGIN ? edge->of : CFG_OUTSIDE;
		v = edge->src;
	}
	return c->width[first];
}

/*
 * How many bits a history can have at each vertex: those of one path, if no
 * path that goes on comes by.
 */
static unsigned *codes_most(const struct codes *c)
{
	const struct dag *d = &c->paths.dag;
	unsigned *most = xcalloc(d->nvertices, sizeof(*most));

	for (uint32_t e = 0; e < d->nedges; e++)
		if (d->edges[e].dst == dag_end(d) && !codes_ends_history(c, e))
			most[codes_next(c, e)] = 64;
	for (uint32_t e = d->out_at[DAG_START]; e < d->out_at[DAG_START + 1];
	     e++) {
		const struct dag_edge *edge = &d->edges[e];
		unsigned width =
		        c->width[edge->kind == DAG_BEGIN ? edge->of
		                                         : CFG_OUTSIDE];

		if (edge->dst != dag_end(d) && most[edge->dst] < width)
			most[edge->dst] = width;
	}
	for (uint32_t i = 1; i < d->norder; i++) {
		uint32_t v = d->order[i];

		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++)
			if (most[d->edges[e].dst] < most[v])
				most[d->edges[e].dst] = most[v];
	}
	return most;
}

/* The DAG edge that an operation is for, if it ends paths. */
static uint32_t codes_edge_of(const struct dag *d, const struct increment *op)
{
	switch (op->place) {
	case INCREMENT_ON_EDGE:
		return d->edge_of[op->where];
	case INCREMENT_AT_HEAD:
		return d->scatter_of[op->where];
	default:
		return codes_stop_of(d, op->where);
	}
}

/* The vertex before an operation. */
static uint32_t codes_vertex_of(const struct dag *d, const struct increment *op)
{
	switch (op->place) {
	case INCREMENT_ON_EDGE:
		return d->edges[d->edge_of[op->where]].src;
	case INCREMENT_AT_HEAD:
		return dag_hub(d);
	default:
		return op->where;
	}
}

static void codes_place_op(const struct codes *c, const struct increment *op,
                           const unsigned *most, struct codes_op *out)
{
	const struct dag *d = &c->paths.dag;
	uint32_t v = codes_vertex_of(d, op), e;

	*out = (struct codes_op){
	        .place = op->place, .where = op->where, .add = op->value};
	if (op->kind == INCREMENT_SET || op->kind == INCREMENT_COUNT_AT)
		out->shift = codes_shift_at(c, v);
	if (op->kind == INCREMENT_SET || op->kind == INCREMENT_ADD)
		return;
	e = codes_edge_of(d, op);
	out->ends = true;
	out->end = codes_end_at(c, e);
	out->most = most[v];
	if (!op->then_set)
		return;
	out->next_shift = c->width[d->edges[e].kind == DAG_SCATTER
	                                   ? op->where
	                                   : d->g->edges[op->where].dst];
	out->next_add = op->set;
}

/* What an operation has to do with loops that count their turns. */
static void codes_place_turns(const struct codes *c, struct codes_op *op)
{
	const struct cfg *g = c->paths.dag.g;
	uint32_t to = op->place == INCREMENT_ON_EDGE
	                      ? c->loop_of[g->edges[op->where].dst]
	                      : 0;

	if (op->place != INCREMENT_ON_EDGE || !op->ends)
		return;
	op->turns_loop = to && c->loops[to - 1].back == op->where;
	op->enters_loop = to && !op->turns_loop;
	if (op->turns_loop) /* nothing but that */
		op->shift = op->next_shift = 0;
	for (uint32_t k = 0; k < c->nloops; k++)
		for (uint32_t i = 0; i < c->loops[k].nexits; i++)
			if (c->loops[k].exits[i] == op->where) {
				op->leaves_loop = 1 + k;
				op->add = i;
			}
}

void codes_place(const struct codes *c, const uint64_t *cost,
                 struct codes_ops *out)
{
	unsigned *most = codes_most(c);
	struct increments inc;

	increments_init(&inc, &c->paths.dag, c->value, cost);
	out->n = inc.n;
	out->ops = xcalloc((size_t)inc.n + 1, sizeof(*out->ops));
	for (uint32_t i = 0; i < inc.n; i++)
		codes_place_op(c, &inc.ops[i], most, &out->ops[i]);
	for (uint32_t i = 0; c->nloops && i < inc.n; i++)
		codes_place_turns(c, &out->ops[i]);
	increments_release(&inc);
	free(most);
}

void codes_ops_release(struct codes_ops *ops)
{
	free(ops->ops);
	*ops = (struct codes_ops){0};
}
