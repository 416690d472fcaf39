/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof of bounds on pairs of paths: proof_overlap N SEED [FIRST]
 *
 * N random programs: functions with random control-flow graphs, some with cuts
 * and indirect branches, that call each other, themselves and code without
 * marks, from sites that always call the same one or any; throw, and end in the
 * middle of it all.  Each is run, and keeps a log of all pairs that it
 * executes, as sequences of edges, by definitions of our own: which part of a
 * path is in a loop, where there is more than one way on.  What was counted of
 * its paths, calls and overlapping paths is then all that overlap_bounds gets.
 *
 * Its pairs must be those of the log; what it takes for known at each degree
 * must be how often the log has it; every frequency must be within its bounds,
 * for plain paths and each degree, those that never occurred, too; at the
 * highest degree they must be exact.  Bounds must be those that the equations
 * of the paper have when they are iterated until nothing changes, the tight
 * ones those of GLPK for the whole system, where callees share sites and sites
 * share callees; and sums over all pairs those of the pairs.  The same holds if
 * less is counted, only the first K decisions, also of what was never
 * completed.
 *
 * The same checks then judge wrong versions.  A version counts as found if it
 * is rejected for some program that is right.
 *
 * Program number i depends on SEED and i only: FIRST = i runs it again.
 * The last line is RESULT.  Status 0: no mismatch, all bugs found, and the
 * programs as varied as promised; 1 otherwise; 2 for bad arguments.
 */
#include <assert.h>
#include <glpk.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/overlap_bounds.h"
#include "analysis/tally.h"
#include "base/alloc.h"
#include "graph/paths.h"
#include "../unit/path_graphs.h"
#include "proof.h"

enum {
	FUNCTIONS_MAX = 4,
	SITES_MAX = 12,
	DEPTH_MAX = 12,
	FUEL = 1500,
	VARIABLES_MAX = 400, /* of a linear program */
	NCELLS = 3,          /* of each that GLPK is asked about */
};

enum version {
	RIGHT,
	NO_UNFINISHED, /* unfinished paths are forgotten */
	FEWER_CALLS,   /* a call of a site is not counted */
	ALL_RETURN,    /* calls that did not come back are taken for returns */
	WRONG_DEGREE,  /* a decision more is taken for known */
	OWN_TOTAL,     /* nothing is said to come from elsewhere */
	WHOLE_REACH,   /* a row is taken to be as wide as its columns */
	OTHER_SITE,    /* pairs of one site are counted for another */
	NVERSIONS
};

static const char *const version_name[NVERSIONS] = {
        "right",
        "unfinished paths are forgotten",
        "a call of a site is not counted",
        "all calls come back",
        "a decision more is known",
        "nothing comes from elsewhere",
        "a row is as wide as its columns",
        "pairs of another site",
};

enum feature {
	WITH_LOOPS,
	WITH_IRREDUCIBLE,
	WITH_CUTS,
	WITH_INDIRECT,
	WITH_INDIRECT_CALLS,
	WITH_RECURSION,
	WITH_DEATHS,
	WITH_UNFINISHED,
	WITH_FOREIGN,
	WITH_TIGHTER,
	WITH_DEGREE_3,
	NFEATURES
};

static const char *const feature_name[NFEATURES] = {
        "loops",
        "irreducible loops",
        "cuts",
        "indirect",
        "indirect calls",
        "recursion",
        "deaths",
        "unfinished",
        "foreign callers",
        "tighter than iteration",
        "degree 3",
};

/* --- programs --------------------------------------------------------------
 */

#define ANYBODY UINT32_MAX

struct site {
	uint32_t function;
	block_id block;
	uint32_t callee; /* or ANYBODY */
};

struct function {
	struct cfg g;
	enum dag_how *asked;
	struct paths p;
	uint32_t ntargets; /* of its indirect branches */
};

struct program {
	struct function f[FUNCTIONS_MAX];
	struct overlap_graph o[FUNCTIONS_MAX];
	uint32_t n;
	struct site sites[SITES_MAX];
	uint32_t nsites;
	bool has[NFEATURES];
	struct rng rng;
};

/* Some blocks branch indirectly, to landing blocks that lead on. */
static void go_indirect(struct function *f, struct rng *r)
{
	struct cfg old = f->g;
	uint32_t nlandings = 1 + rng_below(r, 3);
	block_id from = 1 + rng_below(r, old.nblocks - 1);

	cfg_init(&f->g, old.nblocks + nlandings);
	for (edge_id e = 0; e < old.nedges; e++)
		if (old.edges[e].src != from)
			cfg_add_edge(&f->g, old.edges[e].src, old.edges[e].dst);
	for (uint32_t i = 0; i < nlandings; i++)
		cfg_add_edge(&f->g, old.nblocks + i, rng_below(r, old.nblocks));
	f->asked = xcalloc((size_t)f->g.nedges + 8, sizeof(*f->asked));
	for (uint32_t i = 0; i < nlandings; i++)
		f->asked[cfg_add_edge(&f->g, from, old.nblocks + i)] =
		        DAG_INDIRECT;
	cfg_link(&f->g);
	cfg_release(&old);
}

static void function_init(struct program *p, struct function *f, struct rng *r)
{
	struct graph_taste t = graph_random_taste(r, 2 + rng_below(r, 14));
	struct paths_options o = {0};

	graph_random(&f->g, &t, r);
	if (rng_percent(r, 15))
		go_indirect(f, r);
	if (!f->asked)
		f->asked = xcalloc((size_t)f->g.nedges + 1, sizeof(*f->asked));
	for (edge_id e = 0; rng_percent(r, 20) && e < f->g.nedges; e++)
		if (f->asked[e] != DAG_INDIRECT && rng_percent(r, 10))
			f->asked[e] = DAG_CUT;
	o.asked = f->asked;
	if (rng_percent(r, 20))
		o.limit = (uint64_t)8 << rng_below(r, 4);
	if (paths_init(&f->p, &f->g, &o, NULL) < 0) {
		o.limit = 0;
		paths_init(&f->p, &f->g, &o, NULL);
	}
	for (block_id b = 0; b < f->g.nblocks; b++)
		f->ntargets += f->p.dag.scatter_of[b] != CFG_NONE;
	for (edge_id e = 0; e < f->g.nedges; e++) {
		p->has[WITH_CUTS] |= f->p.dag.how[e] == DAG_CUT;
		p->has[WITH_INDIRECT] |= f->p.dag.how[e] == DAG_INDIRECT;
	}
}

static void program_init(struct program *p, uint64_t seed, uint64_t number)
{
	struct rng r = {seed};
	uint32_t nsites;

	r.state = rng_next(&r) ^ number;
	rng_next(&r);
	*p = (struct program){.n = 1 + rng_below(&r, FUNCTIONS_MAX)};
	for (uint32_t i = 0; i < p->n; i++) {
		function_init(p, &p->f[i], &r);
		overlap_graph_init(&p->o[i], &p->f[i].p);
	}
	nsites = rng_below(&r, SITES_MAX + 1);
	for (uint32_t i = 0; i < nsites; i++) {
		uint32_t f = rng_below(&r, p->n);
		block_id b = 1 + rng_below(&r, p->f[f].g.nblocks - 1);

		p->sites[p->nsites++] = (struct site){
		        f, b,
		        rng_percent(&r, 40) ? ANYBODY : rng_below(&r, p->n)};
	}
	p->rng = r;
}

