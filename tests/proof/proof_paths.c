/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof of the path core: proof_paths N SEED [FIRST]
 *
 * N random control-flow graphs, some with indirect branches, some with edges
 * that are to be cut, some with more than 2^60 paths, some with a low limit.
 *
 * Every graph: what is not ended has no cycle, and nothing is ended for no
 * reason.  Its paths are listed by a search of our own on the CFG (or drawn at
 * random, where there are too many): each must have a number of its own, all
 * numbers must be used, each must decode to its path, and the operations on
 * the path register, executed along it, must count that number.  On the way
 * the register must give every prefix.  The same for preferential numbers of a
 * random interesting set, by both methods: slots are distinct, and a path is
 * taken for interesting exactly if it is.  The same number must come out if
 * loops that are numbered by themselves (local.h) are asked for their turns.
 *
 * Then random executions: many paths in a row, deaths in the middle, children
 * of forks.  The counts of all edges must follow from what was counted.
 *
 * The same checks then judge wrong versions of the work.  A version counts as
 * found if some check rejects it on some graph where the right one passes.
 *
 * Graph number i depends on SEED and i only: FIRST = i runs it again.
 * The last line is RESULT.  Status 0: no mismatch, all bugs found, and the
 * graphs as varied as promised; 1 otherwise; 2 for bad arguments.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "graph/cfg.h"
#include "graph/dag.h"
#include "graph/increments.h"
#include "graph/local.h"
#include "graph/paths.h"
#include "graph/prefer.h"
#include "graph/weight.h"
#include "../unit/path_graphs.h"
#include "../unit/path_machine.h"
#include "proof.h"

enum {
	LIST_MAX = 2000,  /* list all paths up to here */
	NSAMPLES = 60,    /* draw so many otherwise */
	PREFIX_MAX = 100, /* paths whose prefixes are checked */
	INTERESTING_MAX = 60,
	TURNS_MAX = 100,
	NWALKS = 6
};

/* --- a graph and what is asked of it -------------------------------------- */

struct subject {
	struct cfg g;
	enum dag_how *asked;
	uint64_t *weight;
	bool *keep;
	uint64_t limit;
	bool has_indirect;
	struct rng rng; /* for the checks: the same for every version */
};

static uint32_t random_size(struct rng *r)
{
	if (rng_percent(r, 60))
		return 2 + rng_below(r, 12);
	if (rng_percent(r, 70))
		return 14 + rng_below(r, 40);
	return 54 + rng_below(r, 150);
}

static void random_graph(struct cfg *g, struct rng *r)
{
	struct graph_taste t = graph_random_taste(r, random_size(r));

	if (rng_percent(r, 8))
		graph_diamonds(g, 20 + rng_below(r, 120));
	else
		graph_random(g, &t, r);
}

/*
 * Replaces the branches at the end of some blocks by indirect ones: to landing
 * blocks, which lead where the branches led.
 */
static void subject_go_indirect(struct subject *s, struct rng *r)
{
	struct cfg old = s->g;
	uint32_t nlandings = 1 + rng_below(r, 4);
	bool *indirect = xcalloc(old.nblocks, sizeof(*indirect));

	cfg_init(&s->g, old.nblocks + nlandings);
	for (int i = 0; i < 3; i++)
		indirect[rng_below(r, old.nblocks)] = true;
	indirect[CFG_OUTSIDE] = false;
	for (edge_id e = 0; e < old.nedges; e++)
		if (!indirect[old.edges[e].src])
			cfg_add_edge(&s->g, old.edges[e].src, old.edges[e].dst);
	for (uint32_t i = 0; i < nlandings; i++)
		cfg_add_edge(&s->g, old.nblocks + i, rng_below(r, old.nblocks));
	s->has_indirect = true;
	s->asked = xcalloc((size_t)s->g.nedges + 15, sizeof(*s->asked));
	for (block_id b = 1; b < old.nblocks; b++)
		for (uint32_t i = rng_below(r, 5); indirect[b] && i < 5; i++)
			s->asked[cfg_add_edge(
			        &s->g, b,
			        old.nblocks + rng_below(r, nlandings))] =
			        DAG_INDIRECT;
	cfg_link(&s->g);
	free(indirect);
	cfg_release(&old);
}

static void subject_ask_cuts(struct subject *s, struct rng *r)
{
	if (!s->asked)
		s->asked = xcalloc((size_t)s->g.nedges + 1, sizeof(*s->asked));
	for (edge_id e = 0; e < s->g.nedges; e++)
		if (s->asked[e] != DAG_INDIRECT && rng_percent(r, 8))
			s->asked[e] = DAG_CUT;
}

