/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof of traces: proof_trace N SEED [FIRST]
 *
 * N random programs: functions with random control-flow graphs that call each
 * other, themselves and code without marks, which may call back; jump out of
 * calls and land in some frame; are interrupted by handlers; and end in the
 * middle of it all.  Each is run, with the operations of increments.h on the
 * registers of all frames, and writes its stream.  The walk must find the same
 * events again: who was entered, left or died, and which edges every path took.
 *
 * The same checks then judge wrong versions of the writer.  A version counts as
 * found if it is rejected for some program that is right.
 *
 * Program number i depends on SEED and i only: FIRST = i runs it again.
 * The last line is RESULT.  Status 0: no mismatch, all bugs found, and the
 * programs as varied as promised; 1 otherwise; 2 for bad arguments.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "graph/codes.h"
#include "graph/increments.h"
#include "walk/walk.h"
#include "../unit/path_machine.h"
#include "proof.h"

enum { FUNCTIONS_MAX = 6, DEPTH_MAX = 30, FUEL = 400 };

enum version {
	RIGHT,
	NOTHING_LOUD,  /* the path behind a call of anything may be silent */
	EVERY_CODE,    /* silent paths are written as well */
	NO_DEATHS,     /* nobody says that frames die */
	WHOLE_NUMBERS, /* codes have the value of the edge that begins a path */
	NVERSIONS
};

static const char *const version_name[NVERSIONS] = {
        "right",          "nothing is loud", "every code is written",
        "no deaths said", "whole numbers",
};

enum feature {
	WITH_SILENCE,
	WITH_CUTS,
	WITH_WIDE_CODES,
	WITH_DEATHS,
	WITH_HANDLERS,
	WITH_CALL_BACKS,
	WITH_RECURSION,
	NFEATURES
};

static const char *const feature_name[NFEATURES] = {
        "silent paths", "cuts",       "wide codes", "deaths",
        "handlers",     "call-backs", "recursion",
};

/* --- programs ------------------------------------------------------------ */

struct function {
	struct cfg g;
	enum dag_how *asked;
	uint32_t *callee;
	bool *loud;
	struct codes codes;
	struct increments inc;
};

struct program {
	struct function f[FUNCTIONS_MAX];
	struct walk_function walked[FUNCTIONS_MAX];
	uint32_t n;
	bool has[NFEATURES];
	struct rng rng;
};

/* A block with so many ways out that codes are wide; the rest is random. */
static void random_graph(struct cfg *g, struct rng *r)
{
	struct graph_taste t = graph_random_taste(r, 2 + rng_below(r, 30));
	uint32_t nways = 250 + rng_below(r, 200);

	if (!rng_percent(r, 5)) {
		graph_random(g, &t, r);
		return;
	}
	cfg_init(g, nways + 3);
	cfg_add_edge(g, CFG_OUTSIDE, 1);
	for (uint32_t i = 0; i < nways; i++) {
		cfg_add_edge(g, 1, 2 + i);
		cfg_add_edge(g, 2 + i, nways + 2);
	}
	cfg_add_edge(g, nways + 2, rng_percent(r, 80) ? CFG_OUTSIDE : 1);
	cfg_add_edge(g, nways + 2, CFG_OUTSIDE);
	cfg_link(g);
}

/* Makes some edges calls. */
static void choose_edges(struct function *f, struct program *p, struct rng *r)
{
	uint32_t calls = rng_below(r, 30);

	f->asked = xcalloc((size_t)f->g.nedges + 1, sizeof(*f->asked));
	f->callee = xcalloc((size_t)f->g.nedges + 1, sizeof(*f->callee));
	f->loud = xcalloc(f->g.nblocks, sizeof(*f->loud));
	for (edge_id e = 0; e < f->g.nedges; e++) {
		const struct cfg_edge *edge = &f->g.edges[e];

		f->callee[e] = WALK_NOTHING;
		if (edge->src == CFG_OUTSIDE || edge->dst == CFG_OUTSIDE)
			continue;
		if (rng_percent(r, calls)) {
			f->asked[e] = DAG_CUT;
			f->callee[e] = rng_percent(r, 50) ? WALK_ANYTHING
			                                  : rng_below(r, p->n);
			f->loud[edge->dst] |= f->callee[e] == WALK_ANYTHING;
		}
	}
}