static void program_release(struct program *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		overlap_graph_release(&p->o[i]);
		paths_release(&p->f[i].p);
		cfg_release(&p->f[i].g);
		free(p->f[i].asked);
	}
}

/* --- sequences of edges ----------------------------------------------------
 */

/* A stretch of a frame's way: a block, and the edges from there on. */
struct way {
	block_id first; /* CFG_OUTSIDE if it enters */
	edge_id *edges;
	uint32_t n, cap;
};

static void way_add(struct way *w, edge_id e)
{
	VEC_RESERVE(w->edges, w->n, w->cap);
	w->edges[w->n++] = e;
}

/* Edges of an indirect branch to one target are the same. */
static edge_id same_edge(const struct function *f, edge_id e)
{
	if (f->p.dag.how[e] == DAG_INDIRECT)
		return dag_indirect(&f->p.dag, f->g.edges[e].src,
		                    f->g.edges[e].dst);
	return e;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	struct rng r = {h ^ (v + 1) * 0x9e3779b97f4a7c15u};

	return rng_next(&r);
}

/* A name of edges from .. to - 1 of a way, from block `first` on. */
static uint64_t name_way(const struct function *f, block_id first,
                         const edge_id *edges, uint32_t n)
{
	uint64_t h = mix(77, first);

	for (uint32_t i = 0; i < n; i++)
		h = mix(h, same_edge(f, edges[i]));
	return mix(h, n);
}

/* --- definitions of our own ------------------------------------------------
 */

static bool is_in_loop(const struct program *p, uint32_t f, block_id head,
                       block_id b)
{
	uint32_t loop = p->o[f].loops.of[head];

	return b != CFG_OUTSIDE &&
	       (loop == CFG_NONE || loops_contains(&p->o[f].loops, loop, b));
}

static bool is_ended(const struct function *f, edge_id e)
{
	return dag_is_ended(&f->p.dag, e);
}

/* Were paths cut at this edge? */
static bool is_cut(const struct function *f, edge_id e)
{
	for (uint32_t i = 0; i < f->p.ncuts; i++)
		if (f->p.cuts[i] == e)
			return true;
	return false;
}

/* Does a way begin where paths were cut, so that there may be more of it? */
static bool begins_torn(const struct function *f, const struct way *w)
{
	for (uint32_t i = 0; i < f->p.ncuts; i++)
		if (w->first != CFG_OUTSIDE &&
		    f->g.edges[f->p.cuts[i]].dst == w->first)
			return true;
	return false;
}

/* The part of a path in the loop of the block it goes to; false if its last
 * block is not in there, or if it is no turn, or not all of one. */
static bool name_before(const struct program *p, uint32_t fi,
                        const struct way *w, uint64_t *name)
{
	const struct function *f = &p->f[fi];
	block_id head = f->g.edges[w->edges[w->n - 1]].dst;
	uint32_t at = w->n - 1;

	if (!is_in_loop(p, fi, head, f->g.edges[w->edges[at]].src) ||
	    f->p.dag.how[w->edges[at]] == DAG_CUT)
		return false;
	while (at > 0 && f->g.edges[w->edges[at]].src != head &&
	       is_in_loop(p, fi, head, f->g.edges[w->edges[at - 1]].src))
		at--;
	if (at == 0 && f->g.edges[w->edges[0]].src != head && begins_torn(f, w))
		return false;
	*name = name_way(f, f->g.edges[w->edges[at]].src, w->edges + at,
	                 w->n - 1 - at);
	return true;
}

/* How many ways lead on from a block, with all that leave the loop as one. */
static uint32_t ways_in_loop(const struct program *p, uint32_t fi,
                             block_id head, block_id b)
{
	const struct function *f = &p->f[fi];
	uint32_t n = 0;
	bool leaves = false;

	for (edge_id e = 0; e < f->g.nedges; e++) {
		if (f->g.edges[e].src != b)
			continue;
		if (is_ended(f, e) ||
		    !is_in_loop(p, fi, head, f->g.edges[e].dst))
			leaves = true;
		else
			n++;
	}
	return n + leaves;
}

static uint32_t ways_on(const struct function *f, block_id b)
{
	uint32_t n = 0;

	for (edge_id e = 0; e < f->g.nedges; e++) {
		if (f->g.edges[e].src != b)
			continue;
		if (f->p.dag.how[e] == DAG_INDIRECT)
			return f->ntargets;
		n++;
	}
	return n;
}

/*
 * The second half that begins with edge `from` of a way, at block `at`, cut at
 * the predicate behind k decisions.  Returns 0 if the way has less than that, 1
 * if it is cut, 2 if it is whole; *nused edges are those it has.
 */
static int cut_behind(const struct program *p, uint32_t fi,
                      enum overlap_kind kind, const struct way *w,
                      uint32_t from, bool is_over, uint32_t k, uint32_t *nused)
{
	const struct function *f = &p->f[fi];
	block_id at = from ? f->g.edges[w->edges[from - 1]].dst : w->first;
	block_id head = at;
	uint32_t i = from;

	for (;; i++) {
		bool is_predicate = at == CFG_OUTSIDE ? false
		                    : kind == OVERLAP_LOOP
		                            ? ways_in_loop(p, fi, head, at) > 1
		                            : ways_on(f, at) > 1;

		*nused = i - from;
		if (is_predicate && k == 0)
			return 1;
		if (i == w->n)
			return is_over ? 2 : 0;
		k -= is_predicate;
		if (kind == OVERLAP_LOOP &&
		    (is_ended(f, w->edges[i]) ||
		     !is_in_loop(p, fi, head, f->g.edges[w->edges[i]].dst)))
			return 2;
		at = f->g.edges[w->edges[i]].dst;
		if (kind != OVERLAP_LOOP && is_ended(f, w->edges[i])) {
			*nused = i + 1 - from;
			return 2;
		}
	}
}

/* --- the log
 * ------------------------------------------------------------------ */

/* Names of halves, and of what is known at a degree: hashes. */
struct log {
	struct tally pairs; /* name of all: how often */
	struct tally known; /* first half and class: how often */
};

static uint64_t group_name(enum overlap_kind kind, uint32_t a, uint32_t b)
{
	return mix(mix(mix(5, kind), a), b);
}

#define DEGREES_MAX 40

/* Does what a way has from an edge on end where paths were cut? */
static bool ends_torn(const struct program *p, uint32_t fi,
                      enum overlap_kind kind, const struct way *w)
{
	const struct function *f = &p->f[fi];
	edge_id last = w->edges[w->n - 1];
	block_id to = f->g.edges[last].dst;