static void subject_weigh(struct subject *s, struct rng *r)
{
	s->weight = xcalloc((size_t)s->g.nedges + 1, sizeof(*s->weight));
	if (rng_percent(r, 50))
		weight_heuristic(&s->g, s->weight);
	else
		for (edge_id e = 0; e < s->g.nedges; e++)
			s->weight[e] = rng_next(r) >> (4 + rng_below(r, 60));
}

static void subject_init(struct subject *s, uint64_t seed, uint64_t number)
{
	struct rng r = {seed};
	uint32_t keep;

	r.state = rng_next(&r) ^ number;
	rng_next(&r);
	*s = (struct subject){0};
	random_graph(&s->g, &r);
	if (rng_percent(&r, 25))
		subject_go_indirect(s, &r);
	if (rng_percent(&r, 20))
		subject_ask_cuts(s, &r);
	subject_weigh(s, &r);
	s->keep = xcalloc((size_t)s->g.nedges + 1, sizeof(*s->keep));
	keep = rng_percent(&r, 50) ? rng_below(&r, 50) : 0;
	for (edge_id e = 0; e < s->g.nedges; e++)
		s->keep[e] = rng_percent(&r, keep);
	if (rng_percent(&r, 40))
		s->limit = (uint64_t)8 << rng_below(&r, 12);
	s->rng = r;
}

static void subject_release(struct subject *s)
{
	cfg_release(&s->g);
	free(s->asked);
	free(s->weight);
	free(s->keep);
}

/* --- the work, right and wrong ------------------------------------------- */

enum version {
	RIGHT,
	NO_BEGIN_VALUE,
	NO_BACK_COUNT,
	CHORD_SIGN,
	SHORT_SUMS,
	NO_MERGED_SET,
	NO_FIRST_SET,
	NO_OFFSET,
	NO_ALIAS_CHECK,
	NO_NEGATIVE,
	NO_UNFINISHED,
	TURNS_FORGET_END,
	NVERSIONS
};

static const char *const version_name[NVERSIONS] = {
        "right",
        "begin edges have no value",
        "back edges do not count",
        "chords have the wrong sign",
        "path counts overflow at 2^32",
        "no new start after a back edge",
        "no start of the register",
        "prefixes without the offset of their block",
        "aliases taken for interesting",
        "no negative values",
        "unfinished frames forgotten",
        "turns without their last edge",
};

struct work {
	const struct subject *s;
	enum version version;
	struct rng rng;
	struct paths p;
	bool is_kept; /* keep[] was honoured, the limit too */
	struct increments inc;
	struct machine m;
	struct prefer f;
	uint64_t *owner;
	struct increments prefer_inc;
	struct machine prefer_m;
	struct local *locals; /* loops numbered by themselves */
	uint32_t nlocals, locals_cap;
	uint32_t npaths; /* judged so far */
	uint8_t *seen;   /* per number, if all are listed */
};

/* The numbering again, with sums of 32 bits. */
static void number_short(struct paths *p)
{
	const struct dag *d = &p->dag;

	for (uint32_t i = d->norder; i-- > 0;) {
		uint32_t v = d->order[i], n = v == dag_end(d);

		for (uint32_t e = d->out_at[v]; e < d->out_at[v + 1]; e++) {
			p->value[e] = n;
			n += (uint32_t)p->npaths[d->edges[e].dst];
		}
		p->npaths[v] = n;
	}
}

static void work_spoil_paths(struct work *w)
{
	if (w->version == SHORT_SUMS)
		number_short(&w->p);
	for (uint32_t e = 0; e < w->p.dag.nedges; e++)
		if (w->version == NO_BEGIN_VALUE &&
		    w->p.dag.edges[e].kind == DAG_BEGIN)
			w->p.value[e] = 0;
}

/* Is this the operation that a wrong version leaves out? */
static bool is_left_out(const struct work *w, const struct increment *op)
{
	if (w->version == NO_FIRST_SET)
		return op->kind == INCREMENT_SET;
	return w->version == NO_BACK_COUNT && op->place == INCREMENT_ON_EDGE &&
	       w->p.dag.how[op->where] == DAG_BACK;
}

static void work_spoil_increments(const struct work *w, struct increments *inc)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < inc->n; i++) {
		struct increment op = inc->ops[i];

		if (is_left_out(w, &op))
			continue;
		if (w->version == CHORD_SIGN && op.kind == INCREMENT_ADD)
			op.value = -op.value;
		if (w->version == NO_MERGED_SET)
			op.then_set = false;
		inc->ops[n++] = op;
	}
	inc->n = n;
	for (uint32_t v = 0; v < inc->nvertices; v++)
		if (w->version == NO_OFFSET && !inc->is_known[v])
			inc->offset[v] = 0;
}