static void function_init(struct function *f, struct program *p, enum version v)
{
	struct codes_options options = {.asked = f->asked, .loud = f->loud};
	uint64_t *cost = xcalloc((size_t)f->g.nedges + 1, sizeof(*cost));
	struct cairn_err err;

	if (v == NOTHING_LOUD)
		options.loud = NULL;
	if (codes_init(&f->codes, &f->g, &options, &err) < 0)
		abort();
	increments_init(&f->inc, &f->codes.paths.dag,
	                v == WHOLE_NUMBERS ? f->codes.paths.value
	                                   : f->codes.value,
	                cost);
	p->has[WITH_CUTS] |= f->codes.paths.ncuts > 0;
	p->has[WITH_WIDE_CODES] |= f->codes.width > 1;
	free(cost);
}

static void program_init(struct program *p, uint64_t seed, uint64_t number,
                         enum version v)
{
	struct rng r = {seed};

	r.state = rng_next(&r) ^ number;
	rng_next(&r);
	*p = (struct program){.n = 1 + rng_below(&r, FUNCTIONS_MAX)};
	for (uint32_t i = 0; i < p->n; i++) {
		random_graph(&p->f[i].g, &r);
		choose_edges(&p->f[i], p, &r);
		function_init(&p->f[i], p, v);
	}
	for (uint32_t i = 0; i < p->n; i++)
		p->walked[i] =
		        (struct walk_function){&p->f[i].codes, p->f[i].callee};
	p->rng = r;
}

static void program_release(struct program *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		increments_release(&p->f[i].inc);
		codes_release(&p->f[i].codes);
		cfg_release(&p->f[i].g);
		free(p->f[i].asked);
		free(p->f[i].callee);
		free(p->f[i].loud);
	}
}

/* --- running ------------------------------------------------------------- */

struct run {
	struct program *p;
	enum version v;
	struct bytes stream, log;
	size_t told;    /* the log when something was last written */
	uint32_t depth; /* frames */
	uint32_t running[DEPTH_MAX + 1]; /* their functions */
	uint32_t catcher; /* depth of the frame that an exception goes to */
	uint32_t fuel;
	bool is_cut; /* ended in the middle of a path */
};

enum outcome { RETURNED, THROWN, ENDED };

struct activation {
	uint32_t function;
	struct machine m;
	block_id at, begun; /* CFG_OUTSIDE: its path entered the function */
	struct path path;
};

static void put_big(struct bytes *b, uint64_t value, unsigned width)
{
	for (unsigned i = width; i-- > 0;) {
		uint8_t byte = (uint8_t)(value >> 8 * i);

		bytes_put(b, &byte, 1);
	}
}

static void put_mark(struct run *r, enum walk_mark mark, uint32_t value)
{
	put_big(&r->stream, CODES_MARK, 1);
	put_big(&r->stream, mark, 1);
	put_big(&r->stream, value, 4);
	r->told = r->log.n;
}

static void log_event(struct bytes *log, const struct walk_event *e)
{
	bytes_put_uv(log, e->kind);
	bytes_put_uv(log, e->function);
	bytes_put_uv(log, e->depth);
	bytes_put_uv(log, e->block);
	if (e->kind != WALK_PATH)
		return;
	bytes_put_uv(log, e->path->enters);
	bytes_put_uv(log, e->path->first);
	bytes_put_uv(log, e->path->nedges);
	for (uint32_t i = 0; i < e->path->nedges; i++)
		bytes_put_uv(log, e->path->edges[i]);
}

static void say(struct run *r, const struct activation *a, enum walk_kind kind,
                block_id block)
{
	log_event(&r->log, &(struct walk_event){
	                           .kind = kind,
	                           .function = a->function,
	                           .depth = r->depth - 1,
	                           .path = &a->path,
	                           .block = block,
	                   });
}

/* The path ends with this DAG edge: its code, if it is not silent. */
static void end_path(struct run *r, struct activation *a, uint32_t dag_edge)
{
	const struct codes *c = &r->p->f[a->function].codes;

	say(r, a, WALK_PATH, 0);
	if (c->is_silent[dag_edge])
		r->p->has[WITH_SILENCE] = true;
	if (c->is_silent[dag_edge] && r->v != EVERY_CODE)
		return;
	put_big(&r->stream, a->m.has_counted ? a->m.counted : 0, c->width);
	r->told = r->log.n;
}

static void begin_path(struct activation *a, block_id block)
{
	a->at = a->begun = block;
	a->path.enters = block == CFG_OUTSIDE;
	a->path.first = block == CFG_OUTSIDE ? 1 : block;
	a->path.nedges = 0;
}

/* Where the frame can go on: the target of an edge that ends paths; its
 * register is what the edge would make of it. */