	if (!is_cut(f, last) || kind != OVERLAP_LOOP)
		return is_cut(f, last);
	for (uint32_t i = 0; i < w->n; i++)
		if (!is_in_loop(p, fi, w->first, f->g.edges[w->edges[i]].src))
			return false;
	return is_in_loop(p, fi, w->first, to);
}

/* A second half that was completed, or the beginning of one. */
static void log_pair(const struct program *p, struct log *log, uint64_t first,
                     enum overlap_kind kind, uint32_t fi, const struct way *w,
                     uint32_t from, bool is_over)
{
	const struct function *f = &p->f[fi];
	block_id at = from ? f->g.edges[w->edges[from - 1]].dst : w->first;
	uint32_t n;

	/* it may have left the loop, but is counted nowhere */
	if (!is_over || ends_torn(p, fi, kind, w))
		return;
	(void)cut_behind(p, fi, kind, w, from, true, UINT32_MAX, &n);
	tally_add(&log->pairs, mix(first, name_way(f, at, w->edges + from, n)),
	          1);
	for (uint32_t k = 0; k < DEGREES_MAX; k++) {
		int how = cut_behind(p, fi, kind, w, from, is_over, k, &n);

		tally_add(&log->known,
		          mix(first, name_way(f, at, w->edges + from, n)),
		          2 * k + (uint64_t)(how == 2));
	}
}

/* --- running
 * ------------------------------------------------------------------ */

struct back {
	uint32_t site, left;
	uint64_t last;
	uint64_t name; /* of the first half */
	bool is_torn;
	uint32_t nused; /* edges of the path, up to the site */
};

/* What a call is told when it is over. */
struct called {
	bool has_first, has_last;
	uint64_t first, last; /* numbers */
	struct way first_way, last_way;
};

struct run {
	struct program *p;
	struct log log;
	struct overlap_profile *profile;
	struct tally paths[FUNCTIONS_MAX];
	struct tally calls, returns;
	int32_t cut; /* count prefixes of this degree; OVERLAP_ALL: whole ones
	              */
	uint32_t fuel, depth, catcher;
};

enum outcome { RETURNED, THROWN, ENDED };

static uint64_t number_of(const struct run *r, uint32_t fi, const struct way *w,
                          bool is_over)
{
	struct path path = {
	        .enters = w->first == CFG_OUTSIDE,
	        .first = w->first,
	        .edges = w->edges,
	        .nedges = w->n,
	        .end = is_over ? PATH_ENDED : PATH_UNFINISHED,
	};
	uint64_t number;

	if (paths_encode(&r->p->f[fi].p, &path, &number, NULL) < 0)
		abort();
	return number;
}

static block_id last_block(const struct function *f, const struct way *w)
{
	return w->n ? f->g.edges[w->edges[w->n - 1]].dst : w->first;
}

static void add_count(struct run *r, struct overlap_count c)
{
	struct overlap_profile *p = r->profile;

	VEC_RESERVE(p->counts, p->ncounts, p->counts_cap);
	c.count = 1;
	p->counts[p->ncounts++] = c;
}

/* Counts a pair as a build with overlap=K would, or if all is kept. */
static void count_pair(struct run *r, struct overlap_count c, uint64_t name,
                       bool is_torn, const struct way *w, uint32_t from,
                       bool is_over)
{
	uint32_t fi = c.to.function, n;
	const struct function *f = &r->p->f[fi];
	uint32_t k = r->cut == OVERLAP_ALL ? UINT32_MAX : (uint32_t)r->cut;
	int how = cut_behind(r->p, fi, c.kind, w, from, is_over, k, &n);
	struct way known = {w->first, w->edges, from + n, 0};
	uint64_t before = 0;

	if (!is_torn)
		log_pair(r->p, &r->log, name, c.kind, fi, w, from, is_over);
	if (how == 0 || (how == 2 && !is_over))
		return;
	if (how == 2)
		known.n = w->n;
	is_over = is_over && known.n == w->n;
	if (c.kind == OVERLAP_RETURN) {
		struct way prefix = {w->first, w->edges, from, 0};

		before = number_of(r, fi, &prefix, false);
	}
	c.to.number = number_of(r, fi, &known, is_over) - before;
	c.to.block = is_over ? CFG_NONE : last_block(f, &known);
	add_count(r, c);
}

struct frame {
	uint32_t function;
	struct way w;    /* the path it is on */
	struct way prev; /* the one before */
	bool has_prev;
	bool is_first;
	struct called *caller; /* NULL: nobody that is known */
	struct overlap_count call;
	uint64_t call_name;
	bool is_torn; /* what the caller did */
	struct back *backs;
	uint32_t nbacks, backs_cap;
};

/* What a path, or what there is of it, is the second half of. */
static void end_path(struct run *r, struct frame *f, bool is_over)
{
	struct program *p = r->p;
	const struct overlap_graph *o = &p->o[f->function];
	uint64_t number = number_of(r, f->function, &f->w, is_over);
	block_id at =
	        is_over ? CFG_NONE : last_block(&p->f[f->function], &f->w);
	uint64_t name;

	tally_add(&r->paths[f->function], at, number);
	if (!is_over)
		p->has[WITH_UNFINISHED] = true;
	if (f->has_prev && name_before(p, f->function, &f->prev, &name)) {
		struct overlap_count c = {
		        .kind = OVERLAP_LOOP,
		        .from = {f->function, CFG_NONE,
		                 number_of(r, f->function, &f->prev, true),
		                 CFG_NONE},
		        .to = {f->function, CFG_NONE, 0, 0},
		};

		p->has[WITH_LOOPS] = true;
		p->has[WITH_IRREDUCIBLE] |=
		        overlap_is_irreducible(o, f->w.first);
		name = mix(group_name(OVERLAP_LOOP, f->function, f->w.first),
		           name);
		count_pair(r, c, name, false, &f->w, 0, is_over);
	}
	if (f->is_first && f->caller) {
		count_pair(r, f->call, f->call_name, f->is_torn, &f->w, 0,
		           is_over);
		f->caller->has_first = is_over;
	}
	for (uint32_t i = 0; i < f->nbacks; i++) {
		const struct back *b = &f->backs[i];
		struct overlap_count c = {
		        .kind = OVERLAP_RETURN,
		        .from = {b->left, CFG_NONE, b->last, CFG_NONE},
		        .to = {f->function, b->site, 0, 0},
		};

		count_pair(r, c, b->name, b->is_torn, &f->w, b->nused, is_over);
	}
	f->nbacks = 0;
	f->is_first = false;
}

static enum outcome run_function(struct run *r, uint32_t function,
                                 struct called *caller,
                                 struct overlap_count call, uint64_t name,
                                 bool is_torn);

/* A call; the frame goes on behind it if it is RETURNED, or thrown to it. */
static enum outcome make_call(struct run *r, struct frame *f, uint32_t site)
{
	struct program *p = r->p;
	uint32_t callee = p->sites[site].callee;
	struct called called = {0};
	struct overlap_count c;
	uint64_t prefix = number_of(r, f->function, &f->w, false), name;
	enum outcome outcome;