static void work_prefer(struct work *w)
{
	static const enum prefer_method methods[] = {PREFER_INTERVALS,
	                                             PREFER_FIT, PREFER_BEST};
	struct prefer_options o = {.method = methods[rng_below(&w->rng, 3)],
	                           .max_size = (uint64_t)1 << 20};
	uint32_t n = rng_below(&w->rng, INTERESTING_MAX);
	uint64_t interesting[INTERESTING_MAX];

	for (uint32_t i = 0; i < n && w->p.n > 0; i++)
		interesting[i] = rng_next(&w->rng) % w->p.n;
	/* some sets need too many slots: then none is interesting */
	if (prefer_init(&w->f, &w->p, interesting, n, &o, NULL) < 0)
		prefer_init(&w->f, &w->p, interesting, 0, &o, NULL);
	w->owner = xcalloc(w->f.size + 1, sizeof(*w->owner));
	prefer_owners(&w->f, w->owner);
	for (uint32_t e = 0; e < w->p.dag.nedges; e++)
		if (w->version == NO_NEGATIVE && w->f.value[e] < 0)
			w->f.value[e] = 0;
	increments_init(&w->prefer_inc, &w->p.dag, (const uint64_t *)w->f.value,
	                w->s->weight);
}

static void work_find_loops(struct work *w)
{
	for (block_id b = 1; b < w->s->g.nblocks; b++) {
		VEC_RESERVE(w->locals, w->nlocals, w->locals_cap);
		w->nlocals +=
		        local_init(&w->locals[w->nlocals], &w->p, b, TURNS_MAX);
	}
	for (uint32_t i = 0; i < w->nlocals; i++) /* they have moved */
		w->locals[i].paths.dag.g = &w->locals[i].g;
}

static void work_init(struct work *w, const struct subject *s,
                      enum version version)
{
	struct paths_options o = {
	        .asked = s->asked,
	        .weight = s->weight,
	        .keep = s->keep,
	        .limit = s->limit,
	};

	*w = (struct work){.s = s, .version = version, .rng = s->rng};
	w->is_kept = paths_init(&w->p, &s->g, &o, NULL) == 0;
	o.keep = NULL;
	o.limit = 0;
	if (!w->is_kept)
		paths_init(&w->p, &s->g, &o, NULL);
	work_prefer(w); /* before values are spoiled */
	work_find_loops(w);
	work_spoil_paths(w);
	increments_init(&w->inc, &w->p.dag, w->p.value, s->weight);
	work_spoil_increments(w, &w->inc);
	machine_init(&w->m, &w->p.dag, &w->inc);
	machine_init(&w->prefer_m, &w->p.dag, &w->prefer_inc);
	if (w->p.n <= LIST_MAX)
		w->seen = xcalloc(LIST_MAX + 1, sizeof(*w->seen));
}

static void work_release(struct work *w)
{
	machine_release(&w->m);
	machine_release(&w->prefer_m);
	increments_release(&w->inc);
	increments_release(&w->prefer_inc);
	prefer_release(&w->f);
	free(w->owner);
	free(w->seen);
	for (uint32_t i = 0; i < w->nlocals; i++)
		local_release(&w->locals[i]);
	free(w->locals);
	paths_release(&w->p);
}

/* --- the graph --------------------------------------------------------------
 */

/* Can `to` be reached from `from` over THROUGH edges, without being asked? */
static bool reaches(const struct dag *d, block_id from, block_id to)
{
	bool *seen = xcalloc(d->g->nblocks, sizeof(*seen)), grown = true;

	seen[from] = true;
	while (grown && !seen[to]) {
		grown = false;
		for (edge_id e = 0; e < d->g->nedges; e++) {
			block_id src = d->g->edges[e].src;
			block_id dst = d->g->edges[e].dst;

			if (d->how[e] != DAG_THROUGH || !seen[src] ||
			    seen[dst] || dst == CFG_OUTSIDE)
				continue;
			seen[dst] = grown = true;
		}
	}
	grown = seen[to];
	free(seen);
	return grown;
}

/* Removes blocks without THROUGH edges out, until none is left. */
static bool is_acyclic(const struct dag *d)
{
	uint32_t *nout = xcalloc(d->g->nblocks, sizeof(*nout));
	bool *gone = xcalloc(d->g->nedges + 1, sizeof(*gone)), shrunk = true;
	uint32_t nleft = 0;

	for (edge_id e = 0; e < d->g->nedges; e++) {
		gone[e] = d->how[e] != DAG_THROUGH ||
		          d->g->edges[e].src == CFG_OUTSIDE ||
		          d->g->edges[e].dst == CFG_OUTSIDE;
		nout[d->g->edges[e].src] += !gone[e];
		nleft += !gone[e];
	}
	while (shrunk) {
		shrunk = false;
		for (edge_id e = 0; e < d->g->nedges; e++) {
			if (gone[e] || nout[d->g->edges[e].dst] > 0)
				continue;
			gone[e] = shrunk = true;
			nout[d->g->edges[e].src]--;
			nleft--;
		}
	}
	free(nout);
	free(gone);
	return nleft == 0;
}