static bool land(struct run *r, struct activation *a)
{
	const struct function *f = &r->p->f[a->function];
	const struct dag *d = &f->codes.paths.dag;
	edge_id start = rng_below(&r->p->rng, f->g.nedges);

	for (edge_id i = 0; i < f->g.nedges; i++) {
		edge_id e = (start + i) % f->g.nedges;

		if (!dag_is_ended(d, e))
			continue;
		a->m.r = 0xbadbadbad;
		if (a->m.on_edge[e] != CFG_NONE &&
		    f->inc.ops[a->m.on_edge[e]].then_set)
			a->m.r = f->inc.ops[a->m.on_edge[e]].set;
		begin_path(a, f->g.edges[e].dst);
		put_mark(r, WALK_MARK_LAND, a->at);
		say(r, a, WALK_LAND, a->at);
		r->told = r->log.n;
		return true;
	}
	return false;
}

static enum outcome run_function(struct run *r, uint32_t function);

static enum outcome enter(struct run *r, uint32_t function)
{
	if (r->depth == DEPTH_MAX) {
		r->is_cut = true;
		return ENDED;
	}
	put_mark(r, WALK_MARK_ENTER, function);
	return run_function(r, function);
}

/* Code without marks: may call back, throw, or end the program. */
static enum outcome run_anything(struct run *r)
{
	struct rng *rng = &r->p->rng;
	enum outcome how = RETURNED;

	for (int i = 0; i < 2 && how == RETURNED && rng_percent(rng, 40); i++) {
		r->p->has[WITH_CALL_BACKS] = true;
		how = enter(r, rng_below(rng, r->p->n));
	}
	if (how != RETURNED)
		return how;
	if (rng_percent(rng, 2))
		return ENDED;
	if (!rng_percent(rng, 10))
		return RETURNED;
	r->catcher = rng_below(rng, r->depth);
	return THROWN;
}

static enum outcome run_call(struct run *r, uint32_t callee)
{
	if (callee == WALK_ANYTHING)
		return run_anything(r);
	if (r->depth == DEPTH_MAX) {
		r->is_cut = true;
		return ENDED;
	}
	return run_function(r, callee);
}

/* An exception or a jump comes by. */
static enum outcome catch (struct run *r, struct activation *a) {
	if (r->depth - 1 == r->catcher && land(r, a)) return RETURNED;
	if (r->depth - 1 == r->catcher && r->catcher) r->catcher--;
	if (r->v != NO_DEATHS) put_mark(r, WALK_MARK_DEATH, a->function);
	say(r, a, WALK_DEATH, 0);
	r->told = r->log.n;
	r->p->has[WITH_DEATHS] = true;
	return r->depth == 1 ? ENDED : THROWN;
}

/* In a call that does not return. */
static enum outcome stop(struct run *r, struct activation *a)
{
	const struct dag *d = &r->p->f[a->function].codes.paths.dag;

	machine_stop(&a->m, a->at);
	end_path(r, a, d->out_at[a->at]);
	if (rng_percent(&r->p->rng, 50))
		return ENDED;
	r->catcher = rng_below(&r->p->rng, r->depth);
	return THROWN;
}

/* Takes an edge, with all that happens there; *left if it leaves. */
static enum outcome take(struct run *r, struct activation *a, edge_id e,
                         bool *left)
{
	const struct function *f = &r->p->f[a->function];
	const struct dag *d = &f->codes.paths.dag;
	block_id dst = f->g.edges[e].dst;

	VEC_RESERVE(a->path.edges, a->path.nedges, a->path.edges_cap);
	a->path.edges[a->path.nedges++] = e;
	machine_take(&a->m, e);
	a->at = dst;
	*left = dst == CFG_OUTSIDE;
	if (!*left && !dag_is_ended(d, e))
		return RETURNED;
	end_path(r, a, d->edge_of[e]);
	begin_path(a, dst);
	if (*left || f->callee[e] == WALK_NOTHING)
		return RETURNED;
	return run_call(r, f->callee[e]);
}

/* A signal, where the trace says when: not in a silent path. */
static enum outcome interrupt(struct run *r, const struct activation *a)
{
	struct rng *rng = &r->p->rng;

	if (!rng_percent(rng, 2) || r->depth == DEPTH_MAX ||
	    codes_is_silent(&r->p->f[a->function].codes, a->begun))
		return RETURNED;
	r->p->has[WITH_HANDLERS] = true;
	return enter(r, rng_below(rng, r->p->n));
}

static enum outcome step(struct run *r, struct activation *a, bool *left)
{
	const struct cfg *g = &r->p->f[a->function].g;
	uint32_t n = g->out_at[a->at + 1] - g->out_at[a->at];
	enum outcome how;