	if (callee == ANYBODY) {
		callee = rng_below(&p->rng, p->n + 1);
		p->has[WITH_INDIRECT_CALLS] = true;
	}
	if (callee == p->n) { /* without marks; it may call back */
		if (rng_percent(&p->rng, 50))
			return RETURNED;
		p->has[WITH_FOREIGN] = true;
		outcome = run_function(r, rng_below(&p->rng, p->n), NULL,
		                       (struct overlap_count){0}, 0, false);
		goto out;
	}
	c = (struct overlap_count){
	        .kind = OVERLAP_CALL,
	        .from = {f->function, site, prefix, p->sites[site].block},
	        .to = {callee, CFG_NONE, 0, 0},
	};
	name = mix(
	        group_name(OVERLAP_CALL, site, callee),
	        name_way(&p->f[f->function], f->w.first, f->w.edges, f->w.n));
	p->has[WITH_RECURSION] |= callee == f->function;
	tally_add(&r->calls, (uint64_t)site << 32 | callee, 0);
	outcome = run_function(r, callee, &called, c, name,
	                       begins_torn(&p->f[f->function], &f->w));
	if (outcome == RETURNED) {
		tally_add(&r->returns, (uint64_t)site << 32 | callee, 0);
		VEC_RESERVE(f->backs, f->nbacks, f->backs_cap);
		f->backs[f->nbacks++] = (struct back){
		        site,
		        callee,
		        called.last,
		        mix(group_name(OVERLAP_RETURN, site, callee),
		            name_way(&p->f[callee], called.last_way.first,
		                     called.last_way.edges, called.last_way.n)),
		        begins_torn(&p->f[callee], &called.last_way),
		        f->w.n};
	}
	free(called.last_way.edges);
out:
	if (outcome == THROWN && r->catcher == r->depth)
		return RETURNED; /* here, and no return */
	return outcome;
}

static enum outcome make_calls(struct run *r, struct frame *f, block_id at)
{
	struct program *p = r->p;

	for (uint32_t s = 0; s < p->nsites; s++) {
		enum outcome outcome;

		if (p->sites[s].function != f->function ||
		    p->sites[s].block != at)
			continue;
		if (r->depth == DEPTH_MAX)
			return ENDED;
		outcome = make_call(r, f, s);
		if (outcome != RETURNED)
			return outcome;
	}
	return RETURNED;
}

static edge_id choose_edge(struct run *r, const struct function *f, block_id at)
{
	uint32_t n = f->g.out_at[at + 1] - f->g.out_at[at], i = 0;

	if (!n)
		return CFG_NONE;
	/* the first ways are taken more often */
	while (i + 1 < n && rng_percent(&r->p->rng, 45))
		i++;
	return f->g.out[f->g.out_at[at] + i];
}

/* Takes an edge; true if it leaves the function. */
static bool take_edge(struct run *r, struct frame *f, edge_id e)
{
	const struct function *fn = &r->p->f[f->function];
	bool leaves = fn->g.edges[e].dst == CFG_OUTSIDE;

	way_add(&f->w, e);
	if (!leaves && !is_ended(fn, e))
		return false;
	end_path(r, f, true);
	if (leaves)
		return true;
	free(f->prev.edges);
	f->prev = f->w;
	f->has_prev = true;
	f->w = (struct way){.first = fn->g.edges[e].dst};
	return false;
}

static enum outcome run_function(struct run *r, uint32_t function,
                                 struct called *caller,
                                 struct overlap_count call, uint64_t name,
                                 bool is_torn)
{
	const struct function *fn = &r->p->f[function];
	struct frame f = {
	        .function = function,
	        .w = {.first = CFG_OUTSIDE},
	        .is_first = true,
	        .caller = caller,
	        .call = call,
	        .call_name = name,
	        .is_torn = is_torn,
	};
	enum outcome outcome = RETURNED;
	bool has_left = false;

	r->depth++;
	way_add(&f.w, fn->g.out[fn->g.out_at[CFG_OUTSIDE]]);
	while (!has_left && outcome == RETURNED) {
		block_id at = last_block(fn, &f.w);
		edge_id e = choose_edge(r, fn, at);

		outcome = make_calls(r, &f, at);
		if (outcome != RETURNED)
			break;
		if (r->fuel-- == 0 || e == CFG_NONE)
			outcome = ENDED;
		else if (r->depth > 1 && rng_below(&r->p->rng, 300) == 0)
			outcome = THROWN;
		else
			has_left = take_edge(r, &f, e);
	}
	if (outcome == THROWN && r->catcher >= r->depth)
		r->catcher = 1 + rng_below(&r->p->rng, r->depth - 1);
	if (!has_left) {
		r->p->has[WITH_DEATHS] |= outcome == THROWN;
		end_path(r, &f, false);
	} else if (caller) {
		caller->last = number_of(r, function, &f.w, true);
		caller->last_way = f.w;
		f.w.edges = NULL;
	}
	free(f.w.edges);
	free(f.prev.edges);
	free(f.backs);
	r->depth--;
	if (outcome == THROWN && r->depth == 0)
		outcome = ENDED;
	return outcome;
}

/* --- what was counted
 * ---------------------------------------------------------- */

static void put_paths(struct run *r)
{
	struct overlap_profile *p = r->profile;

	for (uint32_t f = 0; f < r->p->n; f++)
		for (size_t i = 0; i < r->paths[f].cap; i++) {
			const struct tally_item *x = &r->paths[f].items[i];

			if (!x->count)
				continue;
			VEC_RESERVE(p->paths, p->npaths, p->paths_cap);
			p->paths[p->npaths++] = (struct overlap_path){
			        f, (block_id)x->a, x->b, x->count};
		}
}

static void put_calls(struct run *r)
{
	struct overlap_profile *p = r->profile;

	for (uint32_t s = 0; s < r->p->nsites; s++)
		for (uint32_t f = 0; f < r->p->n; f++) {
			uint64_t key = (uint64_t)s << 32 | f;
			uint64_t n = *tally_find(&r->calls, key, 0);

			if (!n)
				continue;
			VEC_RESERVE(p->calls, p->ncalls, p->calls_cap);
			p->calls[p->ncalls++] = (struct overlap_calls){
			        s, f, n, *tally_find(&r->returns, key, 0)};
		}
	for (uint32_t s = 0; s < r->p->nsites; s++) {
		VEC_RESERVE(p->sites, p->nsites, p->sites_cap);
		p->sites[p->nsites++] = (struct overlap_site){
		        r->p->sites[s].function, r->p->sites[s].block};
	}
}

static void run_init(struct run *r, struct program *p,
                     struct overlap_profile *profile, int32_t cut)
{
	struct rng before = p->rng;

	*r = (struct run){.p = p,
	                  .profile = profile,
	                  .cut = cut,
	                  .fuel = FUEL,
	                  .catcher = UINT32_MAX};
	*profile = (struct overlap_profile){
	        .graphs = p->o,
	        .nfunctions = p->n,
	        .is_finished = cut == OVERLAP_ALL,
	};
	for (uint32_t i = 0; i < 20; i++) {
		r->catcher = UINT32_MAX;
		if (run_function(r, rng_below(&p->rng, p->n), NULL,
		                 (struct overlap_count){0}, 0, false) == ENDED)
			break;
	}
	put_paths(r);
	put_calls(r);
	p->rng = before;
}