static const char *judge_cuts(const struct work *w)
{
	const struct subject *s = w->s;
	uint64_t limit = s->limit && w->is_kept ? s->limit : PATHS_LIMIT;

	if (w->p.n >= limit)
		return "too many paths";
	for (uint32_t i = 0; i < w->p.ncuts; i++) {
		edge_id e = w->p.cuts[i];

		if (w->is_kept && s->keep[e])
			return "an edge that is to be kept is cut";
		if (w->p.dag.how[e] != DAG_CUT)
			return "a cut edge is not cut";
	}
	return NULL;
}

/* A reader has the cuts and no weights: it must find the same numbers. */
static const char *judge_again(const struct work *w)
{
	struct paths_options o = {
	        .asked = w->s->asked,
	        .cuts = w->p.cuts,
	        .ncuts = w->p.ncuts,
	};
	struct paths again;
	bool same;

	if (paths_init(&again, &w->s->g, &o, NULL) < 0)
		return "the cuts are refused";
	same = again.dag.nedges == w->p.dag.nedges && again.n == w->p.n &&
	       memcmp(again.value, w->p.value,
	              again.dag.nedges * sizeof(*again.value)) == 0;
	paths_release(&again);
	return same ? NULL : "the cuts give other numbers";
}

static const char *judge_edges(const struct work *w)
{
	const struct dag *d = &w->p.dag;
	const struct subject *s = w->s;
	uint32_t ncut = 0, nasked = 0;

	if (!is_acyclic(d))
		return "a cycle is left";
	for (edge_id e = 0; e < s->g.nedges; e++) {
		const struct cfg_edge *edge = &s->g.edges[e];
		bool asked = s->asked && s->asked[e] != DAG_THROUGH &&
		             edge->src != CFG_OUTSIDE &&
		             edge->dst != CFG_OUTSIDE &&
		             d->how[e] != DAG_UNREACHED;

		if (asked && d->how[e] != s->asked[e])
			return "an edge is not ended though asked for";
		/* later cuts may have opened the cycle */
		if (d->how[e] == DAG_BACK && w->p.ncuts == 0 &&
		    !reaches(d, edge->dst, edge->src))
			return "a back edge closes no cycle";
		ncut += d->how[e] == DAG_CUT;
		nasked += asked && d->how[e] == DAG_CUT;
	}
	return ncut == nasked + w->p.ncuts ? NULL : "cuts are not listed";
}

/* --- one path
 * ------------------------------------------------------------------ */

/* Makes a machine ready for a path: what the end of the last one leaves. */
static void machine_ready(struct machine *m, const struct path *path)
{
	const struct cfg *g = m->d->g;

	m->r = 0xfeedfeedfeedfeed;
	for (uint32_t i = g->in_at[path->first];
	     !path->enters && i < g->in_at[path->first + 1]; i++)
		if (dag_is_ended(m->d, g->in[i])) {
			machine_take(m, g->in[i]);
			break;
		}
	m->has_counted = false;
}

/* Executes a path; false if it is not counted once, at its end. */
static bool machine_run(struct machine *m, const struct path *path)
{
	const struct cfg *g = m->d->g;

	machine_ready(m, path);
	for (uint32_t i = 0; i < path->nedges; i++) {
		if (m->has_counted)
			return false;
		machine_take(m, path->edges[i]);
	}
	if (path->end == PATH_STOPS) {
		if (m->has_counted)
			return false;
		machine_stop(m, path_block(path, g, path->nedges));
	}
	return m->has_counted;
}

static const char *judge_prefixes(struct work *w, const struct path *path)
{
	struct path prefix = *path, got = {0};
	const char *wrong = NULL;

	machine_ready(&w->m, path);
	prefix.end = PATH_UNFINISHED;
	for (uint32_t i = 0; !wrong; i++) {
		block_id at = path_block(path, &w->s->g, i);
		uint64_t sum = increments_prefix(&w->inc, at, w->m.r);

		prefix.nedges = i;
		if (i == path->nedges && path->end != PATH_STOPS)
			break;
		if (at != CFG_OUTSIDE &&
		    (paths_decode_prefix(&w->p, sum, at, &got, NULL) < 0 ||
		     !path_equal(&prefix, &got)))
			wrong = "a prefix is not found";
		if (i == path->nedges)
			break;
		machine_take(&w->m, path->edges[i]);
	}
	path_release(&got);
	return wrong;
}

