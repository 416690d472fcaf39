/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof of traces: proof_trace N SEED [FIRST]
 *
 * N random programs: functions with random control-flow graphs that call each
 * other, themselves and code without marks, which may call back; jump out of
 * calls and land in some frame; are interrupted by handlers; and end in the
 * middle of it all.  Some functions write every path by itself.  Each program
 * is run, with the operations of codes.h on the histories of all frames, and
 * writes its stream.  The walk must find the same events again: who was
 * entered, left or died, and which edges every path took.
 *
 * What is read is the same from anywhere: see reading.h.
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

#include "abi/trace.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"
#include "graph/codes.h"
#include "walk/walk.h"
#include "../unit/graphs.h"
#include "proof.h"
#include "reading.h"

enum { FUNCTIONS_MAX = 6, DEPTH_MAX = 30, FUEL = 400 };

enum version {
	RIGHT,
	NOTHING_LOUD,  /* the path behind a call of anything may be silent */
	NO_SILENCE,    /* silent histories are written as well */
	NO_END,        /* full ones look like others */
	NO_DEATHS,     /* nobody says that frames die */
	WHOLE_NUMBERS, /* codes have the value of the edge that begins a path */
	NVERSIONS
};

static const char *const version_name[NVERSIONS] = {
        "right",          "nothing is loud",
        "no silence",     "full ones look like others",
        "no deaths said", "whole numbers",
};

enum feature {
	WITH_SILENCE,
	WITH_CUTS,
	WITH_WIDE_CODES,
	WITH_LONG_HISTORIES,
	WITH_COUNTED_LOOPS,
	WITH_MANY_TURNS,
	WITH_TAIL_CALLS,
	WITH_FINAL_CALLS,
	WITH_DEATHS,
	WITH_HANDLERS,
	WITH_CALL_BACKS,
	WITH_RECURSION,
	WITH_ONE_BY_ONE,
	NFEATURES
};

static const char *const feature_name[NFEATURES] = {
        "silence",       "cuts",       "wide codes", "long histories",
        "counted loops", "many turns", "tail calls", "final calls",
        "deaths",        "handlers",   "call-backs", "recursion",
        "one by one",
};

/* --- programs ------------------------------------------------------------ */

struct function {
	struct cfg g;
	enum dag_how *asked;
	uint32_t *callee;
	bool *loud, *is_call, *is_final;
	bool has_tails; /* calls anything when it is left */
	bool has_weights;
	bool one_by_one; /* every path is written by itself */
	struct rng rng;  /* of the weights */
	struct codes codes;
	struct codes_ops ops;
	/* per place: the operation there, or NULL */
	const struct codes_op **on_edge, **at_end;
};

struct program {
	struct function f[FUNCTIONS_MAX];
	struct walk_function walked[FUNCTIONS_MAX];
	struct walk_program walk;
	uint32_t n;
	bool has[NFEATURES];
	struct rng rng;
};