static void run_release(struct run *r)
{
	for (uint32_t i = 0; i < FUNCTIONS_MAX; i++)
		tally_release(&r->paths[i]);
	tally_release(&r->calls);
	tally_release(&r->returns);
	tally_release(&r->log.pairs);
	tally_release(&r->log.known);
	overlap_profile_release(r->profile);
}

/* --- wrong versions ---------------------------------------------------------
 */

static void spoil_profile(struct overlap_profile *p, enum version v)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->npaths; i++)
		if (v != NO_UNFINISHED || p->paths[i].block == CFG_NONE)
			p->paths[kept++] = p->paths[i];
	p->npaths = kept;
	for (size_t i = 0; i < p->ncalls; i++) {
		if (v == FEWER_CALLS && p->calls[i].ncalls > 1)
			p->calls[i].ncalls--;
		if (v == ALL_RETURN)
			p->calls[i].nreturns = p->calls[i].ncalls;
	}
	for (size_t i = 0; v == OTHER_SITE && i < p->ncounts; i++)
		for (uint32_t s = 0; p->counts[i].kind == OVERLAP_CALL &&
		                     s < p->counts[i].from.site;
		     s++) /* an earlier one of the same block */
			if (p->sites[s].function ==
			            p->counts[i].from.function &&
			    p->sites[s].block == p->counts[i].from.block)
				p->counts[i].from.site = s;
}

static void spoil_bounds(struct overlap_bounds *b, enum version v)
{
	for (size_t i = 0; i < b->nblocks; i++) {
		struct overlap_block *x = &b->blocks[i];

		if (v == OWN_TOTAL && !x->by_site)
			x->total = x->row_sum;
		for (size_t k = 0; v == WHOLE_REACH && k < x->nrows; k++)
			b->rows[x->first_row + k].reach = x->total;
	}
}

/* --- the equations of the paper, iterated ------------------------------------
 */