	if (r->fuel-- == 0) {
		r->is_cut = true;
		return ENDED;
	}
	how = interrupt(r, a);
	if (how != RETURNED)
		return how;
	if (n == 0)
		return stop(r, a);
	return take(r, a, g->out[g->out_at[a->at] + rng_below(&r->p->rng, n)],
	            left);
}

static enum outcome run_function(struct run *r, uint32_t function)
{
	struct activation a = {.function = function};
	enum outcome how = RETURNED;
	bool left = false;

	for (uint32_t i = 0; i < r->depth; i++)
		r->p->has[WITH_RECURSION] |= r->running[i] == function;
	r->running[r->depth++] = function;
	machine_init(&a.m, &r->p->f[function].codes.paths.dag,
	             &r->p->f[function].inc);
	say(r, &a, WALK_ENTER, 0);
	begin_path(&a, CFG_OUTSIDE);
	how = take(r, &a, 0, &left);
	while (how != ENDED && !left) {
		how = step(r, &a, &left);
		if (how == THROWN)
			how = catch (r, &a);
		if (how == THROWN)
			break;
	}
	if (how == RETURNED)
		say(r, &a, WALK_LEAVE, 0);
	r->depth--;
	machine_release(&a.m);
	path_release(&a.path);
	return how;
}

/* --- judging ------------------------------------------------------------- */

static const char *judge_stream(struct run *r)
{
	struct walk_event event;
	struct cairn_err err;
	struct bytes found = {0};
	const char *why = NULL;
	struct walk w;
	size_t n;
	int got;

	walk_init(&w, r->p->walked, r->p->n, r->stream.data, r->stream.n);
	while ((got = walk_next(&w, &event, &err)) == 1 &&
	       found.n < 2 * r->log.n + 100000)
		log_event(&found, &event);
	n = found.n < r->log.n ? found.n : r->log.n;
	if (got < 0)
		why = "the walk fails";
	else if (n && memcmp(found.data, r->log.data, n) != 0)
		why = "other events";
	else if (found.n < r->told)
		why = "events are missing";
	else if (!r->is_cut && found.n != r->log.n)
		why = "not as many events";
	walk_release(&w);
	bytes_release(&found);
	return why;
}

static const char *judge(uint64_t seed, uint64_t number, enum version v,
                         bool *has)
{
	struct program p;
	struct run r = {.p = &p, .v = v, .fuel = FUEL};
	const char *why;

	program_init(&p, seed, number, v);
	for (int i = 0; i < 3 && enter(&r, 0) == RETURNED; i++) {
	}
	why = judge_stream(&r);
	if (has)
		memcpy(has, p.has, sizeof(p.has));
	bytes_release(&r.stream);
	bytes_release(&r.log);
	program_release(&p);
	return why;
}

struct proof {
	uint64_t n, seed, first, nmismatches;
	uint64_t nwith[NFEATURES];
	bool found[NVERSIONS];
};

static void prove(struct proof *p, uint64_t number)
{
	bool has[NFEATURES];
	const char *wrong = judge(p->seed, number, RIGHT, has);

	if (wrong) {
		p->nmismatches++;
		printf("MISMATCH: program %" PRIu64 ": %s\n", number, wrong);
		return;
	}
	for (int f = 0; f < NFEATURES; f++)
		p->nwith[f] += has[f];
	for (enum version v = RIGHT + 1; v < NVERSIONS; v++) {
		const char *why =
		        p->found[v] ? NULL : judge(p->seed, number, v, NULL);

		if (!why)
			continue;
		p->found[v] = true;
		printf("planted: %s: found by program %" PRIu64 ": %s\n",
		       version_name[v], number, why);
	}
}

int main(int argc, char **argv)
{
	struct proof p = {0};
	uint32_t nfound = 0;
	bool varied = true;

	if (!proof_arguments(argc, argv, "proof_trace", &p.n, &p.seed,
	                     &p.first))
		return 2;
	for (uint64_t i = 0; i < p.n; i++)
		prove(&p, p.first + i);
	for (int f = 0; f < NFEATURES; f++) {
		printf("%-20s %5.1f %% of the programs\n", feature_name[f],
		       100.0 * (double)p.nwith[f] / (double)p.n);
		varied &= p.nwith[f] > 0;
	}
	for (enum version v = RIGHT + 1; v < NVERSIONS; v++)
		nfound += p.found[v];
	printf("RESULT proof_trace programs=%" PRIu64 " mismatches=%" PRIu64
	       " planted_bugs_found=%" PRIu32 "\n",
	       p.n, p.nmismatches, nfound);
	return p.nmismatches || nfound < NVERSIONS - 1 || !varied;
}