static bool is_interesting(const struct prefer *f, uint64_t number)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->number[i] == number)
			return true;
	return false;
}

/* The preferential sum of a path, and what it is taken for. */
static const char *judge_preference(struct work *w, const struct path *path,
                                    uint64_t number)
{
	const struct prefer *f = &w->f;
	uint64_t sum;
	bool taken;

	if (!machine_run(&w->prefer_m, path))
		return "a path is not counted once by preference";
	sum = w->prefer_m.counted;
	taken = sum < f->size && w->owner[sum] == number;
	if (w->version == NO_ALIAS_CHECK)
		taken = sum < f->size && w->owner[sum] != PREFER_NONE;
	if (taken != is_interesting(f, number))
		return "a path is taken for what it is not";
	return NULL;
}

static void path_push(struct path *path, edge_id e)
{
	VEC_RESERVE(path->edges, path->nedges, path->edges_cap);
	path->edges[path->nedges++] = e;
}

/* --- turns ---------------------------------------------------------------- */

static const struct local *loop_at(const struct work *w, block_id head)
{
	for (uint32_t i = 0; i < w->nlocals; i++)
		if (w->locals[i].head == head)
			return &w->locals[i];
	return NULL;
}

static edge_id local_edge(const struct local *l, edge_id e)
{
	edge_id own = 1;

	while (own < l->g.nedges && l->edge[own] != e)
		own++;
	return own;
}

/* The turn that begins with the i-th edge of a path; *i is then behind it. */
static bool take_turn(const struct work *w, const struct local *l,
                      const struct path *path, uint32_t *i, uint64_t *sum)
{
	struct path turn = {.enters = true, .first = local_block(l, l->head)};
	block_id at = l->head;
	uint64_t number;
	bool ok;

	path_push(&turn, 0);
	do {
		edge_id e = path->edges[(*i)++];

		path_push(&turn, local_edge(l, e));
		at = w->s->g.edges[e].dst;
	} while (at != l->head && at != CFG_OUTSIDE &&
	         local_block(l, at) != CFG_NONE);
	turn.end = PATH_LEAVES;
	ok = paths_encode(&l->paths, &turn, &number, NULL) == 0;
	if (ok)
		*sum += l->sum[number];
	if (w->version == TURNS_FORGET_END)
		*sum -= w->p.value[w->p.dag.edge_of[path->edges[*i - 1]]];
	path_release(&turn);
	return ok;
}

static uint64_t value_of(const struct work *w, edge_id e)
{
	const struct dag *d = &w->p.dag;
	uint64_t value = w->p.value[d->edge_of[e]];

	if (d->how[e] == DAG_INDIRECT)
		value += w->p.value[d->scatter_of[w->s->g.edges[e].dst]];
	return value;
}

/* The number of a path from the sums of its turns. */
static const char *judge_turns(const struct work *w, const struct path *path,
                               uint64_t number)
{
	const struct dag *d = &w->p.dag;
	block_id at = path->enters ? CFG_OUTSIDE : path->first;
	uint64_t sum = path->enters ? 0 : w->p.value[d->begin_of[at]];

	for (uint32_t i = 0; i < path->nedges;) {
		const struct local *l =
		        at == CFG_OUTSIDE ? NULL : loop_at(w, at);

		if (l && i > 0 && sum == w->p.value[d->begin_of[at]])
			return "a way to a head is taken for a begin there";
		if (l && !take_turn(w, l, path, &i, &sum))
			return "a turn has no number";
		if (!l)
			sum += value_of(w, path->edges[i++]);
		at = path_block(path, &w->s->g, i);
	}
	if (path->end == PATH_STOPS)
		sum += w->p.value[d->out_at[at]];
	return sum == number ? NULL : "turns add up to another number";
}

static const char *judge_path(struct work *w, const struct path *path)
{
	const char *wrong;
	struct path back = {0};
	uint64_t number = 0;
	bool same;

	w->npaths++;
	if (paths_encode(&w->p, path, &number, NULL) < 0)
		return "a path has no number";
	if (number >= w->p.n)
		return "a number is too large";
	if (w->seen && w->seen[number]++)
		return "two paths have the same number";
	if (paths_decode(&w->p, number, &back, NULL) < 0)
		return "a number has no path";
	same = path_equal(path, &back);
	path_release(&back);
	if (!same)
		return "a number decodes to another path";
	if (!machine_run(&w->m, path))
		return "a path is not counted once";
	if (w->m.counted != number)
		return "a path is counted under another number";
	wrong = judge_turns(w, path, number);
	if (!wrong && w->npaths < PREFIX_MAX)
		wrong = judge_prefixes(w, path);
	return wrong ? wrong : judge_preference(w, path, number);
}