/* One row of pairs, of which R is joined: until nothing changes. */
static void iterate(uint64_t r, const uint64_t *cap, size_t n, uint64_t *low,
                    uint64_t *high)
{
	bool changes = true;

	for (size_t i = 0; i < n; i++) {
		low[i] = 0;
		high[i] = cap[i];
	}
	while (changes) {
		uint64_t lows = 0, highs = 0;

		changes = false;
		for (size_t i = 0; i < n; i++)
			lows += low[i];
		for (size_t i = 0; i < n; i++) {
			uint64_t others = lows - low[i];
			uint64_t now = r > others ? r - others : 0;

			if (now < high[i]) {
				high[i] = now;
				changes = true;
			}
		}
		for (size_t i = 0; i < n; i++)
			highs += high[i];
		for (size_t i = 0; i < n; i++) {
			uint64_t others = highs - high[i];
			uint64_t now = r > others ? r - others : 0;

			if (now > low[i]) {
				low[i] = now;
				changes = true;
			}
		}
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A row of a block and the open column; of one by site all rows, the open one
 * too. */
static const char *judge_iterated(const struct overlap_bounds *b,
                                  const struct overlap_block *x)
{
	size_t nrows = x->by_site ? x->nrows + 1 : 1, width = x->ncolumns + 1;
	uint64_t *cap = xcalloc(nrows * width, sizeof(*cap));
	uint64_t *low = xcalloc(nrows * width, sizeof(*low));
	uint64_t *high = xcalloc(nrows * width, sizeof(*high));
	const char *why = NULL;

	for (size_t first = 0; first < x->nrows && !why; first += nrows) {
		uint64_t r = b->rows[x->first_row + first].count;

		for (size_t k = 0; k < nrows * width; k++) {
			size_t row = first + k / width, column = k % width;
			uint64_t f = row < x->nrows
			                     ? b->rows[x->first_row + row].count
			                     : x->nopen_rows;
			uint64_t c =
			        column < x->ncolumns
			                ? b->columns[x->first_column + column]
			                          .count
			                : x->nopen;

			cap[k] = least(f, c);
			if (x->by_site)
				cap[k] = least(cap[k], x->ncalls);
		}
		iterate(x->by_site ? x->ncalls : r, cap, nrows * width, low,
		        high);
		for (size_t k = 0; k < nrows * width && !why; k++) {
			size_t row = first + k / width, column = k % width;
			struct overlap_bound bound;

			if (row >= x->nrows || column == x->ncolumns)
				continue;
			bound = overlap_bounds_cell(b, x, x->first_row + row,
			                            x->first_column + column);
			if (bound.lower != low[k] || bound.upper != high[k])
				why = "iteration gives other bounds";
		}
	}
	free(cap);
	free(low);
	free(high);
	return why;
}

/* --- GLPK --------------------------------------------------------------------
 */

/* A linear program: nonnegative variables, sums of some of which are bounded.
 */
struct linear {
	glp_prob *lp;
	int *rows, *columns; /* entries, from 1 on */
	double *ones;
	int nentries, cap;
};

static void linear_init(struct linear *l)
{
	*l = (struct linear){.lp = glp_create_prob()};
}

static void linear_release(struct linear *l)
{
	glp_delete_prob(l->lp);
	free(l->rows);
	free(l->columns);
	free(l->ones);
}

/* A sum that is exactly, or at most, n. */
static int linear_sum(struct linear *l, uint64_t n, bool is_exact)
{
	int row = glp_add_rows(l->lp, 1);

	glp_set_row_bnds(l->lp, row, is_exact ? GLP_FX : GLP_UP, (double)n,
	                 (double)n);
	return row;
}

static int linear_variable(struct linear *l)
{
	int column = glp_add_cols(l->lp, 1);

	glp_set_col_bnds(l->lp, column, GLP_LO, 0, 0);
	return column;
}

static void linear_add(struct linear *l, int row, int variable)
{
	if (l->nentries + 1 >= l->cap) {
		l->cap = 2 * l->cap + 64;
		l->rows = xrealloc(l->rows, (size_t)l->cap, sizeof(int));
		l->columns = xrealloc(l->columns, (size_t)l->cap, sizeof(int));
		l->ones = xrealloc(l->ones, (size_t)l->cap, sizeof(double));
	}
	l->nentries++;
	l->rows[l->nentries] = row;
	l->columns[l->nentries] = variable;
	l->ones[l->nentries] = 1;
}

/* The least or the most that a variable can be; negative if there is no
 * solution. */
static double linear_solve(struct linear *l, int variable, bool most)
{
	glp_smcp how;

	glp_init_smcp(&how);
	how.msg_lev = GLP_MSG_OFF;
	glp_set_obj_dir(l->lp, most ? GLP_MAX : GLP_MIN);
	glp_set_obj_coef(l->lp, variable, 1);
	if (glp_simplex(l->lp, &how) || glp_get_status(l->lp) != GLP_OPT)
		return -1;
	glp_set_obj_coef(l->lp, variable, 0);
	return glp_get_obj_val(l->lp);
}

static const char *judge_cell(struct linear *l, int variable,
                              struct overlap_bound bound)
{
	double low = linear_solve(l, variable, false);
	double high = linear_solve(l, variable, true);

	if (low < 0 || high < 0)
		return "GLPK finds no solution";
	if (fabs(low - (double)bound.tight_lower) > 1e-6)
		return "GLPK has another lower bound";
	return fabs(high - (double)bound.upper) > 1e-6
	               ? "GLPK has another upper bound"
	               : NULL;
}

/* A block by class, by itself: no other shares its rows or columns. */
static const char *judge_transport(const struct overlap_bounds *b,
                                   const struct overlap_block *x, struct rng *r)
{
	size_t width = x->ncolumns + 1, n = x->nrows * width;
	const char *why = NULL;
	struct linear l;
	int row0, column0;

	if (n > VARIABLES_MAX || !x->ncolumns)
		return NULL;
	linear_init(&l);
	row0 = glp_get_num_rows(l.lp) + 1;
	for (size_t i = 0; i < x->nrows; i++)
		linear_sum(&l, b->rows[x->first_row + i].count, true);
	column0 = row0 + (int)x->nrows;
	for (size_t i = 0; i < x->ncolumns; i++)
		linear_sum(&l, b->columns[x->first_column + i].count, false);
	linear_sum(&l, x->nopen, false);
	for (size_t k = 0; k < n; k++) {
		int variable = linear_variable(&l);

		linear_add(&l, row0 + (int)(k / width), variable);
		linear_add(&l, column0 + (int)(k % width), variable);
	}
	glp_load_matrix(l.lp, l.nentries, l.rows, l.columns, l.ones);
	for (int i = 0; i < NCELLS && !why; i++) {
		size_t row = rng_below(r, (uint32_t)x->nrows);
		size_t column = rng_below(r, (uint32_t)x->ncolumns);

		why = judge_cell(&l, 1 + (int)(row * width + column),
		                 overlap_bounds_cell(b, x, x->first_row + row,
		                                     x->first_column + column));
	}
	linear_release(&l);
	return why;
}

/*
 * All blocks by site of one kind as one system: rows of a site are shared by
 * all its callees, columns of a callee by all its sites.
 */
static const char *judge_sites(const struct overlap_bounds *b,
                               enum overlap_kind kind, struct rng *r)
{
	size_t n = 0;
	int *row_sum = xcalloc(b->nrows + b->nblocks + 1, sizeof(*row_sum));
	int *column_sum =
	        xcalloc(b->ncolumns + b->nblocks + 1, sizeof(*column_sum));
	int *first = xcalloc(b->nblocks + 1, sizeof(*first));
	int open_row[SITES_MAX] = {0}, open_column[FUNCTIONS_MAX] = {0};
	const char *why = NULL;
	struct linear l;

	linear_init(&l);
	for (size_t i = 0; i < b->nblocks; i++) {
		const struct overlap_block *x = &b->blocks[i];
		int calls;

		if (x->kind != kind || !x->by_site)
			continue;
		n += (x->nrows + 1) * (x->ncolumns + 1);
		calls = linear_sum(&l, x->ncalls, true);
		first[i] = glp_get_num_cols(l.lp) + 1;
		for (size_t k = 0; k < (x->nrows + 1) * (x->ncolumns + 1);
		     k++) {
			size_t row = k / (x->ncolumns + 1);
			size_t column = k % (x->ncolumns + 1);
			int variable = linear_variable(&l);
			int *rs = row < x->nrows ? &row_sum[x->first_row + row]
			                         : &open_row[x->group];
			int *cs =
			        column < x->ncolumns
			                ? &column_sum[x->first_column + column]
			                : &open_column[x->callee];

			if (!*rs)
				*rs = linear_sum(
				        &l,
				        row < x->nrows
				                ? b->rows[x->first_row + row]
				                          .count
				                : x->nopen_rows,
				        false);
			if (!*cs)
				*cs = linear_sum(
				        &l,
				        column < x->ncolumns
				                ? b->columns[x->first_column +
				                             column]
				                          .count
				                : x->nopen,
				        false);
			linear_add(&l, calls, variable);
			linear_add(&l, *rs, variable);
			linear_add(&l, *cs, variable);
		}
	}
	if (n && n <= VARIABLES_MAX)
		glp_load_matrix(l.lp, l.nentries, l.rows, l.columns, l.ones);
	for (int i = 0; n && n <= VARIABLES_MAX && i < 3 * NCELLS && !why;
	     i++) {
		size_t at = rng_below(r, (uint32_t)b->nblocks);
		const struct overlap_block *x = &b->blocks[at];
		size_t row, column;

		if (!first[at] || !x->nrows || !x->ncolumns)
			continue;
		row = rng_below(r, (uint32_t)x->nrows);
		column = rng_below(r, (uint32_t)x->ncolumns);
		why = judge_cell(
		        &l, first[at] + (int)(row * (x->ncolumns + 1) + column),
		        overlap_bounds_cell(b, x, x->first_row + row,
		                            x->first_column + column));
	}
	linear_release(&l);
	free(row_sum);
	free(column_sum);
	free(first);
	return why;
}

/* --- pairs and bounds
 * ---------------------------------------------------------- */

struct truth {
	struct run *r;     /* the log */
	struct tally real; /* by the names of halves: how often */
	const struct overlap_margins *all; /* of whole counts */
};

/* A name of a pair as items have it. */
static uint64_t joint_name(enum overlap_kind kind, uint32_t group,
                           const struct overlap_margin *first,
                           const struct overlap_margin *second)
{
	uint64_t h = group_name(kind, group, 1);

	h = mix(mix(mix(h, first->first), first->last), first->sum);
	return mix(mix(mix(h, second->first), second->last), second->sum);
}

static struct overlap_margin margin_of(const struct overlap_item *i)
{
	return (struct overlap_margin){i->first, i->last, i->sum, 0, 0};
}

/* The way of a path, or of what is known of it; a rest from block `from`. */
static void decode(const struct run *r, uint32_t fi, uint64_t number,
                   block_id block, struct way *w)
{
	struct path path = {0};

	if ((block == CFG_NONE
	             ? paths_decode(&r->p->f[fi].p, number, &path, NULL)
	             : paths_decode_prefix(&r->p->f[fi].p, number, block, &path,
	                                   NULL)) < 0)
		abort();
	*w = (struct way){.first = path.enters ? CFG_OUTSIDE : path.first};
	for (uint32_t i = 0; i < path.nedges; i++)
		way_add(w, path.edges[i]);
	path_release(&path);
}

/* The prefix of a caller's path whose rest this is: any that leads there. */
static uint64_t any_prefix(const struct run *r, uint32_t fi, block_id block)
{
	const struct dag *d = &r->p->f[fi].p.dag;
	uint64_t sum = 0;

	for (uint32_t v = block; v != DAG_START;) {
		uint32_t e = d->in[d->in_at[v]];

		sum += r->p->f[fi].p.value[e];
		v = d->edges[e].src;
	}
	return sum;
}

/* The name that the log has for the first half of a count. */
static uint64_t name_first(const struct run *r, const struct overlap_count *c)
{
	struct way w = {0};
	uint64_t name = 0;

	decode(r, c->from.function, c->from.number, c->from.block, &w);
	if (c->kind == OVERLAP_LOOP) {
		const struct function *f = &r->p->f[c->from.function];

		name_before(r->p, c->from.function, &w, &name);
		name = mix(group_name(c->kind, c->from.function,
		                      f->g.edges[w.edges[w.n - 1]].dst),
		           name);
	} else {
		uint32_t site =
		        c->kind == OVERLAP_CALL ? c->from.site : c->to.site;
		uint32_t callee = c->kind == OVERLAP_CALL ? c->to.function
		                                          : c->from.function;

		name = mix(group_name(c->kind, site, callee),
		           name_way(&r->p->f[c->from.function], w.first,
		                    w.edges, w.n));
	}
	free(w.edges);
	return name;
}

/* The second half of a count as a way, and where in it it begins. */
static uint32_t decode_second(const struct run *r,
                              const struct overlap_count *c, struct way *w)
{
	uint64_t number = c->to.number, sum = 0;
	uint32_t at = 0;

	if (c->kind == OVERLAP_RETURN) {
		sum = any_prefix(r, c->to.function,
		                 r->p->sites[c->to.site].block);
		number += sum;
	}
	decode(r, c->to.function, number, c->to.block, w);
	if (c->kind == OVERLAP_RETURN) {
		const struct function *f = &r->p->f[c->to.function];
		block_id b = r->p->sites[c->to.site].block;

		while ((at ? f->g.edges[w->edges[at - 1]].dst : w->first) != b)
			at++;
	}
	return at;
}

/* The pairs are those of the log, each as often. */
static const char *judge_pairs(struct truth *t)
{
	const struct overlap_margins *m = t->all;
	struct run *r = t->r;
	size_t npairs = 0;

	for (int k = 0; k < OVERLAP_NKINDS; k++)
		for (size_t i = 0; i < m->njoints[k]; i++) {
			const struct overlap_joint *j = &m->joints[k][i];
			const struct overlap_count *c =
			        &m->profile->counts[j->sample];
			uint32_t fi = c->to.function, n, at;
			struct overlap_margin first = margin_of(&j->row);
			struct overlap_margin second = margin_of(&j->to);
			struct way w;
			uint64_t name;

			if (j->column == SIZE_MAX)
				return "a pair is not whole";
			at = decode_second(r, c, &w);
			if (cut_behind(r->p, fi, c->kind, &w, at,
			               c->to.block == CFG_NONE, UINT32_MAX,
			               &n) != 2)
				abort();
			name = mix(
			        name_first(r, c),
			        name_way(&r->p->f[fi],
			                 at ? r->p->f[fi].g
			                                 .edges[w.edges[at - 1]]
			                                 .dst
			                    : w.first,
			                 w.edges + at, n));
			free(w.edges);
			if (*tally_find(&r->log.pairs, name, 1) != j->to.count)
				return "a pair occurred another number of "
				       "times";
			*tally_find(&t->real,
			            joint_name(c->kind, j->to.group, &first,
			                       &second),
			            0) += j->to.count;
			npairs++;
		}
	for (size_t i = 0; i < r->log.pairs.cap; i++)
		npairs -= r->log.pairs.items[i].count > 0;
	return npairs ? "the log has other pairs" : NULL;
}

/* What is known at this degree is what the log has. */
static const char *judge_known(const struct truth *t,
                               const struct overlap_bounds *b)
{
	const struct overlap_margins *m = t->all;
	struct run *r = t->r;

	for (int k = 0; k < OVERLAP_NKINDS && b->degree < DEGREES_MAX; k++)
		for (size_t i = 0; i < m->njoints[k]; i++) {
			const struct overlap_joint *j = &m->joints[k][i];
			const struct overlap_count *c =
			        &m->profile->counts[j->sample];
			uint32_t fi = c->to.function, n, at;
			const struct function *f = &r->p->f[fi];
			struct way w;
			uint64_t name, known = 0;
			int how;

			at = decode_second(r, c, &w);
			how = cut_behind(r->p, fi, c->kind, &w, at,
			                 c->to.block == CFG_NONE,
			                 (uint32_t)b->degree, &n);
			name = mix(name_first(r, c),
			           name_way(f,
			                    at ? f->g.edges[w.edges[at - 1]].dst
			                       : w.first,
			                    w.edges + at, n));
			free(w.edges);
			for (size_t x = 0; x < b->nblocks; x++) {
				const struct overlap_block *block =
				        &b->blocks[x];
				bool has_column = false;

				if (block->kind != c->kind ||
				    block->group != j->to.group)
					continue;
				for (size_t q = 0; q < block->ncolumns; q++) {
					const struct overlap_margin *col =
					        &b->columns
					                 [block->first_column +
					                  q];

					has_column |=
					        col->first == j->to.first &&
					        col->last == j->to.last &&
					        col->sum == j->to.sum;
				}
				for (size_t q = 0;
				     has_column && q < block->nrows; q++) {
					const struct overlap_margin *row =
					        &b->rows[block->first_row + q];

					if (row->first == j->row.first &&
					    row->last == j->row.last &&
					    row->sum == j->row.sum)
						known = row->count;
				}
			}
			if (*tally_find(&r->log.known, name,
			                2 * (uint64_t)b->degree +
			                        (uint64_t)(how == 2)) != known)
				return "something else is known";
		}
	return NULL;
}

/* Every pair of a block, seen or not, is within its bounds. */
static const char *judge_block(const struct truth *t,
                               const struct overlap_bounds *b,
                               const struct overlap_block *x, bool is_highest,
                               struct overlap_totals *sum)
{
	struct program *p = t->r->p;

	for (size_t k = 0; k < x->nrows * x->ncolumns; k++) {
		size_t row = x->first_row + k / x->ncolumns;
		size_t column = x->first_column + k % x->ncolumns;
		struct overlap_bound bound =
		        overlap_bounds_cell(b, x, row, column);
		struct overlap_margin first = b->rows[row];
		struct overlap_margin second = b->columns[column];
		uint32_t group = x->group;
		uint64_t real;

		if (x->by_site && x->kind == OVERLAP_CALL) {
			first.first = x->group;
			group = x->callee;
		} else if (x->by_site) {
			first = b->columns[column];
			second = b->rows[row];
			first.first = x->callee;
		}
		real = *tally_find((struct tally *)&t->real,
		                   joint_name(x->kind, group, &first, &second),
		                   0);
		sum->real += real;
		sum->definite += bound.lower;
		sum->tight_definite += bound.tight_lower;
		sum->potential += bound.upper;
		sum->nexact += bound.lower != bound.upper;
		sum->ntight += bound.tight_lower != bound.upper;
		if (real < bound.lower || real < bound.tight_lower)
			return "a frequency is below its bound";
		if (real > bound.upper)
			return "a frequency is above its bound";
		if (bound.tight_lower < bound.lower)
			return "iteration is tighter than what is tightest";
		p->has[WITH_TIGHTER] |= bound.tight_lower > bound.lower;
		if (is_highest && bound.lower != bound.upper)
			return "the highest degree is not exact";
	}
	return NULL;
}

static const char *judge_bounds(const struct truth *t,
                                const struct overlap_bounds *b, bool is_highest,
                                bool asks_glpk, bool has_sums)
{
	struct overlap_totals sum = {0};
	struct rng rng = t->r->p->rng;
	const char *why = NULL;

	for (size_t i = 0; i < b->nblocks && !why; i++) {
		const struct overlap_block *x = &b->blocks[i];

		why = judge_block(t, b, x, is_highest, &sum);
		if (!why)
			why = judge_iterated(b, x);
		if (!why && asks_glpk && !x->by_site)
			why = judge_transport(b, x, &rng);
	}
	for (enum overlap_kind k = OVERLAP_CALL;
	     k <= OVERLAP_RETURN && b->degree == OVERLAP_PLAIN && asks_glpk &&
	     !why;
	     k++)
		why = judge_sites(b, k, &rng);
	if (why || !has_sums)
		return why;
	if (sum.real != b->sum.real)
		return "pairs are in no block";
	if (sum.definite != b->sum.definite ||
	    sum.tight_definite != b->sum.tight_definite ||
	    sum.potential != b->sum.potential ||
	    b->sum.npairs - sum.nexact != b->sum.nexact ||
	    b->sum.npairs - sum.ntight != b->sum.ntight)
		return "sums are not those of the pairs";
	return NULL;
}

/* Bounds at a degree, from counts that know at least as much. */
static const char *judge_degree(const struct truth *t,
                                const struct overlap_margins *m, int32_t degree,
                                bool is_highest, bool asks_glpk, enum version v)
{
	struct overlap_bounds b;
	const char *why = NULL;

	overlap_bounds_init(
	        &b, m, degree >= 0 && v == WRONG_DEGREE ? degree + 1 : degree);
	b.degree = degree;
	spoil_bounds(&b, v);
	if (degree >= 0 && m == t->all)
		why = judge_known(t, &b);
	if (!why)
		why = judge_bounds(t, &b, is_highest, asks_glpk,
		                   v != OWN_TOTAL && v != WHOLE_REACH);
	overlap_bounds_release(&b);
	return why;
}

/* The same run again, but less of it was counted. */
static const char *judge_cut(const struct truth *t, int32_t cut, enum version v)
{
	struct overlap_profile profile;
	struct overlap_margins m;
	struct run r;
	const char *why = NULL;

	run_init(&r, t->r->p, &profile, cut);
	spoil_profile(&profile, v);
	if (overlap_profile_check(&profile, NULL) < 0) {
		run_release(&r);
		return "what was counted is refused";
	}
	overlap_margins_init(&m, &profile);
	if (overlap_margins_known(&m) < cut)
		why = "less is known than was counted";
	for (int32_t k = OVERLAP_PLAIN; k <= cut && !why; k++) {
		struct overlap_bounds b;
		struct overlap_totals sum = {0};

		overlap_bounds_init(&b, &m, k);
		spoil_bounds(&b, v);
		for (size_t i = 0; i < b.nblocks && !why; i++)
			why = judge_block(t, &b, &b.blocks[i], false, &sum);
		overlap_bounds_release(&b);
	}
	overlap_margins_release(&m);
	run_release(&r);
	return why;
}

static const char *judge(struct program *p, enum version v)
{
	struct overlap_profile profile;
	struct overlap_margins m;
	struct run r;
	struct truth t = {.r = &r, .all = &m};
	const char *why;
	uint32_t highest;
	bool asks_glpk = rng_percent(&p->rng, 30);

	run_init(&r, p, &profile, OVERLAP_ALL);
	spoil_profile(&profile, v);
	if (overlap_profile_check(&profile, NULL) < 0) {
		run_release(&r);
		return "what was counted is refused";
	}
	overlap_margins_init(&m, &profile);
	highest = overlap_margins_degree(&m);
	p->has[WITH_DEGREE_3] |= highest >= 3;
	why = judge_pairs(&t);
	for (int32_t k = OVERLAP_PLAIN; k <= (int32_t)highest + 1 && !why; k++)
		why = judge_degree(&t, &m, k, k >= (int32_t)highest, asks_glpk,
		                   v);
	for (int32_t cut = 0; cut <= 2 && !why; cut++)
		why = judge_cut(&t, cut, v);
	overlap_margins_release(&m);
	tally_release(&t.real);
	run_release(&r);
	return why;
}

/* --- the run
 * ------------------------------------------------------------------- */

struct proof {
	uint64_t n, seed, first, nmismatches;
	uint64_t nwith[NFEATURES];
	bool found[NVERSIONS];
};

static void prove(struct proof *proof, uint64_t number)
{
	struct program p;
	struct rng rng;
	const char *wrong;

	program_init(&p, proof->seed, number);
	rng = p.rng;
	wrong = judge(&p, RIGHT);
	for (int i = 0; i < NFEATURES; i++)
		proof->nwith[i] += p.has[i];
	if (wrong) {
		printf("MISMATCH program %" PRIu64 ": %s\n", number, wrong);
		proof->nmismatches++;
	}
	for (enum version v = RIGHT + 1; v < NVERSIONS && !wrong; v++) {
		const char *why;

		if (proof->found[v])
			continue;
		p.rng = rng;
		why = judge(&p, v);
		if (!why)
			continue;
		proof->found[v] = true;
		printf("planted: %s: found by program %" PRIu64 ": %s\n",
		       version_name[v], number, why);
	}
	program_release(&p);
}

int main(int argc, char **argv)
{
	struct proof p = {0};
	uint32_t nfound = 0;
	bool is_varied = true;

	if (!proof_arguments(argc, argv, "proof_overlap", &p.n, &p.seed,
	                     &p.first))
		return 2;
	printf("SEED=%" PRIu64 "\n", p.seed);
	for (uint64_t i = 0; i < p.n; i++)
		prove(&p, p.first + i);
	for (int i = 0; i < NFEATURES; i++) {
		printf("%-24s %5.1f %% of the programs%s\n", feature_name[i],
		       100.0 * (double)p.nwith[i] / (double)p.n,
		       p.nwith[i] ? "" : ": too few");
		is_varied &= p.nwith[i] > 0;
	}
	for (enum version v = RIGHT + 1; v < NVERSIONS; v++) {
		nfound += p.found[v];
		if (!p.found[v])
			printf("planted: %s: NOT found\n", version_name[v]);
	}
	printf("RESULT proof_overlap programs=%" PRIu64 " mismatches=%" PRIu64
	       " planted_bugs_found=%" PRIu32 "\n",
	       p.n, p.nmismatches, nfound);
	return p.nmismatches || nfound < NVERSIONS - 1 || !is_varied;
}