/* A block with so many ways out that codes are wide; the rest is random. */
static void random_graph(struct cfg *g, struct rng *r)
{
	struct graph_taste t = graph_random_taste(r, 2 + rng_below(r, 30));
	uint32_t nways = 250 + rng_below(r, 9000);

	if (!rng_percent(r, 1)) {
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
	f->is_call = xcalloc((size_t)f->g.nedges + 1, sizeof(*f->is_call));
	f->is_final = xcalloc((size_t)f->g.nedges + 1, sizeof(*f->is_final));
	for (edge_id e = 0; e < f->g.nedges; e++) {
		const struct cfg_edge *edge = &f->g.edges[e];

		f->callee[e] = WALK_NOTHING;
		if (edge->src == CFG_OUTSIDE)
			continue;
		if (edge->dst == CFG_OUTSIDE) {
			f->is_final[e] = rng_percent(r, 10);
		} else if (rng_percent(r, calls)) {
			f->asked[e] = DAG_CUT;
			f->is_call[e] = true;
			f->callee[e] = rng_percent(r, 50) ? WALK_ANYTHING
			                                  : rng_below(r, p->n);
			f->loud[edge->dst] |= f->callee[e] == WALK_ANYTHING ||
			                      p->f[f->callee[e]].has_tails;
		}
	}
}

static void index_ops(struct function *f)
{
	f->on_edge = xcalloc((size_t)f->g.nedges + 1, sizeof(*f->on_edge));
	f->at_end = xcalloc(f->g.nblocks, sizeof(*f->at_end));
	for (uint32_t i = 0; i < f->ops.n; i++) {
		const struct codes_op *op = &f->ops.ops[i];

		if (op->place == INCREMENT_ON_EDGE)
			f->on_edge[op->where] = op;
		else
			f->at_end[op->where] = op;
	}
}

static void function_init(struct function *f, struct program *p, enum version v)
{
	struct codes_options options = {
	        .asked = f->asked,
	        .loud = f->loud,
	        .is_call = f->is_call,
	        .one_by_one = f->one_by_one,
	};
	uint64_t *cost = xcalloc((size_t)f->g.nedges + 1, sizeof(*cost));
	uint64_t *weight = xcalloc((size_t)f->g.nedges + 1, sizeof(*weight));
	struct cairn_err err;

	for (edge_id e = 0; e < f->g.nedges; e++)
		weight[e] = UINT64_C(1) << rng_below(&f->rng, 12);
	if (f->has_weights)
		options.weight = weight;
	options.branches = rng_below(&f->rng, 4) == 0;
	if (v == NOTHING_LOUD)
		options.loud = NULL;
	if (codes_init(&f->codes, &f->g, &options, &err) < 0)
		abort();
	if (v == WHOLE_NUMBERS)
		memcpy(f->codes.value, f->codes.paths.value,
		       f->codes.paths.dag.nedges * sizeof(*f->codes.value));
	codes_place(&f->codes, cost, &f->ops);
	index_ops(f);
	p->has[WITH_CUTS] |= f->codes.paths.ncuts > 0;
	for (block_id b = 0; b < f->g.nblocks; b++)
		p->has[WITH_WIDE_CODES] |= f->codes.width[b] > CODES_BITS;
	p->has[WITH_COUNTED_LOOPS] |= f->codes.nloops > 0;
	p->has[WITH_ONE_BY_ONE] |= f->one_by_one;
	free(cost);
	free(weight);
}

static uint32_t function_at(void *context, uint32_t address)
{
	(void)context;
	return address - 1;
}

/* In a run the address of a place is its function, from 1 on, and its block. */
static uint32_t site_at(void *context, uint32_t address, block_id *block,
                        bool *is_inside)
{
	const struct program *p = context;
	uint32_t function = (address & 255) - 1;

	(void)is_inside;
	*block = address >> 8;
	return function < p->n && *block < p->f[function].g.nblocks
	               ? function
	               : WALK_NOTHING;
}

static void program_init(struct program *p, uint64_t seed, uint64_t number,
                         enum version v)
{
	struct rng r = {seed};

	r.state = rng_next(&r) ^ number;
	rng_next(&r);
	*p = (struct program){.n = 1 + rng_below(&r, FUNCTIONS_MAX)};
	for (uint32_t i = 0; i < p->n; i++)
		p->f[i] = (struct function){
		        .has_tails = rng_percent(&r, 20),
		        .has_weights = rng_percent(&r, 70),
		        .one_by_one = rng_percent(&r, 30),
		        .rng = {rng_next(&r)},
		};
	for (uint32_t i = 0; i < p->n; i++) {
		random_graph(&p->f[i].g, &r);
		choose_edges(&p->f[i], p, &r);
		function_init(&p->f[i], p, v);
	}
	for (uint32_t i = 0; i < p->n; i++)
		p->walked[i] = (struct walk_function){
		        .codes = &p->f[i].codes,
		        .callee = p->f[i].callee,
		        .is_final = p->f[i].is_final,
		        .has_tails = p->f[i].has_tails,
		};
	p->walk = (struct walk_program){
	        .functions = p->walked,
	        .nfunctions = p->n,
	        .context = p,
	        .function_at = function_at,
	        .site_at = site_at,
	};
	p->rng = r;
}

static void program_release(struct program *p)
{
	walk_program_release(&p->walk);
	for (uint32_t i = 0; i < p->n; i++) {
		codes_ops_release(&p->f[i].ops);
		free(p->f[i].on_edge);
		free(p->f[i].at_end);
		free(p->f[i].is_call);
		free(p->f[i].is_final);
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
	bool is_cut;    /* ended in the middle of a path */
	bool is_longer; /* a history than promised */
};

enum outcome { RETURNED, THROWN, ENDED };

struct activation {
	uint32_t function;
	uint64_t h; /* the history */
	uint64_t n; /* turns of the loop that counts them */
	block_id at;
	bool is_open;   /* the walk reads before it takes its path */
	bool has_paths; /* whole ones, not written yet */
	edge_id *edges;
	block_id *blocks;
	uint32_t nedges, edges_cap, nblocks, blocks_cap;
};

static void put_little(struct bytes *b, uint64_t value, unsigned width)
{
	for (unsigned i = 0; i < width; i++) {
		uint8_t byte = (uint8_t)(value >> 8 * i);

		bytes_put(b, &byte, 1);
	}
}

static void put_mark(struct run *r, unsigned mark, uint32_t value)
{
	put_little(&r->stream, mark, 1);
	put_little(&r->stream, value, 4);
	r->told = r->log.n;
}

static void put_history(struct run *r, uint64_t h, bool is_full)
{
	unsigned n = 1;

	while (n < 8 && h >> 8 * n)
		n++;
	r->p->has[WITH_LONG_HISTORIES] |= is_full;
	is_full &= r->v != NO_END;
	if (h > CAIRN_TRACE_SMALL || is_full)
		put_little(&r->stream,
		           n + (is_full ? CAIRN_TRACE_FULL : CAIRN_TRACE_WORD),
		           1);
	put_little(&r->stream, h, n);
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
	bytes_put_uv(log, e->way->nedges);
	for (uint32_t i = 0; i < e->way->nedges; i++)
		bytes_put_uv(log, e->way->edges[i]);
	bytes_put_uv(log, e->way->nblocks);
	for (uint32_t i = 0; i < e->way->nblocks; i++)
		bytes_put_uv(log, e->way->blocks[i]);
}

static void say(struct run *r, const struct activation *a, enum walk_kind kind,
                block_id block)
{
	struct walk_way way = {
	        .edges = a->edges,
	        .nedges = a->nedges,
	        .blocks = a->blocks,
	        .nblocks = a->nblocks,
	};

	log_event(&r->log, &(struct walk_event){
	                           .kind = kind,
	                           .function = a->function,
	                           .depth = r->depth - 1,
	                           .way = &way,
	                           .block = block,
	                   });
}

/* The history behind a loop that counted its turns; if they are many, they
 * stand behind it. */
static void add_turns(struct run *r, struct activation *a,
                      const struct codes_op *op)
{
	const struct codes *c = &r->p->f[a->function].codes;
	uint64_t n = a->n < CODES_COUNT_MAX ? a->n : CODES_COUNT_MAX;

	a->h += n << c->loops[op->leaves_loop - 1].bits;
	if (n < CODES_COUNT_MAX)
		return;
	put_history(r, a->h, true);
	put_little(&r->stream, CAIRN_TRACE_COUNT, 1);
	put_little(&r->stream, a->n, 8);
	r->told = r->log.n;
	r->p->has[WITH_MANY_TURNS] = true;
	a->h = 1;
}

/* Executes what stands at a place of the code. */
static void operate(struct run *r, struct activation *a,
                    const struct codes_op *op)
{
	if (!op)
		return;
	if (op->turns_loop) {
		a->n++;
		a->has_paths = true;
		return;
	}
	a->h = (a->h << op->shift) + op->add;
	if (op->leaves_loop)
		add_turns(r, a, op);
	if (op->enters_loop)
		a->n = 0;
	if (!op->ends)
		return;
	if (op->end == CODES_IS_SILENT)
		r->p->has[WITH_SILENCE] = true;
	a->has_paths = op->end == CODES_GOES_ON;
	if (op->end == CODES_GOES_ON &&
	    a->h >= r->p->f[a->function].codes.full) {
		put_history(r, a->h, true);
		a->h = 1;
		a->has_paths = false;
	} else if (op->end == CODES_WRITES ||
	           (op->end == CODES_IS_SILENT && r->v == NO_SILENCE)) {
		r->is_longer |= op->most < 64 && a->h >> op->most > 1;
		put_history(r, a->h, false);
	}
	if (op->end != CODES_GOES_ON)
		a->h = 1;
	a->h = (a->h << op->next_shift) + op->next_add;
}

static void begin_path(struct run *r, struct activation *a, block_id block)
{
	a->at = block;
	a->nedges = a->nblocks = 0;
	a->is_open = r->p->f[a->function].codes.width[block] > 0;
	if (block == CFG_OUTSIDE)
		return;
	VEC_RESERVE(a->blocks, a->nblocks, a->blocks_cap);
	a->blocks[a->nblocks++] = block;
}

/* Where the frame can go on: behind a call of anything; the history is what the
 * edge would make of it. */
static bool land(struct run *r, struct activation *a)
{
	const struct function *f = &r->p->f[a->function];
	edge_id start = rng_below(&r->p->rng, f->g.nedges);

	for (edge_id i = 0; i < f->g.nedges; i++) {
		edge_id e = (start + i) % f->g.nedges;
		const struct codes_op *op = f->on_edge[e];

		if (f->callee[e] != WALK_ANYTHING ||
		    f->codes.paths.dag.how[e] == DAG_UNREACHED)
			continue;
		a->h = op ? (UINT64_C(1) << op->next_shift) + op->next_add : 1;
		a->n = 0;
		begin_path(r, a, f->g.edges[e].dst);
		a->is_open = true;
		put_mark(r, CAIRN_TRACE_LAND, a->at << 8 | (a->function + 1));
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
	put_mark(r, CAIRN_TRACE_ENTER, function + 1);
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
	if (!rng_percent(rng, 10) || r->depth == 0)
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
	if (r->v != NO_DEATHS) put_mark(r, CAIRN_TRACE_DEATH, a->function + 1);
	say(r, a, WALK_DEATH, 0);
	r->told = r->log.n;
	r->p->has[WITH_DEATHS] = true;
	return r->depth == 1 ? ENDED : THROWN;
}

/* In a call that does not return, of anything. */
static enum outcome stop(struct run *r)
{
	enum outcome how = run_anything(r);

	if (how != RETURNED || rng_percent(&r->p->rng, 50))
		return how == RETURNED ? ENDED : how;
	r->catcher = rng_below(&r->p->rng, r->depth);
	return THROWN;
}

/* A block without a way out. */
static enum outcome stop_in_block(struct run *r, struct activation *a)
{
	say(r, a, WALK_PATH, 0);
	operate(r, a, r->p->f[a->function].at_end[a->at]);
	return stop(r);
}

/* Once more the turn that was made, now and then some hundred times. */
static void turn_often(struct run *r, struct activation *a)
{
	uint32_t n = rng_percent(&r->p->rng, 3)
	                     ? 200 + rng_below(&r->p->rng, 99)
	                     : 0;

	a->n += n;
	while (n--)
		say(r, a, WALK_PATH, 0);
}

/* Takes an edge, with all that happens there; *left if it leaves. */
static enum outcome take(struct run *r, struct activation *a, edge_id e,
                         bool *left)
{
	const struct function *f = &r->p->f[a->function];
	block_id dst = f->g.edges[e].dst;
	bool ends = dst == CFG_OUTSIDE || dag_is_ended(&f->codes.paths.dag, e);

	VEC_RESERVE(a->edges, a->nedges, a->edges_cap);
	a->edges[a->nedges++] = e;
	VEC_RESERVE(a->blocks, a->nblocks, a->blocks_cap);
	if (!ends)
		a->blocks[a->nblocks++] = dst;
	else
		say(r, a, WALK_PATH, 0);
	operate(r, a, f->on_edge[e]);
	if (f->on_edge[e] && f->on_edge[e]->turns_loop)
		turn_often(r, a);
	a->at = dst;
	if (!ends)
		return RETURNED;
	if (dst == CFG_OUTSIDE && f->is_final[e]) {
		r->p->has[WITH_FINAL_CALLS] = true;
		return stop(r);
	}
	*left = dst == CFG_OUTSIDE;
	if (*left)
		return RETURNED;
	begin_path(r, a, dst);
	a->is_open |= f->callee[e] == WALK_ANYTHING;
	return f->is_call[e] ? run_call(r, f->callee[e]) : RETURNED;
}

/* A signal, where the trace says when: not in a silent history, and not in one
 * that has whole paths, which the walk learns of later. */
static enum outcome interrupt(struct run *r, const struct activation *a)
{
	struct rng *rng = &r->p->rng;

	if (!rng_percent(rng, 2) || r->depth == DEPTH_MAX || !a->is_open ||
	    a->has_paths)
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
		return stop_in_block(r, a);
	return take(r, a, g->out[g->out_at[a->at] + rng_below(&r->p->rng, n)],
	            left);
}

static enum outcome run_function(struct run *r, uint32_t function)
{
	struct activation a = {.function = function, .h = 1, .n = 0xbad};
	enum outcome how = RETURNED;
	bool left = false;

	for (uint32_t i = 0; i < r->depth; i++)
		r->p->has[WITH_RECURSION] |= r->running[i] == function;
	r->running[r->depth++] = function;
	say(r, &a, WALK_ENTER, 0);
	begin_path(r, &a, CFG_OUTSIDE);
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
	free(a.edges);
	free(a.blocks);
	if (how != RETURNED || !r->p->f[function].has_tails)
		return how;
	r->p->has[WITH_TAIL_CALLS] = true;
	return run_anything(r);
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

	walk_init_bytes(&w, &r->p->walk, r->stream.data, r->stream.n);
	while ((got = walk_next(&w, &event, &err)) == 1 &&
	       found.n < 2 * r->log.n + 100000)
		log_event(&found, &event);
	n = found.n < r->log.n ? found.n : r->log.n;
	if (r->is_longer)
		why = "a history is longer than promised";
	else if (got < 0)
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
	if (!why && v == RIGHT)
		why = reading_judge(&p.walk, r.stream.data, r.stream.n, &p.rng);
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