/* --- all paths
 * --------------------------------------------------------------------- */

/* Is it the first edge of its indirect branch to its target? */
static bool is_first_edge(const struct work *w, edge_id e)
{
	const struct cfg_edge *edge = &w->s->g.edges[e];

	return w->p.dag.how[e] != DAG_INDIRECT ||
	       dag_indirect(&w->p.dag, edge->src, edge->dst) == e;
}

static const char *judge_from(struct work *w, struct path *path, block_id b);

/* Judges all paths that go on with edge e. */
static const char *judge_over(struct work *w, struct path *path, edge_id e)
{
	block_id to = w->s->g.edges[e].dst;
	const char *wrong;

	if (!is_first_edge(w, e))
		return NULL;
	path_push(path, e);
	path->end = to == CFG_OUTSIDE ? PATH_LEAVES : PATH_ENDED;
	if (to == CFG_OUTSIDE || dag_is_ended(&w->p.dag, e))
		wrong = judge_path(w, path);
	else
		wrong = judge_from(w, path, to);
	path->nedges--;
	return wrong;
}

static const char *judge_from(struct work *w, struct path *path, block_id b)
{
	const struct cfg *g = &w->s->g;
	const char *wrong = NULL;

	if (g->out_at[b] == g->out_at[b + 1]) {
		path->end = PATH_STOPS;
		return judge_path(w, path);
	}
	for (uint32_t i = g->out_at[b]; !wrong && i < g->out_at[b + 1]; i++)
		wrong = judge_over(w, path, g->out[i]);
	return wrong;
}

/* Where paths begin: per block, whether an ended edge leads to it. */
static bool *begins(const struct work *w)
{
	bool *begin = xcalloc(w->s->g.nblocks, sizeof(*begin));

	for (edge_id e = 0; e < w->s->g.nedges; e++)
		if (dag_is_ended(&w->p.dag, e))
			begin[w->s->g.edges[e].dst] = true;
	return begin;
}

static const char *judge_all(struct work *w)
{
	const struct cfg *g = &w->s->g;
	bool *begin = begins(w);
	struct path path = {0}, got = {0};
	const char *wrong = NULL;

	for (block_id b = 0; !wrong && b < g->nblocks; b++) {
		path.enters = b == CFG_OUTSIDE;
		path.first = b;
		for (uint32_t i = g->out_at[0];
		     !wrong && path.enters && i < g->out_at[1]; i++) {
			path.first = g->edges[g->out[i]].dst;
			wrong = judge_over(w, &path, g->out[i]);
		}
		if (!wrong && begin[b])
			wrong = judge_from(w, &path, b);
	}
	for (uint64_t i = 0; !wrong && i < w->p.n; i++)
		if (!w->seen[i] && (!w->s->has_indirect ||
		                    paths_decode(&w->p, i, &got, NULL) == 0))
			wrong = "a number is not used";
	path_release(&path);
	path_release(&got);
	free(begin);
	return wrong;
}

static edge_id random_edge(struct work *w, block_id b)
{
	const struct cfg *g = &w->s->g;
	uint32_t nout = g->out_at[b + 1] - g->out_at[b];
	edge_id e;

	do
		e = g->out[g->out_at[b] + rng_below(&w->rng, nout)];
	while (!is_first_edge(w, e));
	return e;
}

/* Walks from a block to the end of the path. */
static const char *judge_random_from(struct work *w, struct path *path,
                                     block_id b)
{
	const struct cfg *g = &w->s->g;

	while (g->out_at[b] < g->out_at[b + 1]) {
		edge_id e = random_edge(w, b);

		path_push(path, e);
		b = g->edges[e].dst;
		path->end = b == CFG_OUTSIDE ? PATH_LEAVES : PATH_ENDED;
		if (b == CFG_OUTSIDE || dag_is_ended(&w->p.dag, e))
			return judge_path(w, path);
	}
	path->end = PATH_STOPS;
	return judge_path(w, path);
}

/* Paths drawn by walks, and paths drawn by number. */
static const char *judge_some(struct work *w)
{
	bool *begin = begins(w);
	struct path path = {0};
	const char *wrong = NULL;

	for (int i = 0; !wrong && i < NSAMPLES; i++) {
		block_id b = rng_below(&w->rng, w->s->g.nblocks);

		path.nedges = 0;
		path.enters = !begin[b];
		path.first = b;
		if (path.enters) {
			path_push(&path, random_edge(w, CFG_OUTSIDE));
			path.first = w->s->g.edges[path.edges[0]].dst;
			b = path.first;
		}
		if (b != CFG_OUTSIDE)
			wrong = judge_random_from(w, &path, b);
	}
	for (int i = 0; !wrong && i < NSAMPLES; i++) {
		uint64_t number = rng_next(&w->rng) % w->p.n;

		if (i < INTERESTING_MAX && (uint32_t)i < w->f.n)
			number = w->f.number[i];
		if (paths_decode(&w->p, number, &path, NULL) == 0)
			wrong = judge_path(w, &path);
		else if (!w->s->has_indirect)
			wrong = "a number has no path";
	}
	path_release(&path);
	free(begin);
	return wrong;
}

/* --- executions
 * --------------------------------------------------------------------- */

struct run {
	struct work *w;
	uint64_t *truth, *edge; /* counts of edges */
	bool failed;
};

static void run_count_path(struct run *u)
{
	if (u->w->m.has_counted &&
	    paths_count(&u->w->p, u->w->m.counted, 1, u->edge, NULL) < 0)
		u->failed = true;
}

/* A frame is in block b: its prefix counts `times`. */
static void run_count_prefix(struct run *u, block_id b, uint64_t times)
{
	uint64_t sum = increments_prefix(&u->w->inc, b, u->w->m.r);

	if (u->w->version == NO_UNFINISHED)
		return;
	if (paths_count_prefix(&u->w->p, sum, b, times, u->edge, NULL) < 0)
		u->failed = true;
}

/* The process forks in b, and we go on with the profile of the child. */
static void run_fork(struct run *u, block_id b)
{
	size_t n = u->w->s->g.nedges;

	memset(u->truth, 0, n * sizeof(*u->truth));
	memset(u->edge, 0, n * sizeof(*u->edge));
	run_count_prefix(u, b, (uint64_t)-1);
}

/* One activation: from the entry until it leaves, stops or dies. */
static void run_walk(struct run *u)
{
	struct work *w = u->w;
	const struct cfg *g = &w->s->g;
	uint32_t nsteps = 1 + rng_below(&w->rng, 6 * g->nblocks);
	uint32_t fork = rng_percent(&w->rng, 20) ? rng_below(&w->rng, nsteps)
	                                         : UINT32_MAX;
	block_id b = CFG_OUTSIDE;

	w->m.r = 0xabcdabcdabcdabcd;
	for (;;) {
		edge_id e = random_edge(w, b);

		u->truth[e]++;
		machine_take(&w->m, e);
		run_count_path(u);
		b = g->edges[e].dst;
		if (b == CFG_OUTSIDE)
			return;
		if (g->out_at[b] == g->out_at[b + 1]) {
			machine_stop(&w->m, b);
			run_count_path(u);
			return;
		}
		if (nsteps-- == fork)
			run_fork(u, b);
		if (nsteps == 0) {
			run_count_prefix(u, b, 1);
			return;
		}
	}
}

static const char *judge_runs(struct work *w)
{
	size_t n = w->s->g.nedges;
	struct run u = {
	        .w = w,
	        .truth = xcalloc(n + 1, sizeof(*u.truth)),
	        .edge = xcalloc(n + 1, sizeof(*u.edge)),
	};
	const char *wrong = NULL;

	for (int i = 0; i < NWALKS; i++)
		run_walk(&u);
	if (u.failed)
		wrong = "an execution counts what is no path";
	else if (memcmp(u.truth, u.edge, n * sizeof(*u.edge)) != 0)
		wrong = "the count of an edge is wrong";
	free(u.truth);
	free(u.edge);
	return wrong;
}

/* --- a version
 * ------------------------------------------------------------------------- */

static const char *judge_slots(const struct work *w)
{
	const struct prefer *f = &w->f;
	bool first = f->n == 0, last = f->n == 0;

	if (f->size > w->p.n)
		return "preference needs more than all numbers";
	for (uint32_t i = 0; i < f->n; i++) {
		if (f->slot[i] >= f->size)
			return "a slot is too large";
		if (w->owner[f->slot[i]] != f->number[i])
			return "two interesting paths share a slot";
		first |= f->slot[i] == 0;
		last |= f->slot[i] == f->size - 1;
	}
	return first && last ? NULL : "the first or last slot is not used";
}

static const char *judge_version(const struct subject *s, enum version version)
{
	const char *wrong = NULL;
	struct work w;

	work_init(&w, s, version);
	if (w.m.nrepeated || w.prefer_m.nrepeated)
		wrong = "two operations in one place";
	if (!wrong)
		wrong = judge_cuts(&w);
	if (!wrong && version == RIGHT)
		wrong = judge_again(&w);
	if (!wrong)
		wrong = judge_edges(&w);
	if (!wrong)
		wrong = judge_slots(&w);
	if (!wrong)
		wrong = w.seen ? judge_all(&w) : judge_some(&w);
	if (!wrong)
		wrong = judge_runs(&w);
	work_release(&w);
	return wrong;
}

/* --- what the graphs are like
 * ------------------------------------------------------------ */

enum feature {
	LISTED,
	OVER_32_BITS,
	OVER_60_BITS,
	WITH_CUTS,
	NOT_KEPT,
	ASKED_CUTS,
	INDIRECT,
	UNUSED,
	STOPS,
	NEGATIVE,
	ALIASES,
	HOLES,
	TURNS,
	NFEATURES
};

static const char *const feature_name[NFEATURES] = {
        "all paths listed",
        "2^32 paths or more",
        "2^60 paths or more",
        "edges cut",
        "nothing left to cut",
        "cuts asked for",
        "indirect branches",
        "unused numbers",
        "blocks that stop",
        "negative values",
        "aliases",
        "holes between slots",
        "loops that count turns",
};

static void note_paths(const struct work *w, bool *has)
{
	struct path path = {0};
	uint32_t *route = xcalloc(w->p.dag.nvertices, sizeof(*route));

	for (uint64_t i = 0; w->seen && i < w->p.n; i++) {
		uint32_t n = paths_route(&w->p, i, route);
		uint64_t sum = 0;

		has[UNUSED] |= paths_decode(&w->p, i, &path, NULL) < 0;
		for (uint32_t k = 0; k < n; k++)
			sum += (uint64_t)w->f.value[route[k]];
		has[ALIASES] |= sum < w->f.size &&
		                w->owner[sum] != PREFER_NONE &&
		                w->owner[sum] != i;
	}
	path_release(&path);
	free(route);
}

static void note_features(const struct subject *s, uint64_t *nwith)
{
	struct paths_options o = {.asked = s->asked, .limit = UINT64_MAX};
	bool has[NFEATURES] = {0};
	struct paths all;
	struct work w;

	work_init(&w, s, RIGHT);
	has[LISTED] = w.seen != NULL;
	if (paths_init(&all, &s->g, &o, NULL) == 0) {
		has[OVER_32_BITS] = all.n >> 32 != 0;
		has[OVER_60_BITS] = all.n >> 60 != 0 || all.ncuts > 0;
		paths_release(&all);
	}
	has[WITH_CUTS] = w.p.ncuts > 0;
	has[NOT_KEPT] = !w.is_kept;
	has[ASKED_CUTS] = s->asked && !s->has_indirect;
	has[INDIRECT] = s->has_indirect;
	for (uint32_t e = 0; e < w.p.dag.nedges; e++) {
		has[STOPS] |= w.p.dag.edges[e].kind == DAG_STOP;
		has[NEGATIVE] |= w.f.value[e] < 0;
	}
	has[HOLES] = w.f.size > w.f.n;
	has[TURNS] = w.nlocals > 0;
	note_paths(&w, has);
	work_release(&w);
	for (int f = 0; f < NFEATURES; f++)
		nwith[f] += has[f];
}

/* --- the run
 * ------------------------------------------------------------------------------
 */

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
	if (wrong) {
		printf("MISMATCH graph %" PRIu64 ": %s\n", number, wrong);
		p->nmismatches++;
	} else {
		note_features(&s, p->nwith);
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

static bool report_features(const struct proof *p)
{
	bool enough = true;

	for (int f = 0; f < NFEATURES; f++) {
		printf("%-20s %5.1f %% of the graphs%s\n", feature_name[f],
		       100.0 * (double)p->nwith[f] / (double)p->n,
		       p->nwith[f] ? "" : ": too few");
		enough &= p->nwith[f] > 0;
	}
	return enough;
}

int main(int argc, char **argv)
{
	struct proof p = {0};
	uint32_t nfound = 0;
	bool varied;

	if (!proof_arguments(argc, argv, "proof_paths", &p.n, &p.seed,
	                     &p.first))
		return 2;
	printf("SEED=%" PRIu64 "\n", p.seed);
	for (uint64_t i = 0; i < p.n; i++)
		proof_graph(&p, p.first + i);
	varied = report_features(&p);
	for (enum version v = RIGHT + 1; v < NVERSIONS; v++) {
		nfound += p.found[v];
		if (!p.found[v])
			printf("planted: %s: NOT found\n", version_name[v]);
	}
	printf("RESULT proof_paths graphs=%" PRIu64 " mismatches=%" PRIu64
	       " planted_bugs_found=%" PRIu32 "\n",
	       p.n, p.nmismatches, nfound);
	return p.nmismatches || nfound < NVERSIONS - 1 || !varied;
}
